// What selects elements between kernels, against loops that look at every element.
#include "test/onnx/element_lists.h"

namespace polyhalite::onnx::selection_test {
namespace {

// A row of coordinates for each dimension; a number has one.
template <typename T>
Constant places_of_non_zeros(List shape, const std::vector<T> &x) {
  if (shape.empty()) shape = {1};
  std::vector<List> rows(shape.size());
  for (size_t i = 0; i < x.size(); i++) {
    if (x[i] == T(0)) continue;
    auto rest = static_cast<int64_t>(i);
    for (size_t d = shape.size(); d-- > 0;) {
      rows[d].push_back(rest % shape[d]);
      rest /= shape[d];
    }
  }
  List all;
  for (const List &row : rows) all.insert(all.end(), row.begin(), row.end());
  return tensor({static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())}, all);
}
template <typename T>
void expect_non_zeros(const std::vector<T> &values, ElementType type) {
  std::vector<T> zeros, others;
  for (const T v : values) (v == T(0) ? zeros : others).push_back(v);
  for (const List &sizes : {List{7, 1, 3, 5}, List{1, 2, 9, 17}, List{67, 2, 4, 1}, List{0, 3}}) {
    for (size_t rank = 0; rank <= sizes.size(); rank++) {
      const List shape(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(rank));
      ModelBuilder b(18);
      b.input("x", open_dims(shape), static_cast<int>(type)).node("NonZero", {"x"}, {"y"});
      Session session(b.output("y").load());
      for (const uint32_t others_of_64 : {0, 2, 40, 64}) {
        std::mt19937 bits(5 + others_of_64);
        std::vector<T> x;
        for (int64_t i = 0; i < product(shape); i++) {
          const std::vector<T> &list = bits() % 64 < others_of_64 ? others : zeros;
          x.push_back(list[bits() % list.size()]);
        }
        expect_same(session.run({{"x", tensor(shape, x, type)}}).at("y"),
                    places_of_non_zeros(shape, x), element_name(type) + shape_text(shape));
      }
    }
  }
}
TEST(onnx_selection, places_of_what_is_not_zero) {
  expect_non_zeros<uint8_t>({0, 1}, ElementType::Bool);
  for_all_types([](auto one) {
    using T = decltype(one);
    expect_non_zeros(some_values_and_nan<T>(), element_of<T>());
  });
}

// Constants that have one element for all.
TEST(onnx_selection, equal_elements) {
  for (const int64_t v : {0, 3}) {
    ModelBuilder b(18);
    b.input("x", {1}, 7).integers("shape", {2, 3}).integers("two", {2});
    const Message value = ModelBuilder::tensor<int64_t>("", 7, {1}, {v});
    b.node("ConstantOfShape", {"shape"}, {"all"},
           {Message().text(1, "value").message(5, value).number(20, 4)});
    b.initializer(ModelBuilder::tensor<uint8_t>("condition", 9, {3}, {1, 0, 1}));
    b.node("NonZero", {"all"}, {"places"}).node("Unique", {"all"}, {"u", "", "i"});
    b.node("Compress", {"all", "condition"}, {"kept"}, {int_attribute("axis", 1)});
    b.node("TopK", {"all", "two"}, {"best", "at"});
    for (const std::string name : {"places", "u", "i", "kept", "best", "at"})
      b.node("Add", {name, "x"}, {name + "_"}).output(name + "_");
    const auto out = Session(b.load()).run({{"x", Constant::integers({0})}});
    const auto list = [&](const std::string &name) { return numbers(out.at(name + "_")); };
    using Numbers = std::vector<double>;
    const auto n = static_cast<double>(v);
    EXPECT_EQ(list("places"), v == 0 ? Numbers{} : (Numbers{0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(list("u"), Numbers{n});
    EXPECT_EQ(list("i"), Numbers(6, 0));
    EXPECT_EQ(list("kept"), Numbers(4, n));
    EXPECT_EQ(list("best"), Numbers(4, n));
    EXPECT_EQ(list("at"), (Numbers{0, 1, 0, 1}));
  }
}

template <typename T>
void expect_compressed(const List &shape, Axis axis) {
  ModelBuilder b(18);
  b.input("x", open_dims(shape), static_cast<int>(element_of<T>())).input("keep", {"n"}, 9);
  std::vector<Message> attributes;
  if (axis) attributes.push_back(int_attribute("axis", *axis));
  b.node("Compress", {"x", "keep"}, {"y"}, attributes).output("y");
  Session session(b.load());
  const std::vector<T> x = draw(product(shape), some_values_and_nan<T>(), 6);
  const Along s(shape, axis);
  for (const int64_t shorter : {int64_t{0}, int64_t{1}, s.length / 2, s.length}) {
    for (const uint32_t kept_of_8 : {0, 3, 8}) {
      std::mt19937 bits(7 + kept_of_8);
      std::vector<uint8_t> keep;
      for (int64_t i = shorter; i < s.length; i++) keep.push_back(bits() % 8 < kept_of_8 ? 1 : 0);
      std::vector<T> y;
      for (int64_t o = 0; o < s.outer; o++) {
        for (size_t i = 0; i < keep.size(); i++) {
          for (int64_t k = 0; keep[i] != 0 && k < s.inner; k++)
            y.push_back(x[s.at(o, static_cast<int64_t>(i), k)]);
        }
      }
      const auto size = static_cast<int64_t>(keep.size());
      expect_same(
          session.run({{"x", tensor(shape, x)}, {"keep", tensor({size}, keep, ElementType::Bool)}})
              .at("y"),
          tensor(s.with(std::count(keep.begin(), keep.end(), 1)), y), s.text());
    }
  }
}
TEST(onnx_selection, parts_that_a_condition_keeps) {
  for (const List &shape : {List{9}, List{4, 11}, List{3, 5, 2}, List{2, 1, 20, 3}, List{3, 0}}) {
    const auto rank = static_cast<int64_t>(shape.size());
    expect_compressed<float>(shape, std::nullopt);
    expect_compressed<uint8_t>(shape, std::nullopt);
    for (int64_t axis = -rank; axis < rank; axis++) expect_compressed<float>(shape, axis);
    expect_compressed<uint8_t>(shape, rank - 1);
    expect_compressed<float16_t>(shape, rank - 1);
    expect_compressed<double>(shape, 0);
  }
}

// The four results, from rows that are compared one by one.
template <typename T>
struct Distinct {
  std::vector<std::vector<T>> rows;
  List first, inverse, counts;

  Distinct(const std::vector<std::vector<T>> &all, bool sorted) {
    for (size_t i = 0; i < all.size(); i++) {
      const auto at =
          static_cast<size_t>(std::find(rows.begin(), rows.end(), all[i]) - rows.begin());
      if (at == rows.size()) {
        rows.push_back(all[i]);
        first.push_back(static_cast<int64_t>(i));
        counts.push_back(0);
      }
      inverse.push_back(static_cast<int64_t>(at));
      counts[at]++;
    }
    if (!sorted) return;
    // A group stands behind as many as are smaller.
    const Distinct before = *this;
    List place;
    for (const auto &row : before.rows) {
      place.push_back(std::count_if(before.rows.begin(), before.rows.end(),
                                    [&](const auto &other) { return other < row; }));
    }
    for (size_t g = 0; g < place.size(); g++) {
      const auto to = static_cast<size_t>(place[g]);
      rows[to] = before.rows[g];
      first[to] = before.first[g];
      counts[to] = before.counts[g];
    }
    for (int64_t &i : inverse) i = place[static_cast<size_t>(i)];
  }
};
template <typename T>
void expect_unique(const List &shape, Axis axis, const std::vector<T> &of) {
  const std::vector<T> x = draw(product(shape), of, 8);
  const Along s(shape, axis);
  std::vector<std::vector<T>> rows(static_cast<size_t>(s.length));
  for (int64_t o = 0; o < s.outer; o++) {
    for (int64_t i = 0; i < s.length; i++) {
      for (int64_t k = 0; k < s.inner; k++)
        rows[static_cast<size_t>(i)].push_back(x[s.at(o, i, k)]);
    }
  }
  for (const bool sorted : {true, false}) {
    ModelBuilder b(18);
    b.input("x", open_dims(shape), static_cast<int>(element_of<T>()));
    std::vector<Message> attributes{int_attribute("sorted", sorted ? 1 : 0)};
    if (axis) attributes.push_back(int_attribute("axis", *axis));
    b.node("Unique", {"x"}, {"y", "first", "inverse", "counts"}, attributes);
    b.output("y").output("first").output("inverse").output("counts");
    const auto out = Session(b.load()).run({{"x", tensor(shape, x)}});
    const Distinct<T> wanted(rows, sorted);
    std::vector<T> y;
    for (int64_t o = 0; o < s.outer; o++) {
      for (const std::vector<T> &row : wanted.rows) {
        const auto begin = row.begin() + o * s.inner;
        y.insert(y.end(), begin, begin + s.inner);
      }
    }
    expect_same(out.at("y"), tensor(s.with(static_cast<int64_t>(wanted.rows.size())), y), s.text());
    expect_same(out.at("first"), Constant::integers(wanted.first), s.text());
    expect_same(out.at("inverse"), Constant::integers(wanted.inverse), s.text());
    expect_same(out.at("counts"), Constant::integers(wanted.counts), s.text());
  }
}
template <typename T>
void expect_unique_ones(const std::vector<T> &few) {
  const std::vector<T> many = some_values<T>();
  for (const int64_t n : {0, 1, 7, 64, 150}) expect_unique<T>({n}, std::nullopt, many);
  expect_unique<T>({6, 9}, std::nullopt, many);
  expect_unique<T>({140, 1}, 0, many);
  for (const int64_t axis : {0, 1, 2, -2}) expect_unique<T>({9, 8, 2}, axis, few);
  expect_unique<T>({2, 90}, 1, few);
  expect_unique<T>({3, 0}, 0, few);
  expect_unique<T>({3, 0}, 1, few);
}
TEST(onnx_selection, distinct_elements_and_parts) {
  expect_unique_ones<float>({0.0f, -0.0f, 1.0f});
  expect_unique_ones<double>({-0.0, 0.0});
  expect_unique_ones<float16_t>({float16_t(-0.0f), float16_t(0.0f), float16_t(-1.0f)});
  expect_unique_ones<int64_t>({INT64_MIN, INT64_MAX, (int64_t{1} << 53) + 1});
  expect_unique_ones<uint8_t>({0, 255});
}

// Numbers on a grid, so that areas are exact and many scores are equal. Classes may have places of
// their own, far apart along a dimension.
struct Detections {
  int64_t images, classes, boxes;
  bool centred;
  std::vector<float> corners, scores;

  Detections(const List &sizes, bool has_centres, std::optional<int> apart, uint32_t seed)
      : images(sizes[0]), classes(sizes[1]), boxes(sizes[2]), centred(has_centres) {
    std::mt19937 bits(seed);
    const auto quarters = [&](uint32_t n) { return static_cast<float>(bits() % n) / 4; };
    for (int64_t i = 0; i < images * boxes; i++) {
      float v[4] = {quarters(32) - 4, quarters(32) - 4, quarters(32), quarters(32)};
      const float place = 64 * static_cast<float>(bits() % 9);
      for (int k = 0; k < 4; k++) {
        if (!centred && k > 1) v[k] -= 4;
        if (apart && k % 2 == *apart && (!centred || k < 2)) v[k] += place;
      }
      corners.insert(corners.end(), v, v + 4);
    }
    for (int64_t i = 0; i < images * classes * boxes; i++) {
      const float score = quarters(40) - 2;
      scores.push_back(score == 0 && bits() % 2 == 0 ? -0.0f : score);
    }
  }
  // What boxes share of all that they cover.
  float shared(const float *p, const float *q) const {
    float common = 1, areas[2] = {1, 1};
    for (int d = 0; d < 2; d++) {
      float low[2], high[2];
      for (int i = 0; i < 2; i++) {
        const float *const box = i == 0 ? p : q;
        const float from = centred ? box[d] - box[d + 2] / 2 : box[d];
        const float to = centred ? box[d] + box[d + 2] / 2 : box[d + 2];
        low[i] = std::min(from, to);
        high[i] = std::max(from, to);
        areas[i] *= high[i] - low[i];
      }
      common *= std::max(0.0f, std::min(high[0], high[1]) - std::max(low[0], low[1]));
    }
    const float all = areas[0] + areas[1] - common;
    return all > 0 ? common / all : 0;
  }
  List kept(int64_t most, float together, std::optional<float> least) const {
    List found;
    for (int64_t row = 0; row < images * classes; row++) {
      const std::vector<float> of_row(scores.begin() + row * boxes,
                                      scores.begin() + (row + 1) * boxes);
      std::vector<const float *> better;
      for (const int64_t i : order_of(of_row, /*falling=*/true)) {
        const float *const box = &corners[static_cast<size_t>(row / classes * boxes + i) * 4];
        if (static_cast<int64_t>(better.size()) == most ||
            (least && !(of_row[static_cast<size_t>(i)] > *least)) ||
            std::any_of(better.begin(), better.end(),
                        [&](const float *other) { return shared(box, other) > together; }))
          continue;
        better.push_back(box);
        found.insert(found.end(), {row / classes, row % classes, i});
      }
    }
    return found;
  }
};
void expect_kept_boxes(bool centred, std::optional<float> least) {
  ModelBuilder b(18);
  b.input("boxes", {"images", "n", 4}).input("scores", {"images", "classes", "n"});
  b.input("most", {1}, 7).input("together", {1});
  std::vector<std::string> operands{"boxes", "scores", "most", "together"};
  Program::Tensors in;
  if (least) {
    b.input("least", {1});
    operands.emplace_back("least");
    in["least"] = floats({1}, {*least});
  }
  b.node("NonMaxSuppression", operands, {"y"}, {int_attribute("center_point_box", centred)});
  Session session(b.output("y").load());
  for (const List &sizes : {List{1, 1, 1}, List{2, 3, 40}, List{1, 2, 300}, List{3, 1, 0}}) {
    for (const std::optional<int> apart : {std::optional<int>(), {0}, {1}}) {
      const Detections d(sizes, centred, apart, 9);
      in["boxes"] = floats({d.images, d.boxes, 4}, d.corners);
      in["scores"] = floats({d.images, d.classes, d.boxes}, d.scores);
      for (const int64_t most : {0, 1, 7, 1000}) {
        for (const float together : {0.0f, 0.25f, 0.5f, 0.7f}) {
          in["most"] = Constant::integers({most});
          in["together"] = floats({1}, {together});
          const List y = d.kept(most, together, least);
          expect_same(session.run(in).at("y"), tensor({static_cast<int64_t>(y.size()) / 3, 3}, y),
                      std::to_string(most) + " of " + shape_text(sizes) + " that share " +
                          std::to_string(together));
        }
      }
    }
  }
}
TEST(onnx_selection, best_boxes_that_share_little) {
  for (const bool centred : {false, true}) {
    expect_kept_boxes(centred, std::nullopt);
    expect_kept_boxes(centred, 1.5f);
  }
}

// Without a number of boxes there are none; without a limit they share nothing.
TEST(onnx_selection, boxes_without_limits) {
  for (const bool limited : {false, true}) {
    ModelBuilder b(18);
    b.input("boxes", {1, 3, 4}).input("scores", {1, 1, 3}).integers("two", {2});
    std::vector<std::string> operands{"boxes", "scores"};
    if (limited) operands.emplace_back("two");
    b.node("NonMaxSuppression", operands, {"y"}).output("y");
    const Program::Tensors in{
        {"boxes", floats({1, 3, 4}, {0, 0, 1, 1, 0, 0.75f, 1, 2, 2, 2, 3, 3})},
        {"scores", floats({1, 1, 3}, {0.25f, 0.5f, -1})}};
    EXPECT_EQ(numbers(Session(b.load()).run(in).at("y")),
              limited ? (std::vector<double>{0, 0, 1, 0, 0, 2}) : std::vector<double>{});
  }
}

}  // namespace
}  // namespace polyhalite::onnx::selection_test
