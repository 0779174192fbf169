// The k largest or smallest elements: a few of a row by quadratic selection, of few elements by
// comparison counting, else by tree selection: D. Knuth, The Art of Computer Programming, volume 3,
// sections 5.2 and 5.2.3.
#include <algorithm>
#include <numeric>

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

// Cycles that tree selection of k of n elements takes: its steps wait for each other.
int64_t cycles_of_tree(int64_t n, int64_t k) {
  constexpr int64_t kStep = 30, kStepsOfRound = 6;
  int64_t levels = 0;
  while (n >> levels > 1) levels++;
  return 2 * n + k * (kStepsOfRound + levels) * kStep;
}
// Vectors of elements, each compared with each, and its rank stored and read.
int64_t cycles_of_counting(int64_t n) { return 25 * n + n * n / 10; }

// Vectors of elements, twice for each result.
int64_t cycles_of_passes(int64_t n, int64_t k) { return 2 * n * k; }

// Elements of a block, whole vectors, about as many as there are blocks.
int block_of_row(int n) {
  int block = 16;
  while (block * block < n) block *= 2;
  return block;
}
// All elements once; for each result two short reductions, of which one waits for the other.
int64_t cycles_of_blocks(int n, int64_t k) {
  const int block = std::min(block_of_row(n), n);
  return 2 * int64_t{n} + k * (30 + block + n / block);
}

// Of 64 bits, beside which no position fits: each result is the extremum of those that it precedes,
// and then the first place where that is.
std::pair<Tensor, Tensor> top_k_by_passes(const Tensor &x, int n, int k, bool largest) {
  const int axis = x.rank() - 1;
  const Type type = computed_type(x.type());
  const Tensor values = convert(x, type);
  const Tensor places(Int(32), {Expr(n)}, [](const Index &at) { return at[0]; });
  const Expr none = largest ? type.min() : type.max();
  Tensor peak, found;
  std::vector<Tensor> results;
  for (int i = 0; i < k; i++) {
    const auto follows = [largest](const Expr &v, const Expr &place, const Expr &so_far,
                                   const Expr &last) {
      return (largest ? v < so_far : v > so_far) || (v == so_far && place > last);
    };
    const Tensor left =
        i == 0 ? values
               : elementwise({values, places, peak, found}, type, [=](const std::vector<Expr> &v) {
                   return select(follows(v[0], v[1], v[2], v[3]), v[0], none);
                 });
    const Tensor next = reduce(left, largest ? Reduction::Max : Reduction::Min, {axis}, true);
    std::vector<Tensor> seen{values, places, next};
    if (i > 0) seen.insert(seen.end(), {peak, found});
    const Tensor here = elementwise(seen, Bool(), [=](const std::vector<Expr> &v) {
      const Expr is_next = v[0] == v[2];
      return i == 0 ? is_next : is_next && follows(v[0], v[1], v[3], v[4]);
    });
    found = elementwise({place_where(here, /*last=*/false)}, Int(32),
                        [n](const std::vector<Expr> &v) { return min(v[0], n - 1); });
    peak = next;
    results.push_back(found);
  }
  const Tensor all = k == 1 ? found : concat(results, axis);
  return {gather_elements(x, all, axis), convert(all, Int(64))};
}

// A row in blocks, of whose first elements the first one is a result; then its block's next one is
// looked for. An element and its position are one number, of which the largest comes first.
//
//   firsts[0](b) = max over j of key(b, j)
//   found[i] = max over b of firsts[i](b), next[i] = max over j of key(block of found[i], j) where
//   that is less; firsts[i + 1](b) = next[i] in that block, elsewhere firsts[i](b)
std::pair<Tensor, Tensor> top_k_by_blocks(const Tensor &x, int n, int k, bool largest) {
  const int axis = x.rank() - 1, block = block_of_row(n), blocks = (n + block - 1) / block;
  const Expr none = Int(64).min();
  const auto key = [=](Index at) {
    const Expr position = at.back();
    if (blocks * block != n) at.back() = min(position, n - 1);
    Expr value = cast<int64_t>(x(at));
    if (x.type() == UInt(32)) value = value - Expr(int64_t{1} << 31);
    if (!largest) value = ~value;
    const Expr both = (value << 32) | cast<int64_t>(n - 1 - position);
    return blocks * block == n ? both : select(position < n, both, none);
  };
  const auto position_of = [n](const Expr &key) {
    return clamp(n - 1 - cast<int32_t>(key & UINT32_MAX), 0, n - 1);
  };
  Index of_blocks = x.shape(), of_block = x.shape();
  of_blocks.back() = blocks;
  of_blocks.emplace_back(block);
  of_block.back() = block;
  const Tensor in_blocks(
      Int(64), of_blocks,
      [=](const Index &index) {
        Index at(index.begin(), index.end() - 1);
        at.back() = at.back() * block + index.back();
        return key(at);
      },
      x.detached_stages());
  const Tensor number(Int(32), {Expr(blocks)}, [](const Index &at) { return at[0]; });
  Tensor firsts = held(reduce(in_blocks, Reduction::Max, {axis + 1}, false), "firsts", Stage::Row);
  std::vector<Tensor> results;
  for (int i = 0; i < k; i++) {
    const Tensor found = reduce(firsts, Reduction::Max, {axis}, true);
    const auto position = [position_of](const std::vector<Expr> &v) { return position_of(v[0]); };
    results.push_back(elementwise({found}, Int(32), position));
    if (i + 1 == k) break;
    const Tensor rest(
        Int(64), of_block,
        [=](const Index &index) {
          Index row = index;
          row.back() = 0;
          const Expr last = found(row);
          Index at = index;
          at.back() = position_of(last) / block * block + index.back();
          const Expr each = key(at);
          return select(each < last, each, none);
        },
        found.stages());
    const Tensor next = reduce(rest, Reduction::Max, {axis}, true);
    const auto replaced = [=](const std::vector<Expr> &v) {
      return select(position_of(v[2]) / block == v[1], v[3], v[0]);
    };
    firsts =
        held(elementwise({firsts, number, found, next}, Int(64), replaced), "firsts", Stage::Row);
  }
  const Tensor all = k == 1 ? results[0] : concat(results, axis);
  return {gather_elements(x, all, axis), convert(all, Int(64))};
}

// How many elements precede an element is where it stands.
//
//   ranks(i) = sum over j of (x(j) precedes x(i)); placed(ranks(i)) = i for ranks below k
std::pair<Tensor, Tensor> top_k_by_counting(const Tensor &x, int n, int k, size_t axis,
                                            const Order &order) {
  const std::vector<Var> vars = index_vars(x.rank());
  const auto at = [&](const Expr &position) {
    Index index(vars.begin(), vars.end());
    index[axis] = position;
    return index;
  };
  const auto element = [&](const Expr &position) -> Element {
    return {position, cast(order.type, x(at(position)))};
  };
  Func ranks("ranks"), placed("placed");
  RDom j(0, n, "j"), u(0, n, "u");
  ranks(reversed(vars)) = 0;
  ranks(reversed(vars)) += cast<int32_t>(order.precedes(element(j), element(vars[axis])));
  placed(reversed(vars)) = 0;
  // Those behind all results share a place.
  placed(reversed(at(clamp(Expr(ranks(reversed(at(u)))), 0, k)))) = Expr(u);

  std::vector<Stage> stages = merged_stages({x});
  for (const Func &f : {ranks, placed}) {
    const bool counts = f.name() == ranks.name();
    Stage own;
    own.kind = counts ? Stage::Reduce : Stage::InPlace;
    own.func = f;
    Index shape = x.shape();
    if (!counts) shape[axis] = k + 1;
    own.extents = reversed(shape);
    stages.push_back(own);
  }
  Index shape = x.shape();
  shape[axis] = k;
  const auto position = [placed](const Index &index) -> Expr { return placed(reversed(index)); };
  const auto value = [position, x, axis, n](const Index &index) {
    Index from = index;
    from[axis] = clamp(position(index), 0, n - 1);
    return x(from);
  };
  const auto place = [position](const Index &index) { return cast<int64_t>(position(index)); };
  return {Tensor(x.type(), shape, value, stages), Tensor(Int(64), shape, place, stages)};
}

// Integers in the order of numbers, of which no number is the largest and both zeros are equal.
Expr ordered(const Expr &v) {
  const Type type = Int(v.type().bits());
  const Expr bits = reinterpret(type, v);
  const Expr key = bits ^ ((bits >> (type.bits() - 1)) & type.max());
  const Expr minus_zero = cast(type, Expr(-1));
  return select(is_nan(v), type.max(), select(key == minus_zero, cast(type, Expr(0)), key));
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
  if (x.type().is_float()) {
    const Type type = computed_type(x.type());
    const Tensor keys = elementwise({convert(x, type)}, Int(type.bits()),
                                    [](const std::vector<Expr> &v) { return ordered(v[0]); });
    const Tensor places = top_k(keys, k, axis, largest).second;
    return {gather_elements(x, places, normal_axes({axis}, x.rank())[0]), places};
  }
  const size_t a = static_cast<size_t>(normal_axes({axis}, x.rank())[0]);
  if (a + 1 < x.shape().size() &&
      std::all_of(x.shape().begin() + static_cast<ptrdiff_t>(a) + 1, x.shape().end(), is_one)) {
    std::vector<int> order(x.shape().size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[a], order.back());
    const auto [values, places] = top_k(transpose(x, order), k, -1, largest);
    return {transpose(values, order), transpose(places, order)};
  }
  const Order order{largest, computed_type(x.type())};
  const Expr n = x.shape()[a];
  const auto known = constant(n);
  if (known && *known >= k) {
    // Each takes stages of its own, which are compiled: 32 of them in a second.
    constexpr int kMostInBlocks = 32, kMostPasses = 8;
    const int count = static_cast<int>(*known);
    const bool in_rows = a + 1 == x.shape().size();
    const int64_t tree = cycles_of_tree(count, k), counting = cycles_of_counting(count);
    const int64_t others = in_rows ? std::min(tree, counting) : 0;
    const bool narrow = x.type().bits() <= 32;
    if (narrow && k <= kMostInBlocks && cycles_of_blocks(count, k) < others)
      return top_k_by_blocks(x, count, k, largest);
    if (!narrow && k <= kMostPasses && cycles_of_passes(count, k) < others)
      return top_k_by_passes(x, count, k, largest);
    if (counting < tree) return top_k_by_counting(x, count, k, a, order);
  }
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
