#include "lang/ir/text.h"

#include <cstring>
#include <set>
#include <sstream>

#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

Expr read_element(const uint8_t *at, Type t) {
  if (t.is_float()) {
    double v = 0;
    if (t.bits() == 64) {
      std::memcpy(&v, at, sizeof v);
    } else {
      float f = 0;
      std::memcpy(&f, at, sizeof f);
      v = f;
    }
    return make_float(t, v);
  }
  uint64_t bits = 0;
  std::memcpy(&bits, at, t.bytes());
  return make_int(t, static_cast<int64_t>(bits));
}

// Calls visit(host address) for each element, first dimension innermost.
template <typename Visit>
void for_each_element(const BufferContents &b, const Visit &visit) {
  int64_t count = 1;
  for (const auto &d : b.dims()) count *= d.extent;
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, offset = 0;
    for (const auto &d : b.dims()) {
      offset += rest % d.extent * d.stride;
      rest /= d.extent;
    }
    visit(b.raw().host + offset * b.type().bytes());
  }
}

class AlgorithmPrinter {
 public:
  AlgorithmPrinter(const Algorithm &a, int64_t most_elements)
      : a_(a), most_elements_(most_elements) {}

  std::string run() {
    os_ << "algorithm 1\n";
    for (const AlgorithmInput &input : a_.inputs) print_input(*input.param);
    print_constants();
    for (const FuncDef &f : a_.funcs) {
      for (size_t s = 0; s < f.stages.size(); s++) print_stage(f, static_cast<int>(s));
    }
    os_ << "output ";
    const char *separator = "";
    for (const std::string &name : a_.outputs) {
      os_ << separator << quote_name(name);
      separator = ", ";
    }
    os_ << '\n';
    for (const auto &p : a_.output_buffers) print_input(*p);
    for (const FuncDef &f : a_.funcs) print_estimates(f);
    for (const Expr &e : a_.requirements) {
      os_ << "requirement ";
      print_expr(os_, e);
      os_ << '\n';
    }
    return os_.str();
  }

 private:
  void print_field(const char *word, int dimension, const Expr &e) {
    if (!e.defined()) return;
    os_ << ", " << word;
    if (dimension >= 0) os_ << '.' << dimension;
    os_ << ' ';
    print_expr(os_, e);
  }

  void print_estimates(const FuncDef &f) {
    if (f.estimates.empty()) return;
    os_ << "estimates " << quote_name(f.name);
    for (size_t d = 0; d < f.estimates.size(); d++) {
      print_field("min", static_cast<int>(d), f.estimates[d].min);
      print_field("extent", static_cast<int>(d), f.estimates[d].extent);
    }
    os_ << '\n';
  }

  void print_input(const ParameterContents &p) {
    os_ << (p.is_output   ? "buffer "
            : p.is_buffer ? "image "
                          : "param ")
        << quote_name(p.name) << ": " << p.type.to_string();
    if (!p.is_buffer) {
      if (p.type.pointee()) os_ << ", pointee " << quote_string(p.type.pointee()->to_string());
      print_field("min", -1, p.min_value);
      print_field("max", -1, p.max_value);
      print_field("estimate", -1, p.estimate);
      print_field("default", -1, p.default_value);
    } else {
      os_ << ", " << p.dimensions;
      if (p.host_alignment > 0) os_ << ", alignment " << p.host_alignment;
      for (size_t d = 0; d < p.dims.size(); d++) {
        const int i = static_cast<int>(d);
        print_field("min", i, p.dims[d].min);
        print_field("extent", i, p.dims[d].extent);
        print_field("stride", i, p.dims[d].stride);
        print_field("min_estimate", i, p.dims[d].min_estimate);
        print_field("extent_estimate", i, p.dims[d].extent_estimate);
      }
    }
    os_ << '\n';
  }

  // In order of first use.
  void print_constants() {
    std::set<const BufferContents *> seen;
    auto visit = [&](const Expr &e) {
      const BufferContents *b = nullptr;
      if (const CallNode *c = as_call(e)) b = c->image.get();
      if (const VariableNode *v = as_variable(e)) b = v->image.get();
      if (b && seen.insert(b).second) print_constant(*b);
    };
    for (const FuncDef &f : a_.funcs) {
      for (const StageDef &s : f.stages) {
        for (const Expr &e : s.args) for_each_node(e, visit);
        for (const Expr &e : s.values) for_each_node(e, visit);
        for (const ReductionVariable &r : s.rvars) {
          for_each_node(r.min, visit);
          for_each_node(r.extent, visit);
        }
        for_each_node(s.predicate, visit);
      }
    }
  }

  void print_constant(const BufferContents &b) {
    os_ << "constant " << quote_name(b.name) << ": " << b.type().to_string();
    int64_t count = 1;
    for (const auto &d : b.dims()) {
      os_ << " (" << d.min << ", " << d.extent << ')';
      count *= d.extent;
    }
    os_ << " = ";
    const bool has_text = !b.type().is_float() || b.type().bits() >= 32;
    if (count > most_elements_ || !b.raw().host || !has_text) {
      os_ << "omitted\n";
      return;
    }
    const char *separator = "{";
    for_each_element(b, [&](const uint8_t *at) {
      os_ << separator;
      print_expr(os_, read_element(at, b.type()));
      separator = ", ";
    });
    os_ << (count == 0 ? "{}\n" : "}\n");
  }

  void print_stage(const FuncDef &f, int stage) {
    const StageDef &s = f.stages[stage];
    // A parameter may have the name of a variable.
    std::set<std::string> shadowed(f.args.begin(), f.args.end());
    for (const ReductionVariable &r : s.rvars) shadowed.insert(r.var);
    if (s.instead_of >= 0) {
      os_ << "instead of " << s.instead_of << " if ";
      print_expr(os_, s.when, &shadowed);
      os_ << ": ";
    }
    if (!s.in_place.empty()) os_ << "in place of " << quote_name(s.in_place) << ": ";
    if (!s.fail.empty()) os_ << "fail " << quote_string(s.fail) << ": ";
    if (!s.rvars.empty() || s.predicate.defined()) {
      const char *separator = "over ";
      for (const ReductionVariable &r : s.rvars) {
        os_ << separator << quote_name(r.var) << '(';
        print_expr(os_, r.min, &shadowed);
        os_ << ", ";
        print_expr(os_, r.extent, &shadowed);
        os_ << ')';
        separator = ", ";
      }
      if (s.predicate.defined()) {
        os_ << (s.rvars.empty() ? "where " : " where ");
        print_expr(os_, s.predicate, &shadowed);
      }
      os_ << ": ";
    }
    os_ << quote_name(f.name) << '(';
    print_items(s.args, shadowed);
    os_ << ") = ";
    if (s.values.size() == 1) {
      print_expr(os_, s.values[0], &shadowed);
    } else {
      os_ << '{';
      print_items(s.values, shadowed);
      os_ << '}';
    }
    os_ << '\n';
  }

  void print_items(const std::vector<Expr> &items, const std::set<std::string> &shadowed) {
    const char *separator = "";
    for (const Expr &e : items) {
      os_ << separator;
      print_expr(os_, e, &shadowed);
      separator = ", ";
    }
  }

  const Algorithm &a_;
  const int64_t most_elements_;
  std::ostringstream os_;
};

}  // namespace

std::string to_text(const Algorithm &a, int64_t most_elements) {
  return AlgorithmPrinter(a, most_elements).run();
}

}  // namespace polyhalite
