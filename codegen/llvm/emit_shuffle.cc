// Lanes in another order: vectors one behind the other, interleaved ones, any.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>

#include "codegen/llvm/function_emitter.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

// Are all lanes of 2, 4, 8, ... vectors of even lengths in turn what is picked?
bool interleaves(const ShuffleNode &s) {
  const size_t n = s.args.size(), lanes = static_cast<size_t>(s.args[0].type().lanes());
  if (n < 2 || (n & (n - 1)) != 0 || lanes % 2 != 0 || s.indices.size() != n * lanes) return false;
  for (const Expr &arg : s.args) {
    if (static_cast<size_t>(arg.type().lanes()) != lanes) return false;
  }
  for (size_t k = 0; k < s.indices.size(); k++) {
    if (static_cast<size_t>(s.indices[k]) != k % n * lanes + k / n) return false;
  }
  return true;
}

}  // namespace

Value *FunctionEmitter::concatenate(const std::vector<Value *> &parts) {
  Value *all = nullptr;
  int have = 0;
  for (Value *part : parts) {
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(part->getType())) {
      const int more = static_cast<int>(vector->getNumElements());
      if (!all) {
        all = part;
        have = more;
        continue;
      }
      // Both operands of a shuffle have one type: the shorter is lengthened by lanes of no
      // interest.
      std::vector<int> lengthen(static_cast<size_t>(have), -1), join;
      for (int i = 0; i < more; i++) {
        if (i < have) lengthen[static_cast<size_t>(i)] = i;
      }
      internal_check(more <= have, "vectors are concatenated by falling length");
      Value *same_length = more == have ? part : builder_.CreateShuffleVector(part, lengthen);
      for (int i = 0; i < have + more; i++) join.push_back(i);
      all = builder_.CreateShuffleVector(all, same_length, join);
      have += more;
    } else {
      if (!all) {
        all = llvm::PoisonValue::get(
            llvm::FixedVectorType::get(part->getType(), static_cast<unsigned>(parts.size())));
      }
      all = builder_.CreateInsertElement(all, part, static_cast<uint64_t>(have++));
    }
  }
  return all;
}

// The first lanes of 2, 4, 8, ... vectors, then the second ones, and so on. In each round a vector
// and the one that stands half of them further are merged, lane by lane:
//
//   {a0 a1 b0 b1} {c0 c1 d0 d1}  ->  {a0 c0 a1 c1} {b0 d0 b1 d1}
//
// Short ones first lie behind one another, so that each merge fills the processor's vectors.
Value *FunctionEmitter::interleaved(const std::vector<Value *> &vectors) {
  auto *type = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType());
  const int bytes = static_cast<int>(type->getScalarSizeInBits() + 7) / 8;
  const int all = static_cast<int>(type->getNumElements()), even = all & -all;
  const int full = module_.target.natural_vector_size(bytes);
  std::vector<Value *> pieces;
  for (int first = 0; first < all; first += even) {
    std::vector<int> own(static_cast<size_t>(even));
    std::iota(own.begin(), own.end(), first);
    std::vector<Value *> rows;
    for (Value *v : vectors) {
      rows.push_back(even == all ? v : builder_.CreateShuffleVector(v, own));
    }
    int lanes = even;
    for (; rows.size() > 2 && 2 * lanes <= full; lanes *= 2) {
      std::vector<Value *> longer;
      for (size_t i = 0; i < rows.size(); i += 2) {
        longer.push_back(concatenate({rows[i], rows[i + 1]}));
      }
      rows = std::move(longer);
    }
    std::vector<int> low, high;
    for (int lane = 0; lane < lanes; lane++) {
      low.push_back(lane / 2 + lane % 2 * lanes);
      high.push_back(low.back() + lanes / 2);
    }
    for (size_t round = 1; round < vectors.size(); round *= 2) {
      std::vector<Value *> merged;
      for (size_t i = 0; i < rows.size() / 2; i++) {
        Value *a = rows[i], *b = rows[i + rows.size() / 2];
        merged.push_back(builder_.CreateShuffleVector(a, b, low));
        merged.push_back(builder_.CreateShuffleVector(a, b, high));
      }
      rows = std::move(merged);
    }
    pieces.insert(pieces.end(), rows.begin(), rows.end());
  }
  return concatenate(pieces);
}

Value *FunctionEmitter::emit_shuffle(const ShuffleNode &s) {
  std::vector<Value *> parts;
  for (const Expr &arg : s.args) parts.push_back(emit(arg));
  const bool one_scalar = parts.size() == 1 && s.args[0].type().is_scalar();
  if (one_scalar) return splat(parts[0], s.type.lanes());
  if (interleaves(s)) return interleaved(parts);
  Value *all = concatenate(parts);
  if (s.type.is_scalar()) {
    return builder_.CreateExtractElement(all, static_cast<uint64_t>(s.indices[0]));
  }
  return builder_.CreateShuffleVector(all, s.indices);
}

// Bytes and halves of one vector in any order are one instruction of processors that have it. LLVM
// takes a dozen for columns of rows, whose stores it knows, unless it cannot see the order.
Value *FunctionEmitter::permuted(Value *v, const std::vector<int> &order) {
  const auto *type = llvm::cast<llvm::FixedVectorType>(v->getType());
  const unsigned bits = type->getScalarSizeInBits(), lanes = type->getNumElements();
  constexpr unsigned kVector = 512;
  const bool has_it = type->getElementType()->isIntegerTy() && (bits == 8 || bits == 16) &&
                      bits * lanes == kVector && order.size() == lanes &&
                      module_.target.has_feature(Target::AVX512_Cannonlake);
  if (!has_it) return builder_.CreateShuffleVector(v, order);
  std::vector<llvm::Constant *> at;
  for (const int lane : order) at.push_back(builder_.getIntN(bits, static_cast<uint64_t>(lane)));
  auto *hide = llvm::InlineAsm::get(llvm::FunctionType::get(v->getType(), {v->getType()}, false),
                                    "", "=v,0", false);
  auto *hidden = builder_.CreateCall(hide, {llvm::ConstantVector::get(at)});
  hidden->setDoesNotAccessMemory();
  hidden->setDoesNotThrow();
  return builder_.CreateIntrinsic(bits == 8 ? llvm::Intrinsic::x86_avx512_permvar_qi_512
                                            : llvm::Intrinsic::x86_avx512_permvar_hi_512,
                                  {}, {v, hidden});
}

}  // namespace polyhalite
