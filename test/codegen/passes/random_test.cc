// Random functions mean the same before and after every pass, to the bit.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/ir/text.h"
#include "codegen/oracle/interpret_ir.h"
#include "codegen/passes/pass.h"
#include "polyhalite/error.h"
#include "test/codegen/random_ir.h"
#include "test/codegen/test_buffer.h"

namespace polyhalite::random_test {
namespace {

struct Sizes {
  std::vector<TestBuffer::Extent> in, out;
  int32_t k, gap;
};

Sizes random_sizes(std::mt19937_64 &random) {
  auto below = [&](int n) { return static_cast<int32_t>(random() % static_cast<uint64_t>(n)); };
  Sizes s;
  for (int d = 0; d < 2; d++) {
    s.in.push_back({below(9) - 4, 8 + below(20)});
    s.out.push_back({below(9) - 4, 8 + below(d ? 12 : 40)});
  }
  s.k = below(10);
  s.gap = below(4);
  return s;
}

std::vector<uint8_t> run(const Function &f, Type t, const Sizes &sizes, ParallelOrder order) {
  TestBuffer in(t, sizes.in, sizes.gap), out(t, sizes.out, sizes.gap);
  std::mt19937_64 random(7);
  for (size_t i = 0; i < in.bytes().size() / static_cast<size_t>(t.bytes()); i++) {
    const uint8_t v = static_cast<uint8_t>(random() % 16);
    if (t.is_float()) {
      in.elements<float>()[i] = static_cast<float>(v) / 4;
    } else {
      in.bytes()[i * static_cast<size_t>(t.bytes())] = v;
    }
  }
  IrArguments args;
  args.buffers = {{"in", in.raw()}, {"out", out.raw()}};
  args.scalars = {{"k", Expr(sizes.k)}};
  interpret_ir(f, args, {order, 3, {}});
  return out.bytes();
}

// The interpreter allocates for every value, which sanitizers make slow.
#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kSeeds = 6;
#else
constexpr uint64_t kSeeds = 40;
#endif

class RandomPasses : public testing::TestWithParam<const char *> {};

TEST_P(RandomPasses, KeepMeaning) {
  const std::string type = GetParam();
  const Type t = type == "int32" ? Int(32) : type == "uint8" ? UInt(8) : Float(32);
  uint64_t vectors = 0, cuts = 0;
  for (uint64_t seed = 1; seed <= kSeeds; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string text = RandomIr(seed, type).function();
    std::mt19937_64 random(seed);
    const Sizes sizes = random_sizes(random);
    try {
      const Function f = parse_function(text);
      const std::vector<uint8_t> expected = run(f, t, sizes, ParallelOrder::Forward);
      PassOptions options;
      options.verify = true;
      bool good = true;
      options.after = [&](const char *pass, const Function &g) {
        if (!good) return;
        const std::string printed = to_text(g);
        good = to_text(parse_function(printed)) == printed;
        EXPECT_TRUE(good) << "after " << pass << " the text does not read back:\n" << printed;
        for (ParallelOrder order : {ParallelOrder::Reverse, ParallelOrder::Shuffled}) {
          good = good && run(g, t, sizes, order) == expected;
        }
        EXPECT_TRUE(good) << "differs after " << pass << "\n"
                          << to_text(f) << "becomes\n"
                          << printed;
        vectors += printed.find("ramp(") != std::string::npos;
        cuts += printed.find(".steady.") != std::string::npos;
      };
      run_passes(f, Target(), options);
      if (!good) return;
    } catch (const Error &e) {
      FAIL() << e.what() << "\n" << text;
    }
  }
  // The functions are such that passes have something to do.
  EXPECT_GT(vectors, kSeeds * 3 / 4);
  EXPECT_GT(cuts, kSeeds * 3 / 4);
}

INSTANTIATE_TEST_SUITE_P(Types, RandomPasses, testing::Values("int32", "uint8", "float32"),
                         [](const auto &info) { return std::string(info.param); });

}  // namespace
}  // namespace polyhalite::random_test
