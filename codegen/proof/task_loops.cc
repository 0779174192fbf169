#include "codegen/proof/task_loops.h"

#include <algorithm>

#include "lang/ir/node.h"

namespace polyhalite {

namespace {

// The loops around the only statement of this kind and name; false where there is none, where there
// are several, or where something else than loops decides how often it runs.
class Search {
 public:
  Search(StmtKind kind, const std::string &name) : kind_(kind), name_(name) {}

  bool run(const Stmt &s) {
    visit(s, true);
    return found_ == 1 && is_plain_;
  }
  const std::vector<Stmt> &loops() const { return loops_; }

 private:
  void visit(const Stmt &s, bool is_plain) {
    if (!s.defined()) return;
    if (s->kind == kind_ && s->name == name_) {
      found_++;
      is_plain_ = is_plain;
      loops_ = around_;
      return;
    }
    switch (s->kind) {
      case StmtKind::For:
        around_.push_back(s);
        is_plain = is_plain && s->loop_kind == LoopKind::Serial;
        break;
      case StmtKind::Block:
      case StmtKind::Produce:
      case StmtKind::Profile:
      case StmtKind::Let:
      case StmtKind::Allocate:
      case StmtKind::Place:
        break;
      default:
        is_plain = false;
    }
    for (const Stmt &b : s->body) visit(b, is_plain);
    if (s->kind == StmtKind::For) around_.pop_back();
  }

  const StmtKind kind_;
  const std::string &name_;
  std::vector<Stmt> around_, loops_;
  int found_ = 0;
  bool is_plain_ = true;
};

bool has_fork(const Stmt &s) {
  return s.defined() &&
         (s->kind == StmtKind::Fork || std::any_of(s->body.begin(), s->body.end(), has_fork));
}

bool same_loops(const std::vector<Stmt> &a, const std::vector<Stmt> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Stmt &x, const Stmt &y) { return x.get() == y.get(); });
}

}  // namespace

std::optional<TaskLoops> task_loops(const Stmt &fork, std::string &why) {
  if (has_fork(fork->body[0]) || has_fork(fork->body[1])) {
    why = "tasks run inside of its tasks";
    return std::nullopt;
  }
  TaskLoops t;
  std::vector<std::string> rooms;
  for (size_t i = 0; i < fork->semaphores.size(); i++) {
    const std::string &name = fork->semaphores[i];
    Search ends(StmtKind::Release, name), begins(StmtKind::Acquire, name);
    if (is_zero(fork->args[i]) && ends.run(fork->body[0]) && begins.run(fork->body[1])) {
      if (!t.ready.empty()) {
        why = "several consumers wait for it";
        return std::nullopt;
      }
      t.ready = name;
      t.produces = ends.loops();
      t.consumes = begins.loops();
    } else {
      rooms.push_back(name);
    }
  }
  if (t.ready.empty() || t.produces.size() != t.consumes.size()) {
    why = "its consumers do not wait for it in step";
    return std::nullopt;
  }
  for (const std::string &room : rooms) {
    Search begins(StmtKind::Acquire, room), ends(StmtKind::Release, room);
    if (!begins.run(fork->body[0]) || !ends.run(fork->body[1])) continue;
    if (!same_loops(begins.loops(), t.produces) || !same_loops(ends.loops(), t.consumes)) continue;
    const size_t i =
        static_cast<size_t>(std::find(fork->semaphores.begin(), fork->semaphores.end(), room) -
                            fork->semaphores.begin());
    int64_t ahead;
    if (!is_const_int(fork->args[i], &ahead)) continue;
    t.room = room;
    t.ahead = ahead;
  }
  return t;
}

}  // namespace polyhalite
