// TopK between kernels and in them, against sorted rows.
#include "test/onnx/element_lists.h"

namespace polyhalite::onnx::top_k_test {
namespace {

template <typename T>
void expect_best(const Program::Tensors &out, const Along &s, const std::vector<T> &x, int64_t k,
                 bool largest) {
  const Along to(s.with(k), static_cast<int64_t>(s.axis));
  List positions(static_cast<size_t>(product(to.shape)));
  std::vector<T> values(positions.size());
  for (int64_t o = 0; o < s.outer; o++) {
    for (int64_t i = 0; i < s.inner; i++) {
      std::vector<T> row;
      for (int64_t at = 0; at < s.length; at++) row.push_back(x[s.at(o, at, i)]);
      const List order = order_of(row, largest);
      for (int64_t at = 0; at < k; at++) {
        positions[to.at(o, at, i)] = order[static_cast<size_t>(at)];
        values[to.at(o, at, i)] = row[static_cast<size_t>(order[static_cast<size_t>(at)])];
      }
    }
  }
  const std::string what =
      std::to_string(k) + (largest ? " largest of " : " smallest of ") + s.text();
  expect_same(out.at("at"), tensor(to.shape, positions), what);
  expect_same(out.at("y"), tensor(to.shape, values), what);
}

TEST(onnx_top_k, best_of_an_open_number) {
  for_all_types([](auto one) {
    using T = decltype(one);
    for (const int64_t axis : {0, 1, -1}) {
      for (const bool largest : {true, false}) {
        ModelBuilder b(18);
        b.input("x", {"a", "b", "c"}, static_cast<int>(element_of<T>())).input("k", {1}, 7);
        b.node("TopK", {"x", "k"}, {"y", "at"},
               {int_attribute("axis", axis), int_attribute("largest", largest)});
        Session session(b.output("y").output("at").load());
        for (const List &shape :
             {List{9, 3, 70}, List{2, 130, 3}, List{300, 1, 2}, List{0, 4, 3}}) {
          const Along s(shape, axis);
          const std::vector<T> x = draw(product(shape), some_values_and_nan<T>(), 10);
          for (const int64_t k :
               List{0, 1, 2, s.length / 5, s.length / 2, s.length - 1, s.length}) {
            if (k < 0 || k > s.length) continue;
            expect_best(session.run({{"x", tensor(shape, x)}, {"k", Constant::integers({k})}}), s,
                        x, k, largest);
          }
        }
      }
    }
  });
}

TEST(onnx_top_k, known_count_of_an_open_row) {
  ModelBuilder b(18);
  b.input("x", {"n"}).integers("k", {4}).node("TopK", {"x", "k"}, {"y", "at"});
  Session session(b.output("y").output("at").load());
  for (const int64_t n : {4, 15, 17, 500}) {
    const std::vector<float> x = draw(n, some_values_and_nan<float>(), 12);
    expect_best(session.run({{"x", floats({n}, x)}}), Along({n}, 0), x, 4, true);
  }
}

template <typename T>
void expect_best_of_known(const List &shape, int64_t axis, int64_t k, bool largest, bool on_host) {
  ModelBuilder b(18);
  b.input("x", std::vector<TestDim>(shape.begin(), shape.end()), static_cast<int>(element_of<T>()));
  b.integers("k", {k}).node("TopK", {"x", "k"}, {"y", "at"},
                            {int_attribute("axis", axis), int_attribute("largest", largest)});
  b.output("y").output("at");
  const std::vector<T> x = draw(product(shape), some_values_and_nan<T>(), 11);
  CompileOptions kernels;
  kernels.switched_off = {"sort_between_kernels"};
  for (const bool switched_off : {false, true}) {
    if (switched_off && !on_host) continue;
    const Program p(b.load(), switched_off ? kernels : CompileOptions());
    const std::string graph = to_text(p.graph());
    EXPECT_EQ(graph.find("polyhalite.TopK") != std::string::npos, on_host && !switched_off)
        << graph;
    expect_best(p.run({{"x", tensor(shape, x)}}), Along(shape, axis), x, k, largest);
  }
}
TEST(onnx_top_k, best_of_short_rows) {
  expect_best_of_known<float>({4, 23}, -1, 1, true, false);
  expect_best_of_known<float>({4, 23}, 1, 6, false, false);
  expect_best_of_known<float>({3, 20, 2}, 1, 20, true, false);
  expect_best_of_known<double>({4, 23}, 0, 4, false, false);
  expect_best_of_known<float16_t>({4, 23}, -1, 9, true, false);
  expect_best_of_known<int8_t>({100, 2}, 0, 30, false, false);
  for (const bool largest : {true, false}) {
    expect_best_of_known<int8_t>({5, 100}, -1, 7, largest, false);
    expect_best_of_known<uint16_t>({5, 100}, -1, 7, largest, false);
    expect_best_of_known<int32_t>({5, 100}, -1, 7, largest, false);
    expect_best_of_known<uint32_t>({5, 100}, -1, 7, largest, false);
    expect_best_of_known<float>({2, 3, 1300}, -1, 32, largest, false);
    expect_best_of_known<int64_t>({5, 100}, -1, 7, largest, false);
    expect_best_of_known<double>({5, 100}, -1, 7, largest, false);
  }
  expect_best_of_known<int64_t>({4, 23}, -1, 23, true, false);
  expect_best_of_known<uint64_t>({4, 23}, -1, 3, false, false);
}
TEST(onnx_top_k, best_of_long_rows) {
  expect_best_of_known<float>({300, 1}, 0, 33, true, true);
  expect_best_of_known<float>({300, 1}, 0, 32, true, false);
  expect_best_of_known<float16_t>({256}, 0, 40, true, true);
  expect_best_of_known<float16_t>({256}, 0, 9, true, false);
  expect_best_of_known<int64_t>({256}, 0, 9, true, true);
  expect_best_of_known<int64_t>({1, 700}, -1, 90, false, true);
  expect_best_of_known<uint64_t>({1, 270}, -1, 270, true, true);
  expect_best_of_known<int8_t>({1, 500}, -1, 100, false, true);
  // Several rows, of which most are wanted, and of which few are; and a row of which few are.
  expect_best_of_known<double>({256, 2}, 0, 32, true, true);
  expect_best_of_known<double>({256, 2}, 0, 31, true, false);
  expect_best_of_known<float>({1, 300}, -1, 8, true, false);
  expect_best_of_known<float>({1, 255}, -1, 100, true, false);
}

}  // namespace
}  // namespace polyhalite::onnx::top_k_test
