#include "polyhalite/verification.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr int kUnset = -1;
std::atomic<int> wish{kUnset};

Verification from_environment() {
  const char *text = std::getenv("PH_VERIFY");
  const std::string word = text ? text : "";
  if (word == "full") return Verification::Full;
  return word.empty() || word == "0" || word == "none" ? Verification::None : Verification::Passes;
}

}  // namespace

Verification verification_from_name(const std::string &name) {
  if (name == "none") return Verification::None;
  if (name == "passes") return Verification::Passes;
  if (name == "full") return Verification::Full;
  user_error("cannot verify '" + name + "'", "what can be verified: none, passes, full",
             "full proves lowered loops a second time; see --help");
}

void set_verification(Verification wanted) { wish = static_cast<int>(wanted); }

Verification verification() {
  const int said = wish;
  const Verification wanted = said == kUnset ? from_environment() : static_cast<Verification>(said);
#ifdef __OPTIMIZE__
  return wanted;
#else
  return std::max(wanted, Verification::Passes);
#endif
}

}  // namespace polyhalite
