// Prints the target string of this machine.
#include <cstdio>

#include "polyhalite/target.h"

int main() { std::puts(polyhalite::get_host_target().to_string().c_str()); }
