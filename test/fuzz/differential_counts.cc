#include "test/fuzz/differential_counts.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "lang/ir/directive.h"

namespace polyhalite::test {

std::string failure_kind(const DifferentialCounts &c) {
  for (const auto &[claim, n] : c.false_by_claim) {
    if (n > 0) return std::string("false refusal ") + claim;
  }
  if (c.failures.empty()) return "";
  // The first words, without names and numbers.
  std::istringstream words(c.failures[0]);
  std::string kind, word;
  words >> word >> word;
  for (int n = 0; n < 6 && words >> word; n++) {
    const bool plain = std::all_of(word.begin(), word.end(), [](char x) {
      return std::isalpha(static_cast<unsigned char>(x)) || x == ':' || x == ',';
    });
    if (plain) kind += " " + word;
  }
  return kind;
}

std::vector<std::string> never_accepted(const DifferentialCounts &c) {
  std::vector<std::string> words;
  for (const DirectiveKind kind : all_directive_kinds()) {
    if (!concerns_device(kind)) words.push_back(directive_name(kind));
  }
  for (int t = 0; t <= static_cast<int>(TailStrategy::Auto); t++) {
    words.push_back(std::string("tail ") + tail_strategy_name(static_cast<TailStrategy>(t)));
  }
  for (const char *type : {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32",
                           "int64", "float16", "bfloat16", "float32", "float64"}) {
    words.push_back(std::string("type ") + type);
  }
  words.erase(std::remove_if(words.begin(), words.end(),
                             [&](const std::string &w) { return c.accepted_with.count(w) > 0; }),
              words.end());
  for (const DirectiveKind kind : all_directive_kinds()) {
    if (!c.drawn_with.count(directive_name(kind))) {
      words.push_back(std::string(directive_name(kind)) + " (not even drawn)");
    }
  }
  return words;
}

std::string coverage(const DifferentialCounts &c) {
  std::ostringstream os;
  os << "programs with it: drawn, accepted\n";
  for (const auto &[word, drawn] : c.drawn_with) {
    const auto accepted = c.accepted_with.find(word);
    os << "  " << std::left << std::setw(28) << word << std::right << std::setw(7) << drawn
       << std::setw(7) << (accepted == c.accepted_with.end() ? 0 : accepted->second) << "\n";
  }
  return os.str();
}

std::string report(const DifferentialCounts &c) {
  std::ostringstream os;
  const int judged = c.accepted + c.refused;
  os << c.drawn << " drawn: " << c.structural << " structural errors, " << c.accepted
     << " accepted, " << c.refused << " refused";
  for (const auto &[claim, n] : c.refused_by_claim) os << " (" << claim << ") " << n;
  os << "\nacceptance rate " << (judged ? 100.0 * c.accepted / judged : 0) << "% of " << judged
     << " judged; " << c.sliding << " with sliding windows, " << c.folded << " with rings\n"
     << c.enumerated << " verdicts held against enumeration: " << c.false_refusals
     << " false refusals";
  for (const auto &[claim, n] : c.false_by_claim) os << " (" << claim << ") " << n;
  os << "\n"
     << c.counter_examples << " counter-examples enumerated, " << c.unshown_seeds.size()
     << " of them break nothing\n"
     << c.judged_exactly << " judged exactly too, " << c.exactly_unknown << " not decided then\n"
     << c.executed << " run against the interpreter, " << c.compiled << " as machine code, "
     << c.memoized << " memoized, " << c.with_extern << " with extern stages, " << c.traced
     << " traced, " << c.not_run << " not run (boxes too large or checks that no size meets)\n"
     << c.with_kernels << " with kernels on a card, " << c.rounded
     << " outputs rounded otherwise there, " << c.refused_late << " refused while compiled\n"
     << c.findings[0] << " Funcs proven a second time, " << c.findings[1] << " undecided, "
     << c.findings[2] << " refused\n";
  for (const auto &[why, n] : c.undecided) os << "  " << n << ": " << why << "\n";
  os << "seconds:";
  for (const auto &[part, n] : c.seconds) os << " " << part << " " << std::llround(n);
  os << "\n" << c.failures.size() << " failures\n";
  for (const std::string &f : c.failures) os << "  " << f << "\n";
  return os.str();
}

}  // namespace polyhalite::test
