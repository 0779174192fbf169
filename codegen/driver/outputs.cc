#include "codegen/driver/outputs.h"

#include <algorithm>
#include <sstream>

#include "codegen/c_source/c_source.h"
#include "codegen/driver/describe_filter.h"
#include "codegen/driver/embedded_runtime.h"
#include "codegen/driver/explain/explain_page.h"
#include "codegen/driver/generated_sources.h"
#include "codegen/driver/pipeline_text.h"
#include "codegen/driver/stmt_html.h"
#include "codegen/ir/text.h"
#include "codegen/llvm/c_header.h"
#include "codegen/llvm/device_code.h"
#include "lang/ir/expr_text.h"
#include "polyhalite/verification.h"
#include "polyhedral/judge.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

namespace {

// All that metadata says, for the cache's key.
std::string filter_text(const Filter &f) {
  std::ostringstream text;
  for (const std::string &n : f.namespaces) text << n << "::";
  text << f.name << " for " << f.target.to_string() << '\n';
  for (const FilterArgument &a : f.arguments) {
    text << a.name << ' ' << a.kind << ' ' << a.type.to_string() << ' ' << a.dimensions;
    auto print = [&](const Expr &e) {
      text << " | ";
      if (e.defined()) print_expr(text, e);
    };
    for (const Expr &e : {a.default_value, a.min, a.max, a.estimate}) print(e);
    for (const Expr &e : a.bounds_estimates) print(e);
    text << '\n';
  }
  return text.str();
}

// The loops, and below them what nobody has proven of them.
std::string tree_with_promises(const LoopTree &tree) {
  std::string text = to_text(tree);
  const bool promises_something =
      std::any_of(tree.nests.begin(), tree.nests.end(), [](const auto &stages) {
        return std::any_of(stages.begin(), stages.end(), [](const StageNest &n) {
          return n.atomic || n.any_order || n.allow_races;
        });
      });
  if (!promises_something) return text;
  for (const std::string &line : promises(judge(tree, survey(tree)))) text += line + "\n";
  return text;
}

std::string compile_log(const Filter &f, const CompileTimes &t, size_t object_bytes,
                        const LoweredPipeline &lowered) {
  std::ostringstream text;
  text << "{\n  \"function_name\": \"" << f.name << "\",\n  \"target\": \"" << f.target.to_string()
       << "\",\n  \"object_code_size\": " << object_bytes
       << ",\n  \"seconds\": {\"schedule\": " << t.schedule << ", \"survey\": " << t.survey
       << ", \"judge\": " << t.judge << ", \"lower\": " << t.lower << ", \"llvm\": " << t.llvm
       << (lowered.proven_again.empty() ? "" : ", \"verify\": " + std::to_string(t.verify))
       << "},\n";
  auto list = [&](const char *name, const std::vector<std::string> &lines, const char *end) {
    // Names of Funcs and loops have nothing to be escaped.
    text << "  \"" << name << "\": [";
    for (const std::string &line : lines) {
      text << (&line == lines.data() ? "\"" : ", \"") << line << "\"";
    }
    text << "]" << end;
  };
  if (!lowered.proven_again.empty()) list("proven_again", lowered.proven_again, ",\n");
  list("promises", lowered.promises, "\n}\n");
  return text.str();
}

}  // namespace

bool brings_runtime(const Target &target) {
  return !target.has_feature(Target::NoRuntime) && has_runtime_object(target);
}

std::string described(Emit e) {
  switch (e) {
    case Emit::object:
      return "the object";
    case Emit::static_library:
      return "the static library";
    case Emit::c_header:
      return "the C header";
    case Emit::assembly:
      return "the assembly";
    case Emit::bitcode:
      return "the LLVM bitcode";
    case Emit::llvm_assembly:
      return "the LLVM assembly";
    case Emit::stmt:
    case Emit::stmt_html:
      return "the loop IR";
    case Emit::schedule:
      return "the schedule";
    case Emit::algorithm:
      return "the algorithm";
    case Emit::tree:
    case Emit::conceptual_stmt:
    case Emit::conceptual_stmt_html:
      return "the loop tree";
    case Emit::function_info_header:
      return "the header of the arguments";
    case Emit::registration:
      return "the registration";
    case Emit::python_extension:
      return "the Python extension";
    case Emit::compiler_log:
      return "the compiler's log";
    case Emit::hlpipe:
      return "the serialized pipeline";
    case Emit::c_source:
      return "the C source";
    case Emit::ptx:
      return "the PTX";
    case Emit::explanation:
    case Emit::timed_explanation:
      return "the explanation";
    default:
      break;
  }
  return "the output";
}

Outputs::Outputs(const FrozenPipeline &pipeline, const std::string &name, const Target &target)
    : pipeline_(pipeline), name_(name), target_(target.without_feature(Target::JIT)) {}

Outputs::~Outputs() = default;

const Filter &Outputs::filter() {
  if (!filter_) {
    filter_ = std::make_unique<Filter>(describe_filter(pipeline_, name_, target_));
  }
  return *filter_;
}

const CompileCache &Outputs::cache() {
  if (!cache_) {
    cache_ = std::make_unique<CompileCache>(filter_text(filter()) + pipeline_text(pipeline_));
  }
  return *cache_;
}

const std::string &Outputs::make(Emit what) {
  const auto at = made_.find(what);
  if (at != made_.end()) return at->second;
  return made_[what] = made(what);
}

std::string Outputs::made(Emit what) {
  switch (what) {
    case Emit::algorithm:
      return to_text(pipeline_.algorithm);
    case Emit::schedule:
      return to_text(pipeline_.directives);
    case Emit::tree:
      return to_text(build_tree(pipeline_.algorithm, pipeline_.directives));
    case Emit::conceptual_stmt:
      return tree_with_promises(build_tree(pipeline_.algorithm, pipeline_.directives));
    case Emit::conceptual_stmt_html:
      return stmt_html(filter().name, make(Emit::conceptual_stmt));
    case Emit::hlpipe:
      return pipeline_text(pipeline_);
    case Emit::c_header:
      lowered();  // a refused schedule has no header
      return c_header(filter());
    case Emit::function_info_header:
      return function_info_header(filter());
    case Emit::registration:
      return registration_source(filter());
    case Emit::python_extension:
      return python_extension_source(filter());
    case Emit::compiler_log: {
      const size_t bytes = make(Emit::object).size();
      return compile_log(filter(), times(), bytes, lowered());
    }
    case Emit::c_source:
      return c_source(lower_pipeline(pipeline_, filter().name, target_, true).function, filter());
    case Emit::stmt:
      return to_text(lowered().function);
    case Emit::ptx:
      return ptx_text(lowered().function, target_);
    case Emit::stmt_html:
      return stmt_html(filter().name, make(Emit::stmt));
    case Emit::explanation:
    case Emit::timed_explanation:
      return explain_page(
          filter().name, pipeline_, target_,
          {[&] { return make(Emit::stmt); }, [&] { return make(Emit::assembly); },
           [&] { return lowered().proven_again; }, what == Emit::timed_explanation});
    case Emit::static_library: {
      std::vector<std::pair<std::string, std::string>> members = {
          {filter().name, make(Emit::object)}};
      if (brings_runtime(target_)) {
        members.emplace_back("polyhalite_runtime", runtime_object(target_));
      }
      return make_archive(members, target_.os);
    }
    case Emit::assembly:
      return code(CodeForm::Assembly);
    case Emit::bitcode:
      return code(CodeForm::Bitcode);
    case Emit::llvm_assembly:
      return code(CodeForm::LlvmAssembly);
    case Emit::object:
      return code(CodeForm::Object);
    default:
      break;
  }
  emit_from_name(emit_name(what));  // throws
  return "";
}

CompileTimes Outputs::times() const {
  CompileTimes t = lowered_ ? lowered_->times : CompileTimes();
  t.llvm = llvm_seconds_;
  return t;
}

const LoweredPipeline &Outputs::lowered() {
  if (!lowered_) {
    lowered_ = std::make_unique<LoweredPipeline>(lower_pipeline(pipeline_, filter().name, target_));
  }
  return *lowered_;
}

std::string Outputs::code(CodeForm form) {
  constexpr const char *kWords[] = {"object", "assembly", "llvm_assembly", "bitcode"};
  const char *word = kWords[static_cast<int>(form)];
  // Code of the cache has no loops to prove.
  if (verification() == Verification::Full) lowered();
  if (auto known = cache().find(word)) return *known;
  const Function &f = lowered().function;
  const Stopwatch llvm;
  std::string bytes = compile(f, filter(), form);
  llvm_seconds_ += llvm.seconds();
  cache().store(word, bytes);
  return bytes;
}

}  // namespace polyhalite
