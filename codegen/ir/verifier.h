// Verifier: checks each statement and expression of a function, of which verify() tells the first
// problem. verify.cc lists the invariants.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "codegen/ir/verify.h"
#include "polyhalite/error.h"
#include "polyhalite/print.h"

namespace polyhalite {

class Verifier {
 public:
  explicit Verifier(IrLevel level) : level_(level) {}

  std::optional<Diagnostic> run(const Function &f);

 private:
  struct Buffer {
    Type type;
    int dimensions = -1;         // -1: flat
    bool is_written = true;      // may be
    Home home = Home::Mirrored;  // arguments and constants have memory on both sides
    bool is_place = false;       // in another's memory
  };

  static bool is_on_device(Home h) { return h == Home::Mirrored || h == Home::Device; }
  static bool is_in_kernel(Home h) { return h == Home::Block || h == Home::Thread; }
  bool is_flat() const { return level_ > IrLevel::MultiDimensional; }

  // The first problem is kept: later ones often follow from it.
  void report(const std::string &invariant, const std::string &what);
  // The text is put together from its parts, texts, types and numbers, where it is needed only:
  // nearly all that is checked holds.
  template <typename... Parts>
  void require(bool holds, const char *invariant, const Parts &...parts) {
    if (holds) return;
    std::ostringstream what;
    (what << ... << parts);
    report(invariant, what.str());
  }

  void add_argument(const std::string &name) {
    require(arguments_.insert(name).second, "arguments", "two are called '", name, "'");
  }

  bool means_something(const std::string &name) const {
    return arguments_.count(name) || fields_.count(name) || bound_.count(name) ||
           buffers_.count(name);
  }

  // Binds `name` to a type while `body` runs.
  template <typename Body>
  void in_scope(const std::string &name, Type t, VariableKind kind, Body body) {
    require(!means_something(name), "shadowing", "'", name, "' means something here already");
    if (problem_) return;
    bound_[name] = {t, kind};
    body();
    bound_.erase(name);
  }

  // verify.cc: statements
  bool has_shape(const Stmt &s);
  void stmt(const Stmt &s);
  void memoize(const Stmt &s);
  void kernel(const Stmt &s);
  void fork(const Stmt &s);
  void loop(const Stmt &s);
  void allocate(const Stmt &s);
  void place(const Stmt &s);
  void provide(const Stmt &s);
  void check_async(const Stmt &write);

  // verify_exprs.cc: what they access and compute
  const Buffer *find_buffer(const std::string &name, int value_index);
  void indices(const std::string &name, const Buffer &b, const std::vector<Expr> &args, size_t n);
  void access(const std::string &name, const Expr &index, Type t, const Expr &mask, bool writes);
  void operand(const Expr &e);
  void condition(const Expr &e);
  // A whole operand of a statement. Its nodes may mean something else in other statements.
  void whole(const Expr &e);
  void expr(const Expr &e);
  void node(const Expr &e);
  void variable(const VariableNode &v);
  void sum_products(const CallNode &c);
  void sum_matrix_products(const CallNode &c);
  void call(const CallNode &c);

  IrLevel level_;
  std::set<std::string> arguments_, fields_;
  std::map<std::string, Type> params_;
  std::map<std::string, std::pair<Type, VariableKind>> bound_;
  std::map<std::string, Buffer> buffers_;
  std::set<std::string> semaphores_;
  std::set<const ExprNode *> seen_;
  int lets_ = 0;  // expression Lets around
  bool has_profile_ = false;
  bool in_kernel_ = false;
  int depth_ = 0;  // loops, Ifs and allocations around
  Stmt current_;
  std::optional<Diagnostic> problem_;
};

}  // namespace polyhalite
