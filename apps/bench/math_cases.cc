// Mathematical functions of float32 beside loops over the C library's: scalar code, and vectors of
// each length that this machine has.
#include <cmath>
#include <random>

#include "apps/bench/libm_loops.h"
#include "apps/bench/operator_case.h"
#include "polyhalite/ops.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

namespace {

using polyhalite::Buffer;
using polyhalite::Expr;
using polyhalite::Target;

constexpr int kSize = 8192;  // in the first cache, with the results

struct Function {
  const char *name;
  Expr (*make)(Expr);
  float from, to;
};

const Function kFunctions[] = {
    {"exp", polyhalite::exp, -20, 20},
    {"log", polyhalite::log, 1e-6f, 1e3f},
    {"tanh", polyhalite::tanh, -5, 5},
    {"erf", polyhalite::erf, -4, 4},
    {"sigmoid", polyhalite::ops::point::sigmoid, -10, 10},
    {"sin", polyhalite::sin, -1e4f, 1e4f},
    {"cos", polyhalite::cos, -1e4f, 1e4f},
};

PreparedOperator prepare(const Function &function, const Target &target, int lanes) {
  using namespace polyhalite;
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  Func f(function.name);
  f(x) = function.make(in(x));
  in.dim(0).set_bounds(0, kSize);
  f.output_buffer().dim(0).set_bounds(0, kSize);
  // Chains of several vectors at once: one alone waits for its own products.
  if (lanes > 1) {
    Var inner("inner");
    f.split(x, x, inner, 4 * lanes).vectorize(inner, lanes).unroll(inner);
  }
  Buffer<float> operands(kSize), ours(kSize), theirs(kSize);
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> values(function.from, function.to);
  operands.for_each_value([&](float &v) { v = values(engine); });
  PreparedOperator p;
  p.ours = [run = f.compile_to_callable({in}, target), operands, ours] { run(operands, ours); };
  p.peers.push_back({"libm", [loop = libm_loop(function.name), operands, theirs] {
                       loop(operands.data(), theirs.data(), kSize);
                     }});
  p.check = [ours, theirs] {
    for (int i = 0; i < kSize; i++) {
      const double apart = std::fabs(static_cast<double>(ours(i)) - theirs(i));
      if (!(apart <= 4 * 0x1p-23 * std::fabs(theirs(i)) + 0x1p-148)) {
        return "differs from libm by " + std::to_string(apart);
      }
    }
    return std::string();
  };
  return p;
}

}  // namespace

std::vector<OperatorCase> math_cases() {
  const Target host = polyhalite::get_jit_target_from_environment();
  std::vector<Target> machines{host};
  const Target narrow("x86-64-linux-avx2-fma");
  if (host.has_feature(Target::AVX512) && host.os == Target::Linux) machines.push_back(narrow);
  std::vector<OperatorCase> cases;
  for (const Function &function : kFunctions) {
    const auto add = [&](const Target &target, int lanes) {
      OperatorCase one;
      one.group = "math";
      one.name = function.name;
      one.shape = "lanes:" + std::to_string(lanes);
      one.type = "f32";
      one.prepare = [=] { return prepare(function, target, lanes); };
      cases.push_back(one);
    };
    for (const Target &target : machines) add(target, target.natural_vector_size<float>());
    add(host, 1);
  }
  return cases;
}

}  // namespace polyhalite_apps
