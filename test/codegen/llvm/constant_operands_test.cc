// Which constants of a loop are operands in memory: in the assembly, and in results of loops that
// have more constants than there are registers.
#include <gtest/gtest.h>
#include <polyhalite/polyhalite.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace polyhalite::constant_operands_test {
namespace {

constexpr int kLanes = 8;
constexpr const char *kAvx2 = "x86-64-linux-sse41-avx-avx2-fma";

double coefficient(int term) { return 1 + 0.01 * term; }

// By Horner's scheme, each coefficient in one place.
Func polynomial(const ImageParam &in, int terms) {
  Var x("x");
  Func f("f");
  Expr sum = Expr(static_cast<float>(coefficient(terms - 1)));
  for (int t = terms - 2; t >= 0; t--) sum = sum * in(x) + static_cast<float>(coefficient(t));
  f(x) = sum;
  f.vectorize(x, kLanes, TailStrategy::RoundUp);
  return f;
}

/// The instructions from a label to the jump back to it, of the innermost loop that has `word`.
std::vector<std::string> loop_with(const std::string &word, const std::string &assembly) {
  std::vector<std::string> lines, found;
  std::map<std::string, size_t> labels;
  std::istringstream text(assembly);
  for (std::string line; std::getline(text, line);) {
    const size_t colon = line.find(':');
    if (line.rfind(".LBB", 0) == 0) labels[line.substr(0, colon)] = lines.size();
    lines.push_back(line);
    const size_t target = line.find("\t.LBB");
    if (line.rfind("\tj", 0) != 0 || target == std::string::npos) continue;
    const auto from = labels.find(line.substr(target + 1));
    if (from == labels.end()) continue;
    std::vector<std::string> loop(lines.begin() + static_cast<long>(from->second), lines.end());
    const bool has_word = std::any_of(loop.begin(), loop.end(), [&](const std::string &l) {
      return l.find(word) != std::string::npos;
    });
    if (has_word && (found.empty() || loop.size() < found.size())) found = loop;
  }
  return found;
}

long count(const std::vector<std::string> &lines, const std::string &first,
           const std::string &second = "") {
  return std::count_if(lines.begin(), lines.end(), [&](const std::string &line) {
    const size_t at = line.find(first);
    return at != std::string::npos && line.find(second, at + first.size()) != std::string::npos;
  });
}

struct Loop {
  long in_memory, moves;
};

Loop loop_of(int terms, const std::string &target) {
  ImageParam in(Float(32), 1, "in");
  const std::string text = polynomial(in, terms).emit_text(Emit::assembly, {in}, Target(target));
  const std::vector<std::string> loop = loop_with("ps\t", text);
  EXPECT_FALSE(loop.empty()) << text;
  return {count(loop, "constant"), count(loop, "vmovaps\t%ymm", "%ymm")};
}

TEST(ConstantOperands, few_stay_in_registers) {
  const Loop loop = loop_of(9, kAvx2);
  EXPECT_EQ(loop.in_memory, 0);
}

// What does not fit, and not much more: the vector, the sum and one more take three registers.
TEST(ConstantOperands, the_rest_of_many_is_in_memory) {
  for (const int terms : {16, 24, 60}) {
    const Loop loop = loop_of(terms, kAvx2);
    EXPECT_GE(loop.in_memory, terms - 16 + 2) << terms << " terms";
    EXPECT_LE(loop.in_memory, terms - 16 + 4) << terms << " terms";
    EXPECT_EQ(loop.moves, 0) << terms << " terms";
  }
}

// AVX-512 has twice the registers, and instructions that repeat one number from memory; LLVM reads
// SSE's constants from memory where they do not fit.
TEST(ConstantOperands, other_machines_are_left_alone) {
  EXPECT_EQ(loop_of(60, "x86-64-linux-sse41").in_memory, 0);
  EXPECT_EQ(loop_of(60, "x86-64-linux-sse41-avx-avx2-fma-f16c-avx512-avx512_skylake").in_memory, 0);
}

TEST(ConstantOperands, results) {
  constexpr int kSize = 64;
  Buffer<float> x(kSize);
  for (int i = 0; i < kSize; i++) x(i) = static_cast<float>(i - 31) / 40;
  for (const int terms : {9, 16, 24, 60}) {
    ImageParam in(Float(32), 1, "in");
    in.set(x);
    const Buffer<float> y = polynomial(in, terms).realize({kSize});
    for (int i = 0; i < kSize; i++) {
      double sum = 0;
      for (int t = terms - 1; t >= 0; t--) {
        sum = sum * x(i) + static_cast<float>(coefficient(t));
      }
      EXPECT_NEAR(y(i), sum, 1e-6 * 60) << terms << " terms at " << x(i);
    }
  }
}

}  // namespace
}  // namespace polyhalite::constant_operands_test
