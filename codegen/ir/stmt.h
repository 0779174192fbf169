// Loop IR: statements around lang's expressions. The written specification is codegen/README.md.
//
// Levels, told apart by the verifier (verify.h):
//   lowered            multi-dimensional, and loops of kernels stand free
//   multi-dimensional  accesses are Call(Func|Image) and Provide; allocations have boxes
//   flat               accesses are Load and Store with element indices in Int(64); sizes in bytes
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lang/ir/node.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

enum class StmtKind : uint8_t {
  Block,     // body: statements in order
  For,       // name: counter (Variable Loop, Int(32)); args {min, extent}; loop_kind; body[0]
  Let,       // name: Symbol; args {value}; body[0]
  Allocate,  // name; type; args: multi-dimensional {min0, extent0, min1, ...}, flat {elements};
             // body[0]; home: where its memory comes from; freed at the end
  Place,     // name; type; inside: an allocation; args {min0, extent0, min1, ..., at}; body[0]. The
             // box NAME takes the elements of `inside` from `at` (Int(64)) on
  Provide,   // name: func; args {index..., value...}; value_count values     f(i, j) = v
  Store,     // name: buffer; args {index, value} or {index, value, mask}
  If,        // args {condition}; body {then} or {then, else}
  Assert,    // args {condition, error}: `error` is an Extern call that returns the error code, made
             // and returned from the function where the condition is false
  Evaluate,  // args {value}, for its effect
  Fork,      // name: func; semaphores; args: their first counts; body {producer, consumer}
  Acquire,   // name: a semaphore of a fork around
  Release,   // name: a semaphore of a fork around
  Produce,   // name: func; body[0]: its production. A marker for readers, without effect
  Memoize,   // name: under which values are kept; buffers: whose contents; args: at the flat level
             // their sizes in bytes, then the eviction key if `evicts`, then what the values depend
             // on; body[0] computes them. Where they are kept already, they are copied
  Atomic,    // body[0]: updates of one cell, which iterations of parallel loops make one by one;
             // lanes_only: only iterations of vector loops meet in it
  Profile,   // body[0]: what is measured
  Kernel,    // name; args {threads along x, y, z} (Int(32)); body[0]: its loops over blocks. Runs
             // on a device
  Barrier,   // all threads of a block arrive before one goes on
  CommitCopies,  // the asynchronous writes since the last one are a group of copies
  WaitCopies,    // args {n}, a constant: waits until at most the last n groups are on their way
  Collective,    // name: an instruction; buffers and args: its operands, buffers[i] from element
                 // args[i] on. The lanes of a warp run it together
  Transfer,      // name: buffer; transfer: what is done so that host and device agree
};

/// What a Transfer does for a buffer that has memory on the host and on the device.
enum class Transfer : uint8_t {
  ToDevice,     // device memory is there, and has what the host wrote
  ToHost,       // host memory has what the device wrote
  DeviceDirty,  // notes that the device wrote
  HostDirty,    // notes that the host wrote
};

/// "copy_to_device", "copy_to_host", "device_dirty", "host_dirty".
const char *transfer_name(Transfer transfer);

/// Where the memory of an allocation comes from.
enum class Home : uint8_t {
  Auto,      // malloc; may be taken further outside
  Heap,      // malloc, each time that the allocation is reached
  Stack,     // the frame; of constant size
  Shared,    // malloc; kept from one time to the next, and for others, while it is large enough
  Mirrored,  // malloc, and memory on the device that Transfers keep alike
  Device,    // memory on the device alone
  Block,     // in a kernel: memory that the threads of a block share; of constant size
  Thread,    // in a kernel: each thread has its own, in registers where they can be; constant
};

/// "heap", "stack", "shared", "mirrored", "device", "block", "thread"; "" for Auto.
const char *home_name(Home home);

struct StmtNode;

/// A handle to an immutable statement; undefined when default-made.
class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(std::shared_ptr<const StmtNode> n) : node_(std::move(n)) {}
  bool defined() const { return node_ != nullptr; }
  bool same_as(const Stmt &o) const { return node_ == o.node_; }
  const StmtNode *operator->() const { return node_.get(); }
  const StmtNode &operator*() const { return *node_; }
  const StmtNode *get() const { return node_.get(); }

 private:
  std::shared_ptr<const StmtNode> node_;
};

struct StmtNode {
  StmtKind kind;
  std::string name;
  std::vector<Expr> args{};
  std::vector<Stmt> body{};
  LoopKind loop_kind = LoopKind::Serial;
  Type type{};
  int value_count = 1;                    // Provide
  Home home = Home::Auto;                 // Allocate
  std::string inside{};                   // Place
  std::vector<std::string> semaphores{};  // Fork
  std::vector<int> order{};  // multi-dimensional Allocate, Place: dimensions, innermost in memory
                             // first; empty: 0, 1, 2...
  Partition partition = Partition::Auto;  // For
  std::vector<std::string> buffers{};     // Memoize, Collective
  bool is_sized = false, evicts = false;  // Memoize: do args have sizes, an eviction key?
  bool streams = false;                   // Provide, Store: past the caches
  bool is_async = false;                  // Provide, Store: a copy that a WaitCopies ends
  bool lanes_only = false;                // Atomic: no two threads meet in its cell
  int ring = 0;  // multi-dimensional Allocate in a kernel: so many of it, taken in turn by the
                 // iterations of the loop around, which productions are ahead of; 0: one
  Transfer transfer = Transfer::ToDevice;  // Transfer
  std::string instruction{};               // For: a matrix instruction that stands for the nest
};

Stmt make_block(std::vector<Stmt> stmts);  // flattens nested blocks, drops undefined ones
Stmt make_for(std::string name, Expr min, Expr extent, LoopKind kind, Stmt body,
              Partition partition = Partition::Auto);
Stmt make_let_stmt(std::string name, Expr value, Stmt body);
/// Names and their values, outermost first.
using Lets = std::vector<std::pair<std::string, Expr>>;
Stmt make_let_stmts(const Lets &lets, Stmt body);
Stmt make_allocate(std::string name, Type type, std::vector<Expr> args, Home home, Stmt body,
                   std::vector<int> order = {});
Stmt make_place(std::string name, Type type, std::vector<Expr> box, std::string inside, Expr at,
                Stmt body, std::vector<int> order = {});
Stmt make_provide(std::string name, std::vector<Expr> indices, std::vector<Expr> values);
Stmt make_store(std::string name, Expr index, Expr value, Expr mask = {});
Stmt make_if(Expr condition, Stmt then_case, Stmt else_case = {});
Stmt make_assert(Expr condition, Expr error);
Stmt make_evaluate(Expr value);
Stmt make_fork_stmt(std::string func, std::vector<std::string> semaphores, std::vector<Expr> counts,
                    Stmt producer, Stmt consumer);
Stmt make_acquire(std::string semaphore);
Stmt make_release(std::string semaphore);
/// `sizes` in bytes, at the flat level; an undefined eviction key stands for none.
Stmt make_memoize(std::string name, std::vector<std::string> buffers, std::vector<Expr> sizes,
                  Expr eviction, std::vector<Expr> key, Stmt body);
Stmt make_atomic(Stmt body, bool lanes_only = false);
Stmt make_produce(std::string name, Stmt body);
Stmt make_profile(Stmt body);
/// `threads`: along x, y and z.
Stmt make_kernel(std::string name, std::vector<Expr> threads, Stmt body);
Stmt make_barrier();
Stmt make_commit_copies();
Stmt make_wait_copies(int on_their_way);
Stmt make_collective(std::string instruction, std::vector<std::string> buffers,
                     std::vector<Expr> elements);
Stmt make_transfer(Transfer transfer, std::string buffer);
/// A copy of a For, for which an instruction stands.
Stmt with_instruction(const Stmt &loop, std::string instruction);
/// A copy of a Provide or a Store that goes past the caches, or not.
Stmt with_streams(const Stmt &s, bool streams);
/// A copy of a Provide or a Store that is asynchronous.
Stmt with_async(const Stmt &s);
/// A copy of a Provide or a Store that is made as `other` is: past the caches, asynchronously.
Stmt written_as(const Stmt &other, const Stmt &s);
/// A copy of an Allocate that is a ring.
Stmt with_ring(const Stmt &s, int ring);
/// A copy of `s` with other args and body; `s` itself where nothing differs.
Stmt with_parts(const Stmt &s, std::vector<Expr> args, std::vector<Stmt> body);

/// One argument of the compiled function. (Argument is a word of the public language.)
struct FunctionArgument {
  std::string name;
  bool is_buffer = false;
  bool is_output = false;
  Type type{};
  int dimensions = 0;
};

/// A whole function of loop IR. Inside, a buffer argument's fields are Variable(BufferField)
/// "NAME.min.D", "NAME.extent.D", "NAME.stride.D"; a scalar argument is Variable(Param) NAME.
struct Function {
  std::string name;
  std::vector<FunctionArgument> args;                      // inputs in declared order, then outputs
  std::vector<std::shared_ptr<BufferContents>> constants;  // buffers embedded by the algorithm
  int64_t buffer_limit = INT64_MAX;                        // bytes that one buffer may have
  Stmt body;
};

}  // namespace polyhalite
