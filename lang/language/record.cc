#include "lang/language/record.h"

#include <atomic>
#include <utility>

#include "lang/language/stage_loops.h"

namespace polyhalite {

Directive stamped(std::string func, int stage, DirectiveKind kind, std::vector<std::string> loops,
                  std::vector<Expr> factors, const SourceLocation &where, TailStrategy tail) {
  static std::atomic<uint64_t> count{0};
  Directive d;
  d.kind = kind;
  d.func = std::move(func);
  d.stage = stage;
  d.loops = std::move(loops);
  d.factors = std::move(factors);
  d.tail = tail;
  d.where = where;
  d.order = ++count;
  return d;
}

Directive &record(FunctionContents &f, int stage, DirectiveKind kind,
                  std::vector<std::string> loops, std::vector<Expr> factors,
                  const SourceLocation &where, TailStrategy tail) {
  Directive d = stamped(f.name, stage, kind, std::move(loops), std::move(factors), where, tail);
  check_loops(f, d);
  f.directives.push_back(std::move(d));
  return f.directives.back();
}

Directive &record(const Stage &s, DirectiveKind kind, std::vector<std::string> loops,
                  std::vector<Expr> factors, const SourceLocation &where, TailStrategy tail) {
  FunctionContents &f = *s.function();
  Directive d = stamped(f.name, s.index(), kind, std::move(loops), std::move(factors), where, tail);
  d.branch = s.branch();
  check_loops(f, d);
  f.directives.push_back(std::move(d));
  return f.directives.back();
}

}  // namespace polyhalite
