// A call of compiled code while it runs. Small pipelines take as long as what is done here, so it
// is made in line.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "polyhalite/jit_context.h"

namespace polyhalite {

/// Where a thread notes the call that it runs, and others what happened to it. A slot lives as long
/// as the process, so that any thread may look at any time; its thread writes without a lock.
class CallSlot {
 public:
  void begin(const JITUserContext *context) {
    if (is_told()) forget();
    context_.store(context, std::memory_order_release);
  }
  void end() { context_.store(nullptr, std::memory_order_release); }
  bool has(const void *context) const {
    return context && context_.load(std::memory_order_acquire) == context;
  }

  void keep(const void *of, const char *message) {
    tell(of, [&] {
      if (message_.empty()) message_ = message;
    });
  }
  void keep(const void *of, const std::exception_ptr &thrown) {
    tell(of, [&] {
      if (!thrown_) thrown_ = thrown;
    });
  }

  /// Was anything told since the call began?
  bool is_told() const { return told_.load(std::memory_order_relaxed); }
  std::string message() {
    std::lock_guard<std::mutex> hold(lock_);
    return has(of_) ? message_ : "";
  }
  std::exception_ptr take_thrown() {
    std::lock_guard<std::mutex> hold(lock_);
    return has(of_) ? std::exchange(thrown_, nullptr) : nullptr;
  }

 private:
  template <typename F>
  void tell(const void *of, const F &note) {
    std::lock_guard<std::mutex> hold(lock_);
    if (!has(of)) return;
    // What a call that has ended left is nobody's.
    if (of_ != of) clear();
    of_ = of;
    note();
    told_.store(true, std::memory_order_relaxed);
  }
  void forget() {
    std::lock_guard<std::mutex> hold(lock_);
    clear();
    told_.store(false, std::memory_order_relaxed);
  }
  void clear() {
    of_ = nullptr;
    message_.clear();
    thrown_ = nullptr;
  }

  std::atomic<const void *> context_{nullptr};
  // What was told while the call ran that began last is seen by it: the thread that told is one of
  // the call's, or of one that overlaps.
  std::atomic<bool> told_{false};
  std::mutex lock_;
  const void *of_ = nullptr;  // the context of what is kept
  std::string message_;
  std::exception_ptr thrown_;

 public:
  CallSlot *next = nullptr;  // of those that the thread does not use
};

/// This thread's slots that no call of its uses. Every call looks: one pointer of the memory that a
/// program sets aside for this is quicker to find than what is made on demand.
extern constinit __attribute__((tls_model("initial-exec"))) thread_local CallSlot *spare_slots;
/// For a thread that has none to spare.
CallSlot *another_slot();

/// Stands while a call with this context runs: keeps its first message and its first exception.
/// Calls with one context may overlap; then each keeps what any of them reports. In the thread that
/// made it; takes no lock unless something was reported.
class RunningCall {
 public:
  explicit RunningCall(JITUserContext *context) : slot_(spare_slots) {
    if (slot_) {
      spare_slots = slot_->next;
    } else {
      slot_ = another_slot();
    }
    slot_->begin(context);
  }
  ~RunningCall() {
    slot_->end();
    slot_->next = spare_slots;
    spare_slots = slot_;
  }
  RunningCall(const RunningCall &) = delete;
  RunningCall &operator=(const RunningCall &) = delete;

  /// Empty where the context's handler took it.
  std::string message() { return slot_->is_told() ? slot_->message() : std::string(); }
  /// Throws the exception of a handler, if there was one: none may cross compiled code.
  void rethrow() {
    if (!slot_->is_told()) return;
    if (const std::exception_ptr thrown = slot_->take_thrown()) std::rethrow_exception(thrown);
  }

 private:
  CallSlot *slot_;
};

}  // namespace polyhalite
