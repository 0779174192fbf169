#include "apps/onnx/kernel_sizes.h"

#include <algorithm>
#include <set>
#include <vector>

namespace polyhalite::onnx {

namespace {

class Naming {
 public:
  explicit Naming(Graph *g) : g_(*g) {}

  std::map<std::string, Dim> run() {
    for (const Value &v : g_.values) {
      if (!v.shape) continue;
      for (const Dim &d : *v.shape) mention(d, true);
    }
    for (const Value &v : g_.values) {
      if (!v.contents) continue;
      for (const Dim &d : *v.contents) mention(d, false);
    }
    for (const Mention &m : mentions_) name(m);
    for (Value &v : g_.values) {
      if (v.shape) rename(&*v.shape);
      if (v.contents) rename(&*v.contents);
    }
    return meaning_;
  }

 private:
  struct Mention {
    Dim size;
    std::set<std::string> symbols;
    bool is_extent;  // of a dimension, hence not below 0
  };

  void mention(const Dim &d, bool is_extent) {
    if (d.constant()) return;
    for (const Mention &m : mentions_) {
      if (m.size == d) return;
    }
    Mention m{d, {}, is_extent || d.lower_bound().value_or(-1) >= 0};
    d.add_symbols(&m.symbols);
    for (const std::string &s : m.symbols) uses_[s]++;
    mentions_.push_back(std::move(m));
  }

  void name(const Mention &m) {
    const bool alone = std::all_of(m.symbols.begin(), m.symbols.end(),
                                   [&](const std::string &s) { return uses_.at(s) == 1; });
    if (alone && m.is_extent) {
      const int64_t factor = m.size.common_factor();
      whole_.emplace(m.size.to_string(), Dim(factor) * fresh(Dim::floor_div(m.size, factor)));
      return;
    }
    for (const std::string &s : m.symbols) {
      if (parts_.count(s) == 0) parts_.emplace(s, fresh(Dim::symbol(s)));
    }
  }

  Dim fresh(const Dim &meaning) {
    const std::string name = "s" + std::to_string(meaning_.size());
    meaning_.emplace(name, meaning);
    return Dim::symbol(name);
  }

  void rename(std::vector<Dim> *sizes) const {
    for (Dim &d : *sizes) {
      const auto at = whole_.find(d.to_string());
      d = at == whole_.end() ? d.substitute(parts_) : at->second;
    }
  }

  Graph &g_;
  std::vector<Mention> mentions_;
  std::map<std::string, int> uses_;   // sizes that a symbol stands in
  std::map<std::string, Dim> whole_;  // by the text of a size
  std::map<std::string, Dim> parts_;  // by symbol
  std::map<std::string, Dim> meaning_;
};

}  // namespace

std::map<std::string, Dim> name_sizes(Graph *g) { return Naming(g).run(); }

}  // namespace polyhalite::onnx
