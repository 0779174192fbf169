#include "polyhalite/func_ref.h"

#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/language/call.h"
#include "lang/language/define.h"
#include "lang/language/implicit.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"

namespace polyhalite {

namespace {

Expr sum_of(Expr a, Expr b) { return std::move(a) + std::move(b); }
Expr difference_of(Expr a, Expr b) { return std::move(a) - std::move(b); }
Expr product_of(Expr a, Expr b) { return std::move(a) * std::move(b); }
Expr quotient_of(Expr a, Expr b) { return std::move(a) / std::move(b); }

}  // namespace

const std::string &FunctionHandle::name() const { return (*this)->name; }
bool FunctionHandle::has_pure_definition() const { return (*this)->pure.has_value(); }
bool FunctionHandle::has_update_definition() const { return !(*this)->updates.empty(); }

FuncRef::FuncRef(std::shared_ptr<FunctionContents> func, std::vector<Expr> args,
                 SourceLocation where)
    : func_(std::move(func)), args_(std::move(args)), where_(std::move(where)) {
  if (!func_->pure) return;
  const int dimensions = static_cast<int>(func_->pure_args.size());
  args_ = detail::call_arguments(args_, dimensions, "Func", plain_name(func_->name), where_);
}

void FuncRef::require_defined_func() const {
  if (func_->pure) return;
  user_error("Func " + quoted_name(func_->name) + " is used before it is defined",
             "it has no values yet", "define it first, as in f(x, y) = ...", where_);
}

size_t FuncRef::size() const {
  require_defined_func();
  return func_->types.size();
}

Expr FuncRef::value(int i) const {
  const int dimensions = static_cast<int>(func_->pure_args.size());
  auto node = std::make_shared<CallNode>(
      func_->types[i], CallKind::Func, func_->name,
      detail::call_arguments(args_, dimensions, "Func", plain_name(func_->name), where_));
  node->func = func_;
  node->value_index = i;
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

FuncRef::operator Expr() const {
  detail::note_site(where_);
  require_defined_func();
  if (func_->types.size() != 1) {
    user_error("Func " + quoted_name(func_->name) + " is used as one value",
               "it has " + std::to_string(func_->types.size()) + " values at each point",
               "take one of them, as in f(x)[0]", where_);
  }
  return value(0);
}

FuncTupleElementRef FuncRef::operator[](int i) const {
  require_defined_func();
  const int n = static_cast<int>(func_->types.size());
  if (n == 1) {
    user_error(
        "value " + std::to_string(i) + " of Func " + quoted_name(func_->name) + " is asked for",
        "the Func is no Tuple: it has one value at each point", "use the call without [i]", where_);
  }
  if (i < 0 || i >= n) {
    user_error(
        "value " + std::to_string(i) + " of Func " + quoted_name(func_->name) + " is asked for",
        "it has " + std::to_string(n) + ", counted from 0", "ask for one of them", where_);
  }
  return FuncTupleElementRef(*this, i);
}

bool FuncRef::equivalent_to(const FuncRef &other) const {
  if (func_ != other.func_ || args_.size() != other.args_.size()) return false;
  for (size_t i = 0; i < args_.size(); i++) {
    if (!equal(args_[i], other.args_[i])) return false;
  }
  return true;
}

Stage FuncRef::define(std::vector<Expr> values) {
  std::vector<Expr> args = args_;
  const int at = find_placeholder(args);
  if (!func_->pure && at >= 0) {
    const int named = static_cast<int>(args.size()) - 1;
    args = expand_placeholder(args, named + count_implicit(values), func_->name, where_);
  }
  return Stage(func_, polyhalite::define(func_, args, std::move(values), where_));
}

Stage FuncRef::update(const std::vector<Expr> &values, int initial, Operator combine) {
  const ErrorPlace place(where_);
  for (const Expr &v : values) detail::require_defined(v, "update");
  if (!func_->pure) {
    std::vector<Expr> first;
    for (const Expr &v : values) first.push_back(make_int(v.type(), initial));
    const int named = static_cast<int>(args_.size()) - 1;
    args_ = expand_placeholder(args_, named + count_implicit(values), func_->name, where_);
    define_base_case(func_, args_, std::move(first), where_);
  }
  std::vector<Expr> combined;
  if (values.size() != func_->types.size()) {
    user_error("an update of Func " + quoted_name(func_->name) + " has " +
                   std::to_string(values.size()) + " values",
               "the first definition has " + std::to_string(func_->types.size()),
               "give the same number of values", where_);
  }
  for (size_t i = 0; i < values.size(); i++) {
    combined.push_back(combine(value(static_cast<int>(i)), values[i]));
  }
  return define(std::move(combined));
}

Stage FuncRef::operator=(const Expr &value) { return define({value}); }
Stage FuncRef::operator=(const Tuple &values) { return define(values.as_vector()); }
Stage FuncRef::operator=(const FuncRef &other) { return *this = Tuple(other); }

Stage FuncRef::operator+=(const Expr &value) { return update({value}, 0, sum_of); }
Stage FuncRef::operator+=(const Tuple &values) { return update(values.as_vector(), 0, sum_of); }
Stage FuncRef::operator+=(const FuncRef &other) { return *this += Tuple(other); }

Stage FuncRef::operator-=(const Expr &value) { return update({value}, 0, difference_of); }
Stage FuncRef::operator-=(const Tuple &values) {
  return update(values.as_vector(), 0, difference_of);
}
Stage FuncRef::operator-=(const FuncRef &other) { return *this -= Tuple(other); }

Stage FuncRef::operator*=(const Expr &value) { return update({value}, 1, product_of); }
Stage FuncRef::operator*=(const Tuple &values) { return update(values.as_vector(), 1, product_of); }
Stage FuncRef::operator*=(const FuncRef &other) { return *this *= Tuple(other); }

Stage FuncRef::operator/=(const Expr &value) { return update({value}, 1, quotient_of); }
Stage FuncRef::operator/=(const Tuple &values) {
  return update(values.as_vector(), 1, quotient_of);
}
Stage FuncRef::operator/=(const FuncRef &other) { return *this /= Tuple(other); }

namespace {

Expr scatter_gather(std::vector<Expr> operands, const char *word, const Here &here) {
  if (operands.empty()) {
    user_error(std::string(word) + "() without operands", "each operand is for one cell",
               "give at least one", here.where);
  }
  for (const Expr &e : operands) detail::require_defined(e, word);
  for (Expr &e : operands) detail::match_types(operands[0], e, word);
  for (Expr &e : operands) detail::match_types(operands[0], e, word);
  const Type t = operands[0].type();
  return make_intrinsic(t, intrinsic::kScatterGather, std::move(operands));
}

}  // namespace

Expr scatter(const std::vector<Expr> &operands, Here here) {
  return scatter_gather(operands, "scatter", here);
}
Expr gather(const std::vector<Expr> &operands, Here here) {
  return scatter_gather(operands, "gather", here);
}

FuncTupleElementRef::operator Expr() const {
  detail::note_site(ref_.where_);
  return ref_.value(index_);
}

Stage FuncTupleElementRef::operator+=(const Expr &value) {
  const ErrorPlace place(ref_.where_);
  return *this = Expr(*this) + value;
}
Stage FuncTupleElementRef::operator-=(const Expr &value) {
  const ErrorPlace place(ref_.where_);
  return *this = Expr(*this) - value;
}
Stage FuncTupleElementRef::operator*=(const Expr &value) {
  const ErrorPlace place(ref_.where_);
  return *this = Expr(*this) * value;
}
Stage FuncTupleElementRef::operator/=(const Expr &value) {
  const ErrorPlace place(ref_.where_);
  return *this = Expr(*this) / value;
}

Stage FuncTupleElementRef::operator=(const Expr &value) {
  std::vector<Expr> values;
  for (size_t i = 0; i < ref_.size(); i++) {
    values.push_back(static_cast<int>(i) == index_ ? value : ref_.value(static_cast<int>(i)));
  }
  return ref_.define(std::move(values));
}

}  // namespace polyhalite
