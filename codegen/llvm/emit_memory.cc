// Loads and stores: dense, reversed, masked; and their addresses.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

Polynomial shifted(Polynomial p, int64_t by) {
  p.add(Polynomial::constant(by));
  return p;
}

std::vector<int> reversed_lanes(int lanes) {
  std::vector<int> order;
  for (int i = lanes - 1; i >= 0; i--) order.push_back(i);
  return order;
}

// The indices of the rows that ramp(row, broadcast(s), n) is: row, row + s, ... Empty where it is
// something else.
std::vector<Expr> rows_of(const Expr &index) {
  if (index->op != Op::Ramp || index->args[0].type().is_scalar()) return {};
  const Expr &first = index->args[0], &step = index->args[1];
  if (step->op != Op::Broadcast || step->args[0].type().is_vector()) return {};
  const Expr &stride = step->args[0];
  std::vector<Expr> rows = {first};
  const int n = index.type().lanes() / first.type().lanes();
  for (int i = 1; i < n; i++) {
    const Expr by = make_binary(Op::Mul, stride, make_int(stride.type(), i));
    rows.push_back(make_binary(Op::Add, first, make_broadcast(by, first.type().lanes())));
  }
  return rows;
}

// Lane i of a vector that arithmetic makes lane by lane; undefined where it is something else.
Expr lane_of(const Expr &e, int i) {
  if (e.type().is_scalar()) return e;
  const auto arg = [&](size_t k) { return lane_of(e->args[k], i); };
  switch (e->op) {
    case Op::Broadcast:
      return lane_of(e->args[0], i % e->args[0].type().lanes());
    case Op::Ramp:
      if (e->args[0].type().is_vector()) return Expr();
      return make_binary(Op::Add, e->args[0],
                         make_binary(Op::Mul, e->args[1], make_int(e->args[1].type(), i)));
    case Op::Cast: {
      const Expr a = arg(0);
      return a.defined() ? make_cast(e.type().element_of(), a) : Expr();
    }
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Min:
    case Op::Max: {
      const Expr a = arg(0), b = arg(1);
      return a.defined() && b.defined() ? make_binary(e->op, a, b) : Expr();
    }
    default:
      return Expr();
  }
}

// The indices of n columns that lie side by side, row by row: ramp(ramp(b, s, r), broadcast(1), n)
// is the columns of r dense rows of n, which may begin anywhere else, too. Empty where it is
// something else, or gains nothing.
std::vector<Expr> rows_of_columns(const Expr &index) {
  if (index->op != Op::Ramp || index->args[0].type().is_scalar()) return {};
  const Expr &column = index->args[0], &step = index->args[1];
  const int rows = column.type().lanes(), n = index.type().lanes() / rows;
  if (n < rows || (column->op == Op::Ramp && is_one(column->args[1]))) return {};
  if (step->op != Op::Broadcast || !is_one(step->args[0])) return {};
  std::vector<Expr> out;
  for (int i = 0; i < rows; i++) {
    const Expr first = lane_of(column, i);
    if (!first.defined()) return {};
    out.push_back(make_ramp(first, step->args[0], n));
  }
  return out;
}

std::vector<int> lanes_of_row(size_t row, int lanes) {
  std::vector<int> picks;
  for (int i = 0; i < lanes; i++) picks.push_back(static_cast<int>(row) * lanes + i);
  return picks;
}

}  // namespace

Expr FunctionEmitter::definition(const std::string &name) const {
  const Binding *b = scopes_.find(name);
  return b ? b->definition : Expr();
}

Value *FunctionEmitter::base_pointer(const std::string &buffer) {
  if (!fields_loaded_ && straight_line_ && arguments_.count(buffer)) load_fields();
  auto at = pointers_.find(buffer);
  if (at != pointers_.end()) return at->second;
  if (llvm::Constant *data = module_.constant_data(buffer)) return pointers_[buffer] = data;
  internal_check(false, ("'" + buffer + "' is accessed and has no storage").c_str());
  return nullptr;
}

FunctionEmitter::IndexTerms FunctionEmitter::terms_of(const Polynomial &p) {
  IndexTerms terms;
  for (const auto &[monomial, coefficient] : p.terms) {
    if (monomial.empty()) {
      terms.constant = coefficient;
      continue;
    }
    int depth = 0;
    for (const Expr &atom : monomial) {
      depth = std::max(depth, depth_of(atom));
      terms.depends_on_memory = terms.depends_on_memory || reads_memory(atom);
    }
    terms.by_depth[depth].emplace_back(monomial, coefficient);
  }
  return terms;
}

// Terms are added from the outermost loop that knows them inwards, the constant last, so that what
// an inner loop repeats is one pointer plus its own counter.
Value *FunctionEmitter::address(const std::string &buffer, Type element, const Polynomial &p) {
  if (kernel_ && !module_.target.has_feature(Target::LargeBuffers)) {
    return narrow_address(buffer, element, p);
  }
  Value *pointer = base_pointer(buffer);
  const auto [by_depth, constant, depends_on_memory] = terms_of(p);
  llvm::Type *step = memory_type(context_, element.element_of());
  PointerKey key{buffer, {}};
  for (const auto &[depth, terms] : by_depth) {
    key.terms.insert(key.terms.end(), terms.begin(), terms.end());
    Value *known = depends_on_memory ? nullptr : scopes_.known_pointer(key);
    if (known) {
      pointer = known;
      continue;
    }
    Value *offset = nullptr;
    for (const auto &[monomial, coefficient] : terms) {
      Value *term = nullptr;
      for (const Expr &atom : monomial) {
        Value *factor = emit_wide(atom);
        term = term ? builder_.CreateMul(term, factor) : factor;
      }
      if (coefficient != 1) {
        term = builder_.CreateMul(term, builder_.getInt64(static_cast<uint64_t>(coefficient)));
      }
      offset = offset ? builder_.CreateAdd(offset, term) : term;
    }
    pointer = builder_.CreateGEP(step, pointer, offset);
    if (!depends_on_memory) scopes_.remember_pointer(key, pointer);
  }
  if (constant == 0) return pointer;
  return builder_.CreateGEP(step, pointer, builder_.getInt64(static_cast<uint64_t>(constant)));
}

llvm::Align FunctionEmitter::alignment(const std::string &buffer, Type t,
                                       const Polynomial &p) const {
  const auto element = static_cast<uint64_t>(t.bytes());
  const auto own = own_storage_.find(buffer);
  if (own == own_storage_.end()) return llvm::Align(element);
  uint64_t known = own->second;
  for (const auto &[monomial, coefficient] : p.terms) {
    uint64_t bytes = static_cast<uint64_t>(coefficient) * element;
    for (const Expr &atom : monomial) {
      const VariableNode *v = as_variable(atom);
      const auto multiple = v ? multiples_.find(v->name) : multiples_.end();
      if (multiple != multiples_.end()) bytes *= static_cast<uint64_t>(multiple->second);
    }
    while (bytes % known != 0) known /= 2;
  }
  return llvm::Align(known);
}

Value *FunctionEmitter::to_register(Value *stored, Type t) {
  if (t.is_handle()) return builder_.CreateIntToPtr(stored, register_type(context_, t));
  if (!t.is_bool()) return stored;
  return builder_.CreateICmpNE(stored, llvm::Constant::getNullValue(stored->getType()));
}

Value *FunctionEmitter::to_memory(Value *value, Type t) {
  if (t.is_handle()) return builder_.CreatePtrToInt(value, memory_type(context_, t));
  return t.is_bool() ? builder_.CreateZExt(value, memory_type(context_, t)) : value;
}

Value *FunctionEmitter::reverse(Value *v) {
  auto *type = llvm::cast<llvm::FixedVectorType>(v->getType());
  return builder_.CreateShuffleVector(v, reversed_lanes(static_cast<int>(type->getNumElements())));
}

// Are all lanes of a dense vector, those that are off too, elements of an array in this function's
// own frame? Then no other thread has them, and without masks they can stay in registers.
bool FunctionEmitter::lies_in_frame(const std::string &buffer, Type t, const Polynomial &first) {
  const auto at = pointers_.find(buffer);
  if (at == pointers_.end() || kernel_ || t.is_scalar()) return false;
  const auto *array = llvm::dyn_cast<llvm::AllocaInst>(at->second);
  const auto *type = array ? llvm::dyn_cast<llvm::ArrayType>(array->getAllocatedType()) : nullptr;
  const auto start = first.as_constant();
  return type && start && *start >= 0 &&
         static_cast<uint64_t>(*start + t.lanes()) <= type->getNumElements();
}

// -- Loads

Value *FunctionEmitter::emit_load(const Expr &e, bool streams) {
  const LoadNode &load = *as_load(e);
  Value *mask = load.args.size() > 1 && !is_true(load.args[1]) ? emit(load.args[1]) : nullptr;
  return load_lanes_at(load, mask, streams);
}

Value *FunctionEmitter::load_lanes_at(const LoadNode &load, Value *mask, bool streams) {
  const Type t = load.type;
  if (const std::vector<Expr> rows = rows_of_columns(load.args[0]); !rows.empty()) {
    const int height = static_cast<int>(rows.size()), n = t.lanes() / height;
    if (n == height && (n & (n - 1)) == 0 && !mask) {
      if (Value *square = load_transposed(load, load.args[0]->args[0])) return square;
    }
    std::vector<Value *> parts;
    for (int i = 0; i < height; i++) {
      std::vector<int> own;
      for (int c = 0; c < n; c++) own.push_back(c * height + i);
      kept_.push_back(rows[static_cast<size_t>(i)]);
      const LoadNode row(t.with_lanes(n), load.buffer, kept_.back());
      parts.push_back(
          load_lanes_at(row, mask ? builder_.CreateShuffleVector(mask, own) : nullptr, streams));
    }
    std::vector<int> order;
    for (int c = 0; c < n; c++) {
      for (int i = 0; i < height; i++) order.push_back(i * n + c);
    }
    return permuted(concatenate(parts), order);
  }
  if (const std::vector<Expr> rows = rows_of(load.args[0]); !rows.empty()) {
    std::vector<Value *> parts;
    for (size_t i = 0; i < rows.size(); i++) {
      const int lanes = rows[i].type().lanes();
      kept_.push_back(rows[i]);
      const LoadNode row(t.with_lanes(lanes), load.buffer, rows[i]);
      Value *row_mask = mask ? builder_.CreateShuffleVector(mask, lanes_of_row(i, lanes)) : nullptr;
      parts.push_back(load_lanes_at(row, row_mask, streams));
    }
    return concatenate(parts);
  }
  const auto at =
      to_lane_address(load.args[0], [this](const std::string &name) { return definition(name); });
  if (!at) return gather(load, mask);
  if (t.is_scalar()) return load_dense(load, *at, mask, streams);
  const auto stride = at->stride.as_constant();
  if (stride == 1) return load_dense(load, *at, mask, streams);
  if (stride == -1) {
    const LaneAddress first{shifted(at->base, 1 - t.lanes()), Polynomial::constant(1)};
    return reverse(load_dense(load, first, mask ? reverse(mask) : nullptr));
  }
  // Kernels have no memory of their own to read instead.
  if (stride == 0 && !(mask && kernel_)) return load_uniform(load, *at, mask);
  const auto steps = short_stride(*at, t);
  if (mask && steps && masks_loads(t)) return load_strided_under(load, *at, *steps, mask);
  if (mask) return gather(load, mask);
  if (steps) return load_strided(load, *at, *steps);
  return load_lanes(load, *at);
}

Value *FunctionEmitter::emit_prefetch(const Expr &e, const Expr &cache) {
  const LoadNode &load = *as_load(e);
  const auto at =
      to_lane_address(load.args[0], [this](const std::string &name) { return definition(name); });
  internal_check(at && e.type().is_scalar(), "a prefetch asks for one element");
  Value *pointer = address(load.buffer, e.type(), at->base);
  // To read (0), into all caches (3) or all but the first (2), of data (1).
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                           {pointer, builder_.getInt32(0), builder_.getInt32(is_one(cache) ? 3 : 2),
                            builder_.getInt32(1)});
  return builder_.getFalse();
}

// One element for all lanes, those that are off too: to clear them would cost as much as the load.
// Where all are off it comes from zeros of our own, without a branch.
Value *FunctionEmitter::load_uniform(const LoadNode &load, const LaneAddress &at, Value *mask) {
  const Type t = load.type;
  llvm::Type *element_type = memory_type(context_, t.element_of());
  Value *pointer = address(load.buffer, t, at.base);
  llvm::Align align = alignment(load.buffer, t, at.base);
  if (mask) {
    align = std::min(align, module_.zeros()->getAlign().valueOrOne());
    pointer = builder_.CreateSelect(builder_.CreateOrReduce(mask), pointer, module_.zeros());
  }
  auto *element = builder_.CreateAlignedLoad(element_type, pointer, align);
  module_.mark_access(element, load.buffer);
  return to_register(splat(element, t.lanes()), t);
}

Value *FunctionEmitter::load_dense(const LoadNode &load, const LaneAddress &at, Value *mask,
                                   bool streams) {
  const Type t = load.type;
  llvm::Type *type = memory_type(context_, t);
  Value *pointer = address(load.buffer, t, at.base);
  const llvm::Align align = alignment(load.buffer, t, at.base);
  llvm::Instruction *access = nullptr;
  if (mask && lies_in_frame(load.buffer, t, at.base)) {
    access = builder_.CreateAlignedLoad(type, pointer, align);
    module_.mark_access(access, load.buffer);
    return to_register(builder_.CreateSelect(mask, access, llvm::Constant::getNullValue(type)), t);
  }
  if (!mask) {
    access = builder_.CreateAlignedLoad(type, pointer, align);
    if (streams) mark_stream_load(access, t);
  } else {
    llvm::Type *vector = t.is_vector() ? type : llvm::FixedVectorType::get(type, 1);
    if (t.is_scalar()) mask = builder_.CreateVectorSplat(1, mask);
    access = builder_.CreateMaskedLoad(vector, pointer, align, mask,
                                       llvm::Constant::getNullValue(vector));
  }
  module_.mark_access(access, load.buffer);
  Value *value = access;
  if (mask && t.is_scalar()) value = builder_.CreateExtractElement(access, uint64_t{0});
  return to_register(value, t);
}

// The n dense rows that begin at the lanes of `starts`, as n columns.
Value *FunctionEmitter::load_transposed(const LoadNode &load, const Expr &starts) {
  const auto at =
      to_lane_address(starts, [this](const std::string &name) { return definition(name); });
  if (!at) return nullptr;
  const int n = starts.type().lanes();
  const Type row = load.type.with_lanes(n);
  std::vector<Value *> rows;
  LaneAddress next{at->base, Polynomial::constant(1)};
  const LoadNode one(row, load.buffer, starts);
  for (int i = 0; i < n; i++) {
    rows.push_back(load_dense(one, next, nullptr));
    next.base.add(at->stride);
  }
  return interleaved(rows);
}

Value *FunctionEmitter::load_lanes(const LoadNode &load, const LaneAddress &at) {
  const Type t = load.type;
  std::vector<Value *> lanes;
  Polynomial p = at.base;
  for (int lane = 0; lane < t.lanes(); lane++) {
    auto *element =
        builder_.CreateAlignedLoad(memory_type(context_, t.element_of()),
                                   address(load.buffer, t, p), alignment(load.buffer, t, p));
    module_.mark_access(element, load.buffer);
    lanes.push_back(element);
    p.add(at.stride);
  }
  return to_register(concatenate(lanes), t);
}

// -- Stores

void FunctionEmitter::emit_store(const StmtNode &store) {
  const Expr &index = store.args[0], &stored = store.args[1];
  const Type t = stored.type();
  if (emit_tile_store(store)) return scopes_.memory_changed();
  Value *value = to_memory(emit(stored), t);
  const bool masked = store.args.size() > 2 && !is_true(store.args[2]);
  const std::optional<Expr> count =
      masked && stores_first_lanes(t) ? first_lanes(store.args[2]) : std::nullopt;
  if (count) kept_.push_back(*count);
  store_lanes_at(store.name, t, index, value, masked ? emit(store.args[2]) : nullptr,
                 store.streams ? Streams::Pieces : Streams::No, count ? emit(*count) : nullptr);
  scopes_.memory_changed();
}

void FunctionEmitter::store_lanes_at(const std::string &buffer, Type t, const Expr &index,
                                     Value *value, Value *mask, Streams streams, Value *count) {
  if (const std::vector<Expr> rows = rows_of(index); !rows.empty()) {
    if (streams != Streams::No) streams = Streams::Aligned;
    for (size_t i = 0; i < rows.size(); i++) {
      const int lanes = rows[i].type().lanes();
      const std::vector<int> picks = lanes_of_row(i, lanes);
      kept_.push_back(rows[i]);
      store_lanes_at(buffer, t.with_lanes(lanes), rows[i],
                     builder_.CreateShuffleVector(value, picks),
                     mask ? builder_.CreateShuffleVector(mask, picks) : nullptr, streams);
    }
    return;
  }
  const auto at =
      to_lane_address(index, [this](const std::string &name) { return definition(name); });
  const auto stride = at ? at->stride.as_constant() : std::nullopt;
  Polynomial first = at ? at->base : Polynomial();
  if (at && stride == -1 && t.is_vector()) {
    first = shifted(at->base, 1 - t.lanes());
    value = reverse(value);
    if (mask) mask = reverse(mask);
  }
  if (at && t.is_scalar() && mask) {
    store_scalar_if(mask, value, address(buffer, t, first), buffer);
  } else if (at && (t.is_scalar() || stride == 1 || stride == -1)) {
    Value *pointer = address(buffer, t, first);
    const llvm::Align align = alignment(buffer, t, first);
    if (mask && lies_in_frame(buffer, t, first)) {
      auto *old = builder_.CreateAlignedLoad(value->getType(), pointer, align);
      module_.mark_access(old, buffer);
      value = builder_.CreateSelect(mask, value, old);
      module_.mark_access(builder_.CreateAlignedStore(value, pointer, align), buffer);
    } else if (count && stride == 1) {
      store_first_lanes(value, t, pointer, align, count, buffer);
    } else if (mask) {
      module_.mark_access(builder_.CreateMaskedStore(value, pointer, align, mask), buffer);
    } else if (streams != Streams::No) {
      store_streamed(value, t, pointer, align, buffer, streams);
    } else {
      module_.mark_access(builder_.CreateAlignedStore(value, pointer, align), buffer);
    }
  } else if (at && !mask) {
    Polynomial p = at->base;
    for (int lane = 0; lane < t.lanes(); lane++) {
      Value *element = builder_.CreateExtractElement(value, static_cast<uint64_t>(lane));
      auto *access =
          builder_.CreateAlignedStore(element, address(buffer, t, p), alignment(buffer, t, p));
      module_.mark_access(access, buffer);
      p.add(at->stride);
    }
  } else {
    scatter(buffer, t, index, value, mask);
  }
}

void FunctionEmitter::store_scalar_if(Value *mask, Value *value, Value *address,
                                      const std::string &buffer) {
  llvm::BasicBlock *write = block("store"), *after = block("stored");
  builder_.CreateCondBr(mask, write, after);
  builder_.SetInsertPoint(write);
  module_.mark_access(builder_.CreateStore(value, address), buffer);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

}  // namespace polyhalite
