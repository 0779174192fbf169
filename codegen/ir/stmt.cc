#include "codegen/ir/stmt.h"

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

Stmt wrap(StmtNode node) { return Stmt(std::make_shared<const StmtNode>(std::move(node))); }

}  // namespace

const char *home_name(Home home) {
  switch (home) {
    case Home::Auto:
      return "";
    case Home::Heap:
      return "heap";
    case Home::Stack:
      return "stack";
    case Home::Shared:
      return "shared";
    case Home::Mirrored:
      return "mirrored";
    case Home::Device:
      return "device";
    case Home::Block:
      return "block";
    case Home::Thread:
      return "thread";
  }
  return "";
}

const char *transfer_name(Transfer transfer) {
  switch (transfer) {
    case Transfer::ToDevice:
      return "copy_to_device";
    case Transfer::ToHost:
      return "copy_to_host";
    case Transfer::DeviceDirty:
      return "device_dirty";
    case Transfer::HostDirty:
      return "host_dirty";
  }
  return "";
}

Stmt make_block(std::vector<Stmt> stmts) {
  StmtNode block{StmtKind::Block, "", {}, {}};
  for (Stmt &s : stmts) {
    if (!s.defined()) continue;
    if (s->kind == StmtKind::Block) {
      block.body.insert(block.body.end(), s->body.begin(), s->body.end());
    } else {
      block.body.push_back(std::move(s));
    }
  }
  if (block.body.size() == 1) return block.body[0];
  return wrap(std::move(block));
}

Stmt make_for(std::string name, Expr min, Expr extent, LoopKind kind, Stmt body,
              Partition partition) {
  StmtNode n{StmtKind::For, std::move(name), {min, extent}, {std::move(body)}};
  n.loop_kind = kind;
  n.partition = partition;
  return wrap(std::move(n));
}

Stmt make_let_stmt(std::string name, Expr value, Stmt body) {
  return wrap({StmtKind::Let, std::move(name), {std::move(value)}, {std::move(body)}});
}

Stmt make_let_stmts(const Lets &lets, Stmt body) {
  for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
    body = make_let_stmt(it->first, it->second, std::move(body));
  }
  return body;
}

Stmt make_allocate(std::string name, Type type, std::vector<Expr> args, Home home, Stmt body,
                   std::vector<int> order) {
  StmtNode n{StmtKind::Allocate, std::move(name), std::move(args), {std::move(body)}};
  n.type = type;
  n.home = home;
  n.order = std::move(order);
  return wrap(std::move(n));
}

Stmt make_place(std::string name, Type type, std::vector<Expr> box, std::string inside, Expr at,
                Stmt body, std::vector<int> order) {
  StmtNode n{StmtKind::Place, std::move(name), std::move(box), {std::move(body)}};
  n.args.push_back(std::move(at));
  n.type = type;
  n.inside = std::move(inside);
  n.order = std::move(order);
  return wrap(std::move(n));
}

Stmt make_provide(std::string name, std::vector<Expr> indices, std::vector<Expr> values) {
  StmtNode n{StmtKind::Provide, std::move(name), std::move(indices), {}};
  n.value_count = static_cast<int>(values.size());
  n.args.insert(n.args.end(), values.begin(), values.end());
  return wrap(std::move(n));
}

Stmt make_store(std::string name, Expr index, Expr value, Expr mask) {
  StmtNode n{StmtKind::Store, std::move(name), {std::move(index), std::move(value)}, {}};
  if (mask.defined()) n.args.push_back(std::move(mask));
  return wrap(std::move(n));
}

Stmt make_if(Expr condition, Stmt then_case, Stmt else_case) {
  StmtNode n{StmtKind::If, "", {std::move(condition)}, {std::move(then_case)}};
  if (else_case.defined()) n.body.push_back(std::move(else_case));
  return wrap(std::move(n));
}

Stmt make_assert(Expr condition, Expr error) {
  return wrap({StmtKind::Assert, "", {std::move(condition), std::move(error)}, {}});
}

Stmt make_evaluate(Expr value) { return wrap({StmtKind::Evaluate, "", {std::move(value)}, {}}); }

Stmt make_fork_stmt(std::string func, std::vector<std::string> semaphores, std::vector<Expr> counts,
                    Stmt producer, Stmt consumer) {
  StmtNode n{StmtKind::Fork,
             std::move(func),
             std::move(counts),
             {std::move(producer), std::move(consumer)}};
  n.semaphores = std::move(semaphores);
  return wrap(std::move(n));
}

Stmt make_acquire(std::string semaphore) {
  return wrap({StmtKind::Acquire, std::move(semaphore), {}, {}});
}

Stmt make_release(std::string semaphore) {
  return wrap({StmtKind::Release, std::move(semaphore), {}, {}});
}

Stmt make_memoize(std::string name, std::vector<std::string> buffers, std::vector<Expr> sizes,
                  Expr eviction, std::vector<Expr> key, Stmt body) {
  StmtNode n{StmtKind::Memoize, std::move(name), std::move(sizes), {std::move(body)}};
  n.buffers = std::move(buffers);
  n.is_sized = !n.args.empty();
  n.evicts = eviction.defined();
  if (n.evicts) n.args.push_back(std::move(eviction));
  n.args.insert(n.args.end(), key.begin(), key.end());
  return wrap(std::move(n));
}

Stmt make_atomic(Stmt body, bool lanes_only) {
  StmtNode n{StmtKind::Atomic, {}, {}, {std::move(body)}};
  n.lanes_only = lanes_only;
  return wrap(std::move(n));
}

Stmt make_profile(Stmt body) { return wrap({StmtKind::Profile, {}, {}, {std::move(body)}}); }

Stmt make_kernel(std::string name, std::vector<Expr> threads, Stmt body) {
  return wrap({StmtKind::Kernel, std::move(name), std::move(threads), {std::move(body)}});
}

Stmt make_barrier() { return wrap({StmtKind::Barrier, {}, {}, {}}); }

Stmt make_commit_copies() { return wrap({StmtKind::CommitCopies, {}, {}, {}}); }

Stmt make_wait_copies(int on_their_way) {
  return wrap({StmtKind::WaitCopies, {}, {Expr(on_their_way)}, {}});
}

Stmt make_collective(std::string instruction, std::vector<std::string> buffers,
                     std::vector<Expr> elements) {
  StmtNode n{StmtKind::Collective, std::move(instruction), std::move(elements), {}};
  n.buffers = std::move(buffers);
  return wrap(std::move(n));
}

Stmt make_transfer(Transfer transfer, std::string buffer) {
  StmtNode n{StmtKind::Transfer, std::move(buffer), {}, {}};
  n.transfer = transfer;
  return wrap(std::move(n));
}

Stmt make_produce(std::string name, Stmt body) {
  return wrap({StmtKind::Produce, std::move(name), {}, {std::move(body)}});
}

Stmt with_instruction(const Stmt &loop, std::string instruction) {
  StmtNode n = *loop;
  n.instruction = std::move(instruction);
  return wrap(std::move(n));
}

Stmt with_streams(const Stmt &s, bool streams) {
  if (s->streams == streams) return s;
  StmtNode n = *s;
  n.streams = streams;
  return wrap(std::move(n));
}

Stmt with_async(const Stmt &s) {
  StmtNode n = *s;
  n.is_async = true;
  return wrap(std::move(n));
}

Stmt written_as(const Stmt &other, const Stmt &s) {
  const Stmt out = with_streams(s, other->streams);
  return other->is_async ? with_async(out) : out;
}

Stmt with_ring(const Stmt &s, int ring) {
  StmtNode n = *s;
  n.ring = ring;
  return wrap(std::move(n));
}

Stmt with_parts(const Stmt &s, std::vector<Expr> args, std::vector<Stmt> body) {
  bool same = args.size() == s->args.size() && body.size() == s->body.size();
  for (size_t i = 0; same && i < args.size(); i++) same = args[i].same_as(s->args[i]);
  for (size_t i = 0; same && i < body.size(); i++) same = body[i].same_as(s->body[i]);
  if (same) return s;
  if (s->kind == StmtKind::Block) return make_block(std::move(body));
  StmtNode n = *s;
  n.args = std::move(args);
  n.body = std::move(body);
  return wrap(std::move(n));
}

}  // namespace polyhalite
