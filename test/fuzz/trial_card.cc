#include "test/fuzz/trial_card.h"

#include "lang/abi/polyhalite_cuda.h"
#include "test/support/played_kernels.h"

namespace polyhalite::test {

namespace {

/// Keeps what calls of the runtime from outside of compiled code say.
class KeptErrors {
 public:
  KeptErrors() : before_(polyhalite_set_error_handler(keep)) { told().clear(); }
  ~KeptErrors() { polyhalite_set_error_handler(before_); }
  KeptErrors(const KeptErrors &) = delete;
  KeptErrors &operator=(const KeptErrors &) = delete;

  static std::string &told() {
    static std::string text;
    return text;
  }

 private:
  static void keep(void *, const char *message) {
    if (told().empty()) told() = message;
  }
  const polyhalite_error_handler_t before_;
};

}  // namespace

std::string why_no_card() {
  const KeptErrors errors;
  const int result = polyhalite_device_sync_global(nullptr, polyhalite_cuda_device_interface());
  if (result == 0) return "";
  return errors.told().empty() ? "code " + std::to_string(result) : errors.told();
}

TrialCard::TrialCard(Device device, const FrozenPipeline &pipeline, const Target &target,
                     const InterpretOptions &options)
    : device_(device) {
  if (device_ != Device::Played) return;
  played_.emplace();
  play_kernels(pipeline, target, options, *played_);
}

std::string TrialCard::finish(const std::vector<polyhalite_buffer_t *> &inputs,
                              const std::vector<polyhalite_buffer_t *> &outputs) {
  if (device_ == Device::None) return "";
  const KeptErrors errors;
  std::string fault;
  if (played_) {
    // What the runtime holds is given back all the same.
    std::swap(fault, played_->fault);
  }
  int failed = 0;
  for (polyhalite_buffer_t *b : outputs) failed += polyhalite_copy_to_host(nullptr, b) != 0;
  for (const auto *buffers : {&inputs, &outputs}) {
    for (polyhalite_buffer_t *b : *buffers) failed += polyhalite_device_free(nullptr, b) != 0;
  }
  if (!fault.empty()) return fault;
  if (failed > 0) return errors.told();
  if (played_ && played_->live_blocks() > 0) {
    return "memory of the card is not given back: " + std::to_string(played_->live_blocks()) +
           " blocks";
  }
  return "";
}

}  // namespace polyhalite::test
