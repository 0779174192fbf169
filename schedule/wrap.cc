#include "schedule/wrap.h"

#include <algorithm>
#include <memory>
#include <set>

#include "polyhalite/error.h"
#include "schedule/derive.h"
#include "schedule/inline.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

const AlgorithmInput *find_image(const Algorithm &a, const std::string &name) {
  for (const AlgorithmInput &i : a.inputs) {
    if (i.param->is_buffer && i.param->name == name) return &i;
  }
  return nullptr;
}

// f(...) or image(...) -> wrapper(...)
class Redirect : public ExprRewriter {
 public:
  Redirect(const std::vector<std::string> &from, const std::string &to) : from_(from), to_(to) {}
  bool found() const { return found_; }

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || (c->kind != CallKind::Func && !(c->kind == CallKind::Image && c->param))) return r;
    if (!std::count(from_.begin(), from_.end(), c->name)) return r;
    found_ = true;
    return make_func_call(c->type, to_, c->args, c->value_index);
  }

 private:
  const std::vector<std::string> &from_;
  const std::string &to_;
  bool found_ = false;
};

std::string text_of(const Directive &d) {
  std::string text = "'" + d.func + "'." + directive_name(d.kind) + "(";
  for (size_t i = 0; i < d.consumers.size(); i++) {
    text += (i ? ", '" : "'") + d.consumers[i] + "'";
  }
  return text + ")";
}

// The Funcs that `name` is computed from, directly or through others.
std::set<std::string> producers_of(const Algorithm &a, const std::string &name) {
  std::set<std::string> found;
  std::vector<std::string> open = {name};
  while (!open.empty()) {
    const FuncDef &f = *a.find(open.back());
    open.pop_back();
    for (const StageDef &s : f.stages) {
      for (const std::string &called : called_funcs(s)) {
        if (called != name && found.insert(called).second) open.push_back(called);
      }
    }
  }
  return found;
}

// Each named consumer reads `d.makes`, or, where it does not read the Func itself, what it is
// computed from does; without names, all but the Func itself, what wraps it, and those whose reads
// go elsewhere already.
void redirect_consumers(Algorithm &a, const Directive &d, const GlobalWrappers &global) {
  std::vector<std::string> from = {d.func};
  const auto shared = global.find(d.func);
  if (shared != global.end()) from.push_back(shared->second);
  auto redirect = [&](FuncDef &f) {
    Redirect calls(from, d.makes);
    for (StageDef &s : f.stages) {
      rewrite_stage(s, [&](const Expr &e) { return calls(e); });
    }
    return calls.found();
  };
  if (d.consumers.empty()) {
    from.resize(1);
    for (FuncDef &f : a.funcs) {
      if (f.name != d.func && f.name != d.makes) redirect(f);
    }
    return;
  }
  for (const std::string &name : d.consumers) {
    if (name == d.func) {
      user_error("cannot make " + text_of(d) + ": it is a Func for '" + d.func + "' itself",
                 "an update reads what '" + d.func + "' holds by then, not its last values",
                 "name another Func that reads '" + d.func + "'", d.where);
    }
    const int i = a.index_of(name);
    if (i < 0) {
      user_error("cannot make " + text_of(d) + ": the pipeline has no Func '" + name + "'", "",
                 "name a Func that reads '" + d.func + "'", d.where);
    }
    if (redirect(a.funcs[i])) continue;
    bool between = false;
    for (const std::string &producer : producers_of(a, name)) {
      if (producer == d.func || producer == d.makes) continue;
      between |= redirect(a.funcs[a.index_of(producer)]);
    }
    if (between) continue;
    user_error("cannot make " + text_of(d) + ": '" + name + "' does not read '" + d.func + "'", "",
               "name a Func that reads '" + d.func + "'", d.where);
  }
}

void check_makes(const Algorithm &a, const Directive &d) {
  if (!d.makes.empty() && !find_image(a, d.makes)) return;
  user_error("cannot make " + text_of(d) + ": '" + d.makes + "' is no name for a Func", "",
             "give the new Func a name that nothing else has", d.where);
}

// A producer stands before its consumers. Consumers before it are those of a Func that the program
// names as well; they do not read it.
void insert_after_producer(Algorithm &a, int producer, FuncDef f) {
  a.funcs.insert(a.funcs.begin() + producer + 1, std::move(f));
}

}  // namespace

Algorithm wrap(Algorithm a, const Directive &d, GlobalWrappers &global) {
  check_makes(a, d);
  const int of = a.index_of(d.func);
  const AlgorithmInput *image = of < 0 ? find_image(a, d.func) : nullptr;
  if (a.index_of(d.makes) < 0) {
    FuncDef f;
    f.name = d.makes;
    f.where = d.where;
    StageDef s;
    s.where = d.where;
    const int dimensions = image ? image->param->dimensions : a.funcs[of].dimensions();
    for (int i = 0; i < dimensions; i++) {
      f.args.push_back(image ? "_" + std::to_string(i) : a.funcs[of].args[i]);
      s.args.push_back(make_variable(Int(32), VariableKind::Pure, f.args.back()));
    }
    f.types = image ? std::vector<Type>{image->param->type} : a.funcs[of].types;
    for (size_t i = 0; i < f.types.size(); i++) {
      if (!image) {
        s.values.push_back(make_func_call(f.types[i], d.func, s.args, static_cast<int>(i)));
        continue;
      }
      auto call = std::make_shared<CallNode>(f.types[i], CallKind::Image, d.func, s.args);
      call->param = image->param;
      s.values.push_back(Expr(std::shared_ptr<const ExprNode>(std::move(call))));
    }
    f.stages.push_back(std::move(s));
    insert_after_producer(a, of, std::move(f));
  }
  redirect_consumers(a, d, global);
  if (d.consumers.empty()) global[d.func] = d.makes;
  return a;
}

Algorithm clone(Algorithm a, const Directive &d, const GlobalWrappers &global) {
  check_makes(a, d);
  const int of = a.index_of(d.func);
  if (a.index_of(d.makes) < 0) {
    FuncDef f = a.funcs[of];
    f.name = d.makes;
    f.stages.resize(f.num_definitions());
    RenameCalls rename(d.func, d.makes);
    for (StageDef &s : f.stages) {
      rewrite_stage(s, [&](const Expr &e) { return rename(e); });
      s.fail.clear();
    }
    insert_after_producer(a, of, std::move(f));
  }
  redirect_consumers(a, d, global);
  return a;
}

}  // namespace polyhalite
