// The differential test: random algorithms with random schedules against the two oracles.
#pragma once

#include <cstdint>
#include <string>

#include "test/fuzz/case_text.h"
#include "test/fuzz/differential_counts.h"

namespace polyhalite::test {

/// The case that a seed draws; adds to the seconds.
Case drawn_case(uint64_t seed, DifferentialCounts &counts);

/// Tries one case; adds to the counts. Failures name the seed.
void differential(const Case &c, DifferentialCounts &counts);

/// Judges the case's tree twice, also asking isl about everything: surveys must hold exactly, and
/// both verdicts must agree. Runs nothing.
void judge_both_ways(const Case &c, DifferentialCounts &counts);

/// Lets the auto-scheduler complete the schedule of the case's algorithm, in some cases behind the
/// random directives that are legal; the result must be legal and give the interpreter's values.
void auto_scheduled(const Case &c, DifferentialCounts &counts);

/// The case's algorithm with a random schedule that has kernels.
Case with_kernels(Case c);

/// The loop IR of what becomes of with_kernels(c), and the PTX that a card gets of it.
std::string device_text(const Case &c);

/// Runs what becomes of with_kernels(c), kernels on a card that is played.
void with_random_kernels(const Case &c, DifferentialCounts &counts);

/// The same on this machine's card.
void on_card(const Case &c, DifferentialCounts &counts);

/// Judges one case; runs nothing.
void judge_only(const Case &c, DifferentialCounts &counts);

/// The case, and what tree and survey make of it.
std::string describe(const Case &c);

}  // namespace polyhalite::test
