#include "apps/common/pipelines.h"

#include <memory>
#include <vector>

#include "polyhalite/autoscheduler.h"
#include "polyhalite/generator.h"

namespace polyhalite_apps {

using namespace polyhalite;

FrozenPipeline frozen_app(const std::string &app, const std::string &schedule) {
  const std::unique_ptr<GeneratorBase> generator = GeneratorRegistry::make(app);
  generator->set_generatorparam_value("target", get_jit_target_from_environment().to_string());
  generator->set_generatorparam_value("schedule", schedule);
  const Pipeline pipeline = generator->build_pipeline();
  if (schedule == "auto") auto_schedule(pipeline);
  std::vector<std::shared_ptr<FunctionContents>> outputs;
  for (const Func &f : pipeline.outputs()) outputs.push_back(f.function());
  std::vector<std::shared_ptr<ParameterContents>> inputs;
  for (const Argument &a : generator->arguments()) inputs.push_back(a.parameter().contents());
  return freeze(outputs, inputs);
}

}  // namespace polyhalite_apps
