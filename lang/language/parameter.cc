#include "polyhalite/parameter.h"

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/unowned.h"
#include "lang/language/names.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/param.h"

namespace polyhalite {

Parameter::Parameter(const Type &type, bool is_buffer, int dimensions, const std::string &name,
                     Here here) {
  if (is_buffer) {
    contents_ = ImageParam(type, dimensions, name, here).parameter().contents();
    return;
  }
  if (dimensions != 0) {
    user_error("a scalar Parameter of " + std::to_string(dimensions) + " dimensions",
               "a scalar has none", "give 0, or make it a buffer", here.where);
  }
  contents_ = detail::make_scalar_parameter(type, name);
}

ParameterContents &Parameter::checked() const {
  if (!contents_) {
    user_error("an undefined Parameter is used", "it stands for no input",
               "take it from a Param or an ImageParam");
  }
  return *contents_;
}

ParameterContents &Parameter::checked_scalar(const char *what) const {
  ParameterContents &p = checked();
  if (p.is_buffer) {
    user_error(std::string(what) + " of Parameter '" + plain_name(p.name) + "'",
               "it is a buffer, and only scalars have that", "use a scalar's");
  }
  return p;
}

ParameterContents &Parameter::checked_buffer(const char *what) const {
  ParameterContents &p = checked();
  if (!p.is_buffer) {
    user_error(std::string(what) + " of Parameter '" + plain_name(p.name) + "'",
               "it is a scalar, and only buffers have that", "use a buffer's");
  }
  return p;
}

ParameterContents &Parameter::checked_dimension(int dim) const {
  ParameterContents &p = checked_buffer("a dimension");
  if (dim < 0 || dim >= p.dimensions) {
    user_error("dimension " + std::to_string(dim) + " of Parameter '" + plain_name(p.name) + "'",
               "it has " + std::to_string(p.dimensions) + " dimensions, counted from 0",
               "ask for one of them");
  }
  return p;
}

Type Parameter::type() const { return checked().type; }
int Parameter::dimensions() const { return checked().dimensions; }
const std::string &Parameter::name() const { return checked().name; }
bool Parameter::is_buffer() const { return checked().is_buffer; }
bool Parameter::has_scalar_value() const { return contents_ && contents_->has_scalar; }

uint64_t Parameter::scalar_bits(const Type &t) const {
  const ParameterContents &p = checked_scalar("the value");
  detail::check_parameter_type(p, t);
  if (!p.has_scalar) {
    user_error("the value of Parameter '" + plain_name(p.name) + "'", "no value was set",
               "call set_scalar() before");
  }
  return p.scalar_bits;
}

void Parameter::set_scalar_bits(const Type &t, uint64_t bits) {
  ParameterContents &p = checked_scalar("the value");
  detail::check_parameter_type(p, t);
  detail::set_parameter_bits(p, bits);
}

Expr Parameter::scalar_expr() const {
  const Type t = checked_scalar("the value").type;
  const uint64_t bits = scalar_bits(t);
  if (t == Float(64)) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return make_float(t, value);
  }
  if (t == Float(32)) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return make_float(t, value);
  }
  if (!t.is_int_or_uint()) {
    user_error("the value of Parameter '" + name() + "' as a constant",
               "its type " + t.to_string() + " has no constants here", "use scalar<T>()");
  }
  return make_int(t, static_cast<int64_t>(bits));
}

Buffer<> Parameter::buffer() const {
  checked_buffer("the Buffer");
  return ImageParam(contents_).get();
}

void Parameter::set_buffer(const Buffer<> &b) {
  checked_buffer("the Buffer");
  ImageParam image(contents_);
  if (b.defined()) {
    image.set(b);
  } else {
    image.reset();
  }
}

void Parameter::set_min_value(Expr e, Here here) {
  detail::set_parameter_limit(checked_scalar("the min"), detail::Limit::Min, std::move(e), here);
}
void Parameter::set_max_value(Expr e, Here here) {
  detail::set_parameter_limit(checked_scalar("the max"), detail::Limit::Max, std::move(e), here);
}
void Parameter::set_estimate(Expr e, Here here) {
  detail::set_parameter_limit(checked_scalar("the estimate"), detail::Limit::Estimate, std::move(e),
                              here);
}
void Parameter::set_default_value(Expr e, Here here) {
  detail::set_parameter_limit(checked_scalar("the default"), detail::Limit::Default, std::move(e),
                              here);
}
Expr Parameter::min_value() const {
  const ParameterContents &p = checked_scalar("the min");
  return owning(p, p.min_value);
}
Expr Parameter::max_value() const {
  const ParameterContents &p = checked_scalar("the max");
  return owning(p, p.max_value);
}
Expr Parameter::estimate() const {
  const ParameterContents &p = checked_scalar("the estimate");
  return owning(p, p.estimate);
}
Expr Parameter::default_value() const {
  const ParameterContents &p = checked_scalar("the default");
  return owning(p, p.default_value);
}

void Parameter::set_min_constraint(int dim, Expr e, Here here) {
  checked_dimension(dim);
  Dimension(contents_, dim).set_min(std::move(e), here);
}
void Parameter::set_extent_constraint(int dim, Expr e, Here here) {
  checked_dimension(dim);
  Dimension(contents_, dim).set_extent(std::move(e), here);
}
void Parameter::set_stride_constraint(int dim, Expr e, Here here) {
  checked_dimension(dim);
  Dimension(contents_, dim).set_stride(std::move(e), here);
}
Expr Parameter::min_constraint(int dim) const {
  const ParameterContents &p = checked_dimension(dim);
  return owning(p, p.dims[dim].min);
}
Expr Parameter::extent_constraint(int dim) const {
  const ParameterContents &p = checked_dimension(dim);
  return owning(p, p.dims[dim].extent);
}
Expr Parameter::stride_constraint(int dim) const {
  const ParameterContents &p = checked_dimension(dim);
  return owning(p, p.dims[dim].stride);
}

void Parameter::set_min_constraint_estimate(int dim, Expr e) {
  checked_dimension(dim).dims[dim].min_estimate = std::move(e);
}
void Parameter::set_extent_constraint_estimate(int dim, Expr e) {
  checked_dimension(dim).dims[dim].extent_estimate = std::move(e);
}
Expr Parameter::min_constraint_estimate(int dim) const {
  return checked_dimension(dim).dims[dim].min_estimate;
}
Expr Parameter::extent_constraint_estimate(int dim) const {
  return checked_dimension(dim).dims[dim].extent_estimate;
}

void Parameter::set_host_alignment(int bytes, Here here) {
  checked_buffer("the alignment");
  OutputImageParam(contents_).set_host_alignment(bytes, here);
}
int Parameter::host_alignment() const {
  checked_buffer("the alignment");
  return OutputImageParam(contents_).host_alignment();
}

}  // namespace polyhalite
