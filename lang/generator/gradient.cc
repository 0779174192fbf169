// The pipeline of a generator's derivatives.
#include <algorithm>

#include "lang/ir/function.h"
#include "lang/ir/reach.h"
#include "lang/language/names.h"
#include "polyhalite/boundary_conditions.h"
#include "polyhalite/derivative.h"
#include "polyhalite/generator.h"

namespace polyhalite {

namespace {

using ParameterPtr = std::shared_ptr<ParameterContents>;

Region estimates_of(const ParameterContents &p) {
  Region region;
  for (const auto &d : p.dims) region.emplace_back(d.min_estimate, d.extent_estimate);
  return region;
}

Region estimates_of(const FunctionContents &f) {
  Region region;
  for (const BoundsEstimate &e : f.estimates) region.emplace_back(e.min, e.extent);
  return region;
}

bool complete(const Region &region, int dimensions) {
  if (region.size() != static_cast<size_t>(dimensions)) return false;
  for (const Range &r : region) {
    if (!r.min.defined() || !r.extent.defined()) return false;
  }
  return true;
}

// The buffer of d loss / d output, which is a float where the output is none.
ImageParam loss_by(const Func &output, const std::string &name) {
  const Type type = output.types()[0];
  ImageParam image(type.is_float() ? type : Float(32), output.dimensions(),
                   "_grad_loss_for_" + name);
  const Region estimates = estimates_of(*output.function());
  if (complete(estimates, image.dimensions())) image.set_estimates(estimates);
  return image;
}

Derivative derivatives(const Func &output, const ImageParam &loss) {
  if (!output.types()[0].is_float()) return Derivative({});
  Region bounds;
  for (int d = 0; d < loss.dimensions(); d++) {
    bounds.emplace_back(loss.dim(d).min(), loss.dim(d).extent());
  }
  return propagate_adjoints(
      output, BoundaryConditions::constant_exterior(loss, make_zero(loss.type())), bounds);
}

bool depends(const Func &output, const ParameterPtr &input) {
  Reach reach;
  reach.output(output.function());
  return std::find(reach.params.begin(), reach.params.end(), input) != reach.params.end();
}

Func zeros(const std::string &name, const Type &type, int dimensions) {
  std::vector<Var> args;
  for (int d = 0; d < dimensions; d++) args.push_back(Var::implicit(d));
  Func f(name);
  f(args) = make_zero(type);
  return f;
}

// d loss / d input, by way of one output. Where nothing leads from the input to the output, it has
// the shape of the output and a name that says so: callers know the arguments from inputs and
// outputs alone.
Func gradient(const Func &output, const std::string &output_name, const ImageParam &loss,
              const Derivative &derivative, const ParameterPtr &input) {
  const std::string name = "_grad_loss_" + output_name + "_wrt_" + plain_name(input->name);
  if (!depends(output, input)) {
    Func none = zeros("_dummy" + name, loss.type(), loss.dimensions());
    const Region estimates = estimates_of(*output.function());
    if (complete(estimates, loss.dimensions())) none.set_estimates(estimates);
    return none;
  }
  const Func known = derivative(input->name);
  Func f(name);
  if (known.defined()) {
    f(_) = known(_);
  } else {
    f = zeros(name, input->type, input->dimensions);
  }
  const Region estimates = estimates_of(*input);
  if (complete(estimates, input->dimensions)) f.set_estimates(estimates);
  return f;
}

}  // namespace

GeneratorBase::Gradient GeneratorBase::build_gradient_pipeline() {
  run();
  const Pipeline pipeline = get_pipeline();
  Gradient g{Pipeline(), arguments(), {}};
  std::vector<ParameterPtr> images;
  for (const Argument &a : g.inputs) {
    if (a.is_buffer()) images.push_back(a.parameter().contents());
  }
  const std::vector<Func> outputs = pipeline.outputs();
  const std::vector<std::string> names = output_names();
  std::vector<Func> gradients;
  for (size_t i = 0; i < outputs.size(); i++) {
    if (outputs[i].outputs() != 1) {
      user_error(
          "cannot differentiate output '" + plain_name(outputs[i].name()) + "' of " + of_this(),
          "it has " + std::to_string(outputs[i].outputs()) + " values",
          "declare an output for each");
    }
  }
  for (size_t i = 0; i < outputs.size(); i++) {
    const ImageParam loss = loss_by(outputs[i], names[i]);
    g.inputs.emplace_back(loss.parameter().contents());
    const Derivative derivative = derivatives(outputs[i], loss);
    for (const ParameterPtr &input : images) {
      gradients.push_back(gradient(outputs[i], names[i], loss, derivative, input));
      g.output_names.push_back(plain_name(gradients.back().name()));
    }
  }
  if (gradients.empty()) {
    user_error("there is nothing to differentiate " + of_this() + " by", "it has no input buffers",
               "declare one, or leave the gradient out (-d 0)");
  }
  g.pipeline = Pipeline(gradients);
  if (using_autoscheduler()) {
    g.pipeline.apply_autoscheduler(target.value(), autoscheduler_);
  } else {
    user_warning("the gradient of " + of_this() + " has no schedule",
                 "what generate() says is of the pipeline that is differentiated",
                 "name an auto-scheduler, as in autoscheduler=polyhalite");
  }
  return g;
}

}  // namespace polyhalite
