#include "codegen/oracle/race_check.h"

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr int64_t kRow = 1024;  // more threads than a dimension has
constexpr int64_t kAll = -1, kSeveral = -2;

std::string thread_text(int64_t thread) {
  if (thread == kAll) return "all threads";
  if (thread == kSeveral) return "several threads";
  return "thread (" + std::to_string(thread % kRow) + ", " + std::to_string(thread / kRow % kRow) +
         ", " + std::to_string(thread / kRow / kRow) + ")";
}

}  // namespace

void RaceCheck::begin_kernel(const std::string &name) {
  name_ = name;
  kernel_++;
  blocks_.clear();
}

void RaceCheck::begin_block(const std::string &which) {
  block_ = static_cast<int64_t>(blocks_.size());
  blocks_.push_back(which);
  epoch_ = 0;
  run_all();
}

void RaceCheck::run_thread(const std::array<int64_t, 3> &at) {
  thread_ = at[0] + kRow * (at[1] + kRow * at[2]);
}

void RaceCheck::run_all() { thread_ = kAll; }

bool RaceCheck::is_unordered(const AccessRecord::Access &a, bool atomic) const {
  if (a.kernel != kernel_ || (a.atomic && atomic)) return false;
  if (a.block != block_) return true;
  return a.epoch == epoch_ && a.thread != thread_;
}

void RaceCheck::report(const AccessRecord::Access &a, const std::string &buffer, int64_t element,
                       const char *before, const char *now) const {
  const std::string block = a.block == kSeveral ? "several blocks" : blocks_.at(a.block);
  throw InternalError({"race in kernel '" + name_ + "': element " + std::to_string(element) +
                           " of '" + buffer + "' is " + before + " by " + thread_text(a.thread) +
                           " of block " + block + " and " + now + " by " + thread_text(thread_) +
                           " of block " + blocks_.at(block_) +
                           (a.block == block_ ? ", and no barrier is between" : ""),
                       "",
                       "",
                       {}});
}

AccessRecord::Access RaceCheck::now(bool atomic) const {
  return {kernel_, block_, epoch_, thread_, atomic};
}

void RaceCheck::check_arrived(const AccessRecord &r, const std::string &buffer, int64_t element,
                              const char *now) const {
  if (!r.write.is_on_its_way || r.write.kernel != kernel_ || r.write.block != block_) return;
  throw InternalError({"race in kernel '" + name_ + "': element " + std::to_string(element) +
                           " of '" + buffer + "' is copied by " + thread_text(r.write.thread) +
                           " and " + now + " by " + thread_text(thread_) + " of block " +
                           blocks_.at(block_) + ", and nobody has waited for the copy",
                       "",
                       "",
                       {}});
}

void RaceCheck::on_copy(AccessRecord &r, const std::string &buffer, int64_t element,
                        bool same) const {
  same ? void(r.write = now(false)) : on_write(r, buffer, element, false, false);
  r.write.is_on_its_way = true;
}

void RaceCheck::on_arrival(AccessRecord &r) const { r.write = now(false); }

void RaceCheck::on_read(AccessRecord &r, const std::string &buffer, int64_t element,
                        bool atomic) const {
  check_arrived(r, buffer, element, "read");
  if (is_unordered(r.write, atomic)) report(r.write, buffer, element, "written", "read");
  AccessRecord::Access a = now(atomic);
  if (r.read.kernel == kernel_) {
    if (r.read.block != block_) {
      a.block = kSeveral;
    } else if (r.read.epoch == epoch_) {
      if (r.read.thread != thread_) a.thread = kSeveral;
      a.atomic = atomic && r.read.atomic;
    }
  }
  r.read = a;
}

void RaceCheck::on_write(AccessRecord &r, const std::string &buffer, int64_t element, bool atomic,
                         bool same) const {
  check_arrived(r, buffer, element, "written");
  if (!same && is_unordered(r.write, atomic))
    report(r.write, buffer, element, "written", "written");
  if (!same && is_unordered(r.read, atomic)) report(r.read, buffer, element, "read", "written");
  r.write = now(atomic);
}

}  // namespace polyhalite
