// The invariants of loop IR. Every message names one of them.
//
// Shape, at every level
//   shape        a statement has the operands and bodies that its kind lists in stmt.h, all defined
//   lanes        loop ranges, conditions of Ifs and Asserts and sizes are scalars
//   types        loop ranges are Int(32), conditions Bool, flat sizes Int(64); operands of an
//                operator have the types that its grammar in node.h asks for
//   constants    vector and unrolled loops have constant extents; a stack allocation's size is
//                constant and at most 64 KiB; products of matrices have a constant shape
//   errors       an Assert's error is a call of an Extern that returns Int(32); texts stand only as
//                operands of calls
//   entry        Asserts stand in front: outside of loops, Ifs, allocations and the Profile, of
//                which there is one at most, outside of loops, Ifs and allocations too
// Names, at every level
//   arguments    arguments and constants have different names
//   bound        a Loop or Symbol variable is bound around its use, with the type that it has
//                there; Param and BufferField variables name arguments; Pure and Reduction never
//                occur
//   shadowing    nothing is bound, or allocated, under a name that means something there already;
//                statements beside each other may reuse names
//   buffers      what is accessed is an argument, a constant or an allocation around the access, of
//                the access's element type; inputs and constants are never written
//   memoize      what is kept is written and allocated around; sizes are Int(64) and stand at the
//                flat level; the eviction key is an integer or a handle, keys are scalars, no
//                handles
//   semaphores   those of an Acquire and a Release belong to a Fork around them; a Fork's first
//                counts are Int(32)
// Kernels, at every level but the lowered one, where their loops stand free
//   kernel       as kernel_problem() of kernel.h says
//   device       what a Transfer names is an argument, a constant or a mirrored allocation around
//                it; a kernel accesses arguments, constants, mirrored and device allocations, and
//                its own; only kernels access device allocations
//   async        an asynchronous write stands in a kernel and copies one value to memory of the
//                block; a WaitCopies has a constant, which is not negative
//   ring         an allocation that is a ring is one of the block's, and is none at the flat level
// Multi-dimensional level
//   no flat      no Load, Store, Ramp, Broadcast, Shuffle, no vectors
//   indices      as many as the buffer has dimensions, each Int(32)
//   places       what a box is placed in is an allocation around it, of its element type, and the
//                box begins at an Int(64)
// Flat level
//   no boxes     no Provide, no Place, no call of a Func or an image; an allocation has one size
//   indices      Int(64), as many lanes as the value; a mask is Bool of as many lanes
// Emittable level
//   flat, and
//   no unrolled  no loop is of kind Vector or Unrolled
#include "codegen/ir/verify.h"

#include "codegen/ir/kernel.h"
#include "codegen/ir/text.h"
#include "codegen/ir/verifier.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

constexpr int64_t kMaxStackBytes = 64 * 1024;

}  // namespace

std::optional<Diagnostic> Verifier::run(const Function &f) {
  for (const auto &c : f.constants) {
    add_argument(c->name);
    buffers_[c->name] = {c->type(), c->dimensions(), false};
  }
  for (const FunctionArgument &a : f.args) {
    add_argument(a.name);
    if (a.is_buffer) {
      buffers_[a.name] = {a.type, a.dimensions, a.is_output};
      for (int d = 0; d < a.dimensions; d++) {
        for (const char *what : {".min.", ".extent.", ".stride."}) {
          fields_.insert(a.name + what + std::to_string(d));
        }
      }
    } else {
      params_[a.name] = a.type;
    }
  }
  for (const auto &c : f.constants) {
    for (int d = 0; d < c->dimensions(); d++) {
      for (const char *what : {".min.", ".extent.", ".stride."}) {
        fields_.insert(c->name + what + std::to_string(d));
      }
    }
  }
  if (!f.body.defined()) {
    report("shape", "the function has no body");
  } else if (!problem_) {
    stmt(f.body);
  }
  return problem_;
}

void Verifier::report(const std::string &invariant, const std::string &what) {
  if (problem_) return;
  Diagnostic d;
  d.what = "loop IR breaks '" + invariant + "': " + what;
  if (current_.defined()) {
    std::string text = to_text(current_);
    d.why = "in: " + text.substr(0, text.find('\n'));
  }
  problem_ = std::move(d);
}

bool Verifier::has_shape(const Stmt &s) {
  struct Shape {
    size_t min_args, max_args, min_body, max_body;
  };
  const bool flat_size = is_flat();
  const Shape shape = [&]() -> Shape {
    switch (s->kind) {
      case StmtKind::Block:
        return {0, 0, 0, SIZE_MAX};
      case StmtKind::For:
        return {2, 2, 1, 1};
      case StmtKind::Let:
        return {1, 1, 1, 1};
      case StmtKind::Allocate:
        return flat_size ? Shape{1, 1, 1, 1} : Shape{0, SIZE_MAX, 1, 1};
      case StmtKind::Place:
        return {1, SIZE_MAX, 1, 1};
      case StmtKind::Provide:
        return {static_cast<size_t>(s->value_count), SIZE_MAX, 0, 0};
      case StmtKind::Store:
        return {2, 3, 0, 0};
      case StmtKind::If:
        return {1, 1, 1, 2};
      case StmtKind::Assert:
        return {2, 2, 0, 0};
      case StmtKind::Evaluate:
        return {1, 1, 0, 0};
      case StmtKind::Fork:
        return {s->semaphores.size(), s->semaphores.size(), 2, 2};
      case StmtKind::Acquire:
      case StmtKind::Release:
        return {0, 0, 0, 0};
      case StmtKind::Memoize:
        return {(s->is_sized ? s->buffers.size() : 0) + s->evicts, SIZE_MAX, 1, 1};
      case StmtKind::Produce:
      case StmtKind::Atomic:
      case StmtKind::Profile:
        return {0, 0, 1, 1};
      case StmtKind::Kernel:
        return {3, 3, 1, 1};
      case StmtKind::Collective:
        return {s->buffers.size(), s->buffers.size(), 0, 0};
      case StmtKind::WaitCopies:
        return {1, 1, 0, 0};
      case StmtKind::Barrier:
      case StmtKind::CommitCopies:
      case StmtKind::Transfer:
        return {0, 0, 0, 0};
    }
    return {};
  }();
  bool good = s->args.size() >= shape.min_args && s->args.size() <= shape.max_args &&
              s->body.size() >= shape.min_body && s->body.size() <= shape.max_body;
  for (const Expr &e : s->args) good &= e.defined();
  for (const Stmt &b : s->body) good &= b.defined();
  if (s->kind == StmtKind::Allocate && !flat_size) good &= s->args.size() % 2 == 0;
  if (s->kind == StmtKind::Place) good &= s->args.size() % 2 == 1;
  if (s->kind == StmtKind::Provide) good &= s->value_count >= 1;
  if (!good) {
    current_ = Stmt();  // its text cannot be trusted
    report("shape", "a statement has the wrong number of operands or bodies, or undefined ones");
  }
  return good;
}

void Verifier::stmt(const Stmt &s) {
  if (problem_ || !has_shape(s)) return;
  if (s->kind != StmtKind::Block) current_ = s;
  if (s->kind != StmtKind::For && s->kind != StmtKind::Produce) {
    for (const Expr &e : s->args) operand(e);
  }
  if (problem_) return;
  switch (s->kind) {
    case StmtKind::Block:
    case StmtKind::Produce:
    case StmtKind::Atomic:
      for (const Stmt &b : s->body) stmt(b);
      return;
    case StmtKind::Profile:
      require(depth_ == 0, "entry", "a Profile inside a loop, an If or an allocation");
      require(!has_profile_, "entry", "a second Profile");
      has_profile_ = true;
      depth_++;
      stmt(s->body[0]);
      depth_--;
      return;
    case StmtKind::For:
      return loop(s);
    case StmtKind::Let:
      return in_scope(s->name, s->args[0].type(), VariableKind::Symbol, [&] { stmt(s->body[0]); });
    case StmtKind::Allocate:
      return allocate(s);
    case StmtKind::Place:
      return place(s);
    case StmtKind::Provide:
      check_async(s);
      return provide(s);
    case StmtKind::Store:
      check_async(s);
      require(is_flat(), "no flat", "a Store of '", s->name, "'");
      return access(s->name, s->args[0], s->args[1].type(),
                    s->args.size() > 2 ? s->args[2] : Expr(), true);
    case StmtKind::If: {
      condition(s->args[0]);
      depth_++;
      for (const Stmt &b : s->body) stmt(b);
      depth_--;
      return;
    }
    case StmtKind::Assert: {
      condition(s->args[0]);
      const CallNode *call = as_call(s->args[1]);
      require(call && call->kind == CallKind::Extern && call->type == Int(32), "errors",
              "an Assert's error is no call of an Extern that returns int32");
      return require(depth_ == 0, "entry", "an Assert inside a loop, an If or an allocation");
    }
    case StmtKind::Evaluate:
      return;
    case StmtKind::Memoize:
      return memoize(s);
    case StmtKind::Fork:
      return fork(s);
    case StmtKind::Kernel:
      return kernel(s);
    case StmtKind::Barrier:
      return require(in_kernel_, "kernel", "a barrier outside of kernels");
    case StmtKind::CommitCopies:
      return require(in_kernel_, "kernel", "copies outside of kernels");
    case StmtKind::WaitCopies: {
      int64_t n = -1;
      require(in_kernel_, "kernel", "copies outside of kernels");
      return require(is_const_int(s->args[0], &n) && n >= 0, "async",
                     "a WaitCopies without a number");
    }
    case StmtKind::Collective:
      require(in_kernel_, "kernel", "a Collective outside of kernels");
      for (size_t i = 0; i < s->buffers.size(); i++) {
        find_buffer(s->buffers[i], 0);
        require(s->args[i].type() == Int(64), "indices", "operand '", s->buffers[i],
                "' begins at no int64");
      }
      return;
    case StmtKind::Transfer: {
      const auto at = buffers_.find(s->name);
      require(at != buffers_.end() && at->second.home == Home::Mirrored && !in_kernel_, "device",
              "'", s->name, "' has no memory on both sides here");
      return;
    }
    case StmtKind::Acquire:
    case StmtKind::Release:
      return require(semaphores_.count(s->name), "semaphores", "no fork around has a semaphore '",
                     s->name, "'");
  }
}

void Verifier::check_async(const Stmt &write) {
  if (!write->is_async) return;
  const auto at = buffers_.find(write->name);
  require(in_kernel_ && at != buffers_.end() && at->second.home == Home::Block, "async", "'",
          write->name, "' is no memory of the block");
  const Expr &value = write->args[write->kind == StmtKind::Provide ? write->args.size() - 1 : 1];
  const CallNode *call = as_call(value);
  const bool copies =
      as_load(value) || (call && (call->kind == CallKind::Func || call->kind == CallKind::Image));
  require(write->value_count == 1 && copies, "async", "what '", write->name, "' has is no copy");
}

void Verifier::memoize(const Stmt &s) {
  for (const std::string &name : s->buffers) {
    const auto at = buffers_.find(name);
    const bool is_known = at != buffers_.end() && at->second.is_written;
    require(is_known && !at->second.is_place && !arguments_.count(name), "memoize", "'", name,
            "' is no allocation around it");
  }
  require(s->is_sized == is_flat(), "memoize", "sizes stand at the flat level, and only there");
  for (size_t i = 0; i < s->args.size(); i++) {
    const Type t = s->args[i].type();
    const size_t sizes = s->is_sized ? s->buffers.size() : 0;
    if (i < sizes) {
      require(t == Int(64), "memoize", "a size is no int64");
    } else if (s->evicts && i == sizes) {
      require(t.is_scalar() && (t.is_int_or_uint() || t.is_handle()), "memoize",
              "the eviction key is no integer or handle");
    } else {
      require(t.is_scalar() && !t.is_handle(), "memoize", "a key is no number");
    }
  }
  depth_++;
  stmt(s->body[0]);
  depth_--;
}

void Verifier::kernel(const Stmt &s) {
  for (const Expr &e : s->args) {
    require(e.type() == Int(32), "types", "a number of threads is no int32");
  }
  require(!in_kernel_, "kernel", "a kernel in a kernel");
  if (const auto problem = kernel_problem(s)) report("kernel", *problem);
  if (problem_) return;
  in_kernel_ = true;
  depth_++;
  stmt(s->body[0]);
  depth_--;
  in_kernel_ = false;
}

void Verifier::fork(const Stmt &s) {
  for (size_t i = 0; i < s->semaphores.size(); i++) {
    require(s->args[i].type() == Int(32), "semaphores", "the count of '", s->semaphores[i],
            "' is no int32");
    require(semaphores_.insert(s->semaphores[i]).second, "shadowing", "'", s->semaphores[i],
            "' is a semaphore here already");
  }
  if (problem_) return;
  depth_++;
  for (const Stmt &b : s->body) stmt(b);
  depth_--;
  for (const std::string &name : s->semaphores) semaphores_.erase(name);
}

void Verifier::loop(const Stmt &s) {
  for (const Expr &e : s->args) {
    whole(e);
    require(e.type().is_scalar(), "lanes", "the range of loop '", s->name, "' is no scalar");
    require(e.type().element_of() == Int(32), "types", "the range of loop '", s->name,
            "' is no int32");
  }
  require(in_kernel_ || level_ == IrLevel::Lowered || !is_gpu_loop(s->loop_kind), "kernel", "the ",
          loop_kind_name(s->loop_kind), " loop '", s->name, "' stands in no kernel");
  const bool expands = s->loop_kind == LoopKind::Vector || s->loop_kind == LoopKind::Unrolled;
  require(!expands || level_ != IrLevel::Emittable, "no unrolled", "loop '", s->name, "' is ",
          loop_kind_name(s->loop_kind));
  require(!expands || is_const_int(s->args[1]), "constants", "the ", loop_kind_name(s->loop_kind),
          " loop '", s->name, "' has no constant extent");
  depth_++;
  in_scope(s->name, Int(32), VariableKind::Loop, [&] { stmt(s->body[0]); });
  depth_--;
}

void Verifier::allocate(const Stmt &s) {
  int64_t elements = 1;
  bool constant = true;
  for (size_t i = 0; i < s->args.size(); i++) {
    const Type wanted = is_flat() ? Int(64) : Int(32);
    require(s->args[i].type().is_scalar(), "lanes", "a size of '", s->name, "' is no scalar");
    require(s->args[i].type().element_of() == wanted, "types", "a size of '", s->name, "' is no ",
            wanted);
    int64_t n = 0;
    if (!is_flat() && i % 2 == 0) continue;
    constant &= is_const_int(s->args[i], &n);
    if (elements <= kMaxStackBytes) elements *= n;
  }
  if (!s->order.empty()) {
    std::vector<int> sorted = s->order;
    std::sort(sorted.begin(), sorted.end());
    bool each = !is_flat() && sorted.size() == s->args.size() / 2;
    for (size_t d = 0; d < sorted.size(); d++) each &= sorted[d] == static_cast<int>(d);
    require(each, "shape", "the order of '", s->name, "' does not name each dimension once");
  }
  require(s->type.is_scalar(), "lanes", "the element of '", s->name, "' is no scalar");
  if (s->home == Home::Stack) {
    require(constant, "constants", "the stack allocation '", s->name, "' has no constant size");
    require(elements * s->type.bytes() <= kMaxStackBytes, "constants", "the stack allocation '",
            s->name, "' takes more than 64 KiB");
  }
  if (is_in_kernel(s->home)) {
    require(constant, "constants", "the allocation '", s->name, "' has no constant size");
  }
  if (level_ != IrLevel::Lowered) {
    require(in_kernel_ == is_in_kernel(s->home), "kernel", "'", s->name, "' has its home ",
            (in_kernel_ ? "outside of" : "in"), " kernels");
  }
  require(s->ring == 0 || (s->home == Home::Block && !is_flat()), "ring", "'", s->name,
          "' is a ring");
  require(!means_something(s->name), "shadowing", "'", s->name, "' means something here already");
  if (problem_) return;
  buffers_[s->name] = {s->type, is_flat() ? -1 : static_cast<int>(s->args.size() / 2), true,
                       s->home};
  depth_++;
  stmt(s->body[0]);
  depth_--;
  buffers_.erase(s->name);
}

void Verifier::place(const Stmt &s) {
  require(!is_flat(), "no boxes", "a Place of '", s->name, "'");
  auto block = buffers_.find(s->inside);
  require(block != buffers_.end() && !arguments_.count(s->inside), "places", "'", s->inside,
          "' is no allocation around '", s->name, "'");
  if (problem_) return;
  require(block->second.type == s->type, "places", "'", s->inside, "' has elements of type ",
          block->second.type);
  require(s->args.back().type() == Int(64), "places", "the place of '", s->name, "' is no int64");
  for (size_t i = 0; i + 1 < s->args.size(); i++) {
    require(s->args[i].type() == Int(32), "types", "a size of '", s->name, "' is no int32");
  }
  require(!means_something(s->name), "shadowing", "'", s->name, "' means something here already");
  if (problem_) return;
  buffers_[s->name] = {s->type, static_cast<int>(s->args.size() / 2), true, Home::Mirrored, true};
  depth_++;
  stmt(s->body[0]);
  depth_--;
  buffers_.erase(s->name);
}

void Verifier::provide(const Stmt &s) {
  require(!is_flat(), "no boxes", "a Provide of '", s->name, "'");
  const size_t n = s->args.size() - static_cast<size_t>(s->value_count);
  for (int i = 0; i < s->value_count; i++) {
    const Buffer *b = find_buffer(s->name, i);
    if (!b) return;
    require(b->is_written, "buffers", "'", s->name, "' is no output, but is written");
    require(s->args[n + static_cast<size_t>(i)].type() == b->type, "buffers", "'", s->name,
            "' has elements of type ", b->type);
    indices(s->name, *b, s->args, n);
  }
}

std::optional<Diagnostic> verify(const Function &f, IrLevel level) {
  return Verifier(level).run(f);
}

}  // namespace polyhalite
