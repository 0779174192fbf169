#include "codegen/ir/instructions.h"

namespace polyhalite {

namespace {

// Pairs of columns go over 4 lanes, rows over 8; further rows and columns over elements.
constexpr std::array<MatrixPlace, 5> kRowsOverLanes = {{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}};
constexpr std::array<MatrixPlace, 5> kColumnsOverLanes = {{{2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}}};

constexpr Fragment kAccumulator16x8 = {16, 8, 4, kRowsOverLanes, {{{0, 1}, {8, 0}, {}}}};
constexpr Fragment kLeft16x16 = {16, 16, 8, kRowsOverLanes, {{{0, 1}, {8, 0}, {0, 8}}}};
constexpr Fragment kRight16x8 = {16, 8, 4, kColumnsOverLanes, {{{1, 0}, {8, 0}, {}}}};
constexpr Fragment kMatrix8x8 = {8, 8, 2, kRowsOverLanes, {{{0, 1}, {}, {}}}};
constexpr Fragment kTransposed8x8 = {8, 8, 2, kColumnsOverLanes, {{{1, 0}, {}, {}}}};

Fragment one_per_lane() { return {1, 32, 1, {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}}}, {}}; }

Instruction multiply_accumulate(const char *name, const char *ptx, Type in) {
  Instruction i{name,
                InstructionMeaning::MultiplyAccumulate,
                ptx,
                {{"d", Home::Thread, Float(32), true, true, kAccumulator16x8},
                 {"a", Home::Thread, in, true, false, kLeft16x16},
                 {"b", Home::Thread, in, true, false, kRight16x8}}};
  i.is_convergent = true;
  return i;
}

Instruction load_matrices(const char *name, const char *ptx, int matrices, bool transposed) {
  Fragment to = transposed ? kTransposed8x8 : kMatrix8x8;
  to.per_lane = 2 * matrices;
  Instruction i{name,
                InstructionMeaning::LoadMatrices,
                ptx,
                {{"to", Home::Thread, Float(16), false, true, to},
                 {"from", Home::Block, Float(16), true, false}}};
  i.is_convergent = true;
  i.reads_memory = true;
  return i;
}

Instruction copy_async(const char *name, const char *ptx, int bytes) {
  Instruction i{
      name,
      InstructionMeaning::CopyAsync,
      ptx,
      {{"to", Home::Block, UInt(8), false, true}, {"from", Home::Device, UInt(8), true, false}}};
  i.bytes = bytes;
  i.reads_memory = i.writes_memory = true;
  return i;
}

Instruction copy_control(const char *name, InstructionMeaning meaning, const char *ptx) {
  Instruction i{name, meaning, ptx, {}};
  i.reads_memory = i.writes_memory = true;
  return i;
}

Instruction approximate(const char *name, const char *ptx) {
  return {name,
          InstructionMeaning::Approximate,
          ptx,
          {{"to", Home::Thread, Float(32), false, true, one_per_lane()},
           {"from", Home::Thread, Float(32), true, false, one_per_lane()}}};
}

std::vector<Instruction> make_table() {
  std::vector<Instruction> table = {
      multiply_accumulate("mma_m16n8k16_f16_f32",
                          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %0, %1, %2, %0;",
                          Float(16)),
      multiply_accumulate("mma_m16n8k16_bf16_f32",
                          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 %0, %1, %2, %0;",
                          BFloat(16)),
      load_matrices("ldmatrix_x2", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 %0, %1;", 2, false),
      load_matrices("ldmatrix_x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 %0, %1;", 4, false),
      load_matrices("ldmatrix_x2_trans", "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 %0, %1;",
                    2, true),
      load_matrices("ldmatrix_x4_trans", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 %0, %1;",
                    4, true),
      copy_async("cp_async_4", "cp.async.ca.shared.global %0, %1, 4;", 4),
      copy_async("cp_async_8", "cp.async.ca.shared.global %0, %1, 8;", 8),
      copy_async("cp_async_16", "cp.async.cg.shared.global %0, %1, 16;", 16),
      copy_control("cp_async_commit", InstructionMeaning::CommitCopies, "cp.async.commit_group;"),
      copy_control("cp_async_wait", InstructionMeaning::WaitCopies, "cp.async.wait_group %n;"),
      {"shfl_bfly",
       InstructionMeaning::ExchangeLanes,
       "shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;",
       {{"to", Home::Thread, UInt(32), false, true, one_per_lane()},
        {"from", Home::Thread, UInt(32), true, false, one_per_lane()},
        {"mask", Home::Thread, UInt(32), true, false, one_per_lane()}}},
      approximate("ex2_approx", "ex2.approx.ftz.f32 %0, %1;"),
      approximate("lg2_approx", "lg2.approx.ftz.f32 %0, %1;"),
      approximate("rcp_approx", "rcp.approx.ftz.f32 %0, %1;"),
      approximate("rsqrt_approx", "rsqrt.approx.ftz.f32 %0, %1;"),
      approximate("sin_approx", "sin.approx.ftz.f32 %0, %1;"),
      approximate("cos_approx", "cos.approx.ftz.f32 %0, %1;"),
      approximate("tanh_approx", "tanh.approx.f32 %0, %1;"),
  };
  for (Instruction &i : table) {
    if (i.meaning == InstructionMeaning::ExchangeLanes) i.is_convergent = true;
  }
  return table;
}

}  // namespace

MatrixPlace Fragment::at(int lane, int element) const {
  MatrixPlace place;
  auto add = [&](int number, const MatrixPlace *bits, size_t count) {
    for (size_t i = 0; i < count; i++) {
      if (!(number >> i & 1)) continue;
      place.row += bits[i].row;
      place.column += bits[i].column;
    }
  };
  add(lane, lane_bits.data(), lane_bits.size());
  add(element, element_bits.data(), element_bits.size());
  return place;
}

const std::vector<Instruction> &instructions() {
  static const std::vector<Instruction> table = make_table();
  return table;
}

const Instruction *find_instruction(const std::string &name) {
  for (const Instruction &i : instructions()) {
    if (name == i.name) return &i;
  }
  return nullptr;
}

MatrixShape matrix_shape(const Instruction &i) {
  const Fragment &d = i.operands[0].fragment, &a = i.operands[1].fragment;
  return {d.rows, d.columns, a.columns};
}

}  // namespace polyhalite
