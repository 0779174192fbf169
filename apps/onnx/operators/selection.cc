// Operators that select elements by their values: the sizes of results follow from elements.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

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

bool is_zero(const Constant &c, int64_t i) {
  return language_type(c.type())->is_float() ? c.number(i) == 0 : c.integer_at(i) == 0;
}

void infer_non_zero(Inference &i) {
  i.result(0, ElementType::Int64, {Dim(std::max(i.rank(0), 1)), i.fresh_size(0, "count")});
}
std::vector<Constant> compute_non_zero(const Node &, const std::vector<Constant> &in) {
  const Constant x = plain(in[0]);
  const size_t rank = std::max<size_t>(x.shape().size(), 1);
  std::vector<std::vector<int64_t>> places(rank);
  // Masks are zeros for the most part: as many elements as eight bytes are at once.
  const auto width = static_cast<int64_t>(x.element_bytes()), together = 8 / width;
  const auto are_zeros = [&](int64_t i) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, x.data() + i * width, sizeof bytes);
    return bytes == 0;
  };
  for (int64_t i = 0; i < x.elements(); i++) {
    while (i + together <= x.elements() && are_zeros(i)) i += together;
    if (i >= x.elements() || is_zero(x, i)) continue;
    int64_t rest = i;
    for (size_t d = rank; d-- > 0;) {
      const int64_t n = x.shape().empty() ? 1 : x.shape()[d];
      places[d].push_back(rest % n);
      rest /= n;
    }
  }
  std::vector<int64_t> all;
  for (const auto &p : places) all.insert(all.end(), p.begin(), p.end());
  return {int64_tensor(all, {static_cast<int64_t>(rank), static_cast<int64_t>(places[0].size())})};
}

// The tensor with the node's axis in front, and that axis; without one, its elements in one row.
std::pair<Constant, size_t> rows_of(const Node &n, const Constant &tensor) {
  const Constant x = plain(tensor);
  if (!n.has("axis")) return {x.reshaped({x.elements()}), 0};
  const size_t axis = positive_axis(n.integer("axis", 0), x.shape().size());
  return {move_axis(x, axis, 0), axis};
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
  const auto [x, axis] = rows_of(n, in[0]);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < std::min(in[1].elements(), x.shape()[0]); i++) {
    if (in[1].integer_at(i) != 0) rows.push_back(i);
  }
  return {move_axis(pick_rows(x, rows), 0, axis)};
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
std::vector<Constant> compute_unique(const Node &n, const std::vector<Constant> &in) {
  const auto [x, axis] = rows_of(n, in[0]);
  const int64_t rows = x.shape()[0], width = rows > 0 ? x.elements() / rows : 0;
  const bool real = language_type(x.type())->is_float();
  auto less = [&](int64_t a, int64_t b) {
    for (int64_t k = 0; k < width; k++) {
      const int64_t p = a * width + k, q = b * width + k;
      if (real ? x.number(p) != x.number(q) : x.integer_at(p) != x.integer_at(q))
        return real ? x.number(p) < x.number(q) : x.integer_at(p) < x.integer_at(q);
    }
    return false;
  };
  std::map<int64_t, std::vector<int64_t>, decltype(less)> found(less);  // equal rows
  for (int64_t r = 0; r < rows; r++) found[r].push_back(r);
  std::vector<const std::vector<int64_t> *> groups;
  for (const auto &[first, members] : found) groups.push_back(&members);
  if (n.integer("sorted", 1) == 0) {
    std::sort(groups.begin(), groups.end(),
              [](const auto *a, const auto *b) { return a->front() < b->front(); });
  }
  std::vector<int64_t> first, inverse(static_cast<size_t>(rows)), counts;
  for (size_t k = 0; k < groups.size(); k++) {
    first.push_back(groups[k]->front());
    counts.push_back(static_cast<int64_t>(groups[k]->size()));
    for (int64_t r : *groups[k]) inverse[static_cast<size_t>(r)] = static_cast<int64_t>(k);
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
      for (size_t d = 0; d < 2; d++) {
        buckets_[k].low[d].push_back(b.low[d]);
        buckets_[k].high[d].push_back(b.high[d]);
      }
      buckets_[k].area.push_back(b.area());
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
  struct Bucket {
    std::vector<float> low[2], high[2], area;

    bool suppress(const Box &b, float most) const {
      constexpr size_t kBlock = 64;
      const float own = b.area();
      for (size_t first = 0; first < area.size(); first += kBlock) {
        const size_t end = std::min(first + kBlock, area.size());
        int any = 0;
        for (size_t i = first; i < end; i++) {
          const float down = std::min(high[0][i], b.high[0]) - std::max(low[0][i], b.low[0]);
          const float across = std::min(high[1][i], b.high[1]) - std::max(low[1][i], b.low[1]);
          const float common = std::max(0.0f, down) * std::max(0.0f, across);
          const float both = area[i] + own - common;
          const float part = common <= 0 || both <= 0 ? 0 : common / both;
          any |= part > most ? 1 : 0;
        }
        if (any) return true;
      }
      return false;
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

std::vector<Constant> compute_suppression(const Node &n, const std::vector<Constant> &in) {
  const Constant &boxes = in[0], &scores = in[1];
  const int64_t images = boxes.shape()[0], count = boxes.shape()[1], classes = scores.shape()[1];
  auto given = [&](size_t k) {
    return k < in.size() && in[k].type() != ElementType::Undefined && in[k].elements() > 0;
  };
  const int64_t most = given(2) ? in[2].integer_at(0) : 0;
  const float together = given(3) ? static_cast<float>(in[3].number(0)) : 0;
  const bool centred = n.integer("center_point_box", 0) != 0;
  std::vector<int64_t> chosen;
  for (int64_t image = 0; image < images; image++) {
    std::vector<Box> list;
    for (int64_t b = 0; b < count; b++) {
      float v[4];
      for (int64_t k = 0; k < 4; k++)
        v[k] = static_cast<float>(boxes.number((image * count + b) * 4 + k));
      Box box;
      for (int d = 0; d < 2; d++) {
        const float p = centred ? v[d] - v[2 + d] / 2 : v[d];
        const float q = centred ? v[d] + v[2 + d] / 2 : v[2 + d];
        box.low[d] = std::min(p, q);
        box.high[d] = std::max(p, q);
      }
      list.push_back(box);
    }
    for (int64_t c = 0; c < classes; c++) {
      std::vector<std::pair<double, int64_t>> order;
      for (int64_t b = 0; b < count; b++) {
        const double score = scores.number((image * classes + c) * count + b);
        if (!given(4) || score > in[4].number(0)) order.emplace_back(score, b);
      }
      std::stable_sort(order.begin(), order.end(),
                       [](const auto &p, const auto &q) { return p.first > q.first; });
      KeptBoxes kept(list);
      int64_t left = most;
      for (const auto &[score, b] : order) {
        if (left <= 0) break;
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
  std::vector<uint8_t> bytes(counts.size() * 4);
  if (!bytes.empty()) std::memcpy(bytes.data(), counts.data(), bytes.size());
  std::vector<int64_t> shape{static_cast<int64_t>(width)};
  if (x.shape().size() == 2) shape.insert(shape.begin(), rows);
  return {Constant::of_bytes(ElementType::Float32, shape, std::move(bytes))};
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
