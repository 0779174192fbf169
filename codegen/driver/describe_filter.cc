#include "codegen/driver/describe_filter.h"

#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

Expr constant(const Expr &e) { return e.defined() ? simplify(e) : e; }

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
    a.bounds_estimates.push_back(constant(d.min_estimate));
    a.bounds_estimates.push_back(constant(d.extent_estimate));
  }
  return a;
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
        for (const BoundsEstimate &e : pipeline.functions[index]->estimates) {
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
