#include "codegen/ir/visit.h"

#include <algorithm>

#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

class StmtSubstitution : public StmtRewriter {
 public:
  explicit StmtSubstitution(const std::map<std::string, Expr> &values) : values_(values) {}

 protected:
  Expr rewrite_expr(const Expr &e) override { return substitute(values_, e); }

 private:
  const std::map<std::string, Expr> &values_;
};

}  // namespace

void for_each_stmt(const Stmt &s, const std::function<void(const Stmt &)> &visit) {
  visit(s);
  for (const Stmt &b : s->body) for_each_stmt(b, visit);
}

void for_each_operand(const Stmt &s, const std::function<void(const Expr &)> &visit) {
  for_each_stmt(s, [&](const Stmt &t) {
    for (const Expr &e : t->args) visit(e);
  });
}

Stmt StmtRewriter::rewrite_children(const Stmt &s) {
  std::vector<Expr> args;
  args.reserve(s->args.size());
  for (const Expr &e : s->args) args.push_back(rewrite_expr(e));
  std::vector<Stmt> body;
  body.reserve(s->body.size());
  for (const Stmt &b : s->body) body.push_back((*this)(b));
  return with_parts(s, std::move(args), std::move(body));
}

Stmt substitute(const std::map<std::string, Expr> &values, const Stmt &s) {
  if (values.empty()) return s;
  return StmtSubstitution(values)(s);
}

Stmt substitute(const std::string &name, const Expr &value, const Stmt &s) {
  return substitute(std::map<std::string, Expr>{{name, value}}, s);
}

bool uses_variable(const Stmt &s, const std::string &name) {
  bool found = false;
  for_each_operand(s, [&](const Expr &e) { found = found || uses_variable(e, name); });
  return found;
}

std::set<std::string> used_variables(const Stmt &s) {
  std::set<std::string> names;
  for_each_operand(s, [&](const Expr &e) {
    for (const std::string &n : free_variables(e)) names.insert(n);
  });
  return names;
}

std::string func_of_buffer(const std::string &buffer) {
  const size_t dot = buffer.rfind('.');
  if (dot == std::string::npos || dot + 1 == buffer.size()) return buffer;
  const bool numbered = buffer.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return numbered ? buffer.substr(0, dot) : buffer;
}

std::set<std::string> accessed_buffers(const Stmt &s) {
  std::set<std::string> names;
  for_each_stmt(s, [&](const Stmt &t) {
    if (t->kind == StmtKind::Store || t->kind == StmtKind::Provide) names.insert(t->name);
    names.insert(t->buffers.begin(), t->buffers.end());
  });
  for_each_operand(s, [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      if (const LoadNode *load = as_load(n)) names.insert(load->buffer);
      const CallNode *call = as_call(n);
      if (call && (call->kind == CallKind::Func || call->kind == CallKind::Image)) {
        names.insert(call->name);
      }
    });
  });
  return names;
}

bool is_no_op(const Stmt &s) { return s->kind == StmtKind::Block && s->body.empty(); }

size_t size_of(const Stmt &s) {
  size_t n = 0;
  for_each_stmt(s, [&](const Stmt &) { n++; });
  for_each_operand(s, [&](const Expr &e) { for_each_node(e, [&](const Expr &) { n++; }); });
  return n;
}

}  // namespace polyhalite
