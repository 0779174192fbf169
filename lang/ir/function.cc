#include "lang/ir/function.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "lang/language/names.h"

namespace polyhalite {

namespace {

std::mutex mutex;

// How often names have been given; under the mutex.
std::map<std::string, int> &uses() {
  static std::map<std::string, int> counts;
  return counts;
}

}  // namespace

std::string unique_name(const std::string &hint) {
  std::lock_guard<std::mutex> lock(mutex);
  const int n = uses()[hint]++;
  return n == 0 ? hint : hint + "$" + std::to_string(n);
}

std::string anonymous_name(const std::string &hint) {
  std::lock_guard<std::mutex> lock(mutex);
  int &n = uses()[hint];
  n = std::max(n, 1);
  return hint + "$" + std::to_string(n++);
}

void reserve_name(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  int &n = uses()[name];
  n = std::max(n, 1);
}

}  // namespace polyhalite
