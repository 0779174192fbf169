// Extern stages in definitions. Their values are calls
//
//   extern<uint8>(extern_stage, "flip", 0, intrinsic<handle>(extern_buffer, f(index...)), 3, ...)
//
// of the C function "flip": value 0 of what it computes from Func f and the scalar 3. Indices are
// intrinsic<int32>(extern_index): any that the function may read, which it says when it is asked
// with buffers without memory. The function returns 0, or an error code.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/algorithm.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// One C argument of an extern stage.
struct ExternOperand {
  const CallNode *buffer = nullptr;  // of Func or image, one of its values; null for a scalar
  Expr scalar;
};

/// The call that is the stage's first value; null where no function of the program computes it.
const CallNode *as_extern_stage(const StageDef &stage);
inline bool is_extern_stage(const StageDef &stage) { return as_extern_stage(stage) != nullptr; }
const CallNode *as_extern_stage(const Expr &value);
/// The call that computes the Func, in every branch of its stage that does not fail; null where it
/// is no extern stage.
const CallNode *extern_stage_of(const FuncDef &f);
/// The name of the function: of C, or of C++ with its namespaces ("a::f", "::f"). After
/// resolve_target its symbol.
const std::string &extern_function(const CallNode &stage);
/// The symbol of the function, which writes as many buffers as the stage has `values`.
std::string extern_stage_symbol(const CallNode &stage, size_t values, const Target &target);
/// Its arguments but the outputs, in order.
std::vector<ExternOperand> extern_operands(const CallNode &stage);

/// extern_buffer of value i of the Func or image that `call` reads, for extern stages' arguments.
Expr extern_buffer(const std::vector<Expr> &calls);
/// `count` indices that stand for any.
std::vector<Expr> extern_indices(int count);

// What loop IR passes to the C function: see codegen/README.md.
/// A buffer over a box of elements. `at(indices)` makes an access.
template <typename At>
Expr buffer_view(const std::vector<Expr> &mins, const std::vector<Expr> &extents, At at);
/// A buffer without memory, to be asked about; `box` (min, extent, min...) may be empty.
Expr buffer_query(Type t, int dimensions, const std::vector<Expr> &box);

Expr extern_call_node(Type t, const char *name, std::vector<Expr> args);

template <typename At>
Expr buffer_view(const std::vector<Expr> &mins, const std::vector<Expr> &extents, At at) {
  std::vector<Expr> args = {at(mins)};
  for (size_t d = 0; d < mins.size(); d++) {
    std::vector<Expr> next = mins;
    next[d] = make_binary(Op::Add, mins[d], make_int(Int(32), 1));
    args.insert(args.end(), {mins[d], extents[d], at(next)});
  }
  return extern_call_node(Handle(), intrinsic::kBufferView, std::move(args));
}

}  // namespace polyhalite
