#include "polyhalite/argument.h"

#include "lang/ir/function.h"
#include "polyhalite/param.h"

namespace polyhalite {

Argument::Argument(const std::string &argument_name, Kind argument_kind, const Type &argument_type,
                   int argument_dimensions, const ArgumentEstimates &estimates)
    : name(argument_name),
      kind(argument_kind),
      dimensions(static_cast<uint8_t>(argument_dimensions)),
      type(argument_type),
      argument_estimates(estimates) {}

Argument::Argument(std::shared_ptr<ParameterContents> p) : param_(std::move(p)) {
  name = param_->name;
  kind = param_->is_buffer ? InputBuffer : InputScalar;
  dimensions = static_cast<uint8_t>(param_->dimensions);
  type = param_->type;
  argument_estimates.scalar_min = param_->min_value;
  argument_estimates.scalar_max = param_->max_value;
  argument_estimates.scalar_estimate = param_->estimate;
  for (const ParameterContents::DimConstraint &d : param_->dims) {
    argument_estimates.buffer_estimates.emplace_back(d.min_estimate, d.extent_estimate);
  }
}

Argument::Argument(const OutputImageParam &p) : Argument(p.parameter().contents()) {}

}  // namespace polyhalite
