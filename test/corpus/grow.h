// grow: draws schedules for a file of the corpus.
#pragma once

#include <cstdint>

#include "test/corpus/corpus_file.h"

namespace polyhalite::test {

/// Adds up to `count` schedules of one to four steps that the file does not have, with labels.
/// Legal and illegal ones come in equal numbers where the algorithm has both. Where the judge says
/// something else than enumeration, the case is printed, to be looked at; those that are refused
/// and legal are kept as such.
void grow(CorpusFile &file, int count, uint64_t seed);

}  // namespace polyhalite::test
