// The k largest or smallest elements, by tree selection: D. Knuth, The Art of Computer Programming,
// volume 3, section 5.2.3.
#include "lang/ops/common.h"
#include "polyhalite/operators.h"
#include "polyhalite/tuple.h"

namespace polyhalite::ops {

namespace {

// An element: its position, and its value.
struct Element {
  Expr position, value;

  Element(const FuncRef &cell) : position(cell[0]), value(cell[1]) {}  // NOLINT
  Element(Expr p, Expr v) : position(std::move(p)), value(std::move(v)) {}
};

// Values decide, and of equal ones positions.
struct Order {
  bool largest;
  Type type;

  Element none() const { return {Expr(INT32_MAX), largest ? type.min() : type.max()}; }
  Expr precedes(const Element &a, const Element &b) const {
    const Expr differs = largest ? a.value > b.value : a.value < b.value;
    return differs || (a.value == b.value && a.position < b.position);
  }
  Element first_of(const Element &a, const Element &b) const {
    return choose(precedes(a, b), a, b);
  }
  static Element choose(const Expr &c, const Element &a, const Element &b) {
    return {select(c, a.position, b.position), select(c, a.value, b.value)};
  }
};

Tuple as_tuple(const Element &e) { return Tuple(e.position, e.value); }

// Levels of a tree above so many leaves; of an open number any.
int levels_above(const Expr &leaves) {
  const auto known = constant(leaves);
  int levels = 0;
  for (int64_t n = known.value_or(INT32_MAX); n > 1; n = (n + 1) / 2) levels++;
  return levels + 1;
}

}  // namespace

// Elements b, b + blocks, b + 2 blocks, ... are block b, of two blocks at least. A tree has the
// first element of each block at its leaves and the first of two in each node above. It gives up
// its first element k times; then the next one of that element's block is looked for, which is the
// first that the element precedes, and the nodes above are made anew. Cells of the tree: those of
// nodes, as in a heap from 1 on, and behind them the results. Cell 0 is written by what has no
// node.
std::pair<Tensor, Tensor> top_k(const Tensor &given, int k, int axis, bool largest) {
  constexpr int kBlock = 8;
  const Tensor x = given.stages().empty() ? given : stored(given, "elements");
  const size_t a = static_cast<size_t>(normal_axes({axis}, x.rank())[0]);
  const Order order{largest, computed_type(x.type())};
  const Expr n = x.shape()[a];
  const auto known = constant(n);
  const Expr blocks =
      known ? Expr(static_cast<int>(std::max<int64_t>((*known + kBlock - 1) / kBlock, 2)))
            : max((n + (kBlock - 1)) / kBlock, 2);
  std::vector<Var> kept;  // outermost first
  for (int d = 0; d + 1 < x.rank(); d++) kept.emplace_back("i" + std::to_string(d));
  const auto args_of = [&](const Expr &first) {
    std::vector<Expr> args{first};
    for (size_t d = kept.size(); d-- > 0;) args.emplace_back(kept[d]);
    return args;
  };
  const auto element = [&](const Expr &position) -> Element {
    Index at(kept.begin(), kept.end());
    at.insert(at.begin() + static_cast<ptrdiff_t>(a), clamp(position, 0, max(n - 1, 0)));
    return Order::choose(position < n, {position, cast(order.type, x(at))}, order.none());
  };

  Var block("block"), cell("cell");
  std::vector<Var> vars{block};
  for (size_t d = kept.size(); d-- > 0;) vars.push_back(kept[d]);
  Func heads("heads");
  heads(vars) = as_tuple(element(block));
  RDom others(1, kBlock - 1, "others");
  heads(vars) = as_tuple(order.first_of(element(block + others * blocks), heads(vars)));

  Func tree("tree");
  const Expr results = 2 * blocks;
  const auto at = [&](const Expr &c) -> Element {
    return tree(args_of(clamp(c, 0, results + (k - 1))));
  };
  vars[0] = cell;
  tree(vars) =
      as_tuple(Order::choose(cell >= blocks && cell < results,
                             heads(args_of(clamp(cell - blocks, 0, blocks - 1))), order.none()));
  RDom inner(0, blocks - 1, "inner");
  const Expr node = blocks - 1 - inner;
  tree(args_of(node)) = as_tuple(order.first_of(at(2 * node), at(2 * node + 1)));
  // Steps of a round: the result, its block's elements, the nodes above.
  RDom r({{Expr(0), Expr(1 + kBlock + levels_above(blocks))}, {Expr(0), Expr(k)}}, "r");
  const Expr step = r.x, result = results + r.y;
  const Element found = at(result);
  const Expr in_block = found.position % blocks, leaf = blocks + in_block;
  const Expr above = leaf >> max(step - kBlock, 0);
  const Element next = element(in_block + (step - 1) * blocks);
  const Element rest = Order::choose(order.precedes(found, next), next, order.none());
  const Element so_far = Order::choose(step == 1, order.none(), at(leaf));
  const Expr written = select(step == 0, result, step <= kBlock, leaf, above);
  const Element value =
      Order::choose(step == 0, at(1),
                    Order::choose(step <= kBlock, order.first_of(rest, so_far),
                                  order.first_of(at(2 * above), at(2 * above + 1))));
  tree(args_of(clamp(written, 0, results + (k - 1)))) = as_tuple(value);

  std::vector<Stage> stages = merged_stages({x});
  for (const Func &f : {heads, tree}) {
    Stage own;
    own.kind = Stage::Reduce;
    own.func = f;
    own.extents = {f.name() == heads.name() ? blocks : results + k};
    for (size_t d = kept.size(); d-- > 0;) own.extents.push_back(x.shape()[d + (d >= a ? 1 : 0)]);
    stages.push_back(own);
  }
  Index shape = x.shape();
  shape[a] = k;
  auto read = [tree, a, results](int which, Type to) {
    return [tree, a, results, which, to](const Index &index) {
      std::vector<Expr> from{results + index[a]};
      for (size_t d = index.size(); d-- > 0;) {
        if (d != a) from.push_back(index[d]);
      }
      const Expr e = tree(from)[which];
      return e.type() == to ? e : cast(to, e);
    };
  };
  return {Tensor(x.type(), shape, read(1, x.type()), stages),
          Tensor(Int(64), shape, read(0, Int(64)), stages)};
}

}  // namespace polyhalite::ops
