#include "polyhalite/cancellation.h"

namespace polyhalite {

namespace {

thread_local const CancellationScope *innermost = nullptr;

}  // namespace

CancellationScope::CancellationScope(const Cancellation &cancellation)
    : cancellation_(cancellation), outer_(innermost) {
  innermost = this;
}

CancellationScope::~CancellationScope() { innermost = outer_; }

void check_cancelled() {
  for (const CancellationScope *s = innermost; s; s = s->outer_) {
    if (s->cancellation_.requested()) {
      throw Cancelled(Diagnostic{"the compilation was cancelled", "", "", {}});
    }
  }
}

}  // namespace polyhalite
