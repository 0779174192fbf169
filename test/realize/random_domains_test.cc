// Random conditions on domains: inputs have just what the entry asks for, between pages that nobody
// can touch, and values are those of plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhalite/polyhalite.h"
#include "test/support/dice.h"
#include "test/support/guarded_pages.h"

namespace polyhalite::random_domains_test {
namespace {

using test::Dice;
using test::GuardedPages;

// f's pure variables x and y, and r and q of its domain.
constexpr size_t kVariables = 4;
using Point = std::array<int, kVariables>;

struct Sum {
  std::array<int, kVariables> factors{};
  int constant = 0, of_n = 0;  // and so many times the Param n

  int at(const Point &p, int n) const {
    int sum = constant + of_n * n;
    for (size_t v = 0; v < kVariables; v++) sum += factors[v] * p[v];
    return sum;
  }
  Expr over(const std::vector<Expr> &variables, const Expr &n) const {
    Expr sum = constant;
    for (size_t v = 0; v < kVariables; v++) {
      if (factors[v] != 0) sum = sum + variables[v] * factors[v];
    }
    return of_n == 0 ? sum : sum + n * of_n;
  }
};

struct Condition {
  Sum left;
  int op = 0;  // left < 0, <=, >, >=, ==

  template <typename T>
  auto over(const T &value) const -> decltype(value < 0) {
    switch (op) {
      case 0:
        return value < 0;
      case 1:
        return value <= 0;
      case 2:
        return value > 0;
      case 3:
        return value >= 0;
      default:
        return value == 0;
    }
  }
};

struct Read {
  Sum index;
  int divisor = 1;
  bool by_producer = false;
  int at(const Point &p, int n) const {
    const int i = index.at(p, n);
    return i >= 0 ? i / divisor : -((-i + divisor - 1) / divisor);
  }
};

struct Program {
  std::vector<Condition> conditions;
  std::vector<Read> reads;
  std::optional<Sum> cell_of_data;  // of a condition that reads memory
  std::array<int, kVariables> min{}, extent{};
  int n = 0;
  bool ordered = false;  // f*3 + ..., which no loop may turn around

  explicit Program(Dice &dice) {
    n = dice.between(3, 14);
    for (size_t v = 0; v < kVariables; v++) {
      min[v] = dice.chance(70) ? 0 : dice.between(-6, 6);
      extent[v] = v < 2 ? dice.between(1, v == 0 ? 37 : 5) : dice.between(1, 9);
    }
    ordered = dice.chance(15);
    for (int i = dice.between(1, 3); i > 0; i--) {
      Condition c;
      c.left = some_sum(dice);
      c.op = dice.chance(6) ? 4 : dice.between(0, 3);
      conditions.push_back(c);
    }
    for (int i = dice.between(1, 2); i > 0; i--) {
      Read r;
      r.index = dice.chance(65) ? dice.pick(conditions).left : some_sum(dice);
      if (dice.chance(20)) {
        const int factor = dice.pick(std::vector<int>{-2, -1, 2});
        for (int &f : r.index.factors) f *= factor;
      }
      if (dice.chance(30)) r.index.factors[static_cast<size_t>(dice.between(0, 3))] += 1;
      r.index.constant += dice.between(-3, 3);
      r.index.of_n = dice.chance(80) ? 0 : 1;
      if (dice.chance(15)) r.divisor = dice.between(2, 3);
      r.by_producer = dice.chance(50);
      reads.push_back(r);
    }
    if (dice.chance(20)) cell_of_data = dice.pick(conditions).left;
  }

  static Sum some_sum(Dice &dice) {
    Sum s;
    for (int i = dice.between(1, 3); i > 0; i--) {
      s.factors[static_cast<size_t>(dice.between(0, 3))] =
          dice.pick(std::vector<int>{-2, -1, -1, 1, 1, 2});
    }
    if (s.factors[2] == 0 && s.factors[3] == 0) s.factors[2] = dice.chance(50) ? 1 : -1;
    s.constant = dice.between(-9, 9);
    s.of_n = dice.pick(std::vector<int>{0, 0, -1, 1});
    return s;
  }

  bool in_domain(const Point &p) const {
    for (const Condition &c : conditions) {
      if (!c.over(c.left.at(p, n))) return false;
    }
    return true;
  }
  template <typename Visit>
  void for_each_point(Visit visit) const {
    Point p;
    for (p[1] = min[1]; p[1] < min[1] + extent[1]; p[1]++) {
      for (p[0] = min[0]; p[0] < min[0] + extent[0]; p[0]++) {
        for (p[3] = min[3]; p[3] < min[3] + extent[3]; p[3]++) {
          for (p[2] = min[2]; p[2] < min[2] + extent[2]; p[2]++) {
            if (in_domain(p)) visit(p);
          }
        }
      }
    }
  }
};

int element(int i) { return i * i % 23 - 7; }
int datum(int i) { return (i % 3 + 3) % 3; }

TailStrategy some_tail(Dice &dice) {
  return dice.pick(std::vector<TailStrategy>{
      TailStrategy::Auto, TailStrategy::GuardWithIf, TailStrategy::GuardWithIf,
      TailStrategy::Predicate, TailStrategy::PredicateStores, TailStrategy::PredicateLoads,
      TailStrategy::RoundUp, TailStrategy::RoundUpAndBlend, TailStrategy::ShiftInwardsAndBlend});
}

struct Pipeline {
  ImageParam in{Int(32), 1, "in"}, more{Int(32), 1, "more"}, data{Int(32), 1, "data"};
  Param<int> n{"n"};
  Func f{"f"}, p{"p"};
  Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"};
  RVar ro{"ro"}, ri{"ri"};
  RDom r;

  explicit Pipeline(const Program &program) {
    r = RDom(program.min[2], program.extent[2], program.min[3], program.extent[3], "r");
    const std::vector<Expr> variables = {x, y, r.x, r.y};
    for (const Condition &c : program.conditions) r.where(c.over(c.left.over(variables, n)));
    if (program.cell_of_data) r.where(data(program.cell_of_data->over(variables, n)) > 0);
    p(x) = more(x) * 3;
    f(x, y) = x - y;
    Expr value = r.x + r.y;
    for (const Read &read : program.reads) {
      Expr i = read.index.over(variables, n);
      if (read.divisor > 1) i = i / read.divisor;
      value = value + (read.by_producer ? p(i) : in(i));
    }
    if (program.ordered) {
      f(x, y) = f(x, y) * 3 + value;
    } else {
      f(x, y) += value;
    }
  }

  void schedule(const Program &program, Dice &dice) {
    if (dice.chance(40)) {
      f.bound(x, program.min[0], program.extent[0]).bound(y, program.min[1], program.extent[1]);
    }
    Stage update = f.update();
    std::vector<VarOrRVar> loops = {r.x, r.y, x, y};
    auto place_of = [&](const VarOrRVar &v) {
      size_t i = 0;
      while (loops[i].name != v.name) i++;
      return i;
    };
    auto split = [&](const VarOrRVar &v, const VarOrRVar &outer, const VarOrRVar &inner,
                     int factor) {
      update.split(v, outer, inner, factor, v.is_rvar ? TailStrategy::Auto : some_tail(dice));
      const size_t at = place_of(v);
      loops[at] = outer;
      loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at), inner);
    };
    const int width = dice.pick(std::vector<int>{2, 4, 8, 8, 16});
    const bool splits_x = dice.chance(65), splits_r = dice.chance(30);
    if (splits_x) split(x, xo, xi, width);
    if (splits_r) split(r.x, ro, ri, dice.between(2, 4));
    if (dice.chance(60)) {
      for (size_t i = loops.size(); i-- > 1;) {
        std::swap(loops[i], loops[static_cast<size_t>(dice.between(0, static_cast<int>(i)))]);
      }
      update.reorder(loops);
    }
    if (dice.chance(25)) update.atomic();
    if (splits_x && dice.chance(75)) update.vectorize(xi);
    if (splits_x && dice.chance(15)) update.unroll(xi);
    if (splits_r && dice.chance(25)) update.vectorize(ri);
    if (splits_r && dice.chance(30)) update.unroll(ri);
    if (dice.chance(20)) update.parallel(dice.pick(loops));
    const int where = dice.between(0, 3);
    if (where == 0) p.compute_root();
    if (where == 1 || where == 2) {
      const VarOrRVar &at = dice.pick(loops);
      p.compute_at(f, at);
      if (dice.chance(15)) p.store_root();
    }
    if (where < 3 && dice.chance(60)) {
      p.split(x, xo, xi, dice.pick(std::vector<int>{2, 4, 8}), some_tail(dice));
      if (dice.chance(80)) p.vectorize(xi);
    }
    if (dice.chance(10)) f.specialize(n > 8);
    if (dice.chance(10)) update.specialize(n > 8);
  }
};

// Elements of an input, just as many as are asked for.
struct Elements {
  Elements(const Buffer<int> &asked, int (*value)(int), bool at_end)
      : pages(static_cast<size_t>(asked.extent(0))) {
    const int extent = asked.extent(0);
    buffer = Buffer<int>(at_end ? pages.end() - extent : pages.first(), extent);
    buffer.set_min(asked.min(0));
    for (int i = 0; i < extent; i++) buffer(asked.min(0) + i) = value(asked.min(0) + i);
  }
  bool has(int i) const { return i >= buffer.min(0) && i < buffer.min(0) + buffer.extent(0); }
  GuardedPages<int> pages;
  Buffer<int> buffer;
};

enum class Outcome { Refused, Compared };

// Of inputs: how many elements bounds queries ask for, and how many lie between those that are
// read.
struct Asked {
  int elements = 0, needed = 0;
};

// Whole tiles of the output are the caller's to allocate.
void expect_of_output(const RuntimeError &e) {
  EXPECT_NE(std::string(e.what()).find("'f'"), std::string::npos) << e.what();
}

Outcome run(uint64_t seed, Asked &asked) {
  Dice dice(seed);
  const Program program(dice);
  Pipeline pipeline(program);
  const auto &[min, extent] = std::pair(program.min, program.extent);
  Buffer<int> out(extent[0], extent[1]);
  out.set_min(min[0], min[1]);
  std::optional<Callable> callable;
  const bool at_end = dice.chance(50);
  std::array<std::unique_ptr<Elements>, 3> inputs;
  const std::array<int (*)(int), 3> values = {element, element, datum};
  try {
    pipeline.schedule(program, dice);
    pipeline.n.set(program.n);
    const std::array<ImageParam *, 3> images = {&pipeline.in, &pipeline.more, &pipeline.data};
    pipeline.f.infer_input_bounds(out);
    for (size_t i = 0; i < images.size(); i++) {
      const bool is_read = images[i]->get().defined();
      inputs[i] = std::make_unique<Elements>(
          is_read ? Buffer<int>(images[i]->get()) : Buffer<int>(1), values[i], at_end);
    }
    callable =
        pipeline.f.compile_to_callable({pipeline.in, pipeline.more, pipeline.data, pipeline.n});
  } catch (const CompileError &) {
    return Outcome::Refused;  // the schedule
  } catch (const RuntimeError &e) {
    expect_of_output(e);
    return Outcome::Refused;
  }
  Buffer<int> wanted(extent[0], extent[1]);
  wanted.set_min(min[0], min[1]);
  for (int y = min[1]; y < min[1] + extent[1]; y++) {
    for (int x = min[0]; x < min[0] + extent[0]; x++) wanted(x, y) = x - y;
  }
  bool inside = true;
  int low = INT_MAX, high = INT_MIN;
  program.for_each_point([&](const Point &p) {
    if (program.cell_of_data) {
      const int i = program.cell_of_data->at(p, program.n);
      inside = inside && inputs[2]->has(i);
      if (datum(i) <= 0) return;
    }
    int value = p[2] + p[3];
    for (const Read &r : program.reads) {
      const int i = r.at(p, program.n);
      inside = inside && inputs[r.by_producer ? 1 : 0]->has(i);
      if (!r.by_producer) {
        low = std::min(low, i);
        high = std::max(high, i);
      }
      value += r.by_producer ? element(i) * 3 : element(i);
    }
    int &cell = wanted(p[0], p[1]);
    cell = static_cast<int>(static_cast<uint32_t>(cell) * (program.ordered ? 3u : 1u) +
                            static_cast<uint32_t>(value));
  });
  EXPECT_TRUE(inside) << "seed " << seed << ": the entry asks for less than is read";
  if (!inside) return Outcome::Compared;
  if (low <= high && !program.cell_of_data) {
    asked.elements += inputs[0]->buffer.extent(0);
    asked.needed += high - low + 1;
  }
  try {
    (*callable)(inputs[0]->buffer, inputs[1]->buffer, inputs[2]->buffer, program.n, out);
  } catch (const RuntimeError &e) {
    expect_of_output(e);
    return Outcome::Refused;
  }
  int wrong = 0;
  for (int y = min[1]; y < min[1] + extent[1]; y++) {
    for (int x = min[0]; x < min[0] + extent[0]; x++) wrong += out(x, y) != wanted(x, y);
  }
  EXPECT_EQ(wrong, 0) << "seed " << seed;
  return Outcome::Compared;
}

TEST(RandomDomains, ReadWhatTheyAskFor) {
  constexpr uint64_t kPrograms = 60;
  int compared = 0;
  Asked asked;
  for (uint64_t seed = 0; seed < kPrograms; seed++) {
    compared += run(seed, asked) == Outcome::Compared;
  }
  EXPECT_GT(compared, 25);  // or nothing is compared
  EXPECT_GT(asked.needed, 100);
  EXPECT_LT(asked.elements, asked.needed + asked.needed / 10);
}

}  // namespace
}  // namespace polyhalite::random_domains_test
