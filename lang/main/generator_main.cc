// main() of a program that consists of generators.
#include <iostream>

#include "polyhalite/generator.h"

int main(int argc, char **argv) {
  return polyhalite::generate_main(argc, argv, std::cout, std::cerr);
}
