#include "lang/simplify/step_functions.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/operators.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

Expr plus(const Expr &a, const Expr &b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return make_binary(Op::Add, a, b);
}
Expr times(const Expr &a, const Expr &b) {
  if (!a.defined() || !b.defined()) return Expr();
  if (equal(a, make_one(a.type()))) return b;
  return equal(b, make_one(b.type())) ? a : make_binary(Op::Mul, a, b);
}

bool uses_any(const Expr &e, const std::vector<size_t> &group) {
  return std::any_of(group.begin(), group.end(),
                     [&](size_t i) { return uses_variable(e, left_symbol(i)); });
}

// values = matrix * cell + constant; undefined entries are 0.
class LinearSteps {
 public:
  LinearSteps(const std::vector<Expr> &values, const std::vector<size_t> &group)
      : values_(values), group_(group), n_(group.size()), type_(values[0].type()) {}

  std::optional<StepFunction> run() {
    constexpr size_t kMostValues = 3;
    if (n_ > kMostValues || type_.is_bool()) return std::nullopt;
    for (const Expr &v : values_) {
      Row row(n_ + 1);
      if (v.type() != type_ || !read(v, row)) return std::nullopt;
      rows_.push_back(std::move(row));
    }
    find_pattern();
    return build();
  }

 private:
  using Row = std::vector<Expr>;  // a coefficient for each value, and the constant

  bool read(const Expr &e, Row &row) const {
    if (!uses_any(e, group_)) {
      if (!is_zero(e)) row[n_] = e;
      return true;
    }
    if (const VariableNode *v = as_variable(e)) {
      for (size_t k = 0; k < n_; k++) {
        if (v->name == left_symbol(group_[k])) row[k] = make_one(type_);
      }
      return true;
    }
    if (e->op != Op::Add && e->op != Op::Sub && e->op != Op::Mul && e->op != Op::Select &&
        !(e->op == Op::Div && type_.is_float())) {
      return false;
    }
    if (e->op == Op::Select && uses_any(e->args[0], group_)) return false;
    const size_t from = e->op == Op::Select ? 1 : 0;
    Row a(n_ + 1), b(n_ + 1);
    if (!read(e->args[from], a) || !read(e->args[from + 1], b)) return false;
    const bool a_varies = uses_any(e->args[from], group_);
    const bool b_varies = uses_any(e->args[from + 1], group_);
    if (e->op == Op::Mul && a_varies && b_varies) return false;
    if (e->op == Op::Div && b_varies) return false;
    for (size_t k = 0; k <= n_; k++) {
      switch (e->op) {
        case Op::Add:
          row[k] = plus(a[k], b[k]);
          break;
        case Op::Sub:
          row[k] = !b[k].defined() ? a[k] : make_binary(Op::Sub, or_zero(a[k]), b[k]);
          break;
        case Op::Mul:
          row[k] = a_varies ? times(a[k], e->args[1]) : times(e->args[0], b[k]);
          break;
        case Op::Div:
          if (a[k].defined()) row[k] = make_binary(Op::Div, a[k], e->args[1]);
          break;
        default:
          if (a[k].defined() || b[k].defined()) {
            row[k] = equal(or_zero(a[k]), or_zero(b[k]))
                         ? a[k]
                         : make_select(e->args[0], or_zero(a[k]), or_zero(b[k]));
          }
      }
    }
    return true;
  }

  Expr or_zero(const Expr &e) const { return e.defined() ? e : make_zero(type_); }

  // Which numbers any sequence of steps may have.
  void find_pattern() {
    used_.assign(n_, std::vector<bool>(n_ + 1, false));
    for (size_t i = 0; i < n_; i++) {
      for (size_t j = 0; j <= n_; j++) used_[i][j] = rows_[i][j].defined();
      used_[i][i] = true;
    }
    for (size_t k = 0; k < n_; k++) {
      for (size_t i = 0; i < n_; i++) {
        for (size_t j = 0; j <= n_; j++) {
          if (used_[i][k] && used_[k][j]) used_[i][j] = true;
        }
      }
    }
    for (size_t i = 0; i < n_; i++) {
      bool in_cycle = false;
      for (size_t j = 0; j < n_; j++) in_cycle |= i != j && used_[i][j] && used_[j][i];
      stays_.push_back(!in_cycle && rows_[i][i].defined() && equal(rows_[i][i], make_one(type_)));
    }
  }

  StepFunction build() const {
    StepFunction f;
    std::vector<std::vector<size_t>> slot(n_, std::vector<size_t>(n_ + 1, 0));
    std::vector<std::pair<size_t, size_t>> entries;
    for (size_t i = 0; i < n_; i++) {
      for (size_t j = 0; j <= n_; j++) {
        if (!used_[i][j] || (i == j && stays_[i])) continue;
        slot[i][j] = entries.size();
        entries.push_back({i, j});
      }
    }
    // Entry (i, j) of the left or the right function; undefined: 0.
    const auto entry = [&](bool left, size_t i, size_t j) {
      if (!used_[i][j]) return Expr();
      if (i == j && stays_[i]) return make_one(type_);
      return left ? left_operand(type_, slot[i][j]) : right_operand(type_, slot[i][j]);
    };
    for (const auto &[i, j] : entries) {
      f.operands.push_back(simplify(or_zero(rows_[i][j])));
      f.identity.push_back(i == j ? make_one(type_) : make_zero(type_));
      Expr sum = j == n_ ? entry(false, i, j) : Expr();
      for (size_t k = 0; k < n_; k++) sum = plus(times(entry(true, k, j), entry(false, i, k)), sum);
      f.op.push_back(or_zero(sum));
    }
    for (size_t i = 0; i < n_; i++) {
      Expr value = entry(false, i, n_);
      for (size_t k = n_; k-- > 0;) {
        value = plus(times(left_operand(type_, group_[k]), entry(false, i, k)), value);
      }
      f.applied.push_back(or_zero(value));
    }
    return f;
  }

  const std::vector<Expr> &values_;
  const std::vector<size_t> &group_;
  const size_t n_;
  const Type type_;
  std::vector<Row> rows_;
  std::vector<std::vector<bool>> used_;
  std::vector<bool> stays_;  // the value's own coefficient is 1, after any number of steps
};

// value = (cell*a + b) % m. Numbers that describe it are less than m; one more says that there was
// a step at all, as none leaves the cell as it is, be it more than m or not.
std::optional<StepFunction> remainder_step(const Expr &value, size_t cell) {
  const Type t = value.type();
  int64_t m;
  if (value->op != Op::Mod || !is_const_int(value->args[1], &m) || m < 2) return std::nullopt;
  // Products must not overflow; those that wrap keep the remainders by powers of two.
  const bool is_exact =
      t.is_affine() && m <= (t.bits() == 32 ? int64_t{46340} : int64_t{3037000499});
  if (!is_exact && (t.is_affine() || (m & (m - 1)) != 0)) return std::nullopt;
  auto f = LinearSteps({value->args[0]}, {cell}).run();
  if (!f) return std::nullopt;
  const auto rest = [&](const Expr &e) {
    return simplify(make_binary(Op::Mod, e, make_int(t, m)));
  };
  for (std::vector<Expr> *numbers : {&f->operands, &f->op}) {
    for (Expr &e : *numbers) e = rest(e);
  }
  const Expr left = left_operand(t, cell);
  const size_t taken = f->operands.size();
  const Expr any = right_operand(t, taken);
  f->operands.push_back(make_one(t));
  f->identity.push_back(make_zero(t));
  f->op.push_back(make_binary(Op::Max, left_operand(t, taken), any));
  const Expr reduced = substitute(left_symbol(cell), rest(left), f->applied[0]);
  f->applied = {make_select(make_binary(Op::Ne, any, make_zero(t)), rest(reduced), left)};
  return f;
}

struct IntegerRange {
  int64_t min, max;
  bool holds(const IntegerRange &o) const { return min <= o.min && o.max <= max; }
};

// Of an integer type of at most 32 bits.
IntegerRange range_of_all(Type t) {
  const int bits = t.bits();
  if (t.is_uint()) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

bool is_narrow_integer(Type t) { return t.is_int_or_uint() && !t.is_bool() && t.bits() <= 32; }

// value = min(max(cell + shift, low), high)
class ClampedStep {
 public:
  ClampedStep(const Expr &value, size_t cell, bool shifts)
      : cell_(left_operand(value.type(), cell)),
        value_(value),
        shifts_(shifts),
        wide_(shifts && !value.type().is_float() ? Int(64) : value.type()) {}

  std::optional<StepFunction> run() {
    const Type t = value_.type();
    if (t.is_bool() || (shifts_ && !t.is_float() && !is_narrow_integer(t))) return std::nullopt;
    Form form;
    if (!read(value_, form)) return std::nullopt;
    StepFunction f;
    const auto l = [&](size_t k) { return left_operand(wide_, k); };
    const auto r = [&](size_t k) { return right_operand(wide_, k); };
    const size_t low = shifts_ ? 1 : 0, high = low + 1;
    const auto then = [&](const Expr &e) {
      return clamped(shifts_ ? make_binary(Op::Add, e, r(0)) : e, r(low), r(high));
    };
    if (shifts_) {
      f.operands.push_back(form.shift);
      f.identity.push_back(make_zero(wide_));
      f.op.push_back(make_binary(Op::Add, l(0), r(0)));
    }
    f.operands.push_back(form.low);
    f.operands.push_back(form.high);
    f.identity.push_back(least());
    f.identity.push_back(greatest());
    f.op.push_back(then(l(low)));
    f.op.push_back(then(l(high)));
    f.applied = {make_cast(t, then(make_cast(wide_, cell_)))};
    return f;
  }

 private:
  struct Form {
    Expr shift, low, high;  // of type wide_
    IntegerRange range;     // of the value, in its own type; of integers
  };

  static Expr clamped(const Expr &e, const Expr &low, const Expr &high) {
    return make_binary(Op::Min, make_binary(Op::Max, e, low), high);
  }
  Expr least() const { return make_cast_of(lowest_value(value_.type())); }
  Expr greatest() const { return make_cast_of(highest_value(value_.type())); }
  Expr make_cast_of(const Expr &constant) const {
    int64_t n;
    return constant.type() != wide_ && is_const_int(constant, &n) ? make_int(wide_, n) : constant;
  }
  Expr widened(const Expr &e) const {
    int64_t n;
    if (!wide_.is_float() && is_const_int(e, &n)) return make_int(wide_, n);
    return make_cast(wide_, e);
  }
  bool uses_cell(const Expr &e) const { return uses_variable(e, as_variable(cell_)->name); }

  // What is known of the values of an operand.
  static IntegerRange range(const Expr &e) {
    int64_t n;
    if (is_const_int(e, &n)) return {n, n};
    IntegerRange r = is_narrow_integer(e.type())
                         ? range_of_all(e.type())
                         : IntegerRange{std::numeric_limits<int64_t>::min(),
                                        std::numeric_limits<int64_t>::max()};
    if (e->op == Op::Cast && is_narrow_integer(e->args[0].type())) {
      const IntegerRange inner = range(e->args[0]);
      if (r.holds(inner)) r = inner;
    }
    return r;
  }

  void shift(Form &f, const Expr &by, bool back) const {
    const Op op = back ? Op::Sub : Op::Add;
    f.shift = make_binary(op, f.shift, by);
    f.low = make_binary(op, f.low, by);
    f.high = make_binary(op, f.high, by);
  }

  void limit(Form &f, const Expr &to, Op op) const {
    f.low = make_binary(op, f.low, to);
    f.high = make_binary(op, f.high, to);
  }

  bool read(const Expr &e, Form &f) const {
    const bool whole = !e.type().is_float();
    if (equal(e, cell_)) {
      f = {make_zero(wide_), least(), greatest(), {}};
      if (shifts_ && whole) f.range = range_of_all(e.type());
      return true;
    }
    switch (e->op) {
      case Op::Min:
      case Op::Max:
      case Op::Add:
      case Op::Sub: {
        const bool first = uses_cell(e->args[0]);
        if (first == uses_cell(e->args[1]) || !read(e->args[first ? 0 : 1], f)) return false;
        const Expr &other = e->args[first ? 1 : 0];
        if (e->op == Op::Min || e->op == Op::Max) {
          limit(f, widened(other), e->op);
          if (shifts_ && whole) {
            const IntegerRange o = range(other);
            f.range =
                e->op == Op::Min
                    ? IntegerRange{std::min(f.range.min, o.min), std::min(f.range.max, o.max)}
                    : IntegerRange{std::max(f.range.min, o.min), std::max(f.range.max, o.max)};
          }
          return true;
        }
        if (!shifts_ || (e->op == Op::Sub && !first)) return false;
        shift(f, widened(other), e->op == Op::Sub);
        return !whole || fits_sum(e, other, e->op == Op::Sub, f);
      }
      case Op::Cast: {
        const Type to = e.type();
        if (!shifts_ || !whole || !is_narrow_integer(to) || !is_narrow_integer(e->args[0].type()) ||
            !read(e->args[0], f)) {
          return false;
        }
        return range_of_all(to).holds(f.range);
      }
      case Op::Select:
        return !uses_cell(e->args[0]) && choose(e, f);
      case Op::Call:
        return shifts_ && whole && saturated(e, f);
      default:
        return false;
    }
  }

  // Sums that wrap are no shifts. Those of int32 have no value where they overflow.
  bool fits_sum(const Expr &e, const Expr &other, bool back, Form &f) const {
    if (!is_narrow_integer(e.type())) return false;
    const IntegerRange o = range(other), type = range_of_all(e.type());
    const IntegerRange sum = back ? IntegerRange{f.range.min - o.max, f.range.max - o.min}
                                  : IntegerRange{f.range.min + o.min, f.range.max + o.max};
    if (!type.holds(sum) && !e.type().is_affine()) return false;
    f.range = {std::max(sum.min, type.min), std::min(sum.max, type.max)};
    return true;
  }

  bool choose(const Expr &e, Form &f) const {
    Form a, b;
    for (const int side : {1, 2}) {
      if (!uses_cell(e->args[side]) || !read(e->args[side], side == 1 ? a : b)) return false;
    }
    f = {make_select(e->args[0], a.shift, b.shift),
         make_select(e->args[0], a.low, b.low),
         make_select(e->args[0], a.high, b.high),
         {std::min(a.range.min, b.range.min), std::max(a.range.max, b.range.max)}};
    return true;
  }

  bool saturated(const Expr &e, Form &f) const {
    const bool adds = as_intrinsic(e, intrinsic::kSaturatingAdd) != nullptr;
    if (!adds && !as_intrinsic(e, intrinsic::kSaturatingSub)) return false;
    const bool first = uses_cell(e->args[0]);
    if (first == uses_cell(e->args[1]) || (!adds && !first)) return false;
    if (!is_narrow_integer(e.type()) || !read(e->args[first ? 0 : 1], f)) return false;
    shift(f, widened(e->args[first ? 1 : 0]), !adds);
    const IntegerRange r = range_of_all(e.type());
    limit(f, make_int(wide_, r.min), Op::Max);
    limit(f, make_int(wide_, r.max), Op::Min);
    f.range = r;
    return true;
  }

  const Expr cell_, value_;
  const bool shifts_;
  const Type wide_;
};

// saturating_sub(cell, a), perhaps under conditions that leave the cell: a sum that saturates.
Expr subtracted(const Expr &e, const Expr &cell) {
  if (equal(e, cell)) return make_zero(e.type());
  const std::string name = as_variable(cell)->name;
  if (e->op == Op::Select && !uses_variable(e->args[0], name)) {
    const Expr a = subtracted(e->args[1], cell), b = subtracted(e->args[2], cell);
    return a.defined() && b.defined() ? make_select(e->args[0], a, b) : Expr();
  }
  if (!as_intrinsic(e, intrinsic::kSaturatingSub) || uses_variable(e->args[1], name)) return Expr();
  const Expr before = subtracted(e->args[0], cell);
  if (!before.defined()) return Expr();
  return is_zero(before)
             ? e->args[1]
             : make_intrinsic(e.type(), intrinsic::kSaturatingAdd, {before, e->args[1]});
}

std::optional<StepFunction> saturating_difference(const Expr &value, size_t cell) {
  const Type t = value.type();
  if (!t.is_uint() || t.is_bool()) return std::nullopt;
  const Expr left = left_operand(t, cell), by = subtracted(value, left);
  if (!by.defined()) return std::nullopt;
  StepFunction f;
  f.operands = {by};
  f.identity = {make_zero(t)};
  f.op = {make_intrinsic(t, intrinsic::kSaturatingAdd, {left_operand(t, 0), right_operand(t, 0)})};
  f.applied = {make_intrinsic(t, intrinsic::kSaturatingSub, {left, right_operand(t, 0)})};
  f.commutative = true;
  return f;
}

}  // namespace

std::optional<StepFunction> step_function(const std::vector<Expr> &values,
                                          const std::vector<size_t> &group) {
  if (group.size() == 1) {
    if (auto f = saturating_difference(values[0], group[0])) return f;
    if (auto f = remainder_step(values[0], group[0])) return f;
    if (auto f = ClampedStep(values[0], group[0], false).run()) return f;
  }
  if (auto f = LinearSteps(values, group).run()) return f;
  if (group.size() == 1) return ClampedStep(values[0], group[0], true).run();
  return std::nullopt;
}

}  // namespace polyhalite
