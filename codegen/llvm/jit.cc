#include "codegen/llvm/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>

#include <mutex>

#include "codegen/llvm/jit_handlers.h"
#include "codegen/llvm/object.h"
#include "codegen/llvm/profile_table.h"
#include "codegen/llvm/running_call.h"
#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_cuda.h"
#include "lang/abi/polyhalite_memoize.h"
#include "lang/abi/polyhalite_runtime.h"
#include "lang/abi/polyhalite_tiles.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Consumes the error.
std::string text_of(LLVMErrorRef error) {
  char *message = LLVMGetErrorMessage(error);
  const std::string text = message;
  LLVMDisposeErrorMessage(message);
  return text;
}

void check(LLVMErrorRef error, const char *doing) {
  if (error) internal_check(false, (std::string(doing) + ": " + text_of(error)).c_str());
}

#define PH_SYMBOL(name) {#name, reinterpret_cast<void *>(&name)}
const RuntimeSymbol kRuntime[] = {
    PH_SYMBOL(polyhalite_format_line),
    PH_SYMBOL(polyhalite_error_requirement_failed),
    PH_SYMBOL(polyhalite_error),
    PH_SYMBOL(polyhalite_format_trace_tag),
    PH_SYMBOL(polyhalite_debug_to_file),
    PH_SYMBOL(polyhalite_error_debug_to_file_failed),
    PH_SYMBOL(polyhalite_profiler_instance_start),
    PH_SYMBOL(polyhalite_profiler_instance_end),
    PH_SYMBOL(polyhalite_profiler_task_begin),
    PH_SYMBOL(polyhalite_profiler_task_end),
    PH_SYMBOL(polyhalite_profiler_suspend),
    PH_SYMBOL(polyhalite_profiler_resume),
    PH_SYMBOL(polyhalite_profiler_count),
    PH_SYMBOL(polyhalite_profiler_memory_allocate),
    PH_SYMBOL(polyhalite_profiler_memory_free),
    PH_SYMBOL(polyhalite_trace_lanes),
    PH_SYMBOL(polyhalite_answer_query),
    PH_SYMBOL(polyhalite_msan_check_argument),
    PH_SYMBOL(polyhalite_msan_annotate_description),
    PH_SYMBOL(polyhalite_msan_annotate_buffer_is_initialized),
    PH_SYMBOL(polyhalite_error_extern_stage_failed),
    PH_SYMBOL(polyhalite_error_bounds_inference_call_failed),
    PH_SYMBOL(polyhalite_query_answered),
    PH_SYMBOL(polyhalite_error_unaligned_host_ptr),
    PH_SYMBOL(polyhalite_do_fork),
    PH_SYMBOL(polyhalite_semaphore_init),
    PH_SYMBOL(polyhalite_semaphore_acquire),
    PH_SYMBOL(polyhalite_semaphore_release),
    PH_SYMBOL(polyhalite_error_buffer_is_null),
    PH_SYMBOL(polyhalite_error_host_is_null),
    PH_SYMBOL(polyhalite_error_device_dirty_with_no_device_support),
    PH_SYMBOL(polyhalite_error_dim_is_null),
    PH_SYMBOL(polyhalite_error_bad_range),
    PH_SYMBOL(polyhalite_error_param_too_small),
    PH_SYMBOL(polyhalite_error_param_too_large),
    PH_SYMBOL(polyhalite_error_bad_type),
    PH_SYMBOL(polyhalite_error_bad_dimensions),
    PH_SYMBOL(polyhalite_error_access_out_of_bounds),
    PH_SYMBOL(polyhalite_error_constraint_violated),
    PH_SYMBOL(polyhalite_error_buffer_too_large),
    PH_SYMBOL(polyhalite_error_region_overflow),
    PH_SYMBOL(polyhalite_error_buffer_allocation_too_large),
    PH_SYMBOL(polyhalite_error_out_of_memory),
    PH_SYMBOL(polyhalite_atomic_begin),
    PH_SYMBOL(polyhalite_atomic_end),
    PH_SYMBOL(polyhalite_error_specialize_fail),
    PH_SYMBOL(polyhalite_error_explicit_bounds_too_small),
    PH_SYMBOL(polyhalite_error_assumption),
    PH_SYMBOL(polyhalite_memoization_cache_lookup),
    PH_SYMBOL(polyhalite_memoization_cache_store),
    PH_SYMBOL(polyhalite_copy_to_host),
    PH_SYMBOL(polyhalite_copy_to_device),
    PH_SYMBOL(polyhalite_device_malloc),
    PH_SYMBOL(polyhalite_device_free),
    PH_SYMBOL(polyhalite_cuda_device_interface),
    PH_SYMBOL(polyhalite_cuda_run),
    PH_SYMBOL(polyhalite_use_tiles),
};
#undef PH_SYMBOL

void define(LLVMOrcLLJITRef jit, std::vector<LLVMOrcCSymbolMapPair> &symbols, const char *name,
            void *address) {
  const LLVMJITSymbolFlags flags = {
      LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
  symbols.push_back({LLVMOrcLLJITMangleAndIntern(jit, name),
                     {reinterpret_cast<LLVMOrcExecutorAddress>(address), flags}});
}

}  // namespace

struct JitCode::Session {
  LLVMOrcLLJITRef jit = nullptr;
  int (*entry)(void **args) = nullptr;
  void *function = nullptr;
  std::string reported;  // "Symbols not found: [ f ]", of which an error has only who misses them

  Session() {
    // The JIT asks for the code generator of this machine, even for ready objects.
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeNativeTarget();
      LLVMInitializeNativeAsmPrinter();
    });
    check(LLVMOrcCreateLLJIT(&jit, nullptr), "cannot start the JIT");
    LLVMOrcExecutionSessionSetErrorReporter(
        LLVMOrcLLJITGetExecutionSession(jit),
        [](void *session, LLVMErrorRef error) {
          static_cast<Session *>(session)->reported += text_of(error) + "\n";
        },
        this);
  }

  ~Session() {
    if (!jit) return;
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit);
    if (error) LLVMConsumeError(error);
  }

  // Runtime functions by address, so that this works in programs that hide their symbols, and the
  // program's own externs; the C library's by name.
  void define_symbols(const std::map<std::string, JITExtern> &externs) {
    std::vector<LLVMOrcCSymbolMapPair> symbols;
    for (const RuntimeSymbol &s : kRuntime) define(jit, symbols, s.name, s.address);
    for (const RuntimeSymbol &s : handled_runtime()) define(jit, symbols, s.name, s.address);
    for (const auto &[name, e] : externs) {
      define(jit, symbols, name.c_str(), e.extern_c_function().address());
    }
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit);
    check(LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(symbols.data(), symbols.size())),
          "cannot define the runtime's symbols");
    LLVMOrcDefinitionGeneratorRef process = nullptr;
    check(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
              &process, LLVMOrcLLJITGetGlobalPrefix(jit), nullptr, nullptr),
          "cannot search this process for symbols");
    LLVMOrcJITDylibAddGenerator(library, process);
  }

  void add_object(const std::string &bytes) {
    LLVMMemoryBufferRef copy =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(), "pipeline");
    check(LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), copy),
          "cannot add the compiled object");
  }

  void find_entry(const std::string &name) {
    entry = reinterpret_cast<int (*)(void **)>(find(name + "_argv"));
    function = reinterpret_cast<void *>(find(name));
  }

  LLVMOrcExecutorAddress find(const std::string &name) {
    LLVMOrcExecutorAddress address = 0;
    if (LLVMErrorRef error = LLVMOrcLLJITLookup(jit, &address, name.c_str())) {
      std::string why = text_of(error);
      if (!reported.empty()) why = reported.substr(0, reported.size() - 1);
      user_error("the pipeline cannot be linked in this process", why,
                 "give the C functions that it calls with set_jit_externs(), or export them from "
                 "the program (-rdynamic)");
    }
    return address;
  }
};

JitCode::JitCode(const Function &f, const Target &target,
                 const std::map<std::string, JITExtern> &externs)
    : session_(std::make_unique<Session>()),
      constants_(f.constants),
      is_profiled_(ProfileTable(f, target).options != 0) {
  const std::string object = compile_for_process(f, target, CodeForm::Object);
  session_->define_symbols(externs);
  session_->add_object(object);
  session_->find_entry(kProcessSymbolPrefix + f.name);
  entry_ = session_->entry;
}

JitCode::~JitCode() = default;

void *JitCode::address() const { return session_->function; }

int JitCode::call(const std::vector<void *> &args, std::string *message, JITUserContext *context,
                  const UseProfile &use) const {
  std::vector<void *> slots(1);
  slots.insert(slots.end(), args.begin(), args.end());
  JITUserContext own;
  if (!context) context = &own;
  return is_profiled_ ? call_profiled(slots.data(), message, context, use)
                      : call(slots.data(), message, context);
}

int JitCode::call_profiled(void **slots, std::string *message, JITUserContext *context,
                           const UseProfile &use) const {
  void *user_context = context;
  slots[0] = &user_context;
  RunningCall call(context);
  const int code = entry_(slots);
  if (use) {
    runtime::finish_profiling(
        [](void *with, const polyhalite_profiler_pipeline_stats *all) {
          (*static_cast<const UseProfile *>(with))(all);
        },
        const_cast<UseProfile *>(&use));
  } else {
    runtime::finish_profiling(runtime::report_profile, user_context);
  }
  return end(call, code, message);
}

}  // namespace polyhalite
