// Prints the target string of this machine in words that Halide 14 knows.
#include <cstdio>

#include "polyhalite/target.h"

int main() {
  using polyhalite::Target;
  Target target = polyhalite::get_host_target();
  for (const auto newer : {Target::AVX512_Zen4, Target::AVXVNNI}) {
    target = target.without_feature(newer);
  }
  target.processor_tune = Target::ProcessorGeneric;  // it names no processors
  std::puts(target.to_string().c_str());
}
