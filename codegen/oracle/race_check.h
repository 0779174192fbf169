// race_check: who accessed an element of a kernel's memory last, so that accesses of different
// threads that no barrier orders are found, whatever they do to the values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace polyhalite {

/// Of one element: its last writer and reader in the kernel that runs.
struct AccessRecord {
  struct Access {
    int64_t kernel = -1, block = 0, epoch = 0, thread = 0;
    bool atomic = false, is_on_its_way = false;
  };
  Access write, read;
};

/// One for each element of a buffer.
using AccessRecords = std::vector<AccessRecord>;

/// Follows the blocks and threads of kernels as they are run one after the other. Throws
/// InternalError with the element and both threads.
class RaceCheck {
 public:
  void begin_kernel(const std::string &name);
  void begin_block(const std::string &which);
  /// Which thread runs from here on: x, y, z.
  void run_thread(const std::array<int64_t, 3> &at);
  /// What follows is run by all threads alike.
  void run_all();
  /// The number of the thread that runs, from 0; -1: all of them.
  int64_t thread() const { return thread_; }
  void barrier() { epoch_++; }

  void on_read(AccessRecord &r, const std::string &buffer, int64_t element, bool atomic) const;
  /// `same`: the value that is there already is written.
  void on_write(AccessRecord &r, const std::string &buffer, int64_t element, bool atomic,
                bool same) const;
  /// A copy to the element begins, and ends as if its thread wrote there. `same`: those that are on
  /// their way bring the same value.
  void on_copy(AccessRecord &r, const std::string &buffer, int64_t element, bool same) const;
  void on_arrival(AccessRecord &r) const;

 private:
  /// An error where a copy to the element is on its way.
  void check_arrived(const AccessRecord &r, const std::string &buffer, int64_t element,
                     const char *now) const;
  /// Was `a` made by another thread, with nothing that orders it before what happens now?
  bool is_unordered(const AccessRecord::Access &a, bool atomic) const;
  [[noreturn]] void report(const AccessRecord::Access &a, const std::string &buffer,
                           int64_t element, const char *before, const char *now) const;
  AccessRecord::Access now(bool atomic) const;

  std::string name_;
  std::vector<std::string> blocks_;  // their names
  int64_t kernel_ = -1, block_ = 0, epoch_ = 0, thread_ = -1;
};

}  // namespace polyhalite
