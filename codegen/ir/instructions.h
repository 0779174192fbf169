// The instructions that code asks for by name: what they mean, and, for GPUs, lane by lane, and how
// PTX writes them. Emission, the oracle and tensorize read the same table; an instruction more is
// an entry more. Layouts: NVIDIA, PTX ISA, sections on mma, ldmatrix, cp.async, shfl. Dot products:
// Intel, Instruction Set Reference, vpdpbusd, vpdpbf16ps, pmaddwd; Arm, Architecture Reference
// Manual, sdot, udot, usdot, bfdot. Matrix products: the same, tdpbusd and its kin, tdpbf16ps;
// smmla, ummla, usmmla, bfmmla.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Is `s` a loop that becomes an instruction?
inline bool is_tensor(const Stmt &s) { return s->kind == StmtKind::For && !s->instruction.empty(); }

struct MatrixPlace {
  int row = 0, column = 0;
};

/// A matrix spread over the 32 lanes of a warp: bit i of the lane's number, and bit i of the number
/// of the element in the lane, each add a place.
///
///   lane 13 = 0b01101, element 2 = 0b10   ->   lane_bits[0] + [2] + [3] + element_bits[1]
struct Fragment {
  int rows = 0, columns = 0;
  int per_lane = 0;  // elements that a lane holds
  std::array<MatrixPlace, 5> lane_bits{};
  std::array<MatrixPlace, 3> element_bits{};

  MatrixPlace at(int lane, int element) const;
};

/// An operand of an instruction, BUFFER[e] in loop IR.
struct InstructionOperand {
  const char *name;
  /// Thread: `fragment.per_lane` elements of the lane's own, from e on. Block, Device: memory of
  /// the block or of the device from the element e on, which may differ by lane.
  Home home;
  Type type;
  bool is_read, is_written;
  Fragment fragment{};  // Thread
};

enum class InstructionMeaning : uint8_t {
  /// Of a processor: d[n] += sum over k of a[k] * b[k, n], exact products summed in d's type in any
  /// order; either operand may have a's type, and bytes any sign. Operands d, a, b are values in
  /// vectors (Home::Stack),
  /// their fragments say how many rows and columns. Code is made from sum_products, by which loop
  /// IR says the same (emit_instruction.cc).
  DotProducts,
  /// Of a processor: d[i, j] += sum over k of a[i, k] * b[k, j], else as DotProducts. Code is made
  /// from sum_matrix_products.
  MatrixProducts,
  /// d[i, j] += sum over k of a[i, k] * b[k, j], exact products summed in d's type in any order.
  /// Operands d, a, b.
  MultiplyAccumulate,
  /// Operands: to (Thread), from (Block), of any type of 16 bits. Matrices of 8 x 8, as many as
  /// to.per_lane / 2. Row r of matrix m is the 8 elements from the address that lane 8*m + r gives,
  /// a multiple of 16 bytes; lanes beyond give none.
  /// `to` holds matrix m in its elements 2*m and 2*m + 1, as the fragment says, which is that of
  /// one matrix.
  LoadMatrices,
  /// Operands: to (Block), from (Device). Starts a copy of `bytes`, which another thread's
  /// instruction sees only when it was waited for and a barrier passed.
  CopyAsync,
  /// What was started since belongs to one group of copies, of this thread.
  CommitCopies,
  /// Waits until of the groups of this thread at most `count` are on their way.
  WaitCopies,
  /// to = from of the lane whose number is this one's exclusive or the other operand.
  ExchangeLanes,
  /// to = f(from), an approximation.
  Approximate,
};

struct Instruction {
  const char *name;
  InstructionMeaning meaning;
  /// %0 stands for operand 0, and so on: {r0, r1} for several registers, [r] for an address; %n for
  /// the number that the statement gives.
  const char *ptx;
  std::vector<InstructionOperand> operands;
  int bytes = 0;               // CopyAsync
  bool is_convergent = false;  // all lanes of a warp run it together
  bool reads_memory = false, writes_memory = false;
  int least_ptx = 70, least_capability = 80;  // PTX 7.0, compute capability 8.0
  bool is_specific = false;                   // of sm_90a alone
  // Of processors:
  Target::Arch arch = Target::ArchUnknown;
  std::vector<Target::Feature> any_of{};  // it comes with each of these features
  /// MatrixProducts: so many terms of a column of b lie side by side, [k/group][n][group]. Where
  /// these are not all terms, the instruction takes its operands from rows in memory.
  int group = 0;
};

const std::vector<Instruction> &instructions();
/// Null where there is none of this name.
const Instruction *find_instruction(const std::string &name);

bool is_of_processor(const Instruction &i);
/// Does the processor have this instruction of a processor?
bool runs_on(const Instruction &i, const Target &target);

/// A matrix product's shape: d is m x n, a is m x k.
struct MatrixShape {
  int m, n, k;
};
MatrixShape matrix_shape(const Instruction &product);

}  // namespace polyhalite
