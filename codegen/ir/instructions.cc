#include "codegen/ir/instructions.h"

#include <algorithm>
#include <utility>

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

Instruction of_processor(const char *name, InstructionMeaning meaning, const MatrixShape &shape,
                         const std::array<Type, 3> &types, Target::Arch arch,
                         std::vector<Target::Feature> any_of) {
  auto matrix = [](int rows, int columns) {
    Fragment f;
    f.rows = rows;
    f.columns = columns;
    f.per_lane = rows * columns;
    return f;
  };
  const auto [m, n, k] = shape;
  Instruction i{name,
                meaning,
                "",
                {{"d", Home::Stack, types[0], true, true, matrix(m, n)},
                 {"a", Home::Stack, types[1], true, false, matrix(m, k)},
                 {"b", Home::Stack, types[2], true, false, matrix(k, n)}}};
  i.arch = arch;
  i.any_of = std::move(any_of);
  return i;
}

Instruction dot_products(const char *name, Type sum, Type a, Type b, int n, int k,
                         Target::Arch arch, std::vector<Target::Feature> any_of) {
  return of_processor(name, InstructionMeaning::DotProducts, {1, n, k}, {sum, a, b}, arch,
                      std::move(any_of));
}

Instruction matrix_products(const char *name, Type sum, Type a, Type b, const MatrixShape &shape,
                            int group, Target::Arch arch, std::vector<Target::Feature> any_of) {
  Instruction i = of_processor(name, InstructionMeaning::MatrixProducts, shape, {sum, a, b}, arch,
                               std::move(any_of));
  i.group = group;
  return i;
}

// Tiles first, then the longest vectors.
std::vector<Instruction> processor_table() {
  const Type s32 = Int(32), s16 = Int(16), u8 = UInt(8), s8 = Int(8), f32 = Float(32);
  const Type bf16 = BFloat(16);
  const Target::Arch x86 = Target::X86, arm = Target::ARM;
  using Features = std::vector<Target::Feature>;
  auto with = [](Features features, const Features &more) {
    features.insert(features.end(), more.begin(), more.end());
    return features;
  };
  const Features dots = {Target::AVX512_Zen4, Target::AVX512_SapphireRapids};
  const Features short_dots = with(dots, {Target::AVXVNNI});
  const Features avx512 = with(dots, {Target::AVX512_Skylake, Target::AVX512_Cannonlake});
  const Features avx2 = with(avx512, {Target::AVX2}), sse41 = with(avx2, {Target::SSE41});
  // Version 8.4 has dot products, 8.6 those of mixed signs and of bfloat16.
  const Features arm86 = {Target::ARMv86a, Target::ARMv87a, Target::ARMv88a, Target::ARMv89a};
  const Features arm84 = with(arm86, {Target::ARMDotProd, Target::ARMv84a, Target::ARMv85a});
  const Features tiles = {Target::AVX512_SapphireRapids};
  const MatrixShape bytes16 = {16, 16, 64}, pairs16 = {16, 16, 32}, bytes2 = {2, 2, 8},
                    pairs2 = {2, 2, 4};
  return {
      matrix_products("tdpbusd", s32, u8, s8, bytes16, 4, x86, tiles),
      matrix_products("tdpbssd", s32, s8, s8, bytes16, 4, x86, tiles),
      matrix_products("tdpbsud", s32, s8, u8, bytes16, 4, x86, tiles),
      matrix_products("tdpbuud", s32, u8, u8, bytes16, 4, x86, tiles),
      matrix_products("tdpbf16ps", f32, bf16, bf16, pairs16, 2, x86, tiles),
      dot_products("vpdpbusd_512", s32, u8, s8, 16, 4, x86, dots),
      dot_products("vpdpbusd_256", s32, u8, s8, 8, 4, x86, short_dots),
      dot_products("vpdpbusd_128", s32, u8, s8, 4, 4, x86, short_dots),
      // Bytes are widened to 16 bits: maddubs would be one instruction, and saturates.
      dot_products("vpmaddwd_u8s8_512", s32, u8, s8, 16, 4, x86, avx512),
      dot_products("vpmaddwd_u8s8_256", s32, u8, s8, 8, 4, x86, avx2),
      dot_products("pmaddwd_u8s8_128", s32, u8, s8, 4, 4, x86, sse41),
      dot_products("vpmaddwd_512", s32, s16, s16, 16, 2, x86, avx512),
      dot_products("vpmaddwd_256", s32, s16, s16, 8, 2, x86, avx2),
      dot_products("pmaddwd_128", s32, s16, s16, 4, 2, x86, sse41),
      dot_products("vdpbf16ps_512", f32, bf16, bf16, 16, 2, x86, dots),
      dot_products("vdpbf16ps_256", f32, bf16, bf16, 8, 2, x86, dots),
      dot_products("vdpbf16ps_128", f32, bf16, bf16, 4, 2, x86, dots),
      dot_products("sdot", s32, s8, s8, 4, 4, arm, arm84),
      dot_products("udot", s32, u8, u8, 4, 4, arm, arm84),
      dot_products("usdot", s32, u8, s8, 4, 4, arm, arm86),
      dot_products("bfdot", f32, bf16, bf16, 4, 2, arm, arm86),
      matrix_products("smmla", s32, s8, s8, bytes2, 8, arm, arm86),
      matrix_products("ummla", s32, u8, u8, bytes2, 8, arm, arm86),
      matrix_products("usmmla", s32, u8, s8, bytes2, 8, arm, arm86),
      matrix_products("bfmmla", f32, bf16, bf16, pairs2, 4, arm, arm86),
  };
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
  for (Instruction &i : processor_table()) table.push_back(std::move(i));
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

bool is_of_processor(const Instruction &i) {
  return i.meaning == InstructionMeaning::DotProducts ||
         i.meaning == InstructionMeaning::MatrixProducts;
}

bool runs_on(const Instruction &i, const Target &target) {
  if (target.arch != i.arch) return false;
  if (i.meaning == InstructionMeaning::MatrixProducts && target.bits != 64) return false;
  return std::any_of(i.any_of.begin(), i.any_of.end(),
                     [&](Target::Feature f) { return target.has_feature(f); });
}

MatrixShape matrix_shape(const Instruction &i) {
  const Fragment &d = i.operands[0].fragment, &a = i.operands[1].fragment;
  return {d.rows, d.columns, a.columns};
}

}  // namespace polyhalite
