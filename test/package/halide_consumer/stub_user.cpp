#include <cstdio>

#include "Halide.h"
#include "half.stub.h"

// A generator that calls another one hands itself over.
struct Caller : Halide::Generator<Caller> {
  Output<Buffer<float, 1>> out{"out"};
  void generate() {}
};

int main() {
  Halide::Buffer<float, 1> in(3);
  in.fill(12.0f);
  const Halide::GeneratorContext context(Halide::get_jit_target_from_environment());
  half::GeneratorParams params;
  params.factor = 4;
  Halide::Buffer<float, 1> out = half::generate(context, {in}, params).realize({3});
  if (out(2) != 3.0f) return std::printf("the stub gave %f, not 3\n", static_cast<double>(out(2)));
  const auto caller = Caller::create(context);
  Halide::Buffer<float, 1> of_caller = half::generate(caller.get(), {in}, params).realize({3});
  Halide::Buffer<float, 1> of_target = half::generate(context.target(), {in}).realize({3});
  if (of_caller(2) != 3.0f || of_target(2) != 6.0f) {
    return std::printf("stubs gave %f and %f, not 3 and 6\n", static_cast<double>(of_caller(2)),
                       static_cast<double>(of_target(2)));
  }
}
