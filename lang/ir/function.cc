#include "lang/ir/function.h"

#include <map>
#include <mutex>

namespace polyhalite {

std::string unique_name(const std::string &hint) {
  static std::mutex mutex;
  static std::map<std::string, int> uses;
  std::lock_guard<std::mutex> lock(mutex);
  const int n = uses[hint]++;
  return n == 0 ? hint : hint + "$" + std::to_string(n);
}

}  // namespace polyhalite
