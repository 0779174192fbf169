// Targets as text: arch-bits-os, tune_PROCESSOR, features, vector_bits_N, in any order.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "lang/target_words.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr const char *kArchs[] = {"arch_unknown", "x86",  "arm",  "hexagon",
                                  "powerpc",      "wasm", "riscv"};
constexpr const char *kSystems[] = {"os_unknown", "linux", "windows", "osx",     "android",
                                    "ios",        "qurt",  "noos",    "fuchsia", "wasmrt"};
constexpr const char *kProcessors[] = {
    "tune_generic", "tune_k8",     "tune_k8_sse3", "tune_amdfam10", "tune_btver1",
    "tune_bdver1",  "tune_bdver2", "tune_bdver3",  "tune_bdver4",   "tune_btver2",
    "tune_znver1",  "tune_znver2", "tune_znver3",  "tune_znver4",   "tune_znver5"};
constexpr const char *kFeatures[] = {
#define POLYHALITE_TARGET_FEATURE(c_name, name, word) word,
    POLYHALITE_TARGET_FEATURES(POLYHALITE_TARGET_FEATURE)
#undef POLYHALITE_TARGET_FEATURE
};
static_assert(std::size(kFeatures) == Target::FeatureEnd);

// Words for several features, or second words for one.
constexpr const char *kTraceAll = "trace_all";
constexpr Target::Feature kTraced[] = {Target::TraceLoads, Target::TraceStores,
                                       Target::TraceRealizations};
constexpr const char *kVectorBits = "vector_bits_";

// The position of `word` in the list; -1 where it is not in it.
template <size_t N>
int find(const char *const (&list)[N], const std::string &word) {
  const auto at = std::find(std::begin(list), std::end(list), word);
  return at == std::end(list) ? -1 : static_cast<int>(at - std::begin(list));
}

std::vector<std::string> sorted_feature_words() {
  std::vector<std::string> words(std::begin(kFeatures), std::end(kFeatures));
  std::sort(words.begin(), words.end());
  return words;
}

std::string known_words() {
  std::string s = "host;";
  const auto add = [&](const char *const *first, const char *const *last, char end) {
    for (; first != last; ++first) s += std::string(" ") + *first + (first + 1 == last ? end : ',');
  };
  add(std::begin(kArchs) + 1, std::end(kArchs), ';');
  s += " 32, 64;";
  add(std::begin(kSystems) + 1, std::end(kSystems), ';');
  add(std::begin(kProcessors), std::end(kProcessors), ';');
  s += " vector_bits_N;";
  for (const std::string &word : sorted_feature_words()) s += " " + word + ",";
  return s + " " + kTraceAll;
}

std::vector<std::string> split_words(const std::string &text) {
  std::vector<std::string> words(1);
  for (char c : text) {
    if (c == '-') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

[[noreturn]] void bad_target(const std::string &text, const std::string &why) {
  user_error(
      "cannot read the target '" + text + "'", why,
      "write arch-bits-os and then features, as in x86-64-linux-avx2-fma, or host; the known "
      "words are: " +
          known_words());
}

}  // namespace

const char *arch_word(Target::Arch arch) { return kArchs[arch]; }
const char *os_word(Target::OS os) { return kSystems[os]; }

Target::Target(const std::string &text) {
  const Target host = get_host_target();
  if (text.empty()) {
    *this = host;
    return;
  }
  bool first = true, names_tune = false;
  for (const std::string &word : split_words(text)) {
    if (word == "host") {
      if (!first) bad_target(text, "'host' must be the first word");
      *this = host;
    } else if (const int a = find(kArchs, word); a >= 0) {
      if (arch != ArchUnknown) bad_target(text, "'" + word + "' names a second architecture");
      arch = static_cast<Arch>(a);
    } else if (word == "32" || word == "64") {
      if (bits) bad_target(text, "'" + word + "' gives the bits a second time");
      bits = word == "32" ? 32 : 64;
    } else if (const int o = find(kSystems, word); o >= 0) {
      if (os != OSUnknown) bad_target(text, "'" + word + "' names a second operating system");
      os = static_cast<OS>(o);
    } else if (const int p = find(kProcessors, word); p >= 0) {
      if (names_tune) bad_target(text, "'" + word + "' names a second processor");
      names_tune = true;
      processor_tune = static_cast<Processor>(p);
    } else if (word == kTraceAll) {
      for (Feature f : kTraced) set_feature(f);
    } else if (const Feature f = feature_from_name(word); f != FeatureEnd) {
      set_feature(f);
    } else if (word.compare(0, 12, kVectorBits) == 0 && word.size() > 12 && word.size() < 18 &&
               word.find_first_not_of("0123456789", 12) == std::string::npos) {
      if (vector_bits) bad_target(text, "'" + word + "' gives the vector bits a second time");
      vector_bits = std::atoi(word.c_str() + 12);
    } else {
      bad_target(text, "'" + word + "' is no known word");
    }
    first = false;
  }
  if (arch == ArchUnknown) bad_target(text, "it names no architecture");
  if (bits == 0) bad_target(text, "it does not say 32 or 64 bits");
  if (os == OSUnknown) bad_target(text, "it names no operating system");
  check_features();
}

bool Target::validate_target_string(const std::string &text) {
  try {
    return !Target(text).has_unknowns();
  } catch (const CompileError &) {
    return false;
  }
}

std::string Target::feature_to_name(Feature f) {
  if (f < 0 || f >= FeatureEnd) {
    user_error("there is no target feature of number " + std::to_string(f),
               "features have the numbers 0 to " + std::to_string(FeatureEnd - 1),
               "give an enumerator of Target::Feature");
  }
  return kFeatures[f];
}

Target::Feature Target::feature_from_name(const std::string &name) {
  if (name == "hvx") return HVX;
  const int f = find(kFeatures, name);
  return f < 0 ? FeatureEnd : static_cast<Feature>(f);
}

std::string Target::to_string() const {
  std::string s = std::string(arch_word(arch)) + "-" + std::to_string(bits) + "-" + os_word(os);
  if (processor_tune != ProcessorGeneric) s += std::string("-") + kProcessors[processor_tune];
  const bool traces_all = std::all_of(std::begin(kTraced), std::end(kTraced),
                                      [&](Feature f) { return has_feature(f); });
  std::vector<std::string> words;
  for (int i = 0; i < FeatureEnd; i++) {
    const auto f = static_cast<Feature>(i);
    const bool is_traced =
        std::find(std::begin(kTraced), std::end(kTraced), f) != std::end(kTraced);
    if (has_feature(f) && !(traces_all && is_traced)) words.push_back(kFeatures[i]);
  }
  if (traces_all) words.push_back(kTraceAll);
  std::sort(words.begin(), words.end());
  for (const std::string &word : words) s += "-" + word;
  if (vector_bits) s += std::string("-") + kVectorBits + std::to_string(vector_bits);
  return s;
}

}  // namespace polyhalite
