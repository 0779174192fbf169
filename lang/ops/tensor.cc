// Tensors, shapes that meet, elementwise operators.
#include <algorithm>
#include <limits>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "polyhalite/effects.h"
#include "polyhalite/integer_functions.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// The stages of operands that meet in `shape`: those whose points are the result's stay beside it.
std::vector<Stage> met_stages(const std::vector<Tensor> &operands, const Index &shape) {
  std::vector<Stage> stages;
  for (const Tensor &t : operands) {
    const int offset = static_cast<int>(shape.size()) - t.rank();
    for (const Stage &s : t.stages()) {
      std::vector<int> dims;
      for (int d : s.dims) {
        // A dimension of size 1 that repeats is read at 0, whatever the result's index.
        const bool repeats =
            d < 0 || (is_one(t.size(d)) && !is_one(shape[static_cast<size_t>(d + offset)]));
        dims.push_back(repeats ? -1 : d + offset);
      }
      add_stage(&stages, s, std::move(dims));
    }
  }
  return stages;
}

std::string shapes_text(const std::vector<Tensor> &operands) {
  std::string text;
  for (const Tensor &t : operands) {
    std::string one;
    for (const Expr &e : t.shape()) {
      const auto c = constant(e);
      one += (one.empty() ? "" : ", ") + (c ? std::to_string(*c) : "?");
    }
    text += (text.empty() ? "[" : " and [") + one + "]";
  }
  return text;
}

}  // namespace

void add_stage(std::vector<Stage> *stages, const Stage &s, std::vector<int> dims) {
  for (Stage &old : *stages) {
    if (old.func.function() != s.func.function()) continue;
    // Read at two places: beside neither.
    if (old.dims != dims) old.dims.clear();
    return;
  }
  stages->push_back(s);
  stages->back().dims = std::move(dims);
}

Tensor::Tensor(const Expr &value)
    : type_(value.type()), read_([value](const Index &) { return value; }) {}

Tensor::Tensor(const ImageParam &image, Index shape, std::vector<int> order)
    : type_(image.type()), shape_(std::move(shape)) {
  if (order.empty()) order = reversed_dims(rank());
  read_ = [image, order](const Index &index) {
    std::vector<Expr> args;
    for (int d : order) args.push_back(index[static_cast<size_t>(d)]);
    return image(args);
  };
}

Expr Tensor::elements() const {
  Expr n = 1;
  for (const Expr &e : shape_) n = n * e;
  return n;
}

Expr Tensor::operator()(const Index &index) const {
  if (!read_ || index.size() != shape_.size()) {
    user_error("a tensor of rank " + std::to_string(rank()) + " is read at " +
                   std::to_string(index.size()) + " indices",
               "each dimension has an index", "give one index for each dimension");
  }
  return read_(index);
}

std::vector<Stage> Tensor::detached_stages() const {
  std::vector<Stage> stages = stages_;
  for (Stage &s : stages) s.dims.clear();
  return stages;
}

std::vector<int> normal_axes(const std::vector<int> &axes, int rank) {
  std::vector<int> out;
  for (int a : axes) out.push_back(a < 0 ? a + rank : a);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  for (int a : out) {
    if (a >= 0 && a < rank) continue;
    user_error("axis " + std::to_string(a) + " of a tensor of rank " + std::to_string(rank),
               "it has no such dimension", "use an axis from -rank to rank - 1");
  }
  return out;
}

Type computed_type(Type t) { return t.is_float() && t.bits() < 32 ? Float(32) : t; }

std::vector<Stage> merged_stages(const std::vector<Tensor> &tensors) {
  std::vector<Stage> stages;
  for (const Tensor &t : tensors) {
    for (const Stage &s : t.stages()) add_stage(&stages, s, {});
  }
  return stages;
}

bool is_fixed(const Expr &size) {
  bool fixed = true;
  for_each_node(size, [&](const Expr &e) { fixed = fixed && !as_call(e); });
  return fixed;
}

Stage chosen(std::vector<Stage> choices, const std::string &name) {
  Stage own = choices.back();
  if (choices.size() == 1) return own;
  const std::vector<Var> args = own.func.args();
  Expr value = own.func(args);
  for (size_t i = choices.size() - 1; i-- > 0;)
    value = select(choices[i].when, choices[i].func(args), value);
  own.func = Func(name);
  own.func(args) = value;
  own.parts.clear();
  own.open.clear();
  own.choices = std::move(choices);
  return own;
}

Tensor tensor_of(const Func &f, Type type, const Index &shape, Stage stage,
                 std::vector<Stage> stages) {
  stage.func = f;
  stages.push_back(std::move(stage));
  return Tensor(
      type, shape, [f](const Index &index) -> Expr { return f(reversed(index)); },
      std::move(stages));
}

Tensor stored(const Tensor &x, const std::string &name) { return held(x, name, Stage::Store); }

Tensor held(const Tensor &x, const std::string &name, Stage::Kind kind) {
  Func f(name);
  const std::vector<Var> vars = index_vars(x.rank());
  f(reversed(vars)) = x(as_index(vars));
  Stage stage;
  stage.kind = kind;
  stage.extents = reversed(x.shape());
  stage.dims = reversed_dims(x.rank());
  // A row stands beside what reads it, and so does what it is made of.
  return tensor_of(f, x.type(), x.shape(), stage,
                   kind == Stage::Row ? x.stages() : merged_stages({x}));
}

Index broadcast_shape(const std::vector<Tensor> &operands) {
  size_t rank = 0;
  for (const Tensor &t : operands) rank = std::max(rank, t.shape().size());
  Index shape(rank, Expr(1));
  for (const Tensor &t : operands) {
    const size_t offset = rank - t.shape().size();
    for (size_t d = 0; d < t.shape().size(); d++) {
      Expr &met = shape[offset + d];
      const Expr &size = t.shape()[d];
      if (is_one(size)) continue;
      if (is_one(met) || !constant(met)) {
        met = constant(size) || is_one(met) ? size : met;
      } else if (!may_be_equal(met, size)) {
        user_error("shapes " + shapes_text(operands) + " do not meet",
                   "sizes are equal, or one of them is 1", "reshape or expand an operand");
      }
    }
  }
  return shape;
}

Tensor elementwise(const std::vector<Tensor> &operands, Type result, const Pointwise &f) {
  const Index shape = broadcast_shape(operands);
  auto read = [operands, result, f](const Index &index) {
    std::vector<Expr> values;
    for (const Tensor &t : operands) {
      const size_t offset = index.size() - t.shape().size();
      Index at;
      for (size_t d = 0; d < t.shape().size(); d++) {
        at.push_back(is_one(t.shape()[d]) ? Expr(0) : index[offset + d]);
      }
      Expr v = t(at);
      values.push_back(v.type() == computed_type(v.type()) ? v : cast(computed_type(v.type()), v));
    }
    Expr value = f(values);
    return value.type() == result ? value : cast(result, value);
  };
  return Tensor(result, shape, read, met_stages(operands, shape));
}

Tensor elementwise(const Tensor &operand, const std::function<Expr(Expr)> &f) {
  return elementwise(std::vector<Tensor>{operand}, operand.type(),
                     [f](const std::vector<Expr> &v) { return f(v[0]); });
}

Tensor convert(const Tensor &x, Type type) {
  if (x.type() == type) return x;
  return elementwise(std::vector<Tensor>{x}, type, [type](const std::vector<Expr> &v) {
    if (type.is_bool()) return v[0] != cast(v[0].type(), Expr(0));
    return cast(type, v[0]);
  });
}

Tensor add(const Tensor &a, const Tensor &b) {
  return elementwise({a, b}, a.type(), [](const std::vector<Expr> &v) { return v[0] + v[1]; });
}
Tensor subtract(const Tensor &a, const Tensor &b) {
  return elementwise({a, b}, a.type(), [](const std::vector<Expr> &v) { return v[0] - v[1]; });
}
Tensor multiply(const Tensor &a, const Tensor &b) {
  return elementwise({a, b}, a.type(), [](const std::vector<Expr> &v) { return v[0] * v[1]; });
}
Tensor divide(const Tensor &a, const Tensor &b) {
  return elementwise({a, b}, a.type(), [](const std::vector<Expr> &v) {
    return v[0].type().is_float() ? v[0] / v[1] : div_round_to_zero(v[0], v[1]);
  });
}

Expr exp_of_nonpositive(const Expr &x) {
  const Type t = x.type();
  return exp(unsafe_promise_clamped(x, cast(t, Expr(-std::numeric_limits<float>::infinity())),
                                    cast(t, Expr(0))));
}

Expr number_below(const Expr &peak) {
  const double lowest = peak.type().bits() == 64
                            ? std::numeric_limits<double>::lowest()
                            : static_cast<double>(std::numeric_limits<float>::lowest());
  return max(peak, cast(peak.type(), Expr(lowest)));
}
Expr above_zero(const Expr &total) {
  const double least = total.type().bits() == 64
                           ? std::numeric_limits<double>::min()
                           : static_cast<double>(std::numeric_limits<float>::min());
  return total + cast(total.type(), Expr(least));
}

namespace point {

namespace {
Expr number(const Expr &like, double value) { return cast(like.type(), Expr(value)); }
}  // namespace

// e^-|x| cannot overflow, which leaves small results their digits. What rounding takes from the
// denominator is given back to the quotient.
Expr sigmoid(Expr x) {
  const Expr one = number(x, 1), e = exp_of_nonpositive(-abs(x)), sum = one + e;
  const Expr negative = reinterpret(Int(x.type().bits()), x) < cast(Int(x.type().bits()), Expr(0));
  const Expr quotient = select(negative, e, one) / sum;
  return quotient - quotient * (e - (sum - one));
}

// Two thirds of the time of x * sigmoid(x). Small types overflow early.
Expr swish(Expr x, double a) {
  const Expr scaled = a == 1 ? x : number(x, a) * x;
  if (x.type().bits() < 32) return x * sigmoid(scaled);
  return x / (number(x, 1) + exp(-scaled));
}

// max(x, 0) + log(1 + exp(-|x|)): no overflow on either side.
Expr softplus(Expr x) {
  return max(x, number(x, 0)) + log(number(x, 1) + exp_of_nonpositive(-abs(x)));
}

Expr gelu(Expr x) {
  return number(x, 0.5) * x *
         (number(x, 1) + cast(x.type(), erf(x * number(x, 0.7071067811865476))));
}

Expr gelu_tanh(Expr x) {
  const Expr inner = number(x, 0.7978845608028654) * (x + number(x, 0.044715) * x * x * x);
  return number(x, 0.5) * x * (number(x, 1) + tanh(inner));
}

Expr modulo(Expr a, Expr b) {
  if (a.type().is_uint()) return a % b;
  const Expr r = a % b;
  return select(b < cast(b.type(), Expr(0)) && r != cast(r.type(), Expr(0)), r + b, r);
}

}  // namespace point

}  // namespace polyhalite::ops
