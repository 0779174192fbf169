#include "codegen/llvm/device_code.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Pass.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/ir/instructions.h"
#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/scale_factors.h"
#include "codegen/llvm/types.h"
#include "lang/ir/visit.h"
#include "polyhalite/cancellation.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr unsigned kGlobalSpace = 1;
constexpr int kLeastCapability = 80, kHopper = 90;

// "blur.y" -> "blur_y", and another name where that is taken.
std::string symbol_of(const std::string &name, std::set<std::string> *taken) {
  std::string symbol = "kernel_";
  for (char c : name) symbol += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  for (int i = 1; !taken->insert(symbol).second; i++) symbol += "_" + std::to_string(i);
  return symbol;
}

int capability_of(const Target &target) {
  const int asked = target.get_cuda_capability_lower_bound();
  // Without a word for it, what this library's instructions need.
  constexpr int kUnspecified = 20;
  return asked <= kUnspecified ? kLeastCapability : asked;
}

// A collective's instruction exists where the kernel is to run.
void check_instructions(const Stmt &kernel, int capability) {
  for_each_stmt(kernel, [&](const Stmt &s) {
    if (s->kind != StmtKind::Collective) return;
    const Instruction *i = find_instruction(s->name);
    if (i && i->least_capability <= capability) return;
    user_error("the kernel '" + kernel->name + "' uses the instruction '" + s->name + "'",
               i ? "it needs compute capability " + std::to_string(i->least_capability / 10) + "." +
                       std::to_string(i->least_capability % 10)
                 : "there is no such instruction",
               "compile for a target with cuda_capability_" +
                   std::to_string(i ? i->least_capability : kLeastCapability));
  });
}

// The kernel as a function of its own: what it uses are its arguments.
Function function_of(const Stmt &kernel, const KernelOperands &operands) {
  Function f;
  f.name = kernel->name;
  for (const KernelBuffer &b : operands.buffers) {
    f.args.push_back({b.name, true, b.is_written, b.type, 0});
  }
  for (const Expr &e : operands.scalars) {
    f.args.push_back({as_variable(e)->name, false, false, e.type(), 0});
  }
  f.body = kernel;
  return f;
}

llvm::FunctionType *kernel_type(llvm::LLVMContext &context, const KernelOperands &operands) {
  std::vector<llvm::Type *> args(operands.buffers.size(),
                                 llvm::PointerType::get(context, kGlobalSpace));
  for (const Expr &e : operands.scalars) args.push_back(memory_type(context, e.type()));
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), args, false);
}

void limit_threads(llvm::Module &module, llvm::Function *f, const Stmt &kernel) {
  llvm::LLVMContext &context = module.getContext();
  constexpr const char *kLimits[] = {"maxntidx", "maxntidy", "maxntidz"};
  // The driver holds a launch against the product of the three, not against each: a kernel of which
  // an extent is not known may have as many threads as any has.
  int64_t threads[3] = {};
  bool known = true;
  for (size_t d = 0; d < 3; d++) known = is_const_int(kernel->args[d], &threads[d]) && known;
  if (!known) {
    threads[0] = kMostThreads;
    threads[1] = threads[2] = 1;
  }
  std::vector<llvm::Metadata *> entry = {llvm::ValueAsMetadata::get(f)};
  for (size_t d = 0; d < 3; d++) {
    entry.push_back(llvm::MDString::get(context, kLimits[d]));
    entry.push_back(llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
        llvm::Type::getInt32Ty(context), static_cast<uint64_t>(threads[d]))));
  }
  module.getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(context, entry));
}

// LLVM's passes to PTX, and scale_factors in front of the selection of instructions.
class PtxPasses : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass *pass) override {
    if (pass->getPassName().contains("Instruction Selection")) {
      llvm::legacy::PassManager::add(make_scale_factors());
      scales_ = true;
    }
    llvm::legacy::PassManager::add(pass);
  }
  bool scales() const { return scales_; }

 private:
  bool scales_ = false;
};

struct NumberedKernel {
  Stmt kernel;
  bool is_aligned;
};

std::string compile_variant(const std::vector<NumberedKernel> &kernels, const DeviceCode &code,
                            const Function &whole, const Target &target, int capability,
                            bool is_specific) {
  llvm::LLVMContext context;
  auto machine = make_device_machine(capability, is_specific);
  llvm::Module module(whole.name, context);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  for (size_t k = 0; k < kernels.size(); k++) {
    const auto &[kernel, is_aligned] = kernels[k];
    check_instructions(kernel, capability);
    const KernelOperands operands = kernel_operands(kernel);
    const Function f = function_of(kernel, operands);
    ModuleState state(module, f, target, EmitOptions());
    llvm::Function *function = state.make_function(
        code.kernels[k].symbol, kernel_type(context, operands), llvm::GlobalValue::ExternalLinkage);
    function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    function->addFnAttr("target-cpu", machine->getTargetCPU());
    function->addFnAttr("target-features", machine->getTargetFeatureString());
    limit_threads(module, function, kernel);
    FunctionEmitter(state, function)
        .emit_kernel(kernel, operands,
                     is_aligned ? aligned_operands(kernel, operands) : AlignedOperands());
  }
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(module, &out)) {
    internal_check(false, ("emitted LLVM IR of kernels is broken: " + out.str()).c_str());
  }
  optimize(module, *machine);
  check_cancelled();
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream text(bytes);
  PtxPasses passes;
  const bool refused =
      machine->addPassesToEmitFile(passes, text, nullptr, llvm::CodeGenFileType::AssemblyFile);
  internal_check(!refused && passes.scales(), "LLVM cannot write PTX");
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

std::vector<Stmt> kernels_of(const Function &f) {
  std::vector<Stmt> kernels;
  std::set<const StmtNode *> seen;
  for_each_stmt(f.body, [&](const Stmt &s) {
    if (s->kind == StmtKind::Kernel && seen.insert(s.get()).second) kernels.push_back(s);
  });
  return kernels;
}

}  // namespace

AlignedOperands aligned_operands(const Stmt &kernel, const KernelOperands &operands) {
  constexpr int kBytes = 16;
  std::set<std::string> with_vectors;
  for_each_stmt(kernel, [&](const Stmt &s) {
    if (s->kind == StmtKind::Store && s->args[1].type().is_vector()) with_vectors.insert(s->name);
  });
  for_each_operand(kernel, [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      const LoadNode *load = as_load(n);
      if (load && n.type().is_vector()) with_vectors.insert(load->buffer);
    });
  });
  AlignedOperands aligned;
  for (const KernelBuffer &b : operands.buffers) {
    if (!with_vectors.count(b.name)) continue;
    aligned.buffers.insert(b.name);
    // Rows begin where the strides beyond the first say; the first index counts from its min.
    const std::string stride = b.name + ".stride.", first_min = b.name + ".min.0";
    for (const Expr &e : operands.scalars) {
      const std::string &name = as_variable(e)->name;
      const bool is_row = name.starts_with(stride) && name != stride + "0";
      if (is_row || name == first_min) aligned.fields[name] = kBytes / b.type.bytes();
    }
  }
  return aligned;
}

bool has_kernels(const Function &f) { return !kernels_of(f).empty(); }

DeviceCode compile_kernels(const Function &f, const Target &target) {
  DeviceCode code;
  code.capability = capability_of(target);
  std::vector<NumberedKernel> kernels;
  std::set<std::string> taken;
  for (const Stmt &k : kernels_of(f)) {
    const int64_t bytes = block_bytes(k);
    const int64_t dynamic = bytes > kMostStaticBlockBytes ? bytes : 0;
    code.numbers[k.get()] = static_cast<int>(code.kernels.size());
    code.kernels.push_back({symbol_of(k->name, &taken), k->name, dynamic});
    kernels.push_back({k, false});
    if (aligned_operands(k, kernel_operands(k)).buffers.empty()) continue;
    code.kernels.back().aligned = static_cast<int>(code.kernels.size());
    code.kernels.push_back({symbol_of(k->name + "_aligned", &taken), k->name, dynamic});
    kernels.push_back({k, true});
  }
  code.portable = compile_variant(kernels, code, f, target, code.capability, false);
  if (target.has_feature(Target::SM90a)) {
    code.sm_90a = compile_variant(kernels, code, f, target, kHopper, true);
  }
  return code;
}

std::string ptx_text(const Function &f, const Target &target) {
  if (!has_kernels(f)) {
    user_error("'" + f.name + "' has no PTX", "no stage of it runs on a GPU",
               "schedule a stage with gpu_blocks and gpu_threads, or gpu_tile");
  }
  DeviceCode code = compile_kernels(f, target);
  return code.sm_90a.empty() ? code.portable : code.sm_90a;
}

}  // namespace polyhalite
