#include "polyhedral/dataflow/affine.h"

#include <algorithm>

#include "lang/ir/visit.h"

namespace polyhalite::dataflow {

std::string SharedNumbers::name_of(const Expr &e) {
  if (const VariableNode *v = as_variable(e)) return name_of(*v);
  const auto found =
      std::find_if(others_.begin(), others_.end(), [&](const Expr &o) { return equal(o, e); });
  const auto at = found - others_.begin();
  if (found == others_.end()) others_.push_back(e);
  return "number " + std::to_string(at);
}

std::string SharedNumbers::name_of(const VariableNode &v) {
  return (v.kind == VariableKind::Param ? "param " : "") + v.name;
}

Affine::Affine(isl_ctx *ctx, SharedNumbers &shared, std::string tuple,
               std::vector<std::string> dims, bool all_numbers)
    : ctx_(ctx), shared_(shared), all_numbers_(all_numbers), dims_(std::move(dims)) {
  for (size_t i = 0; i < dims_.size(); i++) position_[dims_[i]] = static_cast<int>(i);
  isl_space *space = isl_space_set_alloc(ctx, 0, static_cast<unsigned>(dims_.size()));
  space_ = Space(isl_space_set_tuple_name(space, isl_dim_set, tuple.c_str()));
}

PwAff Affine::constant(int64_t v) const {
  return PwAff(isl_pw_aff_val_on_domain(universe().release(), isl_val_int_from_si(ctx_, v)));
}

PwAff Affine::parameter(const std::string &name) const {
  isl_id *id = isl_id_alloc(ctx_, name.c_str(), nullptr);
  isl_space *space = isl_space_add_param_id(space_.copy(), isl_id_copy(id));
  return PwAff(isl_pw_aff_from_aff(isl_aff_param_on_domain_space_id(space, id)));
}

// Of loop IR's division: the remainder is in [0, |k|).
PwAff Affine::quotient(PwAff a, int64_t k) const {
  isl_val *size = isl_val_int_from_si(ctx_, k < 0 ? -k : k);
  PwAff q(isl_pw_aff_floor(isl_pw_aff_scale_down_val(a.release(), size)));
  return k < 0 ? PwAff(isl_pw_aff_neg(q.release())) : q;
}

bool Affine::is_shared(const Expr &e) const {
  bool shared = all_numbers_ || as_variable(e);
  for_each_node(e, [&](const Expr &n) {
    if (const VariableNode *v = as_variable(n)) {
      const bool is_input = v->kind == VariableKind::Param || v->kind == VariableKind::BufferField;
      shared = shared && is_input;
    }
    if (const CallNode *c = as_call(n)) {
      const bool is_pure = c->kind == CallKind::Intrinsic || c->kind == CallKind::Math ||
                           c->kind == CallKind::PureExtern || c->kind == CallKind::Image;
      shared = shared && is_pure && !acts(*c);
    }
  });
  return shared;
}

PwAff Affine::value(const Expr &e) {
  const auto found = known_.find(e.get());
  if (found != known_.end()) return found->second;
  PwAff v = make_value(e);
  if (!v.defined() && e.type().is_scalar() && is_shared(e)) v = parameter(shared_.name_of(e));
  keep_.push_back(e);
  known_[e.get()] = v;
  return v;
}

PwAff Affine::make_value(const Expr &e) {
  if (!e.type().is_affine() || !e.type().is_scalar()) return {};
  int64_t k = 0;
  if (is_const_int(e, &k)) return constant(k);
  if (const VariableNode *v = as_variable(e)) {
    const bool is_input = v->kind == VariableKind::Param || v->kind == VariableKind::BufferField;
    const auto at = position_.find(v->name);
    if (is_input || at == position_.end()) return {};
    isl_local_space *local = isl_local_space_from_space(space_.copy());
    return PwAff(isl_pw_aff_from_aff(
        isl_aff_var_on_domain(local, isl_dim_set, static_cast<unsigned>(at->second))));
  }
  if (const Expr wrapped = wrapped_value(e); wrapped.defined()) return value(wrapped);
  switch (e->op) {
    case Op::Add:
    case Op::Sub:
    case Op::Min:
    case Op::Max: {
      PwAff a = value(e->args[0]), b = value(e->args[1]);
      if (!a.defined() || !b.defined()) return {};
      const auto combine = e->op == Op::Add   ? isl_pw_aff_add
                           : e->op == Op::Sub ? isl_pw_aff_sub
                           : e->op == Op::Min ? isl_pw_aff_min
                                              : isl_pw_aff_max;
      return PwAff(combine(a.release(), b.release()));
    }
    case Op::Mul: {
      const bool left = is_const_int(e->args[0], &k);
      if (!left && !is_const_int(e->args[1], &k)) return {};
      PwAff a = value(e->args[left ? 1 : 0]);
      if (!a.defined()) return {};
      return PwAff(isl_pw_aff_scale_val(a.release(), isl_val_int_from_si(ctx_, k)));
    }
    case Op::Div:
    case Op::Mod: {
      if (!is_const_int(e->args[1], &k)) return {};
      if (k == 0) return constant(0);
      PwAff a = value(e->args[0]);
      if (!a.defined()) return {};
      PwAff q = quotient(a, k);
      if (e->op == Op::Div) return q;
      q = PwAff(isl_pw_aff_scale_val(q.release(), isl_val_int_from_si(ctx_, k)));
      return PwAff(isl_pw_aff_sub(a.release(), q.release()));
    }
    case Op::Select: {
      Set c = holds(e->args[0]);
      PwAff a = value(e->args[1]), b = value(e->args[2]);
      if (!c.defined() || !a.defined() || !b.defined()) return {};
      return PwAff(isl_pw_aff_union_add(
          isl_pw_aff_intersect_domain(a.release(), c.copy()),
          isl_pw_aff_intersect_domain(b.release(), isl_set_complement(c.copy()))));
    }
    case Op::Cast:
      // A narrowing from 64 bits keeps the value: overflow of affine types is undefined.
      return e->args[0].type().is_affine() ? value(e->args[0]) : PwAff();
    default:
      return {};
  }
}

Set Affine::compare(Op op, const Expr &a, const Expr &b) {
  if (!a.type().is_affine() || !a.type().is_scalar()) return {};
  PwAff x = value(a), y = value(b);
  if (!x.defined() || !y.defined()) return {};
  const auto made = op == Op::Eq   ? isl_pw_aff_eq_set
                    : op == Op::Ne ? isl_pw_aff_ne_set
                    : op == Op::Lt ? isl_pw_aff_lt_set
                    : op == Op::Le ? isl_pw_aff_le_set
                    : op == Op::Gt ? isl_pw_aff_gt_set
                                   : isl_pw_aff_ge_set;
  return Set(made(x.release(), y.release()));
}

Set Affine::holds(const Expr &c) {
  if (is_true(c)) return universe();
  if (is_false(c)) return Set(isl_set_empty(space_.copy()));
  if (const Expr wrapped = wrapped_value(c); wrapped.defined()) return holds(wrapped);
  if (is_comparison(c->op)) {
    if (Set s = compare(c->op, c->args[0], c->args[1]); s.defined()) return s;
  }
  if (c->op == Op::Not) {
    if (Set s = holds(c->args[0]); s.defined()) return Set(isl_set_complement(s.release()));
  }
  if (c->op == Op::And || c->op == Op::Or) {
    Set a = holds(c->args[0]), b = holds(c->args[1]);
    if (a.defined() && b.defined()) {
      return Set((c->op == Op::And ? isl_set_intersect : isl_set_union)(a.release(), b.release()));
    }
  }
  if (!c.type().is_scalar() || !is_shared(c)) return {};
  // A number that is positive where it holds.
  return Set(isl_pw_aff_pos_set(parameter(shared_.name_of(c)).release()));
}

Set Affine::all_hold(const std::vector<Expr> &conditions, bool &exact) {
  Set all = universe();
  for (const Expr &c : conditions) {
    if (c->op == Op::And && !holds(c).defined()) {
      all = Set(isl_set_intersect(all.release(), all_hold(c->args, exact).release()));
      continue;
    }
    Set s = holds(c);
    if (!s.defined()) {
      exact = false;
      continue;
    }
    all = Set(isl_set_intersect(all.release(), s.release()));
  }
  return all;
}

Map Affine::values(const std::vector<Expr> &to, const std::string &tuple) {
  // {points -> [v0, v1, ...]}, one output dimension after the other.
  isl_map *all = isl_map_from_domain(universe().release());
  for (const Expr &e : to) {
    PwAff v = value(e);
    if (!v.defined()) {
      isl_map_free(all);
      return {};
    }
    all = isl_map_flat_range_product(all, isl_map_from_pw_aff(v.release()));
  }
  return Map(isl_map_set_tuple_name(all, isl_dim_out, tuple.c_str()));
}

}  // namespace polyhalite::dataflow
