#include "codegen/passes/storage_scopes.h"

#include <algorithm>

#include "codegen/passes/storage_accesses.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Larger allocations go to the heap: thread-pool stacks are small.
constexpr int64_t kMaxUnaskedStackBytes = 16 * 1024;
// What a frame may hold where a directive asks for the stack.
constexpr int64_t kMostStackBytes = 64 * 1024;
constexpr int64_t kMostCells = int64_t{1} << 31;  // more are not counted

std::string memory_name(const std::string &buffer) { return buffer + ".memory"; }

Home home(const FuncDef &def, const FuncStorage &storage, int64_t bytes) {
  switch (storage.memory) {
    case MemoryType::Heap:
      return Home::Heap;
    case MemoryType::Stack:
      return bytes <= kMostStackBytes ? Home::Stack : Home::Shared;
    case MemoryType::Register:
      if (bytes <= kMostStackBytes) return Home::Stack;
      user_error(
          "cannot store '" + def.name + "' in registers",
          "its size is no constant, or more than " + std::to_string(kMostStackBytes) + " bytes",
          "compute it at an inner loop, or use MemoryType::Stack", storage.memory_where);
    case MemoryType::GPUShared:
      user_error("cannot store '" + def.name + "' in MemoryType::GPUShared",
                 "it is stored outside of kernels, and the threads of a block share it",
                 "store it at a loop over blocks", storage.memory_where);
    default:
      return bytes <= kMaxUnaskedStackBytes ? Home::Stack : Home::Auto;
  }
}

// In a kernel; bytes < 0: no constant.
Home home_in_kernel(const FuncDef &def, const FuncStorage &storage, const FuncPlacement &placement,
                    StoragePlace place, int64_t bytes) {
  const bool in_thread = place == StoragePlace::Thread;
  auto refuse = [&](const std::string &why, const std::string &fix) {
    const bool asked = storage.memory != MemoryType::Auto;
    user_error("cannot store '" + def.name + "' in a kernel" +
                   (asked ? std::string(" in MemoryType::") + memory_type_name(storage.memory)
                          : std::string()),
               why, fix, asked ? storage.memory_where : placement.compute_where);
  };
  if (bytes < 0) {
    refuse("its size is no constant, and a kernel allocates nothing while it runs",
           "compute it at a loop that needs a part of it that is bounded, bound_storage(), or "
           "compute it outside of the kernel");
  }
  switch (storage.memory) {
    case MemoryType::Auto:
      return in_thread ? Home::Thread : Home::Block;
    case MemoryType::Stack:
    case MemoryType::Register:
      return Home::Thread;
    case MemoryType::GPUShared:
      if (!in_thread) return Home::Block;
      refuse("it is stored in a loop over threads, where each thread has its own",
             "store it at a loop over blocks");
      break;
    default:
      refuse("kernels have shared memory and registers",
             "use MemoryType::GPUShared, Register or Auto, or compute it outside of the kernel");
  }
  return Home::Thread;
}

// Rows whose number of elements is known where the program runs alone begin with lines of the
// caches, where vectors are stored to them: else each second store would be to two lines.
int64_t row_multiple(const LoopTree &tree, int func) {
  constexpr int64_t kLine = 64;
  const FuncDef &def = tree.algorithm.funcs[func];
  if (def.dimensions() < 2) return 1;
  auto is_vector = [&](int l) { return tree.loops[l].kind == LoopKind::Vector; };
  const bool vectors =
      std::any_of(tree.nests[func].begin(), tree.nests[func].end(), [&](const StageNest &nest) {
        return std::any_of(nest.loops.begin(), nest.loops.end(), is_vector);
      });
  int64_t multiple = 1;
  for (const Type &t : def.types) multiple = std::max(multiple, kLine / std::max(t.bytes(), 1));
  return vectors ? multiple : 1;
}

}  // namespace

Stmt with_storage(const LoopTree &tree, const Survey &survey, int func, StoragePlace place,
                  Stmt s) {
  const FuncDef &def = tree.algorithm.funcs[func];
  const FuncSurvey &fs = survey.funcs[func];
  std::vector<Expr> args;
  const FuncStorage &storage = tree.storage[func];
  const std::vector<int> order = memory_order(storage);
  const int innermost = order.empty() ? 0 : order[0];
  int64_t cells = 1;
  bool constant = true;
  for (int d = 0; d < def.dimensions(); d++) {
    const IndexRange &r = fs.stored[d];
    const Expr extent = make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1));
    int64_t align = storage.dims[d].multiple();
    args.push_back(fs.fold[d] > 0 ? Expr(0) : r.min);
    if (fs.fold[d] > 0 || fs.stored_extent[d]) {
      const int64_t n = fs.fold[d] > 0 ? fs.fold[d] : *fs.stored_extent[d];
      const int64_t padded = (n + align - 1) / align * align;
      args.push_back(make_int(Int(32), padded));
      cells = cells > kMostCells ? cells : cells * padded;
    } else {
      Expr padded = make_binary(Op::Max, extent, Expr(0));
      const bool is_row = d == innermost && align == 1 && place == StoragePlace::Host;
      if (is_row && !fs.hoisted) align = row_multiple(tree, func);
      if (align > 1) {
        const Expr k = make_int(Int(32), align);
        padded = make_binary(Op::Add, padded, make_int(Int(32), align - 1));
        padded = make_binary(Op::Mul, make_binary(Op::Div, padded, k), k);
      }
      args.push_back(padded);
      constant = false;
    }
  }
  // Nothing along one dimension does not make up for another that is open.
  if (!constant) cells = kMostStackBytes + 1;
  args = memory_box(storage, args);
  for (int i = static_cast<int>(def.types.size()); i-- > 0;) {
    const Type t = def.types[i];
    const std::string name = def.buffer_name(i);
    if (place != StoragePlace::Host) {
      const Home in_kernel = home_in_kernel(def, storage, tree.placements[func], place,
                                            constant ? cells * t.bytes() : -1);
      s = make_allocate(name, t, args, in_kernel, s, order);
      const FuncPlacement &placement = tree.placements[func];
      int64_t ring = 0;
      if (placement.async && placement.ring.defined() && is_const_int(placement.ring, &ring)) {
        s = with_ring(s, static_cast<int>(ring));
      }
      continue;
    }
    if (!fs.hoisted) {
      s = make_allocate(name, t, args, home(def, storage, cells * t.bytes()), s, order);
      continue;
    }
    Expr at = make_cast(Int(64), fs.hoisted->slot);
    for (const Expr &e : fs.hoisted->extents) at = make_binary(Op::Mul, at, make_cast(Int(64), e));
    const FuncDef &owner = tree.algorithm.funcs[fs.hoisted->owner];
    s = make_place(name, t, args, memory_name(owner.buffer_name(i)), at, s, order);
  }
  return s;
}

Stmt with_hoisted_memory(const LoopTree &tree, const Survey &survey, int func, Stmt s) {
  const FuncDef &def = tree.algorithm.funcs[func];
  if (survey.funcs[func].hoisted->owner != func) return s;
  std::vector<Expr> extents = survey.funcs[func].hoisted->extents;
  const Expr &ring = tree.placements[func].ring;
  if (ring.defined()) extents.push_back(ring);
  std::vector<Expr> args;
  int64_t elements = 1;
  for (const Expr &e : extents) {
    args.push_back(Expr(0));
    args.push_back(e);
    int64_t k = 0;
    const bool small = is_const_int(e, &k) && elements <= kMostStackBytes;
    elements = small ? elements * k : kMostStackBytes + 1;
  }
  for (int i = static_cast<int>(def.types.size()); i-- > 0;) {
    const Type t = def.types[i];
    s = make_allocate(memory_name(def.buffer_name(i)), t, args,
                      home(def, tree.storage[func], elements * t.bytes()), s);
  }
  return s;
}

}  // namespace polyhalite
