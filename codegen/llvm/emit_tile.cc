// Products of matrices in tiles, registers of 16 rows of 64 bytes. LLVM gives tiles out and sets
// their shapes; a value of one passes from block to block as a vector of 256 words, of which its
// lowering makes tiles again:
//
//   f[dense, in the frame] = sum_matrix_products(f[..], a[rows], b[rows])
//     ->  words = to_words(tdpbusd(to_tile(words), tileload(a, stride), tileload(b, stride)))
//
// Cells elsewhere are loaded and stored as tiles in each step.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/ir/visit.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

using llvm::Value;

namespace {

constexpr int kRows = 16, kRowBytes = 64, kWords = 256;

bool is_byte(Type t) { return t.is_int_or_uint() && t.bits() == 8; }

llvm::Intrinsic::ID product_of(Type a, Type b) {
  if (a.is_bfloat()) return llvm::Intrinsic::x86_tdpbf16ps_internal;
  if (a.is_int()) {
    return b.is_int() ? llvm::Intrinsic::x86_tdpbssd_internal
                      : llvm::Intrinsic::x86_tdpbsud_internal;
  }
  return b.is_int() ? llvm::Intrinsic::x86_tdpbusd_internal : llvm::Intrinsic::x86_tdpbuud_internal;
}

// Rows of so many columns side by side in memory: the first row, and the step from one to the next.
struct IndexRows {
  Expr first, stride;  // the stride is undefined where the rows follow each other
};

std::optional<IndexRows> rows_of(const Expr &index, int columns) {
  if (index->op != Op::Ramp || index.type().lanes() != kRows * columns) return std::nullopt;
  if (index->args[0].type().is_scalar()) {
    if (!is_one(index->args[1])) return std::nullopt;
    return IndexRows{index->args[0], Expr()};
  }
  const Expr &row = index->args[0], &step = index->args[1];
  if (row->op != Op::Ramp || row.type().lanes() != columns || row->args[0].type().is_vector() ||
      !is_one(row->args[1]) || step->op != Op::Broadcast || step->args[0].type().is_vector()) {
    return std::nullopt;
  }
  return IndexRows{row->args[0], step->args[0]};
}

// Of a mask of rows of so many columns, the part of one row.
Expr row_of(const Expr &e, int row, int columns) {
  auto part = [&](const Expr &operand) { return row_of(operand, row, columns); };
  if (e->op == Op::Not) return make_not(part(e->args[0]));
  if (is_comparison(e->op) || e->op == Op::And || e->op == Op::Or) {
    return make_binary(e->op, part(e->args[0]), part(e->args[1]));
  }
  if (e->op == Op::Broadcast && e->args[0].type().is_scalar()) {
    return make_broadcast(e->args[0], columns);
  }
  if (e->op == Op::Broadcast && e->args[0].type().lanes() == columns) return e->args[0];
  if (e->op == Op::Ramp && e->args[0].type().lanes() == columns) {
    const Expr &step = e->args[1];
    const Expr by = make_broadcast(make_int(step.type().element_of(), row), columns);
    return make_binary(Op::Add, e->args[0], make_binary(Op::Mul, step, by));
  }
  std::vector<int> lanes;
  for (int i = 0; i < columns; i++) lanes.push_back(row * columns + i);
  return Expr(std::make_shared<const ShuffleNode>(std::vector<Expr>{e}, std::move(lanes)));
}

}  // namespace

bool FunctionEmitter::is_tile_product(const Expr &e) const {
  const CallNode *call = as_intrinsic(e, intrinsic::kSumMatrixProducts);
  const Target &target = module_.target;
  if (!call || kernel_ || target.arch != Target::X86 || target.bits != 64 ||
      !target.has_feature(Target::AVX512_SapphireRapids)) {
    return false;
  }
  const MatrixLanes lanes = matrix_lanes(*call);
  const Type sum = call->type.element_of(), a = call->args[1].type().element_of(),
             b = call->args[2].type().element_of();
  const bool known = is_byte(a) && is_byte(b)
                         ? sum.is_int_or_uint() && sum.bits() == 32
                         : a == BFloat(16) && b == BFloat(16) && sum == Float(32);
  return known && lanes.m == kRows && lanes.n == kRows && lanes.k * a.bytes() == kRowBytes &&
         lanes.group * a.bytes() == 4;
}

const std::set<std::string> &FunctionEmitter::tile_buffers() {
  if (tile_buffers_) return *tile_buffers_;
  tile_buffers_.emplace();
  if (!module_.target.has_feature(Target::AVX512_SapphireRapids)) return *tile_buffers_;
  for_each_stmt(module_.function.body, [&](const Stmt &s) {
    if (s->kind == StmtKind::Store && is_tile_product(s->args[1])) tile_buffers_->insert(s->name);
  });
  return *tile_buffers_;
}

// The system is asked for tiles before the pipeline does anything.
void FunctionEmitter::ask_for_tiles() {
  if (tile_buffers().empty()) return;
  llvm::Type *pointer = builder_.getPtrTy();
  llvm::FunctionCallee use =
      module_.declare("polyhalite_use_tiles", builder_.getInt32Ty(), {pointer, pointer});
  return_if_nonzero(
      builder_.CreateCall(use, {user_context_, module_.string(module_.function.name)}));
}

std::optional<FunctionEmitter::TilePlace> FunctionEmitter::tile_place(const std::string &buffer,
                                                                      Type t, const Expr &index) {
  const Type element = t.element_of();
  const auto rows = rows_of(index, kRowBytes / element.bytes());
  if (!rows) return std::nullopt;
  const auto at =
      to_lane_address(rows->first, [this](const std::string &name) { return definition(name); });
  if (!at) return std::nullopt;
  TilePlace place;
  place.buffer = buffer;
  place.align = alignment(buffer, element, at->base);
  place.in_frame =
      !rows->stride.defined() && element.bytes() == 4 && lies_in_frame(buffer, t, at->base);
  place.first = address(buffer, element, at->base);
  place.stride = builder_.getInt64(kRowBytes);
  if (rows->stride.defined()) {
    place.stride = builder_.CreateMul(emit_wide(rows->stride),
                                      builder_.getInt64(static_cast<uint64_t>(element.bytes())));
  }
  return place;
}

Value *FunctionEmitter::tile_of_words(Value *words) {
  return builder_.CreateIntrinsic(llvm::Intrinsic::x86_cast_vector_to_tile, {words->getType()},
                                  {words});
}

Value *FunctionEmitter::words_of_tile(Value *tile) {
  llvm::Type *words = llvm::FixedVectorType::get(builder_.getInt32Ty(), kWords);
  return builder_.CreateIntrinsic(llvm::Intrinsic::x86_cast_tile_to_vector, {words}, {tile});
}

Value *FunctionEmitter::load_tile(const TilePlace &place) {
  if (place.in_frame) {
    llvm::Type *words = llvm::FixedVectorType::get(builder_.getInt32Ty(), kWords);
    auto *load = builder_.CreateAlignedLoad(words, place.first, place.align);
    module_.mark_access(load, place.buffer);
    return tile_of_words(load);
  }
  llvm::CallInst *load = builder_.CreateIntrinsic(
      llvm::Intrinsic::x86_tileloadd64_internal, {},
      {builder_.getInt16(kRows), builder_.getInt16(kRowBytes), place.first, place.stride});
  // So that products share what they load.
  load->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
  load->setDoesNotThrow();
  load->addFnAttr(llvm::Attribute::WillReturn);
  if (!place.buffer.empty()) module_.mark_access(load, place.buffer);
  return load;
}

Value *FunctionEmitter::emit_tile(const Expr &e) {
  if (is_tile_product(e)) {
    const CallNode &call = *as_call(e);
    Value *c = emit_tile(call.args[0]), *a = emit_tile(call.args[1]), *b = emit_tile(call.args[2]);
    Value *rows = builder_.getInt16(kRows), *bytes = builder_.getInt16(kRowBytes);
    llvm::CallInst *sums = builder_.CreateIntrinsic(
        product_of(call.args[1].type().element_of(), call.args[2].type().element_of()), {},
        {rows, bytes, bytes, c, a, b});
    // It writes no memory; that it touches none at all LLVM does not expect of it.
    sums->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    sums->setDoesNotThrow();
    sums->addFnAttr(llvm::Attribute::WillReturn);
    return sums;
  }
  const LoadNode *load = as_load(e);
  if (load && load->args.size() == 1) {
    if (const auto place = tile_place(load->buffer, e.type(), load->args[0])) {
      return load_tile(*place);
    }
  }
  return emit_tile_in_frame(e);
}

Value *FunctionEmitter::emit_tile_in_frame(const Expr &e) {
  llvm::IRBuilder<> entry = entry_builder();
  llvm::AllocaInst *memory = entry.CreateAlloca(
      llvm::ArrayType::get(builder_.getInt8Ty(), kRows * kRowBytes), nullptr, "tile");
  memory->setAlignment(llvm::Align(kRowBytes));
  const LoadNode *load = as_load(e);
  const bool masked = load && load->args.size() > 1;
  const auto place = masked ? tile_place(load->buffer, e.type(), load->args[0]) : std::nullopt;
  if (place) {
    const int columns = kRowBytes / e.type().bytes();
    llvm::Type *row = memory_type(context_, e.type().with_lanes(columns));
    const llvm::Align align(static_cast<uint64_t>(e.type().bytes()));
    for (int i = 0; i < kRows; i++) {
      const Expr own = row_of(load->args[1], i, columns);
      kept_.push_back(own);
      Value *mask = emit(own);
      Value *offset =
          builder_.CreateMul(place->stride, builder_.getInt64(static_cast<uint64_t>(i)));
      Value *from = builder_.CreateGEP(builder_.getInt8Ty(), place->first, offset);
      auto *access =
          builder_.CreateMaskedLoad(row, from, align, mask, llvm::Constant::getNullValue(row));
      module_.mark_access(access, load->buffer);
      Value *to = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory,
                                                      static_cast<uint64_t>(i) * kRowBytes);
      builder_.CreateAlignedStore(access, to, llvm::Align(kRowBytes));
    }
  } else {
    builder_.CreateAlignedStore(emit(e), memory, llvm::Align(kRowBytes));
  }
  TilePlace own;
  own.first = memory;
  own.stride = builder_.getInt64(kRowBytes);
  return load_tile(own);
}

bool FunctionEmitter::emit_tile_store(const StmtNode &store) {
  const Expr &value = store.args[1];
  if (store.args.size() > 2 || value.type().lanes() != kWords || value.type().bits() != 32 ||
      tile_buffers().empty()) {
    return false;
  }
  const LoadNode *load = as_load(value);
  const bool copies = load && load->args.size() == 1 &&
                      (tile_buffers().count(store.name) || tile_buffers().count(load->buffer)) &&
                      rows_of(load->args[0], kRowBytes / 4) &&
                      rows_of(store.args[0], kRowBytes / 4);
  if (!copies && !is_tile_product(value)) return false;
  Value *tile = emit_tile(value);
  const auto place = tile_place(store.name, value.type(), store.args[0]);
  if (!place || place->in_frame) {
    Value *words = words_of_tile(tile);
    if (place) {
      module_.mark_access(builder_.CreateAlignedStore(words, place->first, place->align),
                          store.name);
    } else {
      store_lanes_at(store.name, value.type(), store.args[0],
                     builder_.CreateBitCast(words, memory_type(context_, value.type())), nullptr,
                     Streams::No);
    }
    return true;
  }
  llvm::CallInst *access = builder_.CreateIntrinsic(
      llvm::Intrinsic::x86_tilestored64_internal, {},
      {builder_.getInt16(kRows), builder_.getInt16(kRowBytes), place->first, place->stride, tile});
  access->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
  access->setDoesNotThrow();
  access->addFnAttr(llvm::Attribute::WillReturn);
  module_.mark_access(access, store.name);
  return true;
}

}  // namespace polyhalite
