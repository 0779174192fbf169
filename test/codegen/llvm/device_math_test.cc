// DeviceMath against the C library, run on the processor: the code is the same arithmetic.
#include "codegen/llvm/device_math.h"

#include <gtest/gtest.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cmath>
#include <limits>

#include "codegen/llvm/machine.h"

namespace polyhalite {
namespace {

using Binary = float (*)(float, float);

// Functions NAME(x, y) of this process, NAME's own code where `rest` is false.
class Compiled {
 public:
  explicit Compiled(const std::vector<std::string> &names) {
    llvm::LLVMContext context;
    auto machine = make_machine(get_host_target());
    llvm::Module module("math", context);
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    llvm::Type *f = llvm::Type::getFloatTy(context);
    for (const std::string &name : names) {
      auto *function =
          llvm::Function::Create(llvm::FunctionType::get(f, {f, f}, false),
                                 llvm::Function::ExternalLinkage, "device_" + name, module);
      llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
      builder.CreateRet(
          DeviceMath(builder).emit_rest(name, {function->getArg(0), function->getArg(1)}));
    }
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager passes;
    machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile);
    passes.run(module);
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    EXPECT_EQ(LLVMOrcCreateLLJIT(&jit_, nullptr), nullptr);
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit_);
    LLVMOrcDefinitionGeneratorRef process = nullptr;
    EXPECT_EQ(LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
                  &process, LLVMOrcLLJITGetGlobalPrefix(jit_), nullptr, nullptr),
              nullptr);
    LLVMOrcJITDylibAddGenerator(library, process);
    EXPECT_EQ(LLVMOrcLLJITAddObjectFile(
                  jit_, library,
                  LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(), "math")),
              nullptr);
  }
  ~Compiled() { LLVMConsumeError(LLVMOrcDisposeLLJIT(jit_)); }

  Binary find(const std::string &name) {
    LLVMOrcExecutorAddress address = 0;
    EXPECT_EQ(LLVMOrcLLJITLookup(jit_, &address, ("device_" + name).c_str()), nullptr);
    return reinterpret_cast<Binary>(address);
  }

 private:
  LLVMOrcLLJITRef jit_ = nullptr;
};

Compiled &compiled() {
  static Compiled c({"sin", "cos", "tan", "pow", "atan2", "erf", "sinh", "cosh", "asinh", "acosh",
                     "atanh", "asin", "acos"});
  return c;
}

// |a - b| in units of b's last place; small numbers have that of the smallest normal one.
double units(float a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1e9;
  const auto wanted = static_cast<float>(b);
  if (a == wanted) return 0;
  if (std::isinf(wanted)) return 1e9;
  const float size = std::max(std::fabs(wanted), std::numeric_limits<float>::min());
  const double unit = std::ldexp(1.0, std::ilogb(size) - 23);
  return std::fabs(a - b) / unit;
}

void expect_near(const char *name, double (*reference)(double), float from, float to,
                 double most_units) {
  const Binary f = compiled().find(name);
  constexpr int kSteps = 5000;
  double worst = 0;
  float at = from;
  for (int i = 0; i <= kSteps; i++) {
    const float x = from + (to - from) * static_cast<float>(i) / kSteps;
    const double u = units(f(x, 0), reference(static_cast<double>(x)));
    if (u > worst) {
      worst = u;
      at = x;
    }
  }
  EXPECT_LE(worst, most_units) << name << "(" << at << ") = " << f(at, 0) << ", not "
                               << reference(static_cast<double>(at));
}

TEST(DeviceMath, IsNearTheCLibrary) {
  expect_near("erf", std::erf, -6, 6, 4);
  expect_near("erf", std::erf, -1e-3f, 1e-3f, 4);
  expect_near("sinh", std::sinh, -88, 88, 8);
  expect_near("sinh", std::sinh, -1.5f, 1.5f, 8);
  expect_near("cosh", std::cosh, -88, 88, 8);
  expect_near("asinh", std::asinh, -2, 2, 6);
  expect_near("asinh", std::asinh, -1e12f, 1e12f, 6);
  expect_near("acosh", std::acosh, 1, 1.01f, 6);
  expect_near("acosh", std::acosh, 1, 1e12f, 6);
  expect_near("atanh", std::atanh, -0.9999f, 0.9999f, 6);
  expect_near("asin", std::asin, -1, 1, 6);
  expect_near("acos", std::acos, -1, 0.99f, 6);
}

TEST(DeviceMath, ManyTurns) {
  for (const auto &[name, reference] :
       {std::pair<const char *, double (*)(double)>{"sin", std::sin}, {"cos", std::cos}}) {
    const Binary f = compiled().find(name);
    for (float x = 8192; x < 1e14f; x *= 1.37f) {
      EXPECT_NEAR(f(x, 0), reference(static_cast<double>(x)), 3e-7) << name << "(" << x << ")";
      EXPECT_NEAR(f(-x, 0), reference(static_cast<double>(-x)), 3e-7) << name << "(-" << x << ")";
    }
  }
}

TEST(DeviceMath, NumbersThatAreNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float numbers[] = {-kInfinity, -3, -2, -1, -0.5f, -0.0f, 0, 0.5f, 1, 2, 3, kInfinity, nan};
  const Binary power = compiled().find("pow"), angle = compiled().find("atan2");
  for (float x : numbers) {
    for (float y : numbers) {
      if (std::isfinite(x) && std::isfinite(y)) continue;
      const double p = std::pow(static_cast<double>(x), static_cast<double>(y));
      EXPECT_EQ(units(power(x, y), p), 0) << "pow(" << x << ", " << y << ") = " << power(x, y);
      const double a = std::atan2(static_cast<double>(x), static_cast<double>(y));
      EXPECT_LE(units(angle(x, y), a), 3) << "atan2(" << x << ", " << y << ") = " << angle(x, y);
    }
  }
  for (const char *name : {"erf", "sinh", "asinh"}) {
    const Binary f = compiled().find(name);
    EXPECT_TRUE(std::isnan(f(nan, 0))) << name;
    EXPECT_EQ(f(kInfinity, 0), std::string(name) == "erf" ? 1 : kInfinity) << name;
    EXPECT_EQ(f(-kInfinity, 0), std::string(name) == "erf" ? -1 : -kInfinity) << name;
  }
}

}  // namespace
}  // namespace polyhalite
