// What a pipeline consists of: all that its outputs lead to.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "lang/ir/function.h"

namespace polyhalite {

/// Everything reachable from what it was given, each list in order of first meeting.
class Reach {
 public:
  /// CompileError where it is undefined.
  void output(const std::shared_ptr<FunctionContents> &f);
  void parameter(const std::shared_ptr<ParameterContents> &p);
  /// What limits and constraints speak of.
  void constraints(const ParameterContents &p);
  void requirement(const Expr &e) { expr(e); }

  bool has(const FunctionContents *f) const { return seen_funcs_.count(f) > 0; }
  bool has(const std::shared_ptr<FunctionContents> &f) const { return has(f.get()); }

  std::vector<std::shared_ptr<FunctionContents>> funcs;  // producers before consumers
  /// By directives; those that are called are in `funcs` too.
  std::vector<std::shared_ptr<FunctionContents>> made;
  std::vector<std::shared_ptr<ParameterContents>> params;
  std::vector<std::shared_ptr<BufferContents>> images;

 private:
  void visit(const std::shared_ptr<FunctionContents> &f);
  void directives(const std::vector<Directive> &list);
  template <typename Owner>
  void derived(const std::shared_ptr<Owner> &owner, const std::vector<DerivedFunc> &list);
  void stage(const Definition &d);
  void expr(const Expr &e);
  void image(const std::shared_ptr<BufferContents> &b);

  std::unordered_set<const FunctionContents *> seen_funcs_, seen_made_;
  std::unordered_set<const ParameterContents *> seen_params_;
  std::unordered_set<const BufferContents *> seen_images_;
};

}  // namespace polyhalite
