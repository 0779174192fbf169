// Tasks of a fork, one at a time and in any order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

#include "polyhalite/error.h"

namespace polyhalite {

/// The tasks of all running forks, of which one runs at a time: the next one is drawn wherever a
/// task waits or lets others go on, so that each of the orders that the waits allow may come.
class Turns {
 public:
  explicit Turns(uint64_t seed) : random_(seed) {}

  void begin(int task) {
    std::unique_lock<std::mutex> hold(lock_);
    changed_.wait(hold, [&] { return running_ == task; });
  }
  int add() {
    std::lock_guard<std::mutex> hold(lock_);
    ready_.push_back(next_);
    return next_++;
  }
  /// Another task goes on while `task` waits for `holds`; an error where all wait.
  template <typename Condition>
  void wait_until(int task, Condition holds) {
    std::unique_lock<std::mutex> hold(lock_);
    while (!holds()) {
      if (++idle_ > kMaxIdle)
        throw InternalError({"all tasks of a fork wait for each other", "", "", {}});
      hand_over(hold, task);
    }
    idle_ = 0;
  }
  void offer(int task) {
    std::unique_lock<std::mutex> hold(lock_);
    idle_ = 0;
    hand_over(hold, task);
  }
  void end(int task) {
    std::lock_guard<std::mutex> hold(lock_);
    ready_.erase(std::find(ready_.begin(), ready_.end(), task));
    idle_ = 0;
    if (!ready_.empty()) running_ = ready_[random_() % ready_.size()];
    changed_.notify_all();
  }
  bool has_ended(int task) const {
    return std::find(ready_.begin(), ready_.end(), task) == ready_.end();
  }

 private:
  static constexpr int kMaxIdle = 2000;
  void hand_over(std::unique_lock<std::mutex> &hold, int task) {
    running_ = ready_[random_() % ready_.size()];
    changed_.notify_all();
    changed_.wait(hold, [&] { return running_ == task; });
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::mt19937_64 random_;
  std::vector<int> ready_ = {0};
  int running_ = 0, next_ = 1;
  int idle_ = 0;  // hand-overs since a task got on
};

}  // namespace polyhalite
