#include "codegen/passes/place_copies.h"

#include <map>
#include <set>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

// Buffers by name, and whether they are written.
using Used = std::map<std::string, bool>;

bool holds_kernel(const Stmt &s) {
  bool found = false;
  for_each_stmt(s, [&](const Stmt &t) { found = found || t->kind == StmtKind::Kernel; });
  return found;
}

class Buffers {
 public:
  explicit Buffers(const Function &f) {
    for (const FunctionArgument &a : f.args) {
      if (a.is_buffer) names_[func_of_buffer(a.name)].insert(a.name);
    }
    for (const auto &c : f.constants) names_[c->name].insert(c->name);
    for_each_stmt(f.body, [&](const Stmt &s) {
      if (s->kind == StmtKind::Allocate || s->kind == StmtKind::Place) {
        names_[func_of_buffer(s->name)].insert(s->name);
      }
      if (s->kind == StmtKind::Place) inside_[s->name] = s->inside;
    });
  }

  /// What s accesses. A Func of several values is accessed in all its buffers.
  Used used(const Stmt &s) const {
    Used all;
    for_each_stmt(s, [&](const Stmt &t) {
      if (t->kind == StmtKind::Provide) touch(t->name, true, all);
      for (const std::string &b : t->buffers) touch(b, true, all);
      if (t->kind != StmtKind::Evaluate) return;
      for (const auto &[name, writes] : used_by_operands(t)) all[name] = true;  // extern stages
    });
    for_each_operand(s, [&](const Expr &e) { reads(e, all); });
    return all;
  }
  Used used_by_operands(const Stmt &s) const {
    Used all;
    for (const Expr &e : s->args) reads(e, all);
    return all;
  }
  /// What the host reads of a kernel: how many blocks and threads there are.
  Used used_by_launch(const Stmt &kernel) const {
    Used all = used_by_operands(kernel);
    for (const Stmt &loop : block_nest(kernel).loops) reads(loop->args[1], all);
    return all;
  }
  /// What a memoized production leaves, which the host keeps and brings back.
  Used kept(const Stmt &memoize) const {
    Used all;
    for (const std::string &b : memoize->buffers) touch(b, true, all);
    return all;
  }

 private:
  void reads(const Expr &e, Used &all) const {
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (c && (c->kind == CallKind::Func || c->kind == CallKind::Image)) {
        touch(c->name, false, all);
      }
    });
  }

  void touch(const std::string &name, bool writes, Used &all) const {
    auto found = names_.find(name);
    if (found == names_.end()) found = names_.find(func_of_buffer(name));
    if (found == names_.end()) return;
    for (const std::string &buffer : found->second) {
      const auto placed = inside_.find(buffer);
      bool &w = all[placed == inside_.end() ? buffer : placed->second];
      w = w || writes;
    }
  }

  std::map<std::string, std::set<std::string>> names_;  // Func or image -> its buffers
  std::map<std::string, std::string> inside_;           // place -> allocation
};

class PlaceCopies : public StmtRewriter {
 public:
  explicit PlaceCopies(const Function &f) : buffers_(f), allocated_(allocated_in(f.body)) {
    look(f.body);
  }

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return around_kernel(s);
    if (s->kind == StmtKind::Block) return rewrite_children(s);
    if (!holds_kernel(s)) return on_host(s, buffers_.used(s));
    if (s->kind == StmtKind::Memoize) return around_memoize(s);
    const Stmt out = on_host(s, buffers_.used_by_operands(s), rewrite_children(s));
    return out;
  }

 private:
  // Which side accesses what.
  void look(const Stmt &s) {
    if (s->kind == StmtKind::Kernel) {
      for (const auto &[name, writes] : buffers_.used(s)) on_device_.insert(name);
      for (const auto &[name, writes] : buffers_.used_by_launch(s)) on_host_.insert(name);
      return;
    }
    if (!holds_kernel(s)) {
      for (const auto &[name, writes] : buffers_.used(s)) on_host_.insert(name);
      return;
    }
    for (const auto &[name, writes] : buffers_.used_by_operands(s)) on_host_.insert(name);
    if (s->kind == StmtKind::Memoize) {
      for (const auto &[name, writes] : buffers_.kept(s)) on_host_.insert(name);
    }
    for (const Stmt &b : s->body) look(b);
  }

  static std::set<std::string> allocated_in(const Stmt &s) {
    std::set<std::string> names;
    for_each_stmt(s, [&](const Stmt &t) {
      if (t->kind == StmtKind::Allocate) names.insert(t->name);
    });
    return names;
  }

  Stmt around_kernel(const Stmt &kernel) const {
    const std::set<std::string> own = allocated_in(kernel);
    std::vector<Stmt> out, after;
    for (const auto &[name, writes] : buffers_.used_by_launch(kernel)) {
      if (on_device_.count(name)) out.push_back(make_transfer(Transfer::ToHost, name));
    }
    for (const auto &[name, writes] : buffers_.used(kernel)) {
      if (own.count(name) || is_devices_alone(name)) continue;
      out.push_back(make_transfer(Transfer::ToDevice, name));
      if (writes) after.push_back(make_transfer(Transfer::DeviceDirty, name));
    }
    out.push_back(kernel);
    out.insert(out.end(), after.begin(), after.end());
    return make_block(std::move(out));
  }

  // What is kept is copied to and from memory of the host.
  Stmt around_memoize(const Stmt &s) {
    std::vector<Stmt> produced = {(*this)(s->body[0])}, out;
    for (const auto &[name, writes] : buffers_.kept(s)) {
      if (!on_device_.count(name)) continue;
      out.push_back(make_transfer(Transfer::ToHost, name));
      produced.push_back(make_transfer(Transfer::ToHost, name));
    }
    const Used key = buffers_.used_by_operands(s);
    out.push_back(on_host(s, key, with_parts(s, s->args, {make_block(std::move(produced))})));
    for (const auto &[name, writes] : buffers_.kept(s)) {
      if (on_device_.count(name)) out.push_back(make_transfer(Transfer::HostDirty, name));
    }
    return make_block(std::move(out));
  }

  bool is_devices_alone(const std::string &name) const {
    return allocated_.count(name) && !on_host_.count(name);
  }

  // What the host is about to access, in front of it. Allocations inside are its own.
  Stmt on_host(const Stmt &s, const Used &used, Stmt made = {}) const {
    const std::set<std::string> own = allocated_in(s);
    std::vector<Stmt> out;
    for (const auto &[name, writes] : used) {
      if (!on_device_.count(name) || own.count(name)) continue;
      out.push_back(make_transfer(Transfer::ToHost, name));
      if (writes) out.push_back(make_transfer(Transfer::HostDirty, name));
    }
    if (!made.defined()) made = s;
    if (s->kind == StmtKind::Allocate && on_device_.count(s->name)) {
      const Home home = is_devices_alone(s->name) ? Home::Device : Home::Mirrored;
      made = make_allocate(made->name, made->type, made->args, home, made->body[0], made->order);
    }
    out.push_back(made);
    return make_block(std::move(out));
  }

  const Buffers buffers_;
  std::set<std::string> on_device_, on_host_;
  const std::set<std::string> allocated_;
};

}  // namespace

Function place_copies(const Function &f) {
  if (!holds_kernel(f.body)) return f;
  Function out = f;
  out.body = PlaceCopies(f)(f.body);
  return out;
}

}  // namespace polyhalite
