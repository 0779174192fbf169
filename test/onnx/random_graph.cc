#include "test/onnx/random_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <set>

namespace polyhalite::onnx {
namespace {

using Sizes = std::vector<int64_t>;

// The interpreter runs some million operations a second.
constexpr int64_t kMostElements = 6000, kMostWork = 300000;

int64_t product(const Sizes &s) {
  return std::accumulate(s.begin(), s.end(), int64_t{1}, std::multiplies<>());
}

std::string text_of(const Sizes &s) {
  std::string text;
  for (int64_t d : s) text += (text.empty() ? "" : ", ") + std::to_string(d);
  return "[" + text + "]";
}

struct Tensor {
  std::string name;
  Sizes shape;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
};

class Drawing {
 public:
  explicit Drawing(uint32_t seed) : bits_(seed) {}

  RandomGraph draw() {
    const int64_t inputs = one_of({1, 1, 2}), nodes = one_of({3, 5, 8, 12});
    const bool open = chance(33);
    for (int64_t i = 0; i < inputs; i++) add_input(i, open);
    for (int tries = 0; nodes_ < nodes && tries < 100; tries++) step();
    for (const Tensor &t : tensors_) {
      if (!read_.count(t.name)) graph_.model.output(t.name);
    }
    return std::move(graph_);
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(bits_() % static_cast<uint64_t>(n)); }
  bool chance(int64_t percent) { return below(100) < percent; }
  int64_t one_of(const Sizes &list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  std::string one_name(const std::vector<std::string> &list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  std::vector<float> numbers(int64_t n, float most) {
    std::vector<float> v(static_cast<size_t>(n));
    for (float &f : v) f = (static_cast<float>(bits_() % 20001) / 10000 - 1) * most;
    return v;
  }
  std::string fresh(const char *prefix) { return prefix + std::to_string(names_++); }
  std::string weights(const Sizes &shape, float most) {
    const std::string name = fresh("w");
    graph_.model.weights(name, shape, numbers(product(shape), most));
    return name;
  }
  std::string variances(int64_t n) {
    const std::string name = fresh("w");
    std::vector<float> v = numbers(n, 0.5f);
    for (float &f : v) f += 0.8f;
    graph_.model.weights(name, {n}, v);
    return name;
  }
  std::string integers(const Sizes &values) {
    const std::string name = fresh("i");
    graph_.model.integers(name, values);
    return name;
  }

  void add_input(int64_t index, bool open) {
    Sizes shape;
    const int64_t rank = one_of({4, 4, 4, 3, 2}), images = one_of({1, 1, 1, 2, 3});
    const Sizes sides{1, 4, 5, 7, 8, 14, 17};
    if (index > 0 && chance(50)) {
      shape = tensors_[0].shape;
    } else if (rank == 4) {
      shape = {images, one_of({1, 3, 4, 8, 16, 24, 48}), one_of(sides), one_of(sides)};
    } else if (rank == 3) {
      shape = {images, one_of({4, 7, 16, 33}), one_of({1, 8, 16, 48})};
    } else {
      shape = {one_of({1, 2, 16, 33}), one_of({8, 20, 64})};
    }
    while (product(shape) > kMostElements) shape.back() = (shape.back() + 1) / 2;
    const std::string name = "x" + std::to_string(index);
    std::vector<TestDim> dims;
    std::string note;
    for (size_t d = 0; d < shape.size(); d++) {
      // Channels stay: the weights' shapes follow from them.
      if (open && d != 1 && chance(60)) {
        dims.emplace_back((name + "_" + std::to_string(d)).c_str());
        note += " " + dims.back().symbol;
      } else {
        dims.emplace_back(static_cast<int>(shape[d]));
      }
    }
    graph_.model.input(name, dims);
    graph_.inputs[name] = floats(shape, numbers(product(shape), 2));
    graph_.text += name + " " + text_of(shape) + (note.empty() ? "" : " open:" + note) + "\n";
    tensors_.push_back({name, shape});
  }

  // The most recent ones are drawn more often, so that chains are long.
  Tensor any(const std::function<bool(const Sizes &)> &fits = nullptr) {
    std::vector<const Tensor *> list;
    for (const Tensor &t : tensors_) {
      if (!fits || fits(t.shape)) list.push_back(&t);
    }
    if (list.empty()) return {};
    const auto n = static_cast<int64_t>(list.size());
    const int64_t recent = std::min<int64_t>(n, 3);
    return *list[static_cast<size_t>(chance(70) ? n - recent + below(recent) : below(n))];
  }

  Tensor node(const std::string &op, const std::vector<std::string> &operands, const Sizes &shape,
              const std::vector<Message> &attributes = {}, const std::string &note = "") {
    return nodes(op, operands, {shape}, attributes, note)[0];
  }
  std::vector<Tensor> nodes(const std::string &op, const std::vector<std::string> &operands,
                            const std::vector<Sizes> &shapes,
                            const std::vector<Message> &attributes, const std::string &note) {
    std::vector<Tensor> results;
    std::vector<std::string> names;
    std::string line;
    for (const Sizes &s : shapes) {
      results.push_back({fresh("v"), s});
      names.push_back(results.back().name);
      line += results.back().name + " " + text_of(s) + " ";
    }
    line += "= " + op;
    for (const std::string &o : operands) line += " " + o;
    graph_.text += line + (note.empty() ? "" : "  " + note) + "\n";
    graph_.model.node(op, operands, names, attributes);
    read_.insert(operands.begin(), operands.end());
    tensors_.insert(tensors_.end(), results.begin(), results.end());
    nodes_++;
    return results;
  }

  void step() {
    using Kind = void (Drawing::*)(const Tensor &);
    static const std::vector<Kind> always{
        &Drawing::function,     &Drawing::function, &Drawing::meet_value,     &Drawing::meet_value,
        &Drawing::meet_weights, &Drawing::join,     &Drawing::slice,          &Drawing::pad,
        &Drawing::transpose,    &Drawing::reshape,  &Drawing::reduce,         &Drawing::reduce,
        &Drawing::softmax,      &Drawing::softmax,  &Drawing::unit_axis,      &Drawing::split,
        &Drawing::expand,       &Drawing::choose,   &Drawing::layer_normalize};
    static const std::vector<Kind> images{&Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::convolve,
                                          &Drawing::pool,
                                          &Drawing::pool,
                                          &Drawing::pool,
                                          &Drawing::instance_normalize,
                                          &Drawing::batch_normalize,
                                          &Drawing::global_pool,
                                          &Drawing::gate_channels,
                                          &Drawing::resize,
                                          &Drawing::depth_to_space,
                                          &Drawing::space_to_depth};
    static const std::vector<Kind> rows{&Drawing::convolve, &Drawing::multiply, &Drawing::multiply,
                                        &Drawing::instance_normalize, &Drawing::attend};
    static const std::vector<Kind> matrices{&Drawing::multiply, &Drawing::gemm, &Drawing::gemm};
    const Tensor x = any();
    std::vector<Kind> kinds = always;
    const auto &more = x.rank() == 4   ? images
                       : x.rank() == 3 ? rows
                       : x.rank() == 2 ? matrices
                                       : always;
    kinds.insert(kinds.end(), more.begin(), more.end());
    (this->*kinds[static_cast<size_t>(below(static_cast<int64_t>(kinds.size())))])(x);
  }

  void function(const Tensor &x) {
    const std::string op = one_name({"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Elu",
                                     "Abs", "Neg", "Erf", "Softplus", "HardSwish", "Sin", "Clip"});
    std::vector<std::string> operands{x.name};
    if (op == "Clip") operands.insert(operands.end(), {weights({}, 0.5f), ""});
    node(op, operands, x.shape);
  }

  void meet_value(const Tensor &x) {
    const auto meets = [&](const Sizes &s) {
      for (size_t i = 1; i <= std::min(s.size(), x.shape.size()); i++) {
        const int64_t a = s[s.size() - i], b = x.shape[x.shape.size() - i];
        if (a != b && a != 1 && b != 1) return false;
      }
      return true;
    };
    const Tensor y = any(meets);
    Sizes shape = x.rank() >= y.rank() ? x.shape : y.shape;
    for (size_t i = 1; i <= std::min(x.shape.size(), y.shape.size()); i++) {
      const int64_t a = x.shape[x.shape.size() - i], b = y.shape[y.shape.size() - i];
      shape[shape.size() - i] = a == 1 ? b : a;
    }
    if (product(shape) > kMostElements) return;
    node(one_name({"Add", "Add", "Mul", "Sub", "Max", "Min"}), {x.name, y.name}, shape);
  }

  void meet_weights(const Tensor &x) {
    Sizes w = x.shape;
    for (int64_t &d : w) d = chance(60) ? d : 1;
    w.erase(w.begin(), w.begin() + below(x.rank() + 1));
    node(one_name({"Add", "Mul", "Sub"}), {x.name, weights(w, 1)}, x.shape, {}, text_of(w));
  }

  void join(const Tensor &x) {
    const auto axis = static_cast<size_t>(below(x.rank()));
    const Tensor y = any([&](const Sizes &s) {
      if (s.size() != x.shape.size()) return false;
      for (size_t i = 0; i < s.size(); i++) {
        if (i != axis && s[i] != x.shape[i]) return false;
      }
      return true;
    });
    Sizes shape = x.shape;
    shape[axis] += y.shape[axis];
    if (product(shape) > kMostElements) return;
    node("Concat", {x.name, y.name}, shape, {int_attribute("axis", static_cast<int64_t>(axis))});
  }

  void slice(const Tensor &x) {
    const int64_t axis = below(x.rank()), size = x.shape[static_cast<size_t>(axis)];
    if (size < 2) return;
    int64_t begin = below(size - 1), end = begin + 1 + below(size - begin);
    int64_t step = one_of({1, 1, 2, 3}), count = (end - begin + step - 1) / step;
    if (chance(15)) begin = -1, end = -1000, step = -1, count = size;
    Sizes shape = x.shape;
    shape[static_cast<size_t>(axis)] = count;
    node("Slice", {x.name, integers({begin}), integers({end}), integers({axis}), integers({step})},
         shape, {},
         "axis " + std::to_string(axis) + " from " + std::to_string(begin) + " by " +
             std::to_string(step));
  }

  void pad(const Tensor &x) {
    Sizes pads(x.shape.size() * 2), shape = x.shape;
    const std::string mode = one_name({"constant", "constant", "edge", "reflect"});
    for (int64_t turns = one_of({1, 2}); turns > 0; turns--) {
      pads[static_cast<size_t>(below(static_cast<int64_t>(pads.size())))] = below(3);
    }
    for (size_t i = 0; i < pads.size(); i++) {
      // A reflection has what it reflects.
      if (mode == "reflect") pads[i] = std::min(pads[i], x.shape[i % x.shape.size()] - 1);
      shape[i % shape.size()] += pads[i];
    }
    if (product(shape) > kMostElements) return;
    node("Pad", {x.name, integers(pads)}, shape, {text_attribute("mode", mode)},
         mode + " " + text_of(pads));
  }

  void transpose(const Tensor &x) {
    Sizes order(x.shape.size()), shape;
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; i--) {
      std::swap(order[i - 1], order[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
    }
    for (int64_t d : order) shape.push_back(x.shape[static_cast<size_t>(d)]);
    node("Transpose", {x.name}, shape, {ints_attribute("perm", order)}, text_of(order));
  }

  void reshape(const Tensor &x) {
    const int64_t n = product(x.shape);
    Sizes shape;
    if (x.rank() == 4 && chance(40)) {
      shape = {x.shape[0], x.shape[1], x.shape[2] * x.shape[3]};
    } else {
      int64_t left = n;
      for (int64_t dims = one_of({1, 2, 2, 3}); dims > 0; dims--) {
        Sizes divisors;
        for (int64_t d = 1; d <= std::min<int64_t>(left, 64); d++) {
          if (left % d == 0) divisors.push_back(d);
        }
        shape.push_back(one_of(divisors));
        left /= shape.back();
      }
      shape.push_back(left);
    }
    Sizes target = shape;
    if (chance(50)) target[static_cast<size_t>(below(static_cast<int64_t>(target.size())))] = -1;
    node("Reshape", {x.name, integers(target)}, shape);
  }

  void reduce(const Tensor &x) {
    Sizes axes, shape;
    const bool keep = chance(50);
    for (int64_t d = 0; d < x.rank(); d++) {
      if (chance(40)) axes.push_back(d);
    }
    if (axes.empty()) axes.push_back(below(x.rank()));
    for (int64_t d = 0; d < x.rank(); d++) {
      const bool gone = std::find(axes.begin(), axes.end(), d) != axes.end();
      if (!gone || keep) shape.push_back(gone ? 1 : x.shape[static_cast<size_t>(d)]);
    }
    if (shape.empty()) return;
    node(one_name({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2"}), {x.name, integers(axes)},
         shape, {int_attribute("keepdims", keep ? 1 : 0)}, text_of(axes));
  }

  void softmax(const Tensor &x) {
    const int64_t axis = below(2 * x.rank()) - x.rank();
    node(one_name({"Softmax", "Softmax", "LogSoftmax"}), {x.name}, x.shape,
         {int_attribute("axis", axis)}, "axis " + std::to_string(axis));
  }

  void unit_axis(const Tensor &x) {
    Sizes shape = x.shape;
    const auto one = std::find(shape.begin(), shape.end(), 1);
    if (one != shape.end() && x.rank() > 1 && chance(60)) {
      const std::string axes = integers({one - shape.begin()});
      shape.erase(one);
      node("Squeeze", {x.name, axes}, shape);
    } else if (x.rank() < 5) {
      const int64_t axis = below(x.rank() + 1);
      shape.insert(shape.begin() + axis, 1);
      node("Unsqueeze", {x.name, integers({axis})}, shape);
    }
  }

  void split(const Tensor &x) {
    const auto axis = static_cast<size_t>(below(x.rank()));
    if (x.shape[axis] < 2) return;
    Sizes first = x.shape, second = x.shape;
    first[axis] = 1 + below(x.shape[axis] - 1);
    second[axis] -= first[axis];
    nodes("Split", {x.name, integers({first[axis], second[axis]})}, {first, second},
          {int_attribute("axis", static_cast<int64_t>(axis))}, "axis " + std::to_string(axis));
  }

  void expand(const Tensor &x) {
    Sizes shape = x.shape;
    for (int64_t &d : shape) d = d == 1 && chance(70) ? 1 + below(5) : d;
    if (shape == x.shape || product(shape) > kMostElements) return;
    node("Expand", {x.name, integers(shape)}, shape);
  }

  // Continuous where the condition changes, so that a rounding does not decide.
  void choose(const Tensor &x) {
    const std::string least = weights({}, 0.5f), condition = fresh("c");
    graph_.model.node("Greater", {x.name, least}, {condition});
    graph_.text += condition + " = Greater " + x.name + " " + least + "\n";
    node("Where", {condition, x.name, least}, x.shape);
  }

  void layer_normalize(const Tensor &x) {
    if (x.shape.back() < 4) return;
    const int64_t n = x.shape.back();
    node("LayerNormalization", {x.name, weights({n}, 1), weights({n}, 1)}, x.shape);
  }

  // Groups of one channel, of some, or one group of all.
  void convolve(const Tensor &x) {
    const int64_t c = x.shape[1], kernel = one_of({1, 1, 1, 2, 3, 3, 3, 5});
    const auto spatial = x.shape.size() - 2;
    int64_t groups = 1, made = one_of({1, 3, 4, 8, 16, 24, 33});
    if (chance(30)) {
      groups = c, made = c * one_of({1, 1, 2});
    } else if (chance(25)) {
      Sizes divisors{1};
      for (int64_t d = 2; d < c; d++) {
        if (c % d == 0) divisors.push_back(d);
      }
      groups = one_of(divisors), made = groups * one_of({1, 2, 4, 5});
    }
    const int64_t stride = one_of({1, 1, 1, 2}), dilation = one_of({1, 1, 1, 2});
    Sizes w{made, c / groups}, pads(2 * spatial), shape{x.shape[0], made};
    for (size_t d = 0; d < spatial; d++) w.push_back(d > 0 && chance(15) ? 1 : kernel);
    const bool centred = chance(60);
    for (size_t i = 0; i < pads.size(); i++) {
      pads[i] = centred ? w[2 + i % spatial] / 2 * dilation : below(3);
    }
    for (size_t d = 0; d < spatial; d++) {
      const int64_t padded = x.shape[2 + d] + pads[d] + pads[d + spatial],
                    reach = dilation * (w[2 + d] - 1) + 1;
      if (padded < reach) return;
      shape.push_back((padded - reach) / stride + 1);
    }
    const int64_t terms = product(w) / made;
    if (product(shape) > kMostElements || product(shape) * terms > kMostWork) return;
    std::vector<std::string> operands{x.name,
                                      weights(w, 1.7f / std::sqrt(static_cast<float>(terms)))};
    if (chance(60)) operands.push_back(weights({made}, 1));
    const Sizes strides(spatial, stride), dilations(spatial, dilation);
    const Tensor y =
        node("Conv", operands, shape,
             {ints_attribute("strides", strides), ints_attribute("dilations", dilations),
              ints_attribute("pads", pads), int_attribute("group", groups)},
             text_of(w) + " strides " + std::to_string(stride) + " dilations " +
                 std::to_string(dilation) + " pads " + text_of(pads) + " group " +
                 std::to_string(groups));
    if (chance(20)) batch_normalize(y);
    if (chance(50))
      node(one_name({"Relu", "Relu", "Tanh", "Sigmoid"}), {tensors_.back().name}, shape);
  }

  void pool(const Tensor &x) {
    const int64_t kernel = one_of({2, 3, 3}), stride = one_of({1, 2, 2, 3}),
                  pad = one_of({0, kernel / 2});
    Sizes shape{x.shape[0], x.shape[1]};
    for (size_t d = 2; d < 4; d++) {
      if (x.shape[d] + 2 * pad < kernel) return;
      shape.push_back((x.shape[d] + 2 * pad - kernel) / stride + 1);
    }
    const std::string op = one_name({"MaxPool", "AveragePool"});
    std::vector<Message> attributes{ints_attribute("kernel_shape", {kernel, kernel}),
                                    ints_attribute("strides", {stride, stride}),
                                    ints_attribute("pads", {pad, pad, pad, pad})};
    if (op == "AveragePool") attributes.push_back(int_attribute("count_include_pad", below(2)));
    node(op, {x.name}, shape, attributes,
         std::to_string(kernel) + " strides " + std::to_string(stride) + " pads " +
             std::to_string(pad));
  }

  void batch_normalize(const Tensor &x) {
    const int64_t c = x.shape[1];
    node("BatchNormalization",
         {x.name, weights({c}, 1), weights({c}, 1), weights({c}, 1), variances(c)}, x.shape);
  }

  void instance_normalize(const Tensor &x) {
    // Of two or three numbers that are nearly the same, it would be a magnified rounding.
    if (product(x.shape) / x.shape[0] / x.shape[1] < 4) return;
    node("InstanceNormalization", {x.name, weights({x.shape[1]}, 1), weights({x.shape[1]}, 1)},
         x.shape);
  }

  void global_pool(const Tensor &x) {
    node(one_name({"GlobalAveragePool", "GlobalMaxPool"}), {x.name},
         {x.shape[0], x.shape[1], 1, 1});
  }

  void gate_channels(const Tensor &x) {
    const int64_t c = x.shape[1];
    const Sizes one{x.shape[0], c, 1, 1};
    const Tensor mean = node("GlobalAveragePool", {x.name}, one);
    const Tensor mixed = node(
        "Conv", {mean.name, weights({c, c, 1, 1}, 1.7f / std::sqrt(static_cast<float>(c)))}, one);
    node("Mul", {x.name, node("Sigmoid", {mixed.name}, one).name}, x.shape);
  }

  void resize(const Tensor &x) {
    const std::string mode = one_name({"nearest", "linear"});
    const Sizes shape{x.shape[0], x.shape[1], x.shape[2] * 2, x.shape[3] * 2};
    if (product(shape) > kMostElements) return;
    std::vector<Message> attributes{text_attribute("mode", mode)};
    if (mode == "nearest") {
      attributes.push_back(text_attribute("coordinate_transformation_mode", "asymmetric"));
      attributes.push_back(text_attribute("nearest_mode", "floor"));
    }
    node("Resize", {x.name, "", "", integers(shape)}, shape, attributes, mode);
  }

  void depth_to_space(const Tensor &x) {
    if (x.shape[1] % 4 != 0) return;
    node("DepthToSpace", {x.name}, {x.shape[0], x.shape[1] / 4, x.shape[2] * 2, x.shape[3] * 2},
         {int_attribute("blocksize", 2)});
  }

  void space_to_depth(const Tensor &x) {
    if (x.shape[2] % 2 != 0 || x.shape[3] % 2 != 0) return;
    node("SpaceToDepth", {x.name}, {x.shape[0], x.shape[1] * 4, x.shape[2] / 2, x.shape[3] / 2},
         {int_attribute("blocksize", 2)});
  }

  void multiply(const Tensor &x) {
    const int64_t columns = one_of({1, 3, 8, 16, 31, 32, 64}), terms = x.shape.back();
    Sizes shape = x.shape;
    shape.back() = columns;
    if (product(shape) > kMostElements || product(shape) * terms > kMostWork) return;
    const Tensor y = node(
        "MatMul", {x.name, weights({terms, columns}, 1.7f / std::sqrt(static_cast<float>(terms)))},
        shape);
    if (chance(50)) node("Add", {y.name, weights({columns}, 1)}, shape);
  }

  // Rows with each other, as attention has them.
  void attend(const Tensor &x) {
    const int64_t rows = x.shape[1], terms = x.shape[2];
    const Sizes scores{x.shape[0], rows, rows};
    if (product(scores) * terms > kMostWork) return;
    const Tensor turned =
        node("Transpose", {x.name}, {x.shape[0], terms, rows}, {ints_attribute("perm", {0, 2, 1})});
    const Tensor s = node("MatMul", {x.name, turned.name}, scores);
    const Tensor p = node("Softmax", {s.name}, scores, {int_attribute("axis", -1)});
    node("MatMul", {p.name, x.name}, x.shape);
  }

  void gemm(const Tensor &x) {
    const int64_t columns = one_of({1, 4, 10, 16, 33}), terms = x.shape[1];
    const bool turned = chance(50);
    if (x.shape[0] * columns * terms > kMostWork) return;
    const float most = 1.7f / std::sqrt(static_cast<float>(terms));
    std::vector<std::string> operands{
        x.name, turned ? weights({columns, terms}, most) : weights({terms, columns}, most)};
    if (chance(70)) operands.push_back(weights({columns}, 1));
    node("Gemm", operands, {x.shape[0], columns},
         {int_attribute("transB", turned ? 1 : 0), real_attribute("alpha", chance(70) ? 1 : 0.5f)});
  }

  std::mt19937 bits_;
  RandomGraph graph_;
  std::vector<Tensor> tensors_;
  std::set<std::string> read_;
  int64_t nodes_ = 0, names_ = 0;
};

}  // namespace

RandomGraph random_graph(uint32_t seed) { return Drawing(seed).draw(); }

}  // namespace polyhalite::onnx
