#include "codegen/driver/describe_filter.h"

#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

Expr constant(const Expr &e) { return e.defined() ? simplify(e) : e; }

// Bounds that are fixed are the best estimate.
BoundsEstimate estimate_of(const ParameterContents::DimConstraint &d) {
  return {d.min_estimate.defined() ? d.min_estimate : d.min,
          d.extent_estimate.defined() ? d.extent_estimate : d.extent};
}

FilterArgument input(const ParameterContents &p) {
  FilterArgument a;
  a.name = p.name;
  a.type = p.type;
  if (!p.is_buffer) {
    a.default_value = constant(p.default_value);
    a.min = constant(p.min_value);
    a.max = constant(p.max_value);
    a.estimate = constant(p.estimate);
    return a;
  }
  a.kind = FilterArgument::InputBuffer;
  a.dimensions = p.dimensions;
  for (const ParameterContents::DimConstraint &d : p.dims) {
    const BoundsEstimate known = estimate_of(d);
    a.bounds_estimates.push_back(constant(known.min));
    a.bounds_estimates.push_back(constant(known.extent));
  }
  return a;
}

// Of dimension d of value `value` of an output: what its Func is told, else its buffer.
BoundsEstimate estimate_of(const FunctionContents &f, size_t value, size_t d) {
  BoundsEstimate known;
  if (d < f.estimates.size()) known = f.estimates[d];
  for (const Directive &w : f.directives) {
    const bool both = w.kind == DirectiveKind::Bound;
    if ((!both && w.kind != DirectiveKind::BoundExtent) || w.loops[0] != f.pure_args[d]) continue;
    if (both && !known.min.defined()) known.min = w.factors[0];
    if (!known.extent.defined()) known.extent = w.factors.back();
  }
  if (value >= f.output_params.size() || !f.output_params[value]) return known;
  const auto &dims = f.output_params[value]->dims;
  if (d >= dims.size()) return known;
  const BoundsEstimate of_buffer = estimate_of(dims[d]);
  if (!known.min.defined()) known.min = of_buffer.min;
  if (!known.extent.defined()) known.extent = of_buffer.extent;
  return known;
}

}  // namespace

Filter describe_filter(const FrozenPipeline &pipeline, const std::string &function_name,
                       const Target &target) {
  Filter filter = make_filter(function_name, target);
  if (target.has_feature(Target::UserContext)) {
    FilterArgument context;
    context.name = kUserContextName;
    context.type = user_context_type();
    filter.arguments.push_back(context);
  }
  const Algorithm &algorithm = pipeline.algorithm;
  for (const AlgorithmInput &i : algorithm.inputs) filter.arguments.push_back(input(*i.param));
  size_t value = 0;
  for (const std::string &name : algorithm.outputs) {
    const FuncDef &def = *algorithm.find(name);
    const size_t index = static_cast<size_t>(algorithm.index_of(name));
    for (size_t v = 0; v < def.types.size(); v++, value++) {
      FilterArgument a;
      a.name = def.types.size() == 1 ? name : name + "." + std::to_string(v);
      if (value < pipeline.output_names.size()) a.name = pipeline.output_names[value];
      a.kind = FilterArgument::OutputBuffer;
      a.type = def.types[v];
      a.dimensions = def.dimensions();
      if (index < pipeline.functions.size()) {
        for (size_t d = 0; d < def.args.size(); d++) {
          const BoundsEstimate e = estimate_of(*pipeline.functions[index], v, d);
          a.bounds_estimates.push_back(constant(e.min));
          a.bounds_estimates.push_back(constant(e.extent));
        }
      }
      filter.arguments.push_back(a);
    }
  }
  return filter;
}

}  // namespace polyhalite
