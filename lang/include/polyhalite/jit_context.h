// How pipelines that run in process reach their surroundings: handlers, contexts of calls,
// functions of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/type.h"
#include "polyhalite_runtime.h"

namespace polyhalite {

struct JITUserContext;
struct PipelineContents;
class Func;
class Pipeline;

/// What a program does itself of what pipelines need at run time; null where it leaves that to the
/// runtime. A handler may throw: the call ends at the next chance and realize() throws what it
/// threw.
struct JITHandlers {
  void (*custom_print)(JITUserContext *, const char *) = nullptr;
  int32_t (*custom_trace)(JITUserContext *, const polyhalite_trace_event_t *) = nullptr;
  /// At least `bytes`, 64-byte aligned; null where there is no memory.
  void *(*custom_malloc)(JITUserContext *, size_t bytes) = nullptr;
  void (*custom_free)(JITUserContext *, void *) = nullptr;
  /// Runs one task of a parallel loop: task(context, index, closure), whose result it returns.
  int (*custom_do_task)(JITUserContext *, int (*task)(JITUserContext *, int, uint8_t *), int index,
                        uint8_t *closure) = nullptr;
  /// Runs the tasks min .. min + extent - 1 in any order; returns the first non-zero result.
  int (*custom_do_par_for)(JITUserContext *, int (*task)(JITUserContext *, int, uint8_t *), int min,
                           int extent, uint8_t *closure) = nullptr;
  /// Takes the message of a failed call; realize() then returns as if nothing had happened.
  void (*custom_error)(JITUserContext *, const char *) = nullptr;
};

/// Given to realize(), it comes back as the first argument of every handler; programs derive from
/// it. Handlers that it lacks are those of the pipeline.
struct JITUserContext {
  JITHandlers handlers;
};

/// The C types of a function: its result (or void) and its arguments.
struct ExternSignature {
  ExternSignature() = default;
  ExternSignature(const Type &result, bool is_void, const std::vector<Type> &args)
      : result_(result), is_void_(is_void), args_(args) {}
  template <typename R, typename... Args>
  explicit ExternSignature(R (*)(Args...))
      : is_void_(std::is_void_v<R>), args_{type_of<Args>()...} {
    if constexpr (!std::is_void_v<R>) result_ = type_of<R>();
  }
  const Type &ret_type() const { return result_; }
  bool is_void_return() const { return is_void_; }
  const std::vector<Type> &arg_types() const { return args_; }

 private:
  Type result_;
  bool is_void_ = false;
  std::vector<Type> args_;
};

/// A C function of this process that pipelines may call by name.
struct ExternCFunction {
  ExternCFunction() = default;
  ExternCFunction(void *address, const ExternSignature &signature)
      : address_(address), signature_(signature) {}
  template <typename R, typename... Args>
  ExternCFunction(R (*f)(Args...))  // NOLINT
      : ExternCFunction(reinterpret_cast<void *>(f), ExternSignature(f)) {}
  void *address() const { return address_; }
  const ExternSignature &signature() const { return signature_; }

 private:
  void *address_ = nullptr;
  ExternSignature signature_;
};

/// What a name means in pipelines that run in process.
struct JITExtern {
  JITExtern(const ExternCFunction &f) : function_(f) {}  // NOLINT
  template <typename R, typename... Args>
  JITExtern(R (*f)(Args...)) : function_(f) {}  // NOLINT
  /// The pipeline as a C function, of the context of the call, its inputs in order of first use,
  /// and its outputs. It is compiled where a pipeline that calls it is, and with the definitions
  /// and the schedule that it has then.
  explicit JITExtern(const Pipeline &p);
  explicit JITExtern(const Func &f);
  /// Undefined, or without address, where it is the other one.
  Pipeline pipeline() const;
  const ExternCFunction &extern_c_function() const { return function_; }

  const std::shared_ptr<PipelineContents> &pipeline_contents() const { return pipeline_; }

 private:
  ExternCFunction function_;
  std::shared_ptr<PipelineContents> pipeline_;
};

}  // namespace polyhalite
