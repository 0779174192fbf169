#include "polyhalite/param.h"

#include <cmath>
#include <cstring>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/unowned.h"
#include "lang/language/call.h"
#include "lang/language/fixed_value.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace detail {

std::shared_ptr<ParameterContents> make_scalar_parameter(Type t, const std::string &name) {
  if (name == "__user_context") {
    user_error("a Param is called '__user_context'",
               "the user context is no input: the target's feature user_context adds it",
               "give the Param another name, or give realize() a JITUserContext");
  }
  auto p = std::make_shared<ParameterContents>();
  p->name = name.empty() ? anonymous_name("p") : clean_name(name);
  reserve_name(p->name);
  p->type = t;
  return p;
}

Expr parameter_value(const std::shared_ptr<ParameterContents> &p) {
  note_site(SourceLocation());  // as a variable's
  auto node = std::make_shared<VariableNode>(p->type, VariableKind::Param, p->name);
  node->param = p;
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

const std::string &parameter_name(const ParameterContents &p) { return p.name; }
uint64_t parameter_bits(const ParameterContents &p) { return p.scalar_bits; }

void set_parameter_bits(ParameterContents &p, uint64_t bits) {
  p.scalar_bits = bits;
  p.has_scalar = true;
}

namespace {

// Of a constant, as the C function takes it.
uint64_t constant_bits(const Expr &e) {
  const ImmNode *imm = as_imm(e);
  internal_check(imm != nullptr, "a default value is no constant");
  if (e.type().is_int()) return static_cast<uint64_t>(imm->i);
  if (e.type().is_uint()) return imm->u;
  uint64_t bits = 0;
  const float narrow = static_cast<float>(imm->f);
  if (e.type() == Float(64)) {
    std::memcpy(&bits, &imm->f, sizeof(imm->f));
  } else if (e.type() == Float(32)) {
    std::memcpy(&bits, &narrow, sizeof(narrow));
  } else {
    internal_check(false, "a default value of this type");
  }
  return bits;
}

Expr &limit_field(ParameterContents &p, Limit limit) {
  switch (limit) {
    case Limit::Min:
      return p.min_value;
    case Limit::Max:
      return p.max_value;
    case Limit::Estimate:
      return p.estimate;
    case Limit::Default:
      break;
  }
  return p.default_value;
}

}  // namespace

void set_parameter_limit(ParameterContents &p, Limit limit, Expr value, const Here &here) {
  if (value.defined()) {
    const char *what = limit == Limit::Min        ? "the min"
                       : limit == Limit::Max      ? "the max"
                       : limit == Limit::Estimate ? "the estimate"
                                                  : "the default";
    require_fixed(value, std::string(what) + " of Param '" + plain_name(p.name) + "'", here.where);
    value = cast_folding(p.type, std::move(value));
  }
  // What nobody sets is the default in process too.
  if (limit == Limit::Default && value.defined()) set_parameter_bits(p, constant_bits(value));
  limit_field(p, limit) = std::move(value);
  disown_itself(p);
  p.edits++;
}

Type parameter_type(const ParameterContents &p) { return p.type; }

void check_parameter_type(const ParameterContents &p, const Type &t) {
  if (p.type == t) return;
  user_error("Param '" + plain_name(p.name) + "' is used as one of " + t.to_string(),
             "its type is " + p.type.to_string(), "use its own type");
}

namespace {

[[noreturn]] void lost(const ParameterContents &p, const Number &n) {
  const std::string text = n.kind == Number::Signed     ? std::to_string(n.i)
                           : n.kind == Number::Unsigned ? std::to_string(n.u)
                                                        : std::to_string(n.f);
  user_error("the value " + text + " for Param '" + plain_name(p.name) + "'",
             "its type is " + p.type.to_string() + ", which cannot hold it",
             "give a value of that type");
}

// Does the number lie in the integers of `t`? Reals must be whole.
bool is_integer_of(const Type &t, const Number &n) {
  const int bits = t.is_handle() ? 64 : t.bits();
  const double least = t.is_int() ? -std::ldexp(1.0, bits - 1) : 0;
  const double end = std::ldexp(1.0, t.is_int() ? bits - 1 : bits);
  switch (n.kind) {
    case Number::Real:
      return n.f == std::floor(n.f) && n.f >= least && n.f < end;
    case Number::Unsigned:
      return t.is_int() ? n.u <= (uint64_t{1} << (bits - 1)) - 1
                        : bits == 64 || n.u < uint64_t{1} << bits;
    default:
      if (!t.is_int()) return n.i >= 0 && (bits == 64 || n.i < int64_t{1} << bits);
      return bits == 64 || (n.i >= -(int64_t{1} << (bits - 1)) && n.i < int64_t{1} << (bits - 1));
  }
}

double as_real(const Number &n) {
  return n.kind == Number::Real       ? n.f
         : n.kind == Number::Unsigned ? static_cast<double>(n.u)
                                      : static_cast<double>(n.i);
}

uint64_t as_integer(const Type &t, const Number &n) {
  if (n.kind == Number::Unsigned) return n.u;
  if (n.kind == Number::Signed) return static_cast<uint64_t>(n.i);
  return t.is_int() ? static_cast<uint64_t>(static_cast<int64_t>(n.f)) : static_cast<uint64_t>(n.f);
}

}  // namespace

uint64_t parameter_bits_of(const ParameterContents &p, const Number &n) {
  if (!p.type.is_float()) {
    if (!is_integer_of(p.type, n)) lost(p, n);
    return as_integer(p.type, n);
  }
  uint64_t bits = 0;
  const double real = as_real(n);
  if (p.type == Float(64)) {
    std::memcpy(&bits, &real, sizeof real);
  } else if (p.type == Float(32)) {
    const float single = static_cast<float>(real);
    // A double loses digits, as everywhere in C++; a whole number must not.
    const bool changes = n.kind != Number::Real && static_cast<double>(single) != real;
    if (changes || (std::isinf(single) && !std::isinf(real))) lost(p, n);
    std::memcpy(&bits, &single, sizeof single);
  } else {
    user_error("Param '" + plain_name(p.name) + "' gets a number of another type",
               "its type is " + p.type.to_string(), "set a value of that type");
  }
  return bits;
}

Expr checked_number(const ParameterContents &p, const Number &n) {
  if (p.type.is_float()) return make_float(p.type, as_real(n));
  return make_int(p.type, static_cast<int64_t>(parameter_bits_of(p, n)));
}

Expr parameter_limit(const ParameterContents &p, Limit limit) {
  return owning(p, limit_field(const_cast<ParameterContents &>(p), limit));
}

}  // namespace detail

namespace {

Expr field(const std::shared_ptr<ParameterContents> &p, const char *what, int i) {
  auto node = std::make_shared<VariableNode>(Int(32), VariableKind::BufferField,
                                             p->name + "." + what + "." + std::to_string(i));
  if (p->constant) {
    node->image = p->buffer;
  } else {
    node->param = p;
  }
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

Expr as_int32(Expr e) { return e.defined() ? detail::cast_folding(Int(32), std::move(e)) : e; }

}  // namespace

Dimension::Dimension(std::shared_ptr<ParameterContents> param, int index)
    : param_(std::move(param)), index_(index) {}

Expr Dimension::min() const { return field(param_, "min", index_); }
Expr Dimension::extent() const { return field(param_, "extent", index_); }
Expr Dimension::max() const { return min() + extent() - 1; }
Expr Dimension::stride() const { return field(param_, "stride", index_); }

Expr Dimension::checked(Expr e, const char *what, const Here &here) const {
  if (!e.defined()) return e;
  return detail::fixed_integer(
      std::move(e),
      std::string("the ") + what + " of dimension " + std::to_string(index_) + " of " +
          (param_->is_output ? "the output '" : "ImageParam '") + plain_name(param_->name) + "'",
      here.where);
}

Dimension Dimension::set_min(Expr min, Here here) {
  param_->dims[index_].min = checked(std::move(min), "min", here);
  disown_itself(*param_);
  param_->edits++;
  return *this;
}

Dimension Dimension::set_extent(Expr extent, Here here) {
  param_->dims[index_].extent = checked(std::move(extent), "extent", here);
  disown_itself(*param_);
  param_->edits++;
  return *this;
}

Dimension Dimension::set_stride(Expr stride, Here here) {
  param_->dims[index_].stride = checked(std::move(stride), "stride", here);
  disown_itself(*param_);
  param_->edits++;
  return *this;
}

Dimension Dimension::set_bounds(Expr min, Expr extent, Here here) {
  set_min(std::move(min), here);
  return set_extent(std::move(extent), here);
}

Dimension Dimension::set_estimate(Expr min, Expr extent) {
  param_->dims[index_].min_estimate = as_int32(std::move(min));
  param_->dims[index_].extent_estimate = as_int32(std::move(extent));
  disown_itself(*param_);
  return *this;
}

Expr Dimension::min_estimate() const { return owning(*param_, param_->dims[index_].min_estimate); }
Expr Dimension::extent_estimate() const {
  return owning(*param_, param_->dims[index_].extent_estimate);
}
Dimension Dimension::dim(int i) const { return Dimension(param_, i); }

ImageParam::ImageParam(Type t, int dimensions, const std::string &name, Here here)
    : OutputImageParam(std::make_shared<ParameterContents>()) {
  if (dimensions < 0) {
    user_error("an ImageParam of " + std::to_string(dimensions) + " dimensions",
               "dimensions are counted", "give their number, at least 0", here.where);
  }
  param_->name = name.empty() ? anonymous_name("p") : clean_name(name);
  reserve_name(param_->name);
  param_->type = t;
  param_->is_buffer = true;
  param_->dimensions = dimensions;
  param_->dims.resize(dimensions);
  // Elements of the innermost dimension are adjacent unless the program says otherwise.
  if (dimensions > 0) param_->dims[0].stride = 1;
}

ParameterContents &OutputImageParam::defined_parameter(const Here &here) const {
  if (!param_) {
    user_error("an undefined ImageParam is used", "it has no type and no dimensions",
               "construct it as ImageParam(type, dimensions)", here.where);
  }
  return *param_;
}

const std::string &OutputImageParam::name() const {
  return defined_parameter(Here(SourceLocation{})).name;
}
Type OutputImageParam::type() const { return defined_parameter(Here(SourceLocation{})).type; }
int OutputImageParam::dimensions() const {
  return defined_parameter(Here(SourceLocation{})).dimensions;
}

Dimension OutputImageParam::dim(int i, Here here) const {
  const ParameterContents &p = defined_parameter(here);
  if (i < 0 || i >= dimensions()) {
    user_error("dimension " + std::to_string(i) + " of " +
                   (p.is_output ? "the output '" : "ImageParam '") + plain_name(name()) + "'",
               "it has " + std::to_string(dimensions()) + " dimensions, counted from 0",
               "ask for one of them", here.where);
  }
  return Dimension(param_, i);
}

Region OutputImageParam::region(Here here) const {
  defined_parameter(here);
  Region r;
  for (int i = 0; i < dimensions(); i++) r.emplace_back(dim(i).min(), dim(i).extent());
  return r;
}

int OutputImageParam::host_alignment() const {
  const ParameterContents &p = defined_parameter(Here(SourceLocation{}));
  return p.host_alignment > 0 ? p.host_alignment : p.type.bytes();
}

OutputImageParam &OutputImageParam::set_host_alignment(int bytes, Here here) {
  ParameterContents &p = defined_parameter(here);
  if (bytes < 1 || (bytes & (bytes - 1)) != 0) {
    user_error("set_host_alignment(" + std::to_string(bytes) + ") of '" + plain_name(name()) + "'",
               "alignments are powers of 2, in bytes", "give one such as 16", here.where);
  }
  p.host_alignment = bytes;
  p.edits++;
  return *this;
}

OutputImageParam &OutputImageParam::store_in(MemoryType memory, Here here) {
  defined_parameter(here);
  if (memory == MemoryType::Auto || memory == MemoryType::Heap) return *this;
  user_error("the buffer '" + plain_name(name()) + "' in MemoryType::" + memory_type_name(memory),
             "it is in memory that the caller of the pipeline gives it",
             "use Auto or Heap, or a Func that holds a copy", here.where);
}

OutputImageParam &OutputImageParam::set_estimates(const Region &estimates, Here here) {
  defined_parameter(here);
  if (static_cast<int>(estimates.size()) != dimensions()) {
    user_error("set_estimates() of '" + plain_name(name()) + "' got " +
                   std::to_string(estimates.size()) + " ranges",
               "it has " + std::to_string(dimensions()) + " dimensions",
               "give one pair of min and extent for each", here.where);
  }
  for (size_t i = 0; i < estimates.size(); i++) {
    dim(static_cast<int>(i)).set_estimate(estimates[i].min, estimates[i].extent);
  }
  return *this;
}

void ImageParam::set(const Buffer<void, -1> &image, Here here) {
  defined_parameter(here);
  if (!image.defined()) {
    param_->buffer = nullptr;
    return;
  }
  const std::string who = "ImageParam '" + plain_name(name()) + "'";
  if (image.type() != type()) {
    user_error("a Buffer of " + image.type().to_string() + " is bound to " + who,
               "its elements are " + type().to_string(), "bind a Buffer of that type", here.where);
  }
  if (image.dimensions() != dimensions()) {
    user_error(
        "a Buffer of " + std::to_string(image.dimensions()) + " dimensions is bound to " + who,
        "it has " + std::to_string(dimensions()) + " dimensions",
        "bind a Buffer of that many dimensions", here.where);
  }
  param_->buffer = image.contents();
}

Buffer<void, -1> ImageParam::get() const {
  return Buffer<>(defined_parameter(Here(SourceLocation{})).buffer);
}
void ImageParam::reset() { defined_parameter(Here(SourceLocation{})).buffer = nullptr; }

void ImageParam::trace_loads() {
  param_->trace_loads = true;
  param_->edits++;
}

void ImageParam::add_trace_tag(const std::string &text) {
  param_->trace_tags.push_back(text);
  param_->edits++;
}

Expr ImageParam::operator()(const std::vector<Expr> &args, Here here) const {
  defined_parameter(here);
  if (param_->constant) return detail::buffer_call(param_->buffer, args);
  auto node =
      std::make_shared<CallNode>(param_->type, CallKind::Image, param_->name,
                                 detail::call_arguments(args, param_->dimensions, "ImageParam",
                                                        plain_name(param_->name), here.where));
  node->param = param_;
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

ImageParam::operator Func() const {
  Func f(plain_name(name()) + "_im");
  const std::vector<Expr> args = Func::implicit_args(dimensions());
  f(args) = (*this)(args);
  return f;
}

}  // namespace polyhalite
