#include "codegen/oracle/ir_interpreter.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <thread>

#include "codegen/ir/kernel.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

IrInterpreter::IrInterpreter(const Function &f, const IrArguments &args,
                             const InterpretOptions &options)
    : options_(options), random_(options.seed), turns_(std::make_shared<Turns>(options.seed)) {
  for (const FunctionArgument &a : f.args) {
    a.is_buffer ? add_buffer(a, args) : add_scalar(a, args);
  }
  for (const auto &c : f.constants) {
    memory_[c->name] = external_memory(c->name, c->type(), c->raw());
  }
}

void IrInterpreter::run(const Stmt &s) {
  switch (s->kind) {
    case StmtKind::Block:
      for (const Stmt &b : s->body) run(b);
      return;
    case StmtKind::For:
      return run_for(s);
    case StmtKind::Let:
      return run_let(s);
    case StmtKind::Allocate:
      return run_allocate(s);
    case StmtKind::Place:
      return run_place(s);
    case StmtKind::Provide:
      return run_provide(s);
    case StmtKind::Store:
      return run_store(s);
    case StmtKind::If:
      if (scalar(s->args[0])) {
        run(s->body[0]);
      } else if (s->body.size() > 1) {
        run(s->body[1]);
      }
      return;
    case StmtKind::Assert:
      if (!scalar(s->args[0])) throw RuntimeError({describe_call(s->args[1]), "", "", {}});
      return;
    case StmtKind::Evaluate:
      evaluate(s->args[0]);
      return;
    case StmtKind::Fork:
      return run_fork(s);
    case StmtKind::Acquire:
      turns_->wait_until(task_, [&] { return semaphores_.at(s->name)->take(); });
      return turns_->offer(task_);
    case StmtKind::Release:
      semaphores_.at(s->name)->count++;
      return turns_->offer(task_);
    case StmtKind::Memoize:  // nothing is ever kept: the values are the same
    case StmtKind::Produce:
    case StmtKind::Profile:
      return run(s->body[0]);
    case StmtKind::Atomic:
      atomic_++;
      run(s->body[0]);
      atomic_--;
      return;
    case StmtKind::Kernel:
      return run_kernel(s);
    case StmtKind::Barrier:
      return races_.barrier();
    case StmtKind::CommitCopies:
      return commit_copies();
    case StmtKind::WaitCopies:
      return wait_copies(static_cast<size_t>(scalar(s->args[0])));
    case StmtKind::Collective:
      oracle_error("instruction '" + s->name + "' outside of a loop over lanes");
    case StmtKind::Transfer:
      return run_transfer(s);
  }
}

void IrInterpreter::finish(const Function &f) {
  for (const FunctionArgument &a : f.args) {
    if (a.is_buffer) to_host(memory(a.name));
  }
}

void IrInterpreter::add_buffer(const FunctionArgument &a, const IrArguments &args) {
  auto it = args.buffers.find(a.name);
  if (it == args.buffers.end()) oracle_error("no buffer is given for argument '" + a.name + "'");
  const polyhalite_buffer_t &b = *it->second;
  const Type t(static_cast<Type::Code>(b.type.code), b.type.bits);
  if (t != a.type) oracle_error("argument '" + a.name + "' has type " + t.to_string());
  memory_[a.name] = external_memory(a.name, t, b);
  for (int d = 0; d < b.dimensions; d++) {
    const std::string suffix = "." + std::to_string(d);
    bind(a.name + ".min" + suffix, b.dim[d].min);
    bind(a.name + ".extent" + suffix, b.dim[d].extent);
    bind(a.name + ".stride" + suffix, b.dim[d].stride);
  }
}

void IrInterpreter::add_scalar(const FunctionArgument &a, const IrArguments &args) {
  auto it = args.scalars.find(a.name);
  if (it == args.scalars.end()) oracle_error("no value is given for argument '" + a.name + "'");
  if (it->second.type() != a.type) {
    oracle_error("argument '" + a.name + "' has type " + it->second.type().to_string());
  }
  environment_[a.name] = evaluate(it->second);
}

void IrInterpreter::bind(const std::string &name, int64_t value) {
  environment_[name] = {Int(32), {Lane{.i = value}}};
}

void IrInterpreter::run_bound(const std::string &name, LaneValues value, const Stmt &body) {
  environment_[name] = std::move(value);
  run(body);
  environment_.erase(name);
}

void IrInterpreter::run_let(const Stmt &s) {
  LaneValues value;
  try {
    value = evaluate(s->args[0]);
  } catch (const UnwrittenRead &) {
    deferred_[s->name] = s->args[0];
    run(s->body[0]);
    deferred_.erase(s->name);
    return;
  }
  run_bound(s->name, std::move(value), s->body[0]);
}

void IrInterpreter::run_for(const Stmt &s) {
  if (s->loop_kind == LoopKind::GpuLane && has_collective(s)) return run_warp(s);
  const int64_t min = scalar(s->args[0]), extent = scalar(s->args[1]);
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(extent, 0)));
  std::iota(order.begin(), order.end(), min);
  if (s->loop_kind == LoopKind::Parallel || is_gpu_loop(s->loop_kind)) {
    if (options_.parallel == ParallelOrder::Reverse) std::reverse(order.begin(), order.end());
    if (options_.parallel == ParallelOrder::Shuffled) {
      for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random_() % i]);
    }
  }
  for (int64_t i : order) {
    if (is_gpu_loop(s->loop_kind)) {
      run_in_kernel(s, i);
    } else {
      run_bound(s->name, {Int(32), {Lane{.i = i}}}, s->body[0]);
    }
  }
}

void IrInterpreter::run_fork(const Stmt &s) {
  for (size_t i = 0; i < s->semaphores.size(); i++) {
    semaphores_[s->semaphores[i]] = std::make_shared<Semaphore>(Semaphore{scalar(s->args[i])});
  }
  IrInterpreter producer(*this);
  producer.task_ = turns_->add();
  std::exception_ptr problem;
  std::thread thread([&] {
    turns_->begin(producer.task_);
    try {
      producer.run(s->body[0]);
    } catch (...) {
      problem = std::current_exception();
    }
    turns_->end(producer.task_);
  });
  std::exception_ptr own;
  try {
    run(s->body[1]);
    turns_->wait_until(task_, [&] { return turns_->has_ended(producer.task_); });
  } catch (...) {
    own = std::current_exception();
    abandon(s, producer.task_);
  }
  thread.join();
  if (problem) std::rethrow_exception(problem);
  if (own) std::rethrow_exception(own);
}

void IrInterpreter::abandon(const Stmt &s, int other) {
  constexpr int64_t kEnough = int64_t{1} << 40;
  for (const std::string &name : s->semaphores) semaphores_.at(name)->count = kEnough;
  try {
    turns_->wait_until(task_, [&] { return turns_->has_ended(other); });
  } catch (...) {
  }
}

void interpret_ir(const Function &f, const IrArguments &args, const InterpretOptions &options) {
  IrInterpreter interpreter(f, args, options);
  interpreter.run(f.body);
  interpreter.finish(f);
}

}  // namespace polyhalite
