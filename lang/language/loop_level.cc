#include "lang/language/loop_level.h"

#include "lang/language/names.h"
#include "lang/language/record.h"
#include "polyhalite/func.h"

namespace polyhalite {

namespace {

std::string text_of(const LoopLevelContents &l) {
  switch (l.kind) {
    case LoopLevelContents::Root:
      return "root";
    case LoopLevelContents::Inlined:
      return "inlined";
    case LoopLevelContents::Loop:
      return plain_name(l.func) + "." + plain_name(l.loop);
    case LoopLevelContents::Undefined:
      break;
  }
  return "undefined";
}

const LoopLevelContents &settled(const LoopLevel &level, const char *question, const Here &here) {
  const LoopLevelContents &l = *level.contents();
  if (!l.locked) {
    user_error(std::string(question) + "() of a LoopLevel that no compiled pipeline has",
               "set() may still give it another place", "ask after the pipeline is compiled",
               here.where);
  }
  return l;
}

const LoopLevelContents &settled_loop(const LoopLevel &level, const char *question,
                                      const Here &here) {
  const LoopLevelContents &l = settled(level, question, here);
  if (l.kind != LoopLevelContents::Loop) {
    user_error(std::string(question) + "() of the LoopLevel " + text_of(l), "it is no loop",
               "ask is_root() and is_inlined() first", here.where);
  }
  return l;
}

}  // namespace

LoopLevel::LoopLevel() : contents_(std::make_shared<LoopLevelContents>()) {}

LoopLevel::LoopLevel(const Func &func, const VarOrRVar &loop, int stage) : LoopLevel() {
  // The Func may get its definition later: its loops are looked for at the freeze.
  contents_->kind = LoopLevelContents::Loop;
  contents_->func = func.name();
  contents_->loop = loop.name;
  contents_->is_rvar = loop.is_rvar;
  contents_->stage = stage;
  contents_->where = loop.where;
}

LoopLevel LoopLevel::root(Here here) {
  LoopLevel l;
  l.contents_->kind = LoopLevelContents::Root;
  l.contents_->where = std::move(here.where);
  return l;
}

LoopLevel LoopLevel::inlined(Here here) {
  LoopLevel l;
  l.contents_->kind = LoopLevelContents::Inlined;
  l.contents_->where = std::move(here.where);
  return l;
}

bool LoopLevel::defined() const { return contents_->kind != LoopLevelContents::Undefined; }

void LoopLevel::set(const LoopLevel &other, Here here) {
  if (contents_->locked) {
    user_error("cannot set() the LoopLevel " + text_of(*contents_) + " any more",
               "a pipeline that has it is compiled", "set it before the first realize or compile",
               here.where);
  }
  *contents_ = *other.contents_;
  contents_->locked = false;
}

bool LoopLevel::is_root(Here here) const {
  return settled(*this, "is_root", here).kind == LoopLevelContents::Root;
}

bool LoopLevel::is_inlined(Here here) const {
  return settled(*this, "is_inlined", here).kind == LoopLevelContents::Inlined;
}

std::string LoopLevel::func(Here here) const { return settled_loop(*this, "func", here).func; }

VarOrRVar LoopLevel::var(Here here) const {
  const LoopLevelContents &l = settled_loop(*this, "var", here);
  VarOrRVar v(Var::of_loop(l.loop));
  v.is_rvar = l.is_rvar;
  return v;
}

int LoopLevel::stage_index(Here here) const {
  return settled_loop(*this, "stage_index", here).stage;
}

std::string LoopLevel::to_string(Here here) const {
  return text_of(settled(*this, "to_string", here));
}

Directive &record_level(FunctionContents &f, int stage, DirectiveKind kind, const LoopLevel &level,
                        const Here &here) {
  const SourceLocation &named = level.contents()->where;
  Directive &d = record(f, stage, kind, {}, {}, named.line ? named : here.where);
  d.level = level.contents();
  return d;
}

namespace {

void bind_root(Directive *d) {
  switch (d->kind) {
    case DirectiveKind::StoreAt:
      d->kind = DirectiveKind::StoreRoot;
      return;
    case DirectiveKind::HoistStorage:
      d->kind = DirectiveKind::HoistStorageRoot;
      return;
    case DirectiveKind::ComputeWith:
      user_error("cannot compute '" + plain_name(d->func) + "' with root",
                 "compute_with names a loop of another stage",
                 "give a Func, one of its loops, and if it has updates the stage", d->where);
    default:
      d->kind = DirectiveKind::ComputeRoot;
  }
}

// False where the directive says nothing then.
bool bind_inlined(Directive *d) {
  switch (d->kind) {
    case DirectiveKind::StoreAt:
      return false;
    case DirectiveKind::HoistStorage:
    case DirectiveKind::ComputeWith:
      user_error(std::string(directive_name(d->kind)) + " at an inlined level for '" +
                     plain_name(d->func) + "'",
                 "an inlined Func has neither storage nor loops",
                 "name a loop of a consumer, or of another stage", d->where);
    default:
      d->kind = DirectiveKind::ComputeInline;
      return true;
  }
}

}  // namespace

bool bind_level(Directive *d, bool lock) {
  LoopLevelContents &l = *d->level;
  bool says_something = true;
  switch (l.kind) {
    case LoopLevelContents::Undefined:
      user_error(std::string("cannot ") + directive_name(d->kind) + " '" + plain_name(d->func) +
                     "' at an undefined LoopLevel",
                 "a LoopLevel made without a place has to get one with set()",
                 "set() it before the pipeline is compiled", d->where);
    case LoopLevelContents::Root:
      bind_root(d);
      break;
    case LoopLevelContents::Inlined:
      says_something = bind_inlined(d);
      break;
    case LoopLevelContents::Loop:
      for (std::string &own : d->loops) {
        if (own == kSharedLoop) own = l.loop;
      }
      d->loops.insert(d->loops.begin(), l.loop);
      d->target_func = l.func;
      d->target_stage = d->kind == DirectiveKind::ComputeWith && l.stage < 0 ? 0 : l.stage;
      break;
  }
  if (lock && !l.locked) l.locked = true;
  d->level = nullptr;
  return says_something;
}

}  // namespace polyhalite
