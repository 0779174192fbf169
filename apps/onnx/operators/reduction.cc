// Reductions and what is made of them.
#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Tensor;

struct ReductionRow {
  const char *name;
  ops::Reduction how;
};
const ReductionRow kReductions[] = {
    {"ReduceL1", ops::Reduction::L1},         {"ReduceL2", ops::Reduction::L2},
    {"ReduceLogSum", ops::Reduction::LogSum}, {"ReduceLogSumExp", ops::Reduction::LogSumExp},
    {"ReduceMax", ops::Reduction::Max},       {"ReduceMean", ops::Reduction::Mean},
    {"ReduceMin", ops::Reduction::Min},       {"ReduceProd", ops::Reduction::Product},
    {"ReduceSum", ops::Reduction::Sum},       {"ReduceSumSquare", ops::Reduction::SumSquare},
};

std::vector<int> all_axes(int rank) {
  std::vector<int> axes;
  for (int d = 0; d < rank; d++) axes.push_back(d);
  return axes;
}

std::vector<int> reduced_axes(const Node &n, std::vector<int> given, int rank) {
  if (!given.empty() || n.integer("noop_with_empty_axes", 0) != 0) return given;
  return all_axes(rank);
}

Shape reduced_shape(const Shape &from, const std::vector<int> &axes, bool keep) {
  Shape shape;
  for (size_t d = 0; d < from.size(); d++) {
    bool reduced = false;
    for (int a : axes) reduced = reduced || a == static_cast<int>(d);
    if (!reduced) {
      shape.push_back(from[d]);
    } else if (keep) {
      shape.emplace_back(1);
    }
  }
  return shape;
}

void infer_reduce(Inference &i) {
  const std::vector<int> given = i.has(1) ? i.axes(i.integers(1), i.rank(0)) : std::vector<int>();
  const bool keep = i.node().integer("keepdims", 1) != 0;
  i.result(0, i.type(0), reduced_shape(i.shape(0), reduced_axes(i.node(), given, i.rank(0)), keep));
  const auto known = i.known_sizes(0);
  if (known && i.node().is("ReduceProd") && i.rank(0) == 1) i.contents(0, {elements(*known)});
}

std::vector<Tensor> lower_reduce(Lowering &l) {
  const std::vector<int> given = l.has(1) ? l.axes(l.integers(1), l.rank(0)) : std::vector<int>();
  const bool keep = l.node().integer("keepdims", 1) != 0;
  for (const ReductionRow &r : kReductions) {
    if (l.node().is(r.name)) {
      return {ops::reduce(l.in(0), r.how, reduced_axes(l.node(), given, l.rank(0)), keep)};
    }
  }
  l.fail("the reduction is unknown", "there is no algorithm for it");
}

void infer_arg(Inference &i) {
  const int axis = i.axis(i.node().integer("axis", 0), i.rank(0));
  i.result(0, ElementType::Int64,
           reduced_shape(i.shape(0), {axis}, i.node().integer("keepdims", 1) != 0));
}
std::vector<Tensor> lower_arg(Lowering &l) {
  const Node &n = l.node();
  return {ops::arg_reduce(l.in(0), n.is("ArgMax"), l.axis(n.integer("axis", 0), l.rank(0)),
                          n.integer("keepdims", 1) != 0, n.integer("select_last_index", 0) != 0)};
}

std::vector<Tensor> lower_cumulate(Lowering &l) {
  const Node &n = l.node();
  return {ops::cumulate(l.in(0), l.axis(l.integers(1).at(0), l.rank(0)), n.is("CumProd"),
                        n.integer("exclusive", 0) != 0, n.integer("reverse", 0) != 0)};
}
void infer_cumulate(Inference &i) {
  i.axis(i.integers(1).at(0), i.rank(0));
  infer_same(i);
}

std::vector<int> softmax_axes(Lowering &l) {
  const int axis = l.axis(l.node().integer("axis", -1), l.rank(0));
  std::vector<int> axes;
  const int end = l.node().integer("trailing", 0) ? l.rank(0) : axis + 1;
  for (int d = axis; d < end; d++) axes.push_back(d);
  return axes;
}
void infer_softmax(Inference &i) {
  const int rank = i.rank(0);
  const int64_t axis = i.node().integer("axis", -1);
  if (axis != rank || !i.node().has("trailing")) i.axis(axis, rank);
  infer_same(i);
}
std::vector<Tensor> lower_softmax(Lowering &l) { return {ops::softmax(l.in(0), softmax_axes(l))}; }
std::vector<Tensor> lower_log_softmax(Lowering &l) {
  return {ops::log_softmax(l.in(0), softmax_axes(l))};
}
// 1 at the first largest value along the axes, 0 elsewhere.
std::vector<Tensor> lower_hardmax(Lowering &l) {
  const std::vector<int> axes = softmax_axes(l);
  const Tensor x = l.in(0);
  if (axes.empty())
    return {
        Tensor(x.type(), x.shape(), [x](const ops::Index &) { return cast(x.type(), Expr(1)); })};
  ops::Index flat(x.shape().begin(), x.shape().begin() + axes[0]);
  Expr n = 1;
  for (int a : axes) n = n * x.size(a);
  flat.push_back(n);
  flat.insert(flat.end(), x.shape().begin() + axes.back() + 1, x.shape().end());
  const Tensor rows = axes.size() == 1 ? x : ops::reshape(x, flat);
  const Tensor best = ops::arg_reduce(rows, true, axes[0], true, false);
  const size_t a = static_cast<size_t>(axes[0]);
  const Tensor hot(
      x.type(), rows.shape(),
      [=](const ops::Index &at) {
        ops::Index row = at;
        row[a] = 0;
        return cast(x.type(), select(cast<int32_t>(best(row)) == at[a], Expr(1), Expr(0)));
      },
      best.detached_stages());
  return {axes.size() == 1 ? hot : ops::reshape(hot, x.shape())};
}

std::vector<Tensor> lower_lp_normalization(Lowering &l) {
  const Tensor x = l.in(0);
  const int axis = l.axis(l.node().integer("axis", -1), l.rank(0));
  const auto how = l.node().integer("p", 2) == 1 ? ops::Reduction::L1 : ops::Reduction::L2;
  const Tensor norm = ops::reduce(x, how, {axis}, true);
  return {ops::elementwise({x, norm}, x.type(), [](const std::vector<Expr> &v) {
    return select(v[1] == cast(v[1].type(), Expr(0)), cast(v[0].type(), Expr(0)), v[0] / v[1]);
  })};
}

std::vector<Tensor> lower_mean_variance(Lowering &l) {
  std::vector<int> axes{0, 2, 3};
  if (l.node().has("axes")) axes = l.axes(l.node().integers("axes"), l.rank(0));
  const Tensor x = l.in(0);
  const Tensor distance = ops::subtract(x, ops::reduce(x, ops::Reduction::Mean, axes, true));
  const Tensor square = ops::elementwise(distance, [](Expr v) { return v * v; });
  const Tensor deviation =
      ops::elementwise(ops::reduce(square, ops::Reduction::Mean, axes, true),
                       [](Expr v) { return sqrt(v) + cast(v.type(), Expr(1e-9f)); });
  return {ops::divide(distance, deviation)};
}

}  // namespace

std::vector<Operator> reduction_operators() {
  const auto other = Operator::Other;
  std::vector<Operator> list;
  for (const ReductionRow &r : kReductions) {
    list.push_back({"", r.name, other, infer_reduce, lower_reduce, {1}});
  }
  for (const char *name : {"ArgMax", "ArgMin"})
    list.push_back({"", name, other, infer_arg, lower_arg});
  for (const char *name : {"CumSum", "CumProd"}) {
    list.push_back({"", name, other, infer_cumulate, lower_cumulate, {1}});
  }
  list.push_back({"", "Softmax", other, infer_softmax, lower_softmax});
  list.push_back({"", "LogSoftmax", other, infer_softmax, lower_log_softmax});
  list.push_back({"", "Hardmax", other, infer_softmax, lower_hardmax});
  list.push_back({"", "LpNormalization", other, infer_same, lower_lp_normalization});
  list.push_back({"", "MeanVarianceNormalization", other, infer_same, lower_mean_variance});
  return list;
}

}  // namespace polyhalite::onnx
