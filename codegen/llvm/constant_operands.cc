#include "codegen/llvm/constant_operands.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace polyhalite {

namespace {

constexpr unsigned kVectorRegisters = 16, kVectorRegisterBits = 256;

// The scheduler of instructions may begin some earlier than they stand here.
constexpr unsigned kSpareRegisters = 1;

unsigned registers_of(const llvm::Type *type) {
  const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return 0;
  const unsigned bits = vector->getNumElements() * vector->getScalarSizeInBits();
  return (bits + kVectorRegisterBits - 1) / kVectorRegisterBits;
}

/// Whether the operand can be one in memory.
bool reads_memory(const llvm::Use &use) {
  const auto *instruction = llvm::cast<llvm::Instruction>(use.getUser());
  if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction)) {
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    return id == llvm::Intrinsic::fmuladd || id == llvm::Intrinsic::fma;
  }
  switch (instruction->getOpcode()) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FMul:
    case llvm::Instruction::Add:
    case llvm::Instruction::And:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
      return true;
    case llvm::Instruction::FSub:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::Sub:
      return use.getOperandNo() == 1;
    default:
      return false;
  }
}

/// Whether the code of the instruction has the mask of signs.
bool has_sign_mask(const llvm::Instruction &instruction) {
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && registers_of(call->getType()) > 0 &&
         (call->getIntrinsicID() == llvm::Intrinsic::fabs ||
          call->getIntrinsicID() == llvm::Intrinsic::copysign);
}

/// Registers that values other than constants take where most are alive.
unsigned most_alive(const llvm::BasicBlock &block) {
  std::set<const llvm::Value *> alive;
  unsigned now = 0, most = 0;
  const auto begins = [&](const llvm::Value *v) {
    if (!llvm::isa<llvm::Constant>(v) && alive.insert(v).second) now += registers_of(v->getType());
  };
  // What comes from outside, or goes there or to the next step, is alive all the time.
  for (const llvm::Instruction &instruction : block) {
    for (const llvm::Value *operand : instruction.operands()) {
      const auto *made = llvm::dyn_cast<llvm::Instruction>(operand);
      if (!made || made->getParent() != &block || llvm::isa<llvm::PHINode>(instruction)) {
        begins(operand);
      }
    }
    for (const llvm::User *user : instruction.users()) {
      if (llvm::cast<llvm::Instruction>(user)->getParent() != &block) begins(&instruction);
    }
  }
  for (auto at = block.rbegin(); at != block.rend(); ++at) {
    if (alive.erase(&*at)) now -= registers_of(at->getType());
    if (llvm::isa<llvm::PHINode>(*at)) continue;
    for (const llvm::Value *operand : at->operands()) begins(operand);
    most = std::max(most, now);
  }
  return most;
}

/// A constant, and all its operands in the loop.
struct Held {
  llvm::Constant *value;
  std::vector<llvm::Use *> uses;
};

/// A polynomial's first coefficient: the instruction would write over the register that has it.
bool is_written_over(const Held &held) {
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(held.uses[0]->getUser());
  return held.uses.size() == 1 && call && llvm::isa<llvm::Constant>(call->getArgOperand(2)) &&
         held.uses[0]->getOperandNo() < 2;
}

// In the order of their first uses, which is the same in every run.
std::vector<Held> constants_of(llvm::BasicBlock &block) {
  std::vector<Held> all;
  std::map<llvm::Constant *, size_t> places;
  for (llvm::Instruction &instruction : block) {
    // Shifts' counts and shuffles' lanes are parts of instructions.
    if (llvm::isa<llvm::PHINode, llvm::ShuffleVectorInst>(instruction)) continue;
    if (instruction.isShift()) continue;
    for (llvm::Use &use : instruction.operands()) {
      auto *constant = llvm::dyn_cast<llvm::Constant>(use.get());
      if (!constant || registers_of(constant->getType()) == 0) continue;
      if (constant->isNullValue() || llvm::isa<llvm::UndefValue>(constant)) continue;
      const auto [place, is_new] = places.try_emplace(constant, all.size());
      if (is_new) all.push_back({constant, {}});
      all[place->second].uses.push_back(&use);
    }
  }
  return all;
}

void fit(llvm::BasicBlock &block, std::map<llvm::Constant *, llvm::GlobalVariable *> &in_memory) {
  std::vector<Held> constants = constants_of(block);
  const bool masks = std::any_of(block.begin(), block.end(), has_sign_mask);
  const size_t needed = constants.size() + (masks ? 1 : 0) + most_alive(block) + kSpareRegisters;
  if (needed <= kVectorRegisters) return;
  std::erase_if(constants, [](const Held &held) {
    return registers_of(held.value->getType()) != 1 ||
           !std::all_of(held.uses.begin(), held.uses.end(),
                        [](const llvm::Use *use) { return reads_memory(*use); });
  });
  std::stable_sort(constants.begin(), constants.end(), [](const Held &a, const Held &b) {
    const bool first = is_written_over(a), second = is_written_over(b);
    return first != second ? first : a.uses.size() < b.uses.size();
  });
  if (constants.size() > needed - kVectorRegisters) constants.resize(needed - kVectorRegisters);
  for (const Held &held : constants) {
    // Of a variable LLVM does not know that the loop could keep it in a register.
    llvm::GlobalVariable *&memory = in_memory[held.value];
    if (!memory) {
      memory = new llvm::GlobalVariable(*block.getModule(), held.value->getType(), false,
                                        llvm::GlobalValue::PrivateLinkage, held.value, "constant");
      memory->setAlignment(llvm::Align(kVectorRegisterBits / 8));
    }
    for (llvm::Use *use : held.uses) {
      llvm::IRBuilder<> before(llvm::cast<llvm::Instruction>(use->getUser()));
      use->set(before.CreateAlignedLoad(held.value->getType(), memory, memory->getAlign()));
    }
  }
}

bool is_loop(const llvm::BasicBlock &block) {
  const auto *end = block.getTerminator();
  return std::any_of(llvm::succ_begin(end), llvm::succ_end(end),
                     [&](const llvm::BasicBlock *next) { return next == &block; });
}

}  // namespace

void constants_to_memory(llvm::Module &module, const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &has = *machine.getMCSubtargetInfo();
  if (machine.getTargetTriple().getArch() != llvm::Triple::x86_64) return;
  if (!has.checkFeatures("+avx2") || has.checkFeatures("+avx512f")) return;
  std::map<llvm::Constant *, llvm::GlobalVariable *> in_memory;
  for (llvm::Function &function : module) {
    for (llvm::BasicBlock &block : function) {
      if (is_loop(block)) fit(block, in_memory);
    }
  }
}

}  // namespace polyhalite
