// accesses: is each access, taken alone, where it should be?
#pragma once

#include "polyhedral/dataflow/relations.h"

namespace polyhalite::dataflow {

/// What the Func's statements read of images is what its definitions read.
void check_images(Relations &relations, int func);

/// Accesses of the Func's memories are inside of them.
void check_addresses(Relations &relations, int func);

}  // namespace polyhalite::dataflow
