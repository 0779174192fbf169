// Loops that count along one piece of memory become one, which fills vectors.
#include <algorithm>
#include <optional>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

namespace {

// How many elements apart neighbours along a dimension of a parameter lie; 0: not known.
int64_t stride_of(const Parameter &p, size_t d) {
  return constant(p.stride_constraint(static_cast<int>(d))).value_or(0);
}

// Is all that e reads at the variables a and b, of which a has n values, at a + n * b?
bool reads_as_one(const Expr &e, const std::string &a, const std::string &b, int64_t n) {
  if (is_variable(e, a) || is_variable(e, b)) return false;
  const CallNode *call = as_call(e);
  std::optional<int64_t> step, next;
  std::vector<Expr> others;
  for (size_t d = 0; d < e->args.size(); d++) {
    if (call && call->param && is_variable(e->args[d], a)) {
      step = stride_of(Parameter(call->param), d);
    } else if (call && call->param && is_variable(e->args[d], b)) {
      next = stride_of(Parameter(call->param), d);
    } else {
      others.push_back(e->args[d]);
    }
  }
  if ((step || next) && (!step || !next || *step == 0 || *next != *step * n)) return false;
  return std::all_of(others.begin(), others.end(),
                     [&](const Expr &part) { return reads_as_one(part, a, b, n); });
}

// Do loop d over f and the next one count along one piece of f's own memory, and of all that f
// reads?
bool is_one_with_next(const Loops &l, size_t d) {
  if (l.extent(d) == 0 || l.extent(d + 1) == 0) return false;
  const std::vector<Var> args = l.func.args();
  const auto stride = [&](const Var &v) -> int64_t {
    const auto at = std::find_if(args.begin(), args.end(),
                                 [&](const Var &arg) { return arg.name() == v.name(); });
    if (at == args.end()) return 0;  // of a loop over several dimensions
    return stride_of(l.func.output_buffer().parameter(), static_cast<size_t>(at - args.begin()));
  };
  const int64_t step = stride(l.vars[d]);
  return step > 0 && stride(l.vars[d + 1]) == step * l.extent(d) &&
         reads_as_one(l.func.value(), l.vars[d].name(), l.vars[d + 1].name(), l.extent(d));
}

}  // namespace

size_t join_until_full(Loops *l, const Loops &given, size_t d, size_t end, int lanes) {
  size_t last = d;
  for (; l->extent(d) % lanes != 0 && last + 1 < end && is_one_with_next(given, last); last++) {
    const Var joined("joined" + std::to_string(last));
    Func f = l->func;
    if (last == d) f.bound(given.vars[d], 0, static_cast<int>(given.extent(d)));
    f.bound(given.vars[last + 1], 0, static_cast<int>(given.extent(last + 1)));
    f.fuse(l->vars[d], l->vars[d + 1], joined);
    l->vars[d] = joined;
    l->extents[d] = static_cast<int>(l->extent(d) * l->extent(d + 1));
    l->vars.erase(l->vars.begin() + static_cast<ptrdiff_t>(d) + 1);
    l->extents.erase(l->extents.begin() + static_cast<ptrdiff_t>(d) + 1);
  }
  return last - d;
}

}  // namespace polyhalite::ops
