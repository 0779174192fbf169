// Loops over triangles and phases mean the same before and after the passes that cut, trim, expand
// and carry, to the bit: the inputs of these passes' golden texts, for several sizes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "codegen/oracle/interpret_ir.h"
#include "codegen/passes/pass.h"
#include "polyhalite/error.h"
#include "test/codegen/golden.h"
#include "test/codegen/test_buffer.h"

namespace polyhalite::triangles_test {
namespace {

constexpr int kExtent = 24;

std::vector<uint8_t> run(const Function &f, int n, int other) {
  std::vector<std::unique_ptr<TestBuffer>> buffers;
  IrArguments args;
  for (const FunctionArgument &a : f.args) {
    if (!a.is_buffer) {
      args.scalars[a.name] = Expr(a.name == "n" ? n : other);
      continue;
    }
    const std::vector<TestBuffer::Extent> shape(static_cast<size_t>(a.dimensions), {0, kExtent});
    buffers.push_back(std::make_unique<TestBuffer>(a.type, shape));
    TestBuffer &b = *buffers.back();
    args.buffers[a.name] = b.raw();
    for (size_t i = 0; i < b.bytes().size() / 4; i++) {
      const int value = static_cast<int>(i * 7 % 13) + 1;
      if (a.type.is_float()) {
        b.elements<float>()[i] = static_cast<float>(value) / 4;
      } else {
        b.elements<int32_t>()[i] = value;
      }
    }
  }
  interpret_ir(f, args);
  return buffers.back()->bytes();  // the output
}

class Triangles : public testing::TestWithParam<const char *> {};

TEST_P(Triangles, MeanTheSameAfterEveryPass) {
  const std::string path = POLYHALITE_TEST_DIR "/golden/" + std::string(GetParam()) + ".txt";
  for (const GoldenCase &c : read_golden(path)) {
    SCOPED_TRACE(c.title);
    const Function f = parse_function(c.input, path);
    int runs = 0;
    for (const int n : {0, 1, 7, 18}) {
      for (const int other : {0, 11}) {
        std::vector<uint8_t> expected;
        try {
          expected = run(f, n, other);
        } catch (const Error &) {
          continue;  // these sizes leave the buffers
        }
        runs++;
        PassOptions options;
        options.verify = true;
        options.after = [&](const char *pass, const Function &g) {
          EXPECT_TRUE(run(g, n, other) == expected) << "after " << pass << ", n = " << n;
        };
        // One that has the matrix instruction that a case names.
        run_passes(f, Target("arm-64-linux-armv86a"), options);
      }
    }
    EXPECT_GT(runs, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, Triangles,
                         testing::Values("cut_selects", "trim_loops", "expand_phases",
                                         "promote_accumulators", "hoist_guards"),
                         [](const auto &info) { return std::string(info.param); });

}  // namespace
}  // namespace polyhalite::triangles_test
