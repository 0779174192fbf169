#include "schedule/schedule_text.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "polyhalite/target.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

namespace {

// What differs between the forms.
class Printer {
 public:
  virtual ~Printer() = default;
  virtual std::string func(const std::string &name) const = 0;
  virtual std::string loop(const std::string &name) const = 0;
  virtual std::string tail(TailStrategy t) const = 0;
  virtual std::string level(const Directive &d) const = 0;
  virtual std::string device(DeviceAPI api) const {
    return std::string("DeviceAPI.") + device_api_name(api);
  }
  virtual std::string option(const Directive &d) const = 0;
  virtual std::string type(const Type &t) const { return t.to_string(); }
  /// What says how many Funcs the call makes.
  virtual std::string several(const Directive &) const { return ""; }
  virtual const char *end() const { return ""; }
  virtual std::string word(DirectiveKind kind) const { return directive_name(kind); }
  virtual std::string value(const Expr &factor) const { return to_text(factor); }
  /// "{x AlignStart}": of compute_with.
  virtual std::string alignments(const Directive &d) const = 0;
  /// Several things as one argument.
  virtual std::string list(const std::vector<std::string> &items) const {
    std::string text;
    for (const std::string &i : items) text += (text.empty() ? "" : ", ") + i;
    return text;
  }
  /// `call` makes the Func d.makes.
  virtual std::string made(const Directive &d, const std::string &call) const {
    return made_names(d) + " = " + call;
  }
  std::string made_names(const Directive &d) const {
    std::string text = func(d.makes);
    for (const std::string &m : d.makes_more) text += ", " + func(m);
    return text;
  }

  std::string line(const Directive &d) const {
    std::string text = func(d.func);
    if (d.stage > 0) text += ".update(" + std::to_string(d.stage - 1) + ")";
    for (const Expr &e : d.branch) text += ".specialize(" + to_text(e) + ")";
    text += "." + word(d.kind) + several(d) + "(";
    std::vector<std::string> args;
    if (!d.makes.empty()) text = made(d, text);
    if (names_level(d.kind)) {
      args.push_back(level(d));
      if (!d.aligns.empty()) args.push_back(alignments(d));
    } else if (d.kind == DirectiveKind::Rfactor) {
      std::vector<std::string> pairs;
      for (size_t i = 0; i + 1 < d.loops.size(); i += 2) {
        const std::string pair = loop(d.loops[i]) + ", " + loop(d.loops[i + 1]);
        pairs.push_back(d.loops.size() > 2 ? list({pair}) : pair);
      }
      args.push_back(pairs.size() > 1 ? list(pairs) : pairs[0]);
    } else {
      if (d.kind == DirectiveKind::Prefetch) args.push_back(func(d.target_func));
      for (const std::string &l : d.loops) args.push_back(loop(l));
    }
    if (!d.funcs.empty()) {
      std::vector<std::string> names;
      for (const std::string &f : d.funcs) names.push_back(func(f));
      args.push_back(list(names));
    }
    if (d.kind == DirectiveKind::ChangeType) args.push_back(type(d.type));
    std::vector<std::string> consumers;
    for (const std::string &c : d.consumers) consumers.push_back(func(c));
    if (consumers.size() > 1) consumers = {list(consumers)};
    args.insert(args.end(), consumers.begin(), consumers.end());
    for (const Expr &factor : d.factors) {
      // Proven, which goes without saying.
      if (d.kind == DirectiveKind::ChangeType && is_false(factor)) continue;
      args.push_back(value(factor));
    }
    if (d.kind == DirectiveKind::Split && d.tail != TailStrategy::Auto)
      args.push_back(tail(d.tail));
    if (names_device(d.kind) && d.device != DeviceAPI::Default_GPU) {
      args.push_back(device(d.device));
    }
    if (d.kind == DirectiveKind::Tensorize) {
      args.push_back(quote_string(d.option));
    } else if (!d.option.empty()) {
      args.push_back(option(d));
    }
    for (size_t i = 0; i < args.size(); i++) text += (i ? ", " : "") + args[i];
    return text + ")" + end();
  }
};

class TextPrinter : public Printer {
 public:
  std::string func(const std::string &name) const override { return quote_name(name); }
  std::string loop(const std::string &name) const override { return quote_name(name); }
  std::string tail(TailStrategy t) const override { return tail_strategy_name(t); }
  std::string option(const Directive &d) const override { return d.option; }
  std::string level(const Directive &d) const override {
    std::string text = func(d.target_func);
    if (d.target_stage > 0) text += ".update(" + std::to_string(d.target_stage - 1) + ")";
    return text + ", " + loop(d.loops[0]);
  }
  std::string alignments(const Directive &d) const override {
    std::string text;
    for (size_t i = 0; i < d.aligns.size(); i++) {
      text += (i ? ", " : "{") + loop(d.loops[i + 1]) + " " + align_strategy_name(d.aligns[i]);
    }
    return text + "}";
  }
};

// Names of programming languages: one identifier for each name, no two alike.
class Handles {
 public:
  explicit Handles(std::set<std::string> taken) : taken_(std::move(taken)) {}

  const std::string &add(const std::string &name) {
    auto [it, is_new] = handles_.emplace(name, "");
    if (!is_new) return it->second;
    std::string h;
    for (char c : name) h += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (h.empty() || std::isdigit(static_cast<unsigned char>(h[0]))) h = "_" + h;
    while (!taken_.insert(h).second) h += "_";
    return it->second = h;
  }
  const std::string &at(const std::string &name) const { return handles_.at(name); }
  const std::map<std::string, std::string> &all() const { return handles_; }

 private:
  std::map<std::string, std::string> handles_;  // name -> identifier
  std::set<std::string> taken_;
};

class CodePrinter : public Printer {
 public:
  CodePrinter(const std::vector<Directive> &directives, bool python)
      : python_(python), handles_funcs_(reserved()), handles_loops_({}) {
    std::set<std::string> taken = reserved();
    for (const Directive &d : directives) {
      for (const std::string &c : d.consumers) taken.insert(handles_funcs_.add(c));
      if (!d.makes.empty()) taken.insert(handles_funcs_.add(d.makes));
      for (const std::string &m : d.makes_more) taken.insert(handles_funcs_.add(m));
      for (const std::string &f : d.funcs) taken.insert(handles_funcs_.add(f));
      taken.insert(handles_funcs_.add(d.func));
      if (!d.target_func.empty()) taken.insert(handles_funcs_.add(d.target_func));
      for (const Expr &factor : d.factors) {
        for (const std::string &name : free_variables(factor)) taken.insert(name);
      }
    }
    handles_loops_ = Handles(taken);
    for (const Directive &d : directives) {
      for (const std::string &l : d.loops) handles_loops_.add(l);
    }
  }

  std::string func(const std::string &name) const override { return handles_funcs_.at(name); }
  std::string loop(const std::string &name) const override { return handles_loops_.at(name); }
  std::string tail(TailStrategy t) const override {
    return (python_ ? "ph.TailStrategy." : "TailStrategy::") + std::string(tail_strategy_name(t));
  }
  std::string device(DeviceAPI api) const override {
    return (python_ ? "ph.DeviceAPI." : "DeviceAPI::") + std::string(device_api_name(api));
  }
  std::string level(const Directive &d) const override {
    std::string text = func(d.target_func) + ", " + loop(d.loops[0]);
    if (d.target_stage <= 0) return text;
    return (python_ ? "ph.LoopLevel(" : "LoopLevel(") + text + ", " +
           std::to_string(d.target_stage) + ")";
  }
  std::string option(const Directive &d) const override {
    switch (d.kind) {
      case DirectiveKind::StoreIn:
        return (python_ ? "ph.MemoryType." : "MemoryType::") + d.option;
      case DirectiveKind::Partition:
        return (python_ ? "ph.Partition." : "Partition::") + d.option;
      case DirectiveKind::Prefetch:
        return (python_ ? "ph.PrefetchBoundStrategy." : "PrefetchBoundStrategy::") + d.option;
      default:
        return python_ ? "False" : "false";  // of fold_storage: not forward
    }
  }
  const char *end() const override { return python_ ? "" : ";"; }
  std::string alignments(const Directive &d) const override {
    std::string text = python_ ? "[" : "{";
    for (size_t i = 0; i < d.aligns.size(); i++) {
      text += (i ? ", " : "") + std::string(python_ ? "(" : "{") + loop(d.loops[i + 1]) + ", " +
              (python_ ? "ph.LoopAlignStrategy." : "LoopAlignStrategy::") +
              align_strategy_name(d.aligns[i]) + (python_ ? ")" : "}");
    }
    return text + (python_ ? "]" : "}");
  }
  // f.in_(g): Python's own words get an underscore.
  std::string word(DirectiveKind kind) const override {
    const std::string name = directive_name(kind);
    return python_ && (name == "in" || name == "async") ? name + "_" : name;
  }
  std::string value(const Expr &factor) const override {
    if (python_ && is_true(factor)) return "True";
    return python_ && is_false(factor) ? "False" : to_text(factor);
  }
  std::string list(const std::vector<std::string> &items) const override {
    return (python_ ? "[" : "{") + Printer::list(items) + (python_ ? "]" : "}");
  }
  std::string made(const Directive &d, const std::string &call) const override {
    if (python_) return Printer::made(d, call);
    const bool one = d.makes_more.empty();
    return (one ? "Func " + made_names(d) : "auto [" + made_names(d) + "]") + " = " + call;
  }
  // auto [f_intm0, f_intm1] = f.update(0).hoist_invariants<2>();
  std::string several(const Directive &d) const override {
    if (python_ || d.makes_more.empty()) return "";
    return "<" + std::to_string(1 + d.makes_more.size()) + ">";
  }
  // Int(32)    ph.Int(32)
  std::string type(const Type &t) const override {
    const char *code = t.is_bfloat()  ? "BFloat"
                       : t.is_float() ? "Float"
                       : t.is_int()   ? "Int"
                                      : "UInt";
    return (python_ ? "ph." : "") + std::string(code) + "(" + std::to_string(t.bits()) + ")";
  }

  std::string print(const std::vector<Directive> &directives) const {
    std::ostringstream os;
    const char *comment = python_ ? "# " : "// ", *indent = python_ ? "" : "  ";
    os << comment << "schedule 1\n";
    for (const auto &[name, handle] : handles_funcs_.all()) {
      if (name != handle) {
        os << comment << "handle " << handle << " " << quote_string(name) << "\n";
      }
    }
    if (!python_) os << "{\n";
    for (const auto &[name, handle] : handles_loops_.all()) {
      if (python_) {
        os << handle << " = ph.Var(" << quote_string(name) << ")\n";
      } else {
        os << indent << "Var " << handle << "(" << quote_string(name) << ");\n";
      }
    }
    for (const Directive &d : directives) os << indent << line(d) << "\n";
    if (!python_) os << "}\n";
    return os.str();
  }

 private:
  // Words that a name could be and an identifier cannot.
  static std::set<std::string> reserved() {
    return {"and",    "as",        "auto",   "bool",   "break",  "case",      "char",
            "class",  "continue",  "def",    "del",    "delete", "do",        "double",
            "elif",   "else",      "enum",   "for",    "float",  "from",      "global",
            "goto",   "if",        "import", "in",     "inline", "int",       "is",
            "lambda", "long",      "new",    "not",    "or",     "operator",  "pass",
            "ph",     "private",   "public", "return", "short",  "signed",    "static",
            "struct", "switch",    "this",   "throw",  "try",    "union",     "using",
            "void",   "while",     "with",   "yield",  "Var",    "LoopLevel", "TailStrategy",
            "update", "DeviceAPI", "Func"};
  }

  bool python_;
  Handles handles_funcs_, handles_loops_;
};

}  // namespace

std::string to_text(const std::vector<Directive> &directives) {
  std::string text = "schedule 1\n";
  for (const Directive &d : directives) text += TextPrinter().line(d) + "\n";
  return text;
}

std::string to_cpp(const std::vector<Directive> &directives) {
  return CodePrinter(directives, false).print(directives);
}

std::string to_python(const std::vector<Directive> &directives) {
  return CodePrinter(directives, true).print(directives);
}

bool same_directive(const Directive &a, const Directive &b) {
  if (a.aligns != b.aligns || a.kind != b.kind || a.func != b.func || a.stage != b.stage ||
      a.loops != b.loops || a.tail != b.tail || a.option != b.option || a.device != b.device ||
      a.target_func != b.target_func ||
      std::max(a.target_stage, 0) != std::max(b.target_stage, 0) ||
      a.factors.size() != b.factors.size()) {
    return false;
  }
  for (size_t i = 0; i < a.factors.size(); i++) {
    if (!equal(a.factors[i], b.factors[i])) return false;
  }
  if (a.consumers != b.consumers || a.makes != b.makes || a.makes_more != b.makes_more ||
      a.funcs != b.funcs || a.type != b.type || a.branch.size() != b.branch.size()) {
    return false;
  }
  for (size_t i = 0; i < a.branch.size(); i++) {
    if (!equal(a.branch[i], b.branch[i])) return false;
  }
  return true;
}

}  // namespace polyhalite
