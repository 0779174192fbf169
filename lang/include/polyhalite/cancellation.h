// Ending compilations early: a user closed the window, a search ran out of time.
#pragma once

#include <atomic>
#include <memory>

#include "polyhalite/error.h"

namespace polyhalite {

/// A compilation that ended because it was asked to. Nothing of it remains; the same pipeline may
/// be compiled again.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// A request that any thread may make. Copies are the same request.
///
///   Cancellation stop;
///   std::thread worker([=] {
///     CancellationScope scope(stop);
///     pipeline.compile_jit();  // throws Cancelled soon after stop.request()
///   });
///   stop.request();
class Cancellation {
 public:
  Cancellation() : requested_(std::make_shared<std::atomic<bool>>(false)) {}
  /// May be called in a signal handler.
  void request() const noexcept { requested_->store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> requested_;
};

/// While it lives, what this thread compiles heeds the request. Scopes nest: any request counts.
/// It ends compilations between their steps (a proof, a pass, LLVM's work on the module), never
/// pipelines that run.
class CancellationScope {
 public:
  explicit CancellationScope(const Cancellation &cancellation);
  ~CancellationScope();
  CancellationScope(const CancellationScope &) = delete;
  CancellationScope &operator=(const CancellationScope &) = delete;

 private:
  friend void check_cancelled();
  const Cancellation cancellation_;
  const CancellationScope *const outer_;
};

/// Throws Cancelled where a scope of this thread has been asked to end.
void check_cancelled();

}  // namespace polyhalite
