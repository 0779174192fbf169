// Operators that select elements by their values: the sizes of results follow from elements.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "apps/onnx/element_order.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

Constant int64_tensor(const std::vector<int64_t> &values, const std::vector<int64_t> &shape) {
  return Constant::integers(values).reshaped(shape);
}

// Splats become plain arrays.
Constant plain(const Constant &c) {
  return c.is_splat() ? Constant::of_bytes(c.type(), c.shape(), c.packed()) : c;
}

void infer_non_zero(Inference &i) {
  i.result(0, ElementType::Int64, {Dim(std::max(i.rank(0), 1)), i.fresh_size(0, "count")});
}
// Elements of so many bytes, as numbers that are 0 where the element is: -0 is, too.
template <typename Bits>
std::vector<int64_t> places_of_non_zeros(const Constant &x, bool is_float) {
  const auto n = static_cast<size_t>(x.elements());
  const auto all = static_cast<Bits>(~Bits{0});
  const Bits magnitude = is_float ? static_cast<Bits>(all >> 1) : all;
  const auto at = [&](size_t i) {
    Bits v;
    std::memcpy(&v, x.data() + i * sizeof v, sizeof v);
    return static_cast<Bits>(v & magnitude);
  };
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += at(i) != 0 ? 1 : 0;
  // One more, for what is written before it is known that it is none.
  std::vector<int64_t> places(count + 1);
  constexpr size_t kTogether = 8 / sizeof(Bits);
  size_t found = 0;
  for (size_t i = 0; i < n && found < count;) {
    // Masks are zeros for the most part: as many elements as eight bytes are at once.
    uint64_t bytes = 0;
    const size_t block = std::min(kTogether, n - i);
    std::memcpy(&bytes, x.data() + i * sizeof(Bits), block * sizeof(Bits));
    for (size_t k = 0; bytes != 0 && k < block; k++) {
      places[found] = static_cast<int64_t>(i + k);
      found += at(i + k) != 0 ? 1 : 0;
    }
    i += block;
  }
  places.resize(count);
  return places;
}

std::vector<Constant> compute_non_zero(const Node &, const std::vector<Constant> &in) {
  const Constant x = plain(in[0]);
  const bool real = language_type(x.type())->is_float();
  const int width = x.element_bytes();
  const std::vector<int64_t> places = width == 1   ? places_of_non_zeros<uint8_t>(x, real)
                                      : width == 2 ? places_of_non_zeros<uint16_t>(x, real)
                                      : width == 4 ? places_of_non_zeros<uint32_t>(x, real)
                                                   : places_of_non_zeros<uint64_t>(x, real);
  const size_t rank = std::max<size_t>(x.shape().size(), 1), count = places.size();
  std::vector<int64_t> all(rank * count);
  // Along a row places rise: the other coordinates stay until it ends.
  const int64_t length = x.shape().empty() ? 1 : x.shape().back();
  std::vector<int64_t> outer(rank - 1);
  int64_t begin = 0, end = 0;  // of the row
  for (size_t k = 0; k < count; k++) {
    if (places[k] >= end) {
      int64_t rest = places[k] / length;
      begin = rest * length;
      end = begin + length;
      for (size_t d = rank - 1; d-- > 0;) {
        outer[d] = rest % x.shape()[d];
        rest /= x.shape()[d];
      }
    }
    for (size_t d = 0; d + 1 < rank; d++) all[d * count + k] = outer[d];
    all[(rank - 1) * count + k] = places[k] - begin;
  }
  return {int64_tensor(all, {static_cast<int64_t>(rank), static_cast<int64_t>(count)})};
}

void infer_compress(Inference &i) {
  if (i.rank(1) != 1) i.fail("the condition has rank " + std::to_string(i.rank(1)), "it is a list");
  const Dim count = i.fresh_size(0, "count");
  if (!i.node().has("axis")) return i.result(0, i.type(0), {count});
  Shape shape = i.shape(0);
  shape[static_cast<size_t>(i.axis(i.node().integer("axis", 0), i.rank(0)))] = count;
  i.result(0, i.type(0), shape);
}
std::vector<Constant> compute_compress(const Node &n, const std::vector<Constant> &in) {
  const Constant all = plain(in[0]);
  const bool flat = !n.has("axis");
  const Constant x = flat ? all.reshaped({all.elements()}) : all;
  const size_t axis = flat ? 0 : positive_axis(n.integer("axis", 0), x.shape().size());
  const int64_t length = x.shape()[axis];
  // Places that are kept, in pieces.
  std::vector<std::pair<int64_t, int64_t>> pieces;
  int64_t kept = 0;
  for (int64_t i = 0; i < std::min(in[1].elements(), length); i++) {
    if (in[1].integer_at(i) == 0) continue;
    if (pieces.empty() || pieces.back().first + pieces.back().second != i)
      pieces.emplace_back(i, 0);
    pieces.back().second++;
    kept++;
  }
  auto inner = static_cast<size_t>(x.element_bytes());
  for (size_t d = axis + 1; d < x.shape().size(); d++) inner *= static_cast<size_t>(x.shape()[d]);
  std::vector<int64_t> shape = x.shape();
  shape[axis] = kept;
  const size_t row = static_cast<size_t>(length) * inner;
  const size_t rows = row == 0 ? 0 : x.bytes() / row;
  std::vector<uint8_t> bytes(rows * static_cast<size_t>(kept) * inner);
  uint8_t *to = bytes.data();
  for (size_t r = 0; r < rows; r++) {
    for (const auto &[first, count] : pieces) {
      const size_t size = static_cast<size_t>(count) * inner;
      std::memcpy(to, x.data() + r * row + static_cast<size_t>(first) * inner, size);
      to += size;
    }
  }
  return {Constant::of_bytes(x.type(), shape, std::move(bytes))};
}

void infer_unique(Inference &i) {
  const Dim count = i.fresh_size(0, "count");
  Shape shape{count};
  if (i.node().has("axis")) {
    shape = i.shape(0);
    shape[static_cast<size_t>(i.axis(i.node().integer("axis", 0), i.rank(0)))] = count;
  }
  const Dim rows =
      i.node().has("axis")
          ? i.shape(0)[static_cast<size_t>(i.axis(i.node().integer("axis", 0), i.rank(0)))]
          : elements(i.shape(0));
  i.result(0, i.type(0), shape);
  i.result(1, ElementType::Int64, {count});
  i.result(2, ElementType::Int64, {rows});
  i.result(3, ElementType::Int64, {count});
}
// The tensor with the node's axis in front, and that axis; without one, its elements in one row.
std::pair<Constant, size_t> rows_of(const Node &n, const Constant &tensor) {
  const Constant x = plain(tensor);
  if (!n.has("axis")) return {x.reshaped({x.elements()}), 0};
  const size_t axis = positive_axis(n.integer("axis", 0), x.shape().size());
  return {move_axis(x, axis, 0), axis};
}
// Rows of so many keys in their order.
std::vector<int64_t> rows_in_order(const std::vector<int64_t> &keys, int64_t rows, int64_t width) {
  if (width == 1) return first_in_order(keys.data(), rows, rows);
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int64_t *p = keys.data() + a * width, *q = keys.data() + b * width;
    return std::lexicographical_compare(p, p + width, q, q + width);
  });
  return order;
}
std::vector<Constant> compute_unique(const Node &n, const std::vector<Constant> &in) {
  const auto [x, axis] = rows_of(n, in[0]);
  const int64_t rows = x.shape()[0], width = rows > 0 ? x.elements() / rows : 0;
  const std::vector<int64_t> keys = order_keys(x), order = rows_in_order(keys, rows, width);
  // Groups of equal rows, by their first ones.
  std::vector<int64_t> first, counts, inverse(static_cast<size_t>(rows));
  for (size_t i = 0; i < order.size(); i++) {
    const int64_t *row = keys.data() + order[i] * width;
    const bool fresh = i == 0 || !std::equal(row, row + width, keys.data() + order[i - 1] * width);
    if (fresh) {
      first.push_back(order[i]);
      counts.push_back(0);
    }
    counts.back()++;
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(first.size()) - 1;
  }
  if (n.integer("sorted", 1) == 0) {
    // As they first stand: which group comes k-th, and the other way about.
    std::vector<size_t> groups(first.size());
    std::iota(groups.begin(), groups.end(), size_t{0});
    std::sort(groups.begin(), groups.end(),
              [&](size_t a, size_t b) { return first[a] < first[b]; });
    std::vector<int64_t> place(groups.size()), old_first = first, old_counts = counts;
    for (size_t k = 0; k < groups.size(); k++) {
      place[groups[k]] = static_cast<int64_t>(k);
      first[k] = old_first[groups[k]];
      counts[k] = old_counts[groups[k]];
    }
    for (int64_t &i : inverse) i = place[static_cast<size_t>(i)];
  }
  return {move_axis(pick_rows(x, first), 0, axis), Constant::integers(first),
          Constant::integers(inverse), Constant::integers(counts)};
}

void infer_suppression(Inference &i) {
  if (i.rank(0) != 3 || i.rank(1) != 3)
    i.fail("boxes and scores have ranks " + std::to_string(i.rank(0)) + " and " +
               std::to_string(i.rank(1)),
           "both have rank 3");
  i.require_equal(i.shape(0)[2], 4, "numbers of a box and its corners");
  i.require_equal(i.shape(0)[1], i.shape(1)[2], "boxes and scores of a class");
  i.require_equal(i.shape(0)[0], i.shape(1)[0], "images of boxes and of scores");
  i.result(0, ElementType::Int64, {i.fresh_size(0, "count"), Dim(3)});
}
struct Box {
  float low[2], high[2];

  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

// Boxes that no better one suppresses, in buckets along one dimension, of which a box meets few:
// detectors of many classes move each class's boxes to a place of its own. The numbers lie apart,
// so that vectors take several.
class KeptBoxes {
 public:
  explicit KeptBoxes(const std::vector<Box> &all) {
    constexpr double kMostBuckets = 256;
    double best = 1;
    for (int d = 0; d < 2 && !all.empty(); d++) {
      double low = all[0].low[d], high = low, sizes = 0;
      for (const Box &b : all) {
        low = std::min<double>(low, b.low[d]);
        high = std::max<double>(high, b.high[d]);
        sizes += b.high[d] - b.low[d];
      }
      const double fit = (high - low) / (2 * sizes / static_cast<double>(all.size()));
      if (!(fit > best) || !(high - low < HUGE_VAL)) continue;
      best = std::min(fit, kMostBuckets);
      along_ = d;
      origin_ = low;
      each_ = best / (high - low);
    }
    buckets_.resize(static_cast<size_t>(best));
  }

  void add(const Box &b) {
    for (size_t k = bucket(b.low[along_]); k <= bucket(b.high[along_]); k++) {
      buckets_[k].add(b);
    }
  }
  // Does one of them share more than `most` of what both cover?
  bool suppress(const Box &b, float most) const {
    for (size_t k = bucket(b.low[along_]); k <= bucket(b.high[along_]); k++) {
      if (buckets_[k].suppress(b, most)) return true;
    }
    return false;
  }

 private:
  // Blocks of boxes; those that are not there yet share nothing.
  struct Bucket {
    static constexpr size_t kBlock = 16;
    std::vector<float> low[2], high[2], area;
    size_t count = 0;

    void add(const Box &b) {
      if (count == area.size()) {
        for (std::vector<float> *v : {&low[0], &low[1], &high[0], &high[1], &area})
          v->resize(count + kBlock);
      }
      for (size_t d = 0; d < 2; d++) {
        low[d][count] = b.low[d];
        high[d][count] = b.high[d];
      }
      area[count++] = b.area();
    }
    bool suppress(const Box &b, float most) const {
      for (size_t first = 0; first < area.size(); first += kBlock) {
        if (!may_suppress(first, b, most)) continue;
        for (size_t i = first; i < std::min(first + kBlock, count); i++) {
          const float common = common_with(i, b), both = area[i] + b.area() - common;
          if ((common <= 0 || both <= 0 ? 0 : common / both) > most) return true;
        }
      }
      return false;
    }
    float common_with(size_t i, const Box &b) const {
      const float down = std::min(high[0][i], b.high[0]) - std::max(low[0][i], b.low[0]);
      const float across = std::min(high[1][i], b.high[1]) - std::max(low[1][i], b.low[1]);
      return std::max(0.0f, down) * std::max(0.0f, across);
    }
    // All of a block, by vectors and without a division; false is exact.
    bool may_suppress(size_t first, const Box &b, float most) const {
      constexpr float kSlack = 1e-5f;
      const float *low0 = &low[0][first], *low1 = &low[1][first];
      const float *high0 = &high[0][first], *high1 = &high[1][first], *areas = &area[first];
      const float own = b.area(), part = most - kSlack;
      float over[kBlock];
      for (size_t i = 0; i < kBlock; i++) {
        const float down = std::min(high0[i], b.high[0]) - std::max(low0[i], b.low[0]);
        const float across = std::min(high1[i], b.high[1]) - std::max(low1[i], b.low[1]);
        const float common = std::max(0.0f, down) * std::max(0.0f, across);
        over[i] = common - part * (areas[i] + own - common);
      }
      return std::any_of(over, over + kBlock, [](float v) { return v >= 0; });
    }
  };

  size_t bucket(double v) const {
    const double at = (v - origin_) * each_;
    return at > 0 ? static_cast<size_t>(std::min(at, static_cast<double>(buckets_.size() - 1))) : 0;
  }

  int along_ = 0;
  double origin_ = 0, each_ = 0;  // buckets to a unit of length
  std::vector<Bucket> buckets_;
};

// Boxes, the best ones first, of equal ones as they stand, sorted as far as they are asked for.
class ByScore {
 public:
  void add(float score, int64_t box) {
    // Numbers that stand as the boxes will.
    const auto key = static_cast<uint64_t>(int64_t{order_key(score, /*falling=*/true)} - INT32_MIN);
    list_.push_back(key << 32 | static_cast<uint64_t>(box));
  }
  bool has(size_t i) const { return i < list_.size(); }
  int64_t at(size_t i) {
    constexpr size_t kLeast = 64;
    while (i >= sorted_) {
      const size_t end = std::min(std::max(2 * sorted_, kLeast), list_.size());
      const auto first = list_.begin() + static_cast<ptrdiff_t>(sorted_);
      const auto last = list_.begin() + static_cast<ptrdiff_t>(end);
      if (last != list_.end()) std::nth_element(first, last, list_.end());
      std::sort(first, last);
      sorted_ = end;
    }
    return static_cast<int64_t>(list_[i] & UINT32_MAX);
  }

 private:
  std::vector<uint64_t> list_;
  size_t sorted_ = 0;
};

std::vector<Constant> compute_suppression(const Node &n, const std::vector<Constant> &in) {
  const Constant &boxes = in[0], &scores = in[1];
  const int64_t images = boxes.shape()[0], count = boxes.shape()[1], classes = scores.shape()[1];
  auto given = [&](size_t k) {
    return k < in.size() && in[k].type() != ElementType::Undefined && in[k].elements() > 0;
  };
  const int64_t most = given(2) ? in[2].integer_at(0) : 0;
  const float together = given(3) ? static_cast<float>(in[3].number(0)) : 0;
  const float least = given(4) ? static_cast<float>(in[4].number(0)) : -HUGE_VALF;
  const bool centred = n.integer("center_point_box", 0) != 0;
  const std::vector<float> corners = floats_of(boxes), points = floats_of(scores);
  std::vector<int64_t> chosen;
  for (int64_t image = 0; image < images; image++) {
    std::vector<Box> list;
    for (int64_t b = 0; b < count; b++) {
      float v[4];
      for (int64_t k = 0; k < 4; k++)
        v[k] = corners[static_cast<size_t>((image * count + b) * 4 + k)];
      Box box;
      for (int d = 0; d < 2; d++) {
        const float p = centred ? v[d] - v[2 + d] / 2 : v[d];
        const float q = centred ? v[d] + v[2 + d] / 2 : v[2 + d];
        box.low[d] = std::min(p, q);
        box.high[d] = std::max(p, q);
      }
      list.push_back(box);
    }
    const KeptBoxes none(list);
    for (int64_t c = 0; c < classes; c++) {
      ByScore order;
      for (int64_t b = 0; b < count; b++) {
        // What is no number is no better than the least score.
        const float score = points[static_cast<size_t>((image * classes + c) * count + b)];
        if (given(4) ? score > least : !std::isnan(score)) order.add(score, b);
      }
      KeptBoxes kept = none;
      int64_t left = most;
      for (size_t i = 0; left > 0 && order.has(i); i++) {
        const int64_t b = order.at(i);
        const Box &box = list[static_cast<size_t>(b)];
        if (kept.suppress(box, together)) continue;
        kept.add(box);
        chosen.insert(chosen.end(), {image, c, b});
        left--;
      }
    }
  }
  return {int64_tensor(chosen, {static_cast<int64_t>(chosen.size()) / 3, 3})};
}

void infer_tf_idf(Inference &i) {
  const std::vector<int64_t> columns = i.node().integers("ngram_indexes");
  if (columns.empty() || !i.node().has("pool_int64s"))
    i.fail("it has no n-grams of integers", "n-grams of strings are not supported");
  const Dim width = *std::max_element(columns.begin(), columns.end()) + 1;
  if (i.rank(0) == 2) return i.result(0, ElementType::Float32, {i.shape(0)[0], width});
  if (i.rank(0) != 1) i.fail("the operand has rank " + std::to_string(i.rank(0)), "it is 1 or 2");
  i.result(0, ElementType::Float32, {width});
}
std::vector<Constant> compute_tf_idf(const Node &n, const std::vector<Constant> &in) {
  const Constant &x = in[0];
  const std::vector<int64_t> columns = n.integers("ngram_indexes"),
                             pool = n.integers("pool_int64s"), starts = n.integers("ngram_counts");
  std::vector<float> weights;
  if (const auto at = n.attributes.find("weights"); at != n.attributes.end()) {
    if (const auto *list = std::get_if<std::vector<float>>(&at->second)) weights = *list;
  }
  const int64_t shortest = n.integer("min_gram_length", 1),
                longest = n.integer("max_gram_length", 1);
  const int64_t skips = n.integer("max_skip_count", 0);
  // Each n-gram of the pool, and its place in it.
  std::map<std::vector<int64_t>, size_t> grams;
  size_t place = 0;
  for (size_t length = 1; length <= starts.size(); length++) {
    const auto begin = static_cast<size_t>(std::max<int64_t>(starts[length - 1], 0));
    const size_t end = length < starts.size()
                           ? static_cast<size_t>(std::max<int64_t>(starts[length], 0))
                           : pool.size();
    for (size_t p = begin; p + length <= std::min(end, pool.size()); p += length) {
      grams[{pool.begin() + static_cast<ptrdiff_t>(p),
             pool.begin() + static_cast<ptrdiff_t>(p + length)}] = place++;
    }
  }
  const auto width = static_cast<size_t>(*std::max_element(columns.begin(), columns.end()) + 1);
  const int64_t rows = x.shape().size() == 2 ? x.shape()[0] : 1, each = x.shape().back();
  std::vector<float> counts(static_cast<size_t>(rows) * width);
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t length = shortest; length <= longest; length++) {
      // Words of one n-gram stand `step` apart; a single word has no distance.
      for (int64_t step = 1; step <= (length == 1 ? 1 : skips + 1); step++) {
        for (int64_t first = 0; first + (length - 1) * step < each; first++) {
          std::vector<int64_t> gram;
          for (int64_t k = 0; k < length; k++)
            gram.push_back(x.integer_at(r * each + first + k * step));
          const auto at = grams.find(gram);
          if (at == grams.end() || at->second >= columns.size()) continue;
          const int64_t column = columns[at->second];
          if (column >= 0) counts[static_cast<size_t>(r) * width + static_cast<size_t>(column)]++;
        }
      }
    }
  }
  const std::string mode = n.text("mode", "TF");
  for (int64_t r = 0; r < rows && mode != "TF"; r++) {
    for (size_t k = 0; k < columns.size(); k++) {
      if (columns[k] < 0) continue;
      float &c = counts[static_cast<size_t>(r) * width + static_cast<size_t>(columns[k])];
      if (mode == "IDF") c = c > 0 ? 1.0f : 0.0f;
      if (k < weights.size()) c *= weights[k];
    }
  }
  std::vector<int64_t> shape{static_cast<int64_t>(width)};
  if (x.shape().size() == 2) shape.insert(shape.begin(), rows);
  return {Constant::reals(shape, counts)};
}

}  // namespace

std::vector<Operator> selection_operators() {
  const auto host = Operator::Host;
  return {
      {"", "NonZero", host, infer_non_zero, nullptr, {}, compute_non_zero},
      {"", "Compress", host, infer_compress, nullptr, {}, compute_compress},
      {"", "Unique", host, infer_unique, nullptr, {}, compute_unique},
      {"", "NonMaxSuppression", host, infer_suppression, nullptr, {}, compute_suppression},
      {"", "TfIdfVectorizer", host, infer_tf_idf, nullptr, {}, compute_tf_idf},
  };
}

}  // namespace polyhalite::onnx
