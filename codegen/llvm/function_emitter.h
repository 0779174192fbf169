// FunctionEmitter: writes one LLVM function, the pipeline itself or the body of a parallel loop,
// from flat loop IR. Its members are defined by duty: expressions, intrinsics and mathematics,
// memory, statements, buffer arguments, parallel loops.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "codegen/ir/instructions.h"
#include "codegen/ir/kernel.h"
#include "codegen/llvm/module_state.h"
#include "codegen/llvm/scope.h"

namespace polyhalite {

/// How much more often the likely side of a branch runs.
constexpr uint32_t kLikelyWeight = 1 << 20;

class FunctionEmitter {
 public:
  FunctionEmitter(ModuleState &module, llvm::Function *f);

  /// The pipeline's own function: arguments bound, body, return of 0.
  void emit_pipeline();
  /// A kernel's function of a module for a GPU: kernel_operands, buffers first, scalars, body.
  void emit_kernel(const Stmt &kernel, const KernelOperands &operands,
                   const AlignedOperands &aligned);

 private:
  using Value = llvm::Value;

  // -- Expressions (emit_expr.cc)
  Value *emit(const Expr &e);
  Value *emit_new(const Expr &e);
  /// An Int(32) or Int(64) scalar in 64 bits.
  Value *emit_wide(const Expr &e);
  Value *emit_wide_new(const Expr &e);
  Value *emit_variable(const VariableNode &v);
  Value *emit_cast(const Expr &e);
  Value *emit_average(const Expr &e);
  Value *emit_rounded(const Expr &e);
  Value *emit_arithmetic(const Expr &e);
  // emit_float16.cc
  Value *as_half(Value *bits);
  Value *float32_of(Value *bits, Type from);
  Value *float16_of(Value *value, Type to);
  Value *emit_reinterpret(const Expr &e);
  Value *emit_comparison(const Expr &e);
  Value *emit_let(const LetNode &let, bool wide);
  Value *emit_ramp(const Expr &e);
  Value *emit_shuffle(const ShuffleNode &s);
  Value *interleaved(const std::vector<Value *> &vectors);
  Value *splat(Value *scalar, int lanes);
  Value *concatenate(const std::vector<Value *> &parts);
  void bind_symbol(const std::string &name, const Expr &value);
  int depth_of(const Expr &e);
  bool reads_memory(const Expr &e);
  /// Is a number part of it that is loaded or passed, which may be any?
  bool is_any_number(const Expr &e);

  // -- Division (emit_division.cc): floor for positive divisors, remainder in [0, |b|), 0 for b =
  // 0.
  Value *emit_division(const Expr &e);
  Value *divide_by_constant(Value *a, int64_t b, bool modulo);
  Value *divide_signed(Value *a, Value *b, bool modulo);
  Value *divide_unsigned(Value *a, Value *b, bool modulo);
  llvm::Value *whole_quotient(llvm::Value *a, llvm::Value *b, bool is_half);

  // -- Calls (emit_call.cc)
  Value *emit_call(const CallNode &call);
  Value *emit_intrinsic(const CallNode &call);
  Value *emit_shift(const CallNode &call, bool left);
  Value *emit_limited_product(const CallNode &call);
  Value *emit_absolute_difference(const CallNode &call);
  Value *emit_buffer_fact(const CallNode &call);
  // emit_instruction.cc
  Value *emit_machine_instruction(const CallNode &call);
  Value *emit_sum_products(const CallNode &call);
  Value *emit_sum_matrix_products(const CallNode &call);
  // emit_tile.cc
  /// Is it a product that the processor computes in tiles?
  bool is_tile_product(const Expr &e) const;
  /// Where a tile's rows stand in memory.
  struct TilePlace {
    std::string buffer;                         // empty: the frame's own
    Value *first = nullptr, *stride = nullptr;  // of rows, in bytes
    llvm::Align align;
    bool in_frame = false;  // row after row, of 32 bits: loaded and stored as words
  };
  std::optional<TilePlace> tile_place(const std::string &buffer, Type t, const Expr &index);
  Value *tile_of_words(Value *words);
  Value *words_of_tile(Value *tile);
  Value *load_tile(const TilePlace &place);
  Value *emit_tile(const Expr &e);
  /// Rows that are masked, or none of memory.
  Value *emit_tile_in_frame(const Expr &e);
  /// False where the store is none of a tile.
  bool emit_tile_store(const StmtNode &store);
  /// The buffers that products in tiles are stored to.
  const std::set<std::string> &tile_buffers();
  void ask_for_tiles();
  std::optional<std::set<std::string>> tile_buffers_;
  // emit_math.cc
  Value *emit_math(const CallNode &call);
  Value *emit_library_math(const CallNode &call, const std::vector<Value *> &args);
  Value *emit_device_math(const CallNode &call, const std::vector<Value *> &args);
  Value *emit_approximation(const CallNode &call, const std::vector<Value *> &args);
  // emit_effects.cc
  Value *emit_print(const CallNode &call);
  Value *emit_require(const CallNode &call);
  Value *print_items(const CallNode &call, size_t first, llvm::Value *lane);
  Value *emit_extern(const CallNode &call);
  Value *call_extern(const CallNode &call, std::vector<Value *> args);
  /// Of a function of the program. In this process it may throw, which then ends the pipeline.
  llvm::CallBase *call_program(llvm::FunctionCallee callee, const std::vector<Value *> &args);

  // -- Trace events (emit_trace.cc)
  struct TraceEvent {
    std::string func;
    Type type;
    Value *value = nullptr, *coordinates = nullptr, *tag = nullptr;  // null: none
    Value *code = nullptr, *parent = nullptr, *value_index = nullptr;
    size_t dimensions = 0;
  };
  Value *emit_trace(const CallNode &call);
  Value *emit_trace_access(const CallNode &call);
  /// A polyhalite_trace_event_t.
  Value *store_event(const TraceEvent &e);
  Value *store_numbers(const std::vector<Value *> &numbers, int lanes);
  llvm::FunctionCallee trace_function();

  // -- Profiles (emit_profile.cc)
  void emit_profile(const StmtNode &s);
  void emit_produce(const StmtNode &s);
  /// From here on this thread works for an entry of the profile's table.
  void bill(int entry, bool enters = false);
  /// "memory_allocate" or "memory_free".
  void bill_memory(const char *event, const std::string &buffer, Value *bytes);
  /// Around waiting for other threads.
  void suspend_profile();
  void resume_profile();
  Value *profiled_instance();
  void begin_task_profile(Value *instance);
  void end_profile();
  Value *profile_infos();
  Value *call_profiler(const char *name, llvm::Type *result, const std::vector<Value *> &args);
  /// Memory in the frame, aligned for pointers.
  Value *frame_bytes(size_t bytes, const char *name);

  // -- Extern stages (emit_extern_stage.cc)
  Value *emit_extern_stage(const CallNode &call);
  Value *emit_extern_bounds(const CallNode &call);
  /// The C function that was asked last, with its arguments; what they hold then. One question has
  /// answers about every buffer.
  struct {
    std::vector<Expr> question;
    std::vector<Value *> args;
    llvm::BasicBlock *block = nullptr;  // where the answers are known
  } asked_;
  Value *emit_c_argument(const Expr &e);
  Value *emit_buffer(llvm::Value *host, Value *type,
                     const std::vector<std::array<Value *, 3>> &dims);
  Value *emit_debug_to_file(const CallNode &call);
  /// Tells the memory sanitizer of the buffers among a call's args, which begin with operand
  /// `first`, where the target has it.
  void describe_buffers(const CallNode &call, size_t first, const std::vector<Value *> &args);
  void call_msan(const char *hook, std::vector<Value *> args);
  /// Calls the C function and leaves with its code where it fails, after `error` has reported it of
  /// the culprit.
  Value *call_c_function(const std::string &function, const std::vector<Value *> &args,
                         const char *error, const std::string &culprit);

  // -- Memory (emit_memory.cc)
  /// Asks for what a scalar Load would read, in the cache of that number and those behind it.
  Value *emit_prefetch(const Expr &load, const Expr &cache);
  Value *emit_load(const Expr &e, bool streams = false);
  Value *load_lanes_at(const LoadNode &load, Value *mask, bool streams = false);
  Value *load_uniform(const LoadNode &load, const LaneAddress &at, Value *mask);
  Value *load_dense(const LoadNode &load, const LaneAddress &at, Value *mask, bool streams = false);
  Value *load_transposed(const LoadNode &load, const Expr &starts);
  Value *permuted(Value *v, const std::vector<int> &order);
  Value *load_lanes(const LoadNode &load, const LaneAddress &at);
  void emit_store(const StmtNode &store);
  /// Does a store go past the caches: no; where it has whole registers' worth of aligned bytes, since
  /// the next one goes on elsewhere; or in pieces, too, whose lines the next ones fill?
  enum class Streams { No, Aligned, Pieces };
  void store_lanes_at(const std::string &buffer, Type t, const Expr &index, Value *value,
                      Value *mask, Streams streams, Value *count = nullptr);
  void store_scalar_if(Value *mask, Value *value, Value *address, const std::string &buffer);
  // emit_strided.cc
  /// Loads that differ in their first elements alone.
  struct StridedLoads {
    std::string buffer;
    int lanes;
    int64_t stride;
    Polynomial base;  // without its constant
    bool operator<(const StridedLoads &o) const;
  };
  using StridedFirsts = std::map<StridedLoads, std::set<int64_t>>;
  /// Those that the statements, of one block, make whatever happens.
  StridedFirsts strided_loads_of(const std::vector<Stmt> &stmts);
  static std::optional<int64_t> short_stride(const LaneAddress &at, Type t);
  std::vector<int> pieces_of(const LoadNode &load, const LaneAddress &at, int64_t stride);
  Value *load_strided(const LoadNode &load, const LaneAddress &at, int64_t stride);
  /// Has the machine loads of t's elements under a mask?
  bool masks_loads(Type t) const;
  Value *load_strided_under(const LoadNode &load, const LaneAddress &at, int64_t stride,
                            Value *mask);
  Value *picked(const std::vector<Value *> &pieces, const std::vector<int> &starts, int lanes,
                int64_t stride);
  // emit_gather.cc
  Value *gather(const LoadNode &load, Value *mask);
  Value *look_up_bytes(const LoadNode &load);
  Value *load_shared(const LoadNode &load);
  void scatter(const std::string &buffer, Type t, const Expr &index, Value *value, Value *mask);
  std::vector<Value *> lane_pointers(const std::string &buffer, Type element, const Expr &index);
  Value *pointer_vector(const std::string &buffer, Type element, const Expr &index);
  // emit_prefix.cc
  /// How many lanes a mask lets through, which are the first ones, where such stores in parts are
  /// quicker than under a mask; of 64 bits, may be negative, or more than there are.
  std::optional<Expr> first_lanes(const Expr &mask) const;
  static bool stores_first_lanes(Type t);
  void store_first_lanes(Value *value, Type t, Value *pointer, llvm::Align align, Value *count,
                         const std::string &buffer);
  // emit_stream.cc
  void mark_stream_load(llvm::Instruction *access, Type t);
  void store_streamed(Value *value, Type t, Value *pointer, llvm::Align align,
                      const std::string &buffer, Streams how);
  Value *emit_stream_fence();
  Value *base_pointer(const std::string &buffer);
  bool lies_in_frame(const std::string &buffer, Type t, const Polynomial &first);
  Value *address(const std::string &buffer, Type element, const Polynomial &p);
  /// The terms of an index by the depth of the loops that know them.
  struct IndexTerms {
    std::map<int, std::vector<std::pair<Monomial, int64_t>>> by_depth;
    int64_t constant = 0;
    bool depends_on_memory = false;
  };
  IndexTerms terms_of(const Polynomial &p);
  llvm::Align alignment(const std::string &buffer, Type t, const Polynomial &p) const;
  Value *to_register(Value *stored, Type t);
  Value *to_memory(Value *value, Type t);
  Value *reverse(Value *v);
  Expr definition(const std::string &name) const;

  // -- Statements (emit_stmt.cc)
  void emit_stmt(const Stmt &s);
  void emit_serial_for(const StmtNode &loop);
  /// The loop's body for the indices from `first` to below `end`.
  void emit_turns(const StmtNode &loop, Value *first, Value *end);
  void emit_if(const StmtNode &s);
  void emit_assert(const StmtNode &s);
  void emit_allocate(const StmtNode &s);
  // emit_storage.cc
  void emit_on_stack(const StmtNode &s, int64_t elements);
  Value *size_in_bytes(const StmtNode &s);
  Value *size_argument(Value *bytes);
  /// Memory for s; leaves the function where there is none.
  Value *emit_malloc(const StmtNode &s, Value *bytes);
  Value *emit_shared(const StmtNode &s, Value *wanted);
  void emit_free(Value *memory);
  /// In a task, a part of its frame for what may fit there; null: there is none.
  llvm::AllocaInst *frame_for(const StmtNode &s);
  Value *emit_framed(const StmtNode &s, Value *bytes, llvm::AllocaInst *frame);
  void emit_free_unless_framed(Value *memory, llvm::AllocaInst *frame);
  /// Gives back what slots hold in front of every return.
  void release_slots();
  void emit_memoize(const StmtNode &s);
  llvm::Value *emit_key(const Expr &e);
  void emit_atomic(const StmtNode &s);  // emit_atomic.cc
  Value *scalar_address(const std::string &buffer, Type t, const Expr &index);
  /// Frees what is live and returns `code` from the function.
  void return_code(Value *code);
  void return_if_nonzero(Value *code);
  llvm::BasicBlock *block(const char *name);
  /// At the beginning of the function, before all that is there.
  llvm::IRBuilder<> entry_builder();

  // -- Buffer arguments (emit_arguments.cc)
  void bind_arguments();
  /// Loads every field of every buffer argument that was not loaded before.
  void load_fields();
  void load_field(const std::string &name);
  llvm::Value *field_value(const std::string &name);
  llvm::Value *load_from_buffer(const std::string &buffer, llvm::Type *type, uint64_t offset);
  /// Those that the statement may use.
  void load_fields_for(const Stmt &s);

  // -- In kernels (emit_kernel.cc)
  void emit_blocks(const Stmt &kernel);
  void emit_phase(const Nest &nest);
  void emit_barrier();
  void emit_in_block_memory(const StmtNode &s);
  void emit_kernel_atomic(const Stmt &update);
  /// As address(), with the index in 32 bits.
  Value *narrow_address(const std::string &buffer, Type element, const Polynomial &p);
  // emit_copies.cc
  void emit_async_store(const StmtNode &store);
  void emit_commit_copies();
  void emit_wait_copies(const StmtNode &s);
  // emit_collective.cc
  void emit_collective(const StmtNode &s);
  std::vector<Value *> emit_matrix_load(const Instruction &i, Value *from);
  /// The registers that the instruction writes, in the order of its operands. `registers`: of each
  /// operand those that it reads, or its address.
  std::vector<Value *> emit_gpu_instruction(const Instruction &i,
                                            const std::vector<std::vector<Value *>> &registers,
                                            int64_t number = 0);

  // -- On the host: kernels and buffers on devices (emit_launch.cc)
  void emit_launch(const Stmt &kernel);
  void emit_transfer(const StmtNode &s);
  void emit_on_device(const StmtNode &s);
  /// The polyhalite_buffer_t of an argument, a constant or a mirrored allocation.
  Value *descriptor_of(const std::string &buffer);
  Value *make_descriptor(const std::string &name, Type t, Value *host, uint64_t flags,
                         const std::vector<std::array<Value *, 3>> &dims);
  void set_dirty(Value *descriptor, uint64_t flag);
  /// The code that `function`(context, descriptor, the interface of CUDA) returns.
  Value *call_with_device(const char *function, Value *descriptor);
  void free_on_device(Value *descriptor);
  /// Gives back the device memory of constants in front of every return.
  void release_constants();

  // -- Parallel loops and forks (emit_parallel.cc)
  void emit_parallel_for(const StmtNode &loop);
  void emit_fork(const StmtNode &fork);
  void emit_acquire(const StmtNode &s);
  void emit_release(const StmtNode &s);
  struct Capture {
    std::string name;
    enum Kind { Variable, Wide, Pointer, Argument, Profile } kind;
    Value *value;
    llvm::Type *narrow;  // Wide: the variable's own type
  };
  std::vector<Capture> captures_of(const std::vector<Stmt> &bodies);
  /// The task's closure in memory, filled.
  Value *store_captures(const std::string &name, const std::vector<Capture> &captures,
                        llvm::StructType *closure);
  llvm::StructType *closure_type(const std::vector<Capture> &captures);
  /// polyhalite_range_t of a parallel loop.
  llvm::Function *make_range(const StmtNode &loop, const std::vector<Capture> &captures,
                             llvm::StructType *closure);
  /// polyhalite_task_t that runs `body`.
  llvm::Function *make_task(const std::string &name, const Stmt &body,
                            const std::vector<Capture> &captures, llvm::StructType *closure);
  /// This function's own frame of captures, and what it does with them.
  void emit_task(const std::vector<Capture> &captures, llvm::StructType *closure, Value *storage,
                 const std::function<void()> &emit_body);

  ModuleState &module_;
  llvm::LLVMContext &context_;
  llvm::Function *function_;
  llvm::IRBuilder<> builder_;
  Scopes scopes_;
  Value *user_context_ = nullptr;
  std::map<std::string, Value *> pointers_;   // buffer name -> address of element 0
  std::map<std::string, Value *> arguments_;  // buffer argument -> its polyhalite_buffer_t
  struct HeapBlock {
    std::string name;
    Value *pointer;
    bool is_on_device = false;          // a descriptor, of memory on a device
    llvm::AllocaInst *frame = nullptr;  // where it lies if it is small
  };
  std::vector<HeapBlock> live_heap_;
  bool is_task_ = false;  // of a parallel loop or a fork
  int frames_ = 0;        // parts of a task's frame that allocations have
  struct Slot {
    llvm::AllocaInst *pointer, *bytes;
  };
  std::map<std::string, Slot> slots_;  // of `shared` allocations, by name, until the function ends
  std::map<std::string, uint64_t> own_storage_;  // allocations and constants: bytes of alignment
  std::map<std::string, int64_t> multiples_;     // variables that are multiples of more than 1
  std::unordered_map<const ExprNode *, bool> reads_memory_, any_number_;
  int depth_ = 0;  // loops around the point of emission
  bool straight_line_ = true;
  bool fields_loaded_ = false;
  bool strict_ = false;
  Value *profile_ =
      nullptr;  // this function's polyhalite_profiler_thread; null: nothing is measured
  const char *profile_end_ = "";        // what the runtime is told where the function returns
  int billed_ = 0;                      // the entry of the profile's table that this code works for
  std::vector<StridedFirsts> strided_;  // of the statements around the point of emission
  std::vector<Expr> kept_;              // made here: keys of what is remembered
  /// Of a kernel's function, else null.
  struct KernelState {
    Stmt kernel;
    Value *block_memory = nullptr;
    int64_t used_bytes = 0;  // of it
  };
  std::unique_ptr<KernelState> kernel_;
  std::map<std::string, Value *> constant_descriptors_;
};

}  // namespace polyhalite
