// main() of a program that consists of generators.
#include <csignal>
#include <iostream>

#include "polyhalite/cancellation.h"
#include "polyhalite/generator.h"

namespace {

const polyhalite::Cancellation interrupted;

// The first signal ends the compilation and leaves no half-written file, the second the program.
void interrupt(int signal) {
  interrupted.request();
  std::signal(signal, SIG_DFL);
}

}  // namespace

int main(int argc, char **argv) {
  const polyhalite::CancellationScope scope(interrupted);
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  return polyhalite::generate_main(argc, argv, std::cout, std::cerr);
}
