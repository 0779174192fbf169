#include "lang/ir/unowned.h"

#include <algorithm>
#include <set>
#include <vector>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"

namespace polyhalite {

namespace {

using ParamPtr = std::shared_ptr<ParameterContents>;

template <typename Parameter, typename F>
void for_each_limit(Parameter &p, F &&f) {
  for (auto *e : {&p.min_value, &p.max_value, &p.estimate, &p.default_value}) f(*e);
  for (auto &d : p.dims) {
    for (auto *e : {&d.min, &d.extent, &d.stride, &d.min_estimate, &d.extent_estimate}) f(*e);
  }
}

// Does `from` keep `p` alive?
bool owns(const ParameterContents &from, const ParameterContents &p,
          std::set<const ParameterContents *> &seen) {
  if (&from == &p) return true;
  if (!seen.insert(&from).second) return false;
  bool found = false;
  for_each_limit(from, [&](const Expr &e) {
    if (!e.defined()) return;
    for_each_node(e, [&](const Expr &n) {
      const VariableNode *v = as_variable(n);
      if (v && v->param && v->param.use_count() > 0) found = found || owns(*v->param, p, seen);
    });
  });
  return found;
}

bool owns(const ParameterContents &from, const ParameterContents &p) {
  std::set<const ParameterContents *> seen;
  return owns(from, p, seen);
}

Expr with_param(const VariableNode &v, ParamPtr p) {
  auto copy = std::make_shared<VariableNode>(v);
  copy->param = std::move(p);
  return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
}

class Disown : public ExprRewriter {
 public:
  explicit Disown(const ParameterContents &p) : p_(p) {}
  decltype(ParameterContents::not_owned) others;

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v || !v->param) return rewrite_children(e);
    const ParameterContents *named = v->param.get();
    const bool is_owned = v->param.use_count() > 0;
    if (is_owned && !owns(*named, p_)) return e;
    if (named != &p_) keep(named, is_owned ? v->param : nullptr);
    return is_owned ? with_param(*v, unowned(v->param)) : e;
  }

 private:
  void keep(const ParameterContents *named, const ParamPtr &owner) {
    if (owner) {
      others.emplace_back(named, owner);
      return;
    }
    for (const auto &old : p_.not_owned) {
      if (old.first == named) others.push_back(old);
    }
  }

  const ParameterContents &p_;
};

class Own : public ExprRewriter {
 public:
  explicit Own(const ParameterContents &p) : p_(p) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v || !v->param || v->param.use_count() > 0) return rewrite_children(e);
    return with_param(*v, owner_of(v->param));
  }

 private:
  ParamPtr owner_of(const ParamPtr &named) const {
    if (named.get() == &p_) return named->shared_from_this();
    for (const auto &[raw, weak] : p_.not_owned) {
      if (raw != named.get()) continue;
      if (ParamPtr owner = weak.lock()) return owner;
    }
    user_error("a constraint of '" + plain_name(p_.name) + "' names an input that is no more",
               "of inputs whose constraints name each other, each lives as long as the program "
               "keeps it",
               "keep both of them while one is used");
  }

  const ParameterContents &p_;
};

}  // namespace

void disown_itself(ParameterContents &p) {
  Disown disown(p);
  for_each_limit(p, [&](Expr &e) {
    if (e.defined()) e = disown(e);
  });
  p.not_owned = std::move(disown.others);
}

Expr owning(const ParameterContents &p, const Expr &e) { return e.defined() ? Own(p)(e) : e; }

}  // namespace polyhalite
