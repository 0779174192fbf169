// ops::matmul with the library's schedules against plain loops in double precision (integers:
// exact), on shapes that meet each kind of schedule and each kind of edge.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace polyhalite::matmul_test {
namespace {

struct Shape {
  int rows, columns, depth;
};

std::string text(const Shape &s) {
  return std::to_string(s.rows) + "x" + std::to_string(s.columns) + "x" + std::to_string(s.depth);
}

// Vectors that are partly masked, several tiles, rows that no tile divides, packed and unpacked
// operands, blocks of long sums, a matrix that is read once, one whose rows are pages apart, depths
// that no dot product divides.
const Shape kShapes[] = {
    {1, 1, 1},      {2, 3, 5},      {7, 7, 7},       {1, 64, 64},     {16, 16, 16},  {5, 17, 1},
    {33, 65, 17},   {13, 100, 31},  {64, 64, 64},    {23, 127, 40},   {19, 129, 60}, {100, 10, 70},
    {600, 70, 33},  {3, 300, 1024}, {6, 9, 4096},    {1, 1000, 1024}, {1, 515, 509}, {530, 200, 24},
    {2, 1021, 130}, {37, 3, 50},    {19, 1024, 300}, {17, 48, 45},    {41, 13, 52},  {20, 6, 31},
    {50, 9, 8},     {20, 10, 800},  {40, 5, 1003},
};

enum class Data { Noise, Cancelling };

// Cancelling: terms of a sum are 2^20 times larger than their sum.
template <typename T>
void fill(Buffer<T, 2> b, uint32_t seed, Data data) {
  std::mt19937 engine(seed);
  if constexpr (std::is_integral_v<T>) {
    std::uniform_int_distribution<int> values(std::numeric_limits<T>::min(),
                                              std::numeric_limits<T>::max());
    b.for_each_value([&](T &v) { v = static_cast<T>(values(engine)); });
  } else {
    std::uniform_real_distribution<double> values(-1, 1);
    int i = 0;
    b.for_each_value([&](T &v) {
      const double base = data == Data::Noise ? 0 : i++ % 2 == 0 ? 1024 : -1024;
      v = static_cast<T>(base + values(engine));
    });
  }
}

// LongEpilogue: more than a tile of registers is unrolled for. Strips: the right operand lies so.
enum class Form { Plain, Transposed, Epilogue, LongEpilogue, Batch, Strips, BatchOfStrips };

bool is_batch(Form f) { return f == Form::Batch || f == Form::BatchOfStrips; }

// Constants, or sizes that are known at run time only.
struct Sizes {
  Expr rows, columns, depth;
  Sizes(const Shape &s) : rows(s.rows), columns(s.columns), depth(s.depth) {}  // NOLINT
  Sizes(Expr r, Expr c, Expr d) : rows(std::move(r)), columns(std::move(c)), depth(std::move(d)) {}
};

// A product of the operands, as the library schedules it for the target. Strips have known columns.
template <typename C>
Func product(const ImageParam &left, const ImageParam &right, const Sizes &s, Form form,
             const Target &target, int strip_columns = 0) {
  const int images = is_batch(form) ? 3 : 1;
  // What is known of the sizes stays known: a product of constants is an expression.
  ops::Tensor x(left, {images == 1 ? s.rows : s.rows * images, s.depth});
  const ops::Tensor y = form == Form::Transposed
                            ? ops::transpose(ops::Tensor(right, {s.columns, s.depth}), {1, 0})
                            : ops::Tensor(right, {s.depth, s.columns});
  if (is_batch(form)) x = ops::reshape(x, {images, s.rows, s.depth});
  ops::Tensor c;
  if (form == Form::Strips || form == Form::BatchOfStrips) {
    const int width = ops::strip_width(strip_columns, type_of<C>(), target);
    const ops::Tensor strips = ops::kernel_strips(ops::transpose(y, {1, 0}), width);
    c = ops::matmul(x, ops::stored(strips, "strips"), strip_columns, type_of<C>());
  } else {
    c = ops::matmul(x, y, type_of<C>());
  }
  if (form == Form::Epilogue) {
    c = ops::elementwise(c, [](const Expr &e) { return max(e, cast(e.type(), 0)); });
  }
  if (form == Form::LongEpilogue) {
    c = ops::elementwise(c, [](const Expr &e) {
      Expr same = e;
      for (int i = 0; i < 16; i++) same = max(same, e - cast(e.type(), i));
      return same;
    });
  }
  return ops::materialize({c}, {"c"}, {{}}, target)[0];
}

// Operands and result of one shape.
template <typename A, typename B, typename C>
struct Example {
  Shape shape;
  Form form;
  int images;
  Buffer<A, 2> a;
  Buffer<B, 2> b;
  Buffer<C> result;

  Example(const Shape &s, Form f, Data data)
      : shape(s),
        form(f),
        images(is_batch(f) ? 3 : 1),
        a(s.depth, s.rows * images),
        b(f == Form::Transposed ? Buffer<B, 2>(s.depth, s.columns)
                                : Buffer<B, 2>(s.columns, s.depth)) {
    fill(a, 1, data);
    fill(b, 2, data);
  }

  void run(Func out, ImageParam left, ImageParam right, const Target &target) {
    left.set(a);
    right.set(b);
    result = is_batch(form) ? out.realize({shape.columns, shape.rows, images}, target)
                            : out.realize({shape.columns, shape.rows}, target);
  }

  // The largest error by the bound that holds for any order of the sum:
  // |error| <= depth * epsilon * sum of |terms|. Infinite where a value is none.
  double error() const {
    double worst = 0;
    for (int row = 0; row < shape.rows * images; row++) {
      for (int column = 0; column < shape.columns; column++) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < shape.depth; k++) {
          const double term =
              static_cast<double>(a(k, row)) *
              static_cast<double>(form == Form::Transposed ? b(k, column) : b(column, k));
          sum += term;
          magnitude += std::abs(term);
        }
        if (form == Form::Epilogue) sum = std::max(sum, 0.0);
        const double got = is_batch(form) ? result(column, row % shape.rows, row / shape.rows)
                                          : result(column, row);
        const double bound =
            std::is_integral_v<C>
                ? 0.5
                : shape.depth * double(std::numeric_limits<C>::epsilon()) * magnitude;
        if (!std::isfinite(got)) return std::numeric_limits<double>::infinity();
        worst = std::max(worst, std::abs(got - sum) / std::max(bound, 1e-300));
      }
    }
    return worst;
  }
};

template <typename A, typename B, typename C>
void expect_right(Form form, Data data, const Target &target,
                  const std::vector<Shape> &shapes = {std::begin(kShapes), std::end(kShapes)}) {
  for (const Shape &s : shapes) {
    ImageParam left(type_of<A>(), 2, "left"), right(type_of<B>(), 2, "right");
    Example<A, B, C> example(s, form, data);
    example.run(product<C>(left, right, s, form, target, s.columns), left, right, target);
    EXPECT_LE(example.error(), 1) << text(s) << " form " << static_cast<int>(form) << " for "
                                  << target.to_string();
  }
}

const Target &host() {
  static const Target target = get_jit_target_from_environment();
  return target;
}

TEST(matmul, float32) {
  for (const Data data : {Data::Noise, Data::Cancelling}) {
    expect_right<float, float, float>(Form::Plain, data, host());
  }
}

TEST(matmul, float64) {
  expect_right<double, double, double>(Form::Plain, Data::Cancelling, host());
}

// Blocks of the sums stand outside of the rows, where a strip of the right operand is larger than
// the second cache.
TEST(matmul, long_sums_of_few_results) {
  const std::vector<Shape> shapes = {{32, 64, 5000}, {64, 64, 4096}, {48, 192, 5120}};
  for (const Form form : {Form::Plain, Form::Transposed, Form::Epilogue}) {
    expect_right<float, float, float>(form, Data::Noise, host(), shapes);
    expect_right<double, double, double>(form, Data::Cancelling, host(), shapes);
  }
  const Target wide("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake");
  ImageParam left(Float(64), 2, "left"), right(Float(64), 2, "right");
  const std::string tree = product<double>(left, right, shapes[1], Form::Plain, wide)
                               .emit_text(Emit::tree, {left, right}, wide);
  EXPECT_NE(tree.find("    for product.s1.blocks serial reduction\n"
                      "      for product.s1.columns serial\n"
                      "        for product.s1.rows serial\n"),
            std::string::npos)
      << tree;
}

// Parts of a few of the right operand's rows stand outside of its columns; depths and columns that
// no block divides.
TEST(matmul, few_rows_of_a_large_matrix) {
  const std::vector<Shape> shapes = {
      {8, 2100, 2003}, {13, 1100, 4000}, {2, 4096, 1030}, {32, 1100, 2003}, {17, 2048, 1030}};
  for (const Form form : {Form::Plain, Form::LongEpilogue}) {
    expect_right<float, float, float>(form, Data::Noise, host(), shapes);
    expect_right<uint8_t, int8_t, int32_t>(
        form, Data::Noise, host(),
        {{8, 1100, 1000}, {15, 1030, 1021}, {3, 2048, 514}, {32, 1100, 1004}});
  }
  expect_right<double, double, double>(Form::Plain, Data::Cancelling, host(), {{7, 1536, 1400}});
  const Target wide("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake");
  ImageParam left(Float(32), 2, "left"), right(Float(32), 2, "right");
  const std::string tree = product<float>(left, right, shapes[0], Form::Plain, wide)
                               .emit_text(Emit::tree, {left, right}, wide);
  EXPECT_NE(tree.find("  for product.s1.blocks serial reduction\n"), std::string::npos) << tree;
  EXPECT_NE(tree.find("prefetch right at product_intm.s1.term from product.s1.columns by 1 "),
            std::string::npos)
      << tree;
  const std::string near = product<float>(left, right, {40, 1024, 256}, Form::Plain, wide)
                               .emit_text(Emit::tree, {left, right}, wide);
  EXPECT_NE(near.find("prefetch right at product.s1.k from "), std::string::npos) << near;
  EXPECT_NE(near.find(".s0.columns by 1 NonFaulting\n"), std::string::npos) << near;
}

// Of no number of columns or terms are bytes multiplied one by one.
TEST(matmul, bytes_of_few_columns_and_odd_terms_take_dot_products) {
  const Target vnni("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake-avx512_zen4");
  ImageParam left(UInt(8), 2, "left"), right(Int(8), 2, "right");
  for (const Shape &s : {Shape{750, 2, 126}, Shape{1204, 3, 68}, Shape{5, 596, 38}}) {
    const std::string tree = product<int32_t>(left, right, s, Form::Plain, vnni)
                                 .emit_text(Emit::tree, {left, right}, vnni);
    EXPECT_NE(tree.find("product.s1 tensorize \"vpdpbusd"), std::string::npos) << tree;
    const bool rest = s.depth % 4 != 0;
    EXPECT_EQ(tree.find("product.s2 tensorize \"vpdpbusd") != std::string::npos, rest) << tree;
  }
}

// With vectors of 256 bits large operands go in panels; rows and columns that no panel divides.
const char *const kAvx2 = "x86-64-linux-sse41-avx-avx2-fma-f16c";
const std::vector<Shape> kInPanels = {
    {100, 1031, 2048}, {32, 2100, 1024}, {1027, 131, 2048}, {130, 1100, 2000}};

TEST(matmul, large_operands_go_in_panels) {
  const Target avx2(kAvx2);
  ImageParam left(Float(32), 2, "left"), right(Float(32), 2, "right");
  for (const Shape &s : kInPanels) {
    const std::string tree = product<float>(left, right, s, Form::Plain, avx2)
                                 .emit_text(Emit::tree, {left, right}, avx2);
    EXPECT_NE(tree.find("product.s1.row_blocks serial\n"), std::string::npos) << tree;
  }
}

// Bytes of a few rows, widened as a panel is packed: tiles that divide the rows, and rows that none
// does.
const std::vector<Shape> kBytesInPanels = {{32, 2100, 2048}, {40, 1040, 4096}, {37, 4100, 1024}};

TEST(matmul, bytes_of_few_rows_go_in_panels) {
  const Target avx2(kAvx2);
  ImageParam left(UInt(8), 2, "left"), right(Int(8), 2, "right");
  for (const Shape &s : kBytesInPanels) {
    const std::string tree = product<int32_t>(left, right, s, Form::Plain, avx2)
                                 .emit_text(Emit::tree, {left, right}, avx2);
    EXPECT_NE(tree.find("product.s1.row_blocks serial\n"), std::string::npos) << tree;
    EXPECT_NE(tree.find("tensorize \"vpmaddwd_256\""), std::string::npos) << tree;
  }
}

TEST(matmul, panels_of_bytes) {
  const Target avx2(kAvx2);
  if (!host().has_feature(Target::AVX2)) GTEST_SKIP() << "this machine has no AVX2";
  for (const Form form : {Form::Plain, Form::LongEpilogue}) {
    expect_right<uint8_t, int8_t, int32_t>(form, Data::Noise, avx2, kBytesInPanels);
  }
}

TEST(matmul, panels_of_large_operands) {
  const Target avx2(kAvx2);
  if (!host().has_feature(Target::AVX2)) GTEST_SKIP() << "this machine has no AVX2";
  for (const Form form : {Form::Plain, Form::LongEpilogue}) {
    expect_right<float, float, float>(form, Data::Noise, avx2, kInPanels);
  }
  expect_right<double, double, double>(Form::Plain, Data::Cancelling, avx2, {{40, 1100, 1000}});
}

// Exact products, summed in float32.
TEST(matmul, float16) {
  for (const Form form : {Form::Plain, Form::Transposed, Form::Epilogue, Form::Batch}) {
    expect_right<float16_t, float16_t, float>(form, Data::Noise, host());
  }
  expect_right<float, float16_t, float>(Form::Plain, Data::Noise, host());
}

TEST(matmul, forms) {
  for (const Form form : {Form::Transposed, Form::Epilogue, Form::LongEpilogue, Form::Batch,
                          Form::Strips, Form::BatchOfStrips}) {
    expect_right<float, float, float>(form, Data::Noise, host());
  }
  expect_right<double, double, double>(Form::Strips, Data::Cancelling, host());
}

TEST(matmul, integers_are_exact) {
  expect_right<uint8_t, int8_t, int32_t>(Form::Plain, Data::Noise, host());
  expect_right<int8_t, uint8_t, int32_t>(Form::Transposed, Data::Noise, host());
  expect_right<int8_t, int8_t, int32_t>(Form::Epilogue, Data::Noise, host());
  expect_right<uint8_t, uint8_t, int32_t>(Form::Batch, Data::Noise, host());
}

// The schedule asks for the dot product that the target has.
// Not with each use, where processors have no dot products of bytes.
TEST(matmul, bytes_are_widened_once) {
  const Target avx2(kAvx2);
  ImageParam left(UInt(8), 2, "left"), right(Int(8), 2, "right");
  const Func out = product<int32_t>(left, right, Shape{64, 64, 64}, Form::Plain, avx2);
  const std::string tree = out.emit_text(Emit::tree, {left, right}, avx2);
  for (const char *part : {"allocate left_in_product_int16\n", "tensorize \"vpmaddwd_256\""}) {
    EXPECT_NE(tree.find(part), std::string::npos) << tree;
  }
  const std::string assembly = out.emit_text(Emit::assembly, {left, right}, avx2);
  const size_t first = assembly.find("vpmaddwd"), last = assembly.rfind("vpmaddwd");
  EXPECT_EQ(assembly.substr(first, last - first).find("vpmovsx"), std::string::npos) << assembly;
}

TEST(matmul, bytes_take_dot_products) {
  struct Case {
    const char *target, *word;
  };
  const Case cases[] = {
      {"x86-64-linux-sse41-avx-avx2-fma-avx512_skylake-avx512_zen4", "vpdpbusd"},
      {"x86-64-linux-sse41-avx-avx2-fma", "vpmaddwd"},
      {"arm-64-linux-armv86a", "usdot"},
      {"arm-64-linux-arm_dot_prod", "sdot"},
  };
  for (const Case &c : cases) {
    ImageParam left(UInt(8), 2, "left"), right(Int(8), 2, "right");
    const Func out =
        product<int32_t>(left, right, Shape{64, 64, 64}, Form::Plain, Target(c.target));
    const std::string assembly = out.emit_text(Emit::assembly, {left, right}, Target(c.target));
    EXPECT_NE(assembly.find(c.word), std::string::npos) << c.target << "\n" << assembly;
    // So does that for any sizes.
    const Param<int> rows("rows"), columns("columns"), depth("depth");
    const Func open =
        product<int32_t>(left, right, Sizes(rows, columns, depth), Form::Plain, Target(c.target));
    const std::string any =
        open.emit_text(Emit::assembly, {left, right, rows, columns, depth}, Target(c.target));
    EXPECT_NE(any.find(c.word), std::string::npos) << c.target << "\n" << any;
  }
}

// The right operand's columns, four rows of them, are one instruction; also where the last terms
// are no whole dot product.
TEST(matmul, columns_of_bytes_are_one_instruction) {
  const Target target("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake-avx512_zen4");
  for (const int depth : {64, 67}) {
    ImageParam left(UInt(8), 2, "left"), right(Int(8), 2, "right");
    const Func out = product<int32_t>(left, right, Shape{64, 64, depth}, Form::Plain, target);
    const std::string assembly = out.emit_text(Emit::assembly, {left, right}, target);
    EXPECT_NE(assembly.find("vpermb"), std::string::npos) << depth << "\n" << assembly;
    EXPECT_EQ(assembly.find("vpunpcklbw"), std::string::npos) << depth << "\n" << assembly;
  }
}

// Zero points of rows and of columns, of either operand alone, and of none.
TEST(matmul, quantized_forms_are_exact) {
  const Shape s = {19, 33, 45};
  for (const bool has_left : {false, true}) {
    for (const bool has_right : {false, true}) {
      Buffer<uint8_t, 2> a(s.depth, s.rows), left_point(1, s.rows);
      Buffer<int8_t, 2> b(s.columns, s.depth);
      Buffer<int8_t, 1> right_point(s.columns);
      fill(a, 1, Data::Noise);
      fill(b, 2, Data::Noise);
      fill(left_point, 3, Data::Noise);
      right_point.for_each_element(
          [&](int n) { right_point(n) = static_cast<int8_t>(n * 7 - 90); });
      ImageParam left(UInt(8), 2, "left"), right(Int(8), 2, "right");
      ImageParam left_at(UInt(8), 2, "left_at"), right_at(Int(8), 1, "right_at");
      left.set(a);
      right.set(b);
      left_at.set(left_point);
      right_at.set(right_point);
      const ops::Tensor c =
          ops::quantized_matmul(ops::Tensor(left, {s.rows, s.depth}),
                                has_left ? ops::Tensor(left_at, {s.rows, 1}) : ops::Tensor(),
                                ops::Tensor(right, {s.depth, s.columns}),
                                has_right ? ops::Tensor(right_at, {s.columns}) : ops::Tensor());
      const Buffer<int32_t> result =
          ops::materialize({c}, {"c"}, {{}}, host())[0].realize({s.columns, s.rows}, host());
      for (int row = 0; row < s.rows; row++) {
        for (int column = 0; column < s.columns; column++) {
          int sum = 0;
          for (int k = 0; k < s.depth; k++) {
            sum += (a(k, row) - (has_left ? left_point(0, row) : 0)) *
                   (b(column, k) - (has_right ? right_point(column) : 0));
          }
          ASSERT_EQ(result(column, row), sum) << row << " " << column;
        }
      }
    }
  }
}

// Vectors of other widths, with and without masks. Code is made for each machine; it runs where
// this one has all that it needs.
struct Machine {
  const char *name;
  Target::Arch arch;
  std::vector<Target::Feature> features;
  const char *multiplies;  // four floats or more at once, in words of the assembly
  const char *registers;
  const char *absent;  // registers of other machines; may be empty
};

class OtherMachines : public testing::TestWithParam<Machine> {};

TEST_P(OtherMachines, get_products_of_their_own) {
  const Machine &machine = GetParam();
  const Target target(host().os, machine.arch, 64, machine.features);
  ImageParam left(Float(32), 2, "left"), right(Float(32), 2, "right");
  const Func out = product<float>(left, right, Shape{33, 65, 17}, Form::Plain, target);
  const std::string assembly = out.emit_text(Emit::assembly, {left, right}, target);
  EXPECT_NE(assembly.find(machine.multiplies), std::string::npos) << assembly;
  EXPECT_NE(assembly.find(machine.registers), std::string::npos) << assembly;
  if (*machine.absent) {
    EXPECT_EQ(assembly.find(machine.absent), std::string::npos) << assembly;
  }
  if (target.arch == host().arch && host().features_all_of(machine.features)) {
    expect_right<float, float, float>(Form::Plain, Data::Noise, target);
  }
}

INSTANTIATE_TEST_SUITE_P(
    matmul, OtherMachines,
    testing::Values(Machine{"sse41", Target::X86, {Target::SSE41}, "mulps", "%xmm", "%ymm"},
                    Machine{"avx2",
                            Target::X86,
                            {Target::SSE41, Target::AVX, Target::AVX2, Target::FMA, Target::F16C},
                            "vfmadd",
                            "%ymm",
                            "%zmm"},
                    Machine{"avx512", Target::X86, {Target::AVX512_Skylake}, "vfmadd", "%zmm", ""},
                    Machine{"neon", Target::ARM, {}, "fmla", ".4s", "z0."}),
    [](const auto &info) { return std::string(info.param.name); });

// Each class of sizes, and its edges: a vector with a large matrix, strips that are packed, that
// lie on many pages, rows from 1 to a tile and more, few columns, very few, hardly anything.
const Shape kOpenShapes[] = {
    {1, 256, 512}, {1, 300, 1100}, {1, 64, 64},   {1, 63, 40},     {2, 64, 3},      {3, 200, 17},
    {4, 64, 5},    {5, 130, 66},   {24, 64, 7},   {23, 1024, 256}, {24, 1024, 256}, {25, 1024, 257},
    {512, 64, 33}, {515, 70, 40},  {8, 16, 9},    {8, 17, 30},     {9, 63, 129},    {8, 4, 4},
    {67, 15, 21},  {8, 3, 128},    {100, 1, 300}, {31, 2, 511},    {7, 7, 7},       {1, 1, 1},
    {2, 3, 5},     {7, 63, 10},    {40, 3, 20},   {200, 65, 30},   {9, 16, 3},      {100, 13, 37},
    {3, 16, 5},    {11, 1, 1},     {50, 5, 700},  {1, 4500, 520},  {8, 64, 9},      {13, 130, 70},
    {9, 32, 7},    {20, 47, 9},    {1, 28, 70},   {1, 33, 9},      {1, 1, 5},       {2, 31, 40},
    {7, 33, 12},   {5, 70, 9},     {6, 64, 30},   {9, 96, 20},     {70, 97, 12},    {12, 3, 50},
    {9, 2, 66},    {6, 200, 11},   {2, 20, 30},   {2, 50, 9},      {5, 39, 50},     {6, 20, 13},
    {7, 50, 30},   {17, 8, 14},    {54, 7, 39},   {9, 5, 3},       {52, 41, 15},    {13, 33, 10},
    {8, 48, 6},    {3, 61, 20},    {1, 96, 47},   {1, 127, 9},     {520, 76, 11},   {200, 73, 5},
    {1, 128, 20},  {1, 61, 45},
};

// One compilation for all sizes, or for any number of rows.
template <typename A, typename B, typename C>
void expect_open_sizes_right(Form form, bool only_rows, const Target &target = host()) {
  Param<int> rows("rows"), columns("columns"), depth("depth");
  ImageParam left(type_of<A>(), 2, "left"), right(type_of<B>(), 2, "right");
  Func open;
  if (!only_rows) open = product<C>(left, right, Sizes(rows, columns, depth), form, target);
  for (const Shape &s : kOpenShapes) {
    rows.set(s.rows);
    columns.set(s.columns);
    depth.set(s.depth);
    Func out = only_rows ? product<C>(left, right, Sizes(rows, s.columns, s.depth), form, target,
                                      s.columns)
                         : open;
    Example<A, B, C> example(s, form, Data::Noise);
    example.run(out, left, right, target);
    EXPECT_LE(example.error(), 1) << text(s) << " form " << static_cast<int>(form);
  }
}

TEST(matmul, open_sizes) {
  for (const Form form :
       {Form::Plain, Form::Transposed, Form::Epilogue, Form::LongEpilogue, Form::Batch}) {
    expect_open_sizes_right<float, float, float>(form, false);
  }
  expect_open_sizes_right<double, double, double>(Form::Plain, false);
  expect_open_sizes_right<uint8_t, int8_t, int32_t>(Form::Plain, false);
}

// Without loads under masks; with 16 registers.
TEST(matmul, open_sizes_on_old_machines) {
  if (host().arch != Target::X86) GTEST_SKIP() << "the machine runs no code for SSE4.1";
  const Target old(host().os, Target::X86, 64, {Target::SSE41});
  expect_open_sizes_right<float, float, float>(Form::Plain, false, old);
  if (!host().has_feature(Target::AVX2)) return;
  const Target avx2(host().os, Target::X86, 64,
                    {Target::SSE41, Target::AVX, Target::AVX2, Target::FMA, Target::F16C});
  expect_open_sizes_right<float, float, float>(Form::Plain, false, avx2);
}

TEST(matmul, open_rows) {
  expect_open_sizes_right<float, float, float>(Form::Plain, true);
  expect_open_sizes_right<float, float, float>(Form::Transposed, true);
  expect_open_sizes_right<float, float, float>(Form::Strips, true);
  expect_open_sizes_right<double, double, double>(Form::Epilogue, true);
  expect_open_sizes_right<uint8_t, int8_t, int32_t>(Form::Plain, true);
}

// Two products of open sizes in one pipeline: neither runs inside of the output's tiles.
TEST(matmul, open_sizes_beside_each_other) {
  Param<int> rows("rows"), columns("columns"), depth("depth");
  ImageParam left(Float(32), 2, "left"), right(Float(32), 2, "right");
  const ops::Tensor x(left, {rows, depth}), y(right, {depth, columns});
  const ops::Tensor sum = ops::add(ops::matmul(x, y), ops::matmul(x, y));
  Func out = ops::materialize({sum}, {"sum"}, {{}}, host())[0];
  for (const Shape &s : kOpenShapes) {
    rows.set(s.rows);
    columns.set(s.columns);
    depth.set(s.depth);
    Example<float, float, float> example(s, Form::Plain, Data::Noise);
    example.run(out, left, right, host());
    example.result.for_each_value([](float &v) { v /= 2; });
    EXPECT_LE(example.error(), 1) << text(s);
  }
}

}  // namespace
}  // namespace polyhalite::matmul_test
