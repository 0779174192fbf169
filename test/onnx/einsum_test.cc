// Einsum against plain loops over all of its indices.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::einsum_test {
namespace {

// Whole numbers, of which sums are exact.
Constant whole_numbers(const std::vector<int64_t> &shape, uint32_t seed) {
  std::mt19937 bits(seed);
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  std::vector<float> v;
  for (int64_t i = 0; i < n; i++) v.push_back(static_cast<float>(static_cast<int>(bits() % 9) - 4));
  return floats(shape, v);
}

struct Case {
  std::string equation;
  std::vector<std::vector<int64_t>> shapes;
  std::vector<std::string> operands;  // indices of each operand
  std::string result;
};

std::vector<double> wanted(const Case &c, const std::vector<Constant> &operands) {
  std::map<char, int64_t> size, at;
  for (size_t k = 0; k < operands.size(); k++) {
    for (size_t d = 0; d < c.operands[k].size(); d++)
      size[c.operands[k][d]] = std::max(size[c.operands[k][d]], c.shapes[k][d]);
  }
  int64_t results = 1, all = 1;
  for (char l : c.result) results *= size[l];
  for (const auto &[l, n] : size) all *= n;
  std::vector<double> sums(static_cast<size_t>(results));
  for (int64_t i = 0; i < all; i++) {
    int64_t rest = i;
    for (const auto &[l, n] : size) {
      at[l] = rest % n;
      rest /= n;
    }
    double product = 1;
    for (size_t k = 0; k < operands.size(); k++) {
      int64_t offset = 0;
      for (size_t d = 0; d < c.operands[k].size(); d++)
        offset = offset * c.shapes[k][d] + (c.shapes[k][d] == 1 ? 0 : at[c.operands[k][d]]);
      product *= operands[k].number(offset);
    }
    int64_t to = 0;
    for (char l : c.result) to = to * size[l] + at[l];
    sums[static_cast<size_t>(to)] += product;
  }
  return sums;
}

TEST(onnx_einsum, is_a_sum_over_its_indices) {
  const Case cases[] = {
      {"ij,jk->ik", {{7, 20}, {20, 33}}, {"ij", "jk"}, "ik"},
      {"bij,bjk->bik", {{3, 8, 16}, {3, 16, 20}}, {"bij", "bjk"}, "bik"},
      {"bqhd,bkhd->bhqk", {{2, 9, 3, 16}, {2, 17, 3, 16}}, {"bqhd", "bkhd"}, "bhqk"},
      {"bshd,hde->bse", {{2, 5, 3, 4}, {3, 4, 18}}, {"bshd", "hde"}, "bse"},
      {"abc,cbd->da", {{6, 3, 4}, {4, 3, 17}}, {"abc", "cbd"}, "da"},
      {"ij,j->i", {{9, 21}, {21}}, {"ij", "j"}, "i"},
      {"j,jk->k", {{21}, {21, 10}}, {"j", "jk"}, "k"},
      {"...ij,...jk->...ik", {{2, 3, 4, 5}, {2, 3, 5, 6}}, {"10ij", "10jk"}, "10ik"},
      {"ij,ij->", {{5, 6}, {5, 6}}, {"ij", "ij"}, ""},
      {"bi,bi->b", {{5, 16}, {5, 16}}, {"bi", "bi"}, "b"},
      {"i,j->ij", {{5}, {6}}, {"i", "j"}, "ij"},
      {"ij,jk->i", {{4, 5}, {5, 6}}, {"ij", "jk"}, "i"},
      {"ii,ik->k", {{5, 5}, {5, 6}}, {"ii", "ik"}, "k"},
      {"bij,bjk->bik", {{1, 4, 5}, {3, 5, 6}}, {"bij", "bjk"}, "bik"},
      {"ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 6}}, {"ij", "jk", "kl"}, "il"},
      {"ij->ji", {{3, 4}}, {"ij"}, "ji"},
  };
  for (const Case &c : cases) {
    ModelBuilder b;
    std::vector<std::string> names;
    std::vector<Constant> operands;
    Program::Tensors inputs;
    for (size_t k = 0; k < c.shapes.size(); k++) {
      names.push_back("x" + std::to_string(k));
      b.input(names.back(), std::vector<TestDim>(c.shapes[k].begin(), c.shapes[k].end()));
      operands.push_back(whole_numbers(c.shapes[k], static_cast<uint32_t>(k)));
      inputs.emplace(names.back(), operands.back());
    }
    b.node("Einsum", names, {"y"}, {text_attribute("equation", c.equation)}).output("y");
    for (const Engine engine : {Engine::Compiled, Engine::Interpreter}) {
      CompileOptions options;
      options.engine = engine;
      const Constant y = Session(b.load(), options).run(inputs).at("y");
      const std::vector<double> sums = wanted(c, operands);
      ASSERT_EQ(static_cast<size_t>(y.elements()), sums.size()) << c.equation;
      for (size_t i = 0; i < sums.size(); i++)
        ASSERT_EQ(y.number(static_cast<int64_t>(i)), sums[i]) << c.equation << " " << i;
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::einsum_test
