#include "codegen/llvm/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>

#include <mutex>
#include <unordered_set>

#include "codegen/llvm/object.h"
#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// The user context of a call: where its first error message goes.
struct CallContext {
  std::mutex lock;
  std::string message;
};

// Contexts of the calls that are running, so that the runtime can tell them from users' own.
class RunningCalls {
 public:
  void add(CallContext *c) {
    std::lock_guard<std::mutex> hold(lock_);
    running_.insert(c);
  }
  void remove(CallContext *c) {
    std::lock_guard<std::mutex> hold(lock_);
    running_.erase(c);
  }
  bool contains(void *c) {
    std::lock_guard<std::mutex> hold(lock_);
    return running_.count(static_cast<CallContext *>(c)) != 0;
  }

 private:
  std::mutex lock_;
  std::unordered_set<CallContext *> running_;
};

// Never destroyed: pool threads may still run when the program ends.
RunningCalls &running_calls() {
  static RunningCalls *calls = new RunningCalls;
  return *calls;
}

bool take_message(void *user_context, const char *message) {
  if (!running_calls().contains(user_context)) return false;
  auto *call = static_cast<CallContext *>(user_context);
  std::lock_guard<std::mutex> hold(call->lock);
  if (call->message.empty()) call->message = message;
  return true;
}

void check(LLVMErrorRef error, const char *doing) {
  if (!error) return;
  char *text = LLVMGetErrorMessage(error);
  const std::string message = std::string(doing) + ": " + text;
  LLVMDisposeErrorMessage(text);
  internal_check(false, message.c_str());
}

struct RuntimeSymbol {
  const char *name;
  void *address;
};

#define PH_SYMBOL(name) {#name, reinterpret_cast<void *>(&name)}
const RuntimeSymbol kRuntime[] = {
    PH_SYMBOL(polyhalite_malloc),
    PH_SYMBOL(polyhalite_free),
    PH_SYMBOL(polyhalite_print),
    PH_SYMBOL(polyhalite_error),
    PH_SYMBOL(polyhalite_do_par_for),
    PH_SYMBOL(polyhalite_error_buffer_is_null),
    PH_SYMBOL(polyhalite_error_host_is_null),
    PH_SYMBOL(polyhalite_error_dim_is_null),
    PH_SYMBOL(polyhalite_error_bad_range),
    PH_SYMBOL(polyhalite_error_param_too_small),
    PH_SYMBOL(polyhalite_error_param_too_large),
    PH_SYMBOL(polyhalite_error_bad_type),
    PH_SYMBOL(polyhalite_error_bad_dimensions),
    PH_SYMBOL(polyhalite_error_access_out_of_bounds),
    PH_SYMBOL(polyhalite_error_constraint_violated),
    PH_SYMBOL(polyhalite_error_buffer_too_large),
    PH_SYMBOL(polyhalite_error_out_of_memory),
    PH_SYMBOL(polyhalite_error_assumption),
};
#undef PH_SYMBOL

}  // namespace

struct JitCode::Session {
  LLVMOrcLLJITRef jit = nullptr;
  int (*entry)(void **args) = nullptr;

  Session() {
    // The JIT asks for the code generator of this machine, even for ready objects.
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeNativeTarget();
      LLVMInitializeNativeAsmPrinter();
    });
    check(LLVMOrcCreateLLJIT(&jit, nullptr), "cannot start the JIT");
  }

  ~Session() {
    if (!jit) return;
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit);
    if (error) LLVMConsumeError(error);
  }

  // Runtime functions by address, so that this works in programs that hide their symbols; the C
  // library's by name.
  void define_symbols() {
    std::vector<LLVMOrcCSymbolMapPair> symbols;
    for (const RuntimeSymbol &s : kRuntime) {
      const LLVMJITSymbolFlags flags = {
          LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
      symbols.push_back({LLVMOrcLLJITMangleAndIntern(jit, s.name),
                         {reinterpret_cast<LLVMOrcExecutorAddress>(s.address), flags}});
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
    LLVMOrcExecutorAddress address = 0;
    check(LLVMOrcLLJITLookup(jit, &address, name.c_str()), "cannot link the compiled object");
    entry = reinterpret_cast<int (*)(void **)>(address);
  }
};

JitCode::JitCode(const Function &f, const Target &target)
    : session_(std::make_unique<Session>()), constants_(f.constants) {
  runtime::set_error_sink(take_message);
  const std::string object = compile_for_process(f, target, CodeForm::Object);
  session_->define_symbols();
  session_->add_object(object);
  session_->find_entry(kProcessSymbolPrefix + f.name + "_argv");
}

JitCode::~JitCode() = default;

int JitCode::call(const std::vector<void *> &args, std::string *message) const {
  CallContext context;
  void *user_context = &context;
  std::vector<void *> all = {&user_context};
  all.insert(all.end(), args.begin(), args.end());
  running_calls().add(&context);
  const int code = session_->entry(all.data());
  running_calls().remove(&context);
  if (code != 0 && message) *message = context.message;
  return code;
}

}  // namespace polyhalite
