// habits: whether a loop's indices gain by several threads, as it was measured when the loop ran
// before. What a second thread costs depends on the machine, on where its cores lie and on who
// else uses them, and short loops are as long as that.
#pragma once

#include <stdint.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

/// How long a loop took, in ticks(), by one thread and by several; 0: not known. Threads that run
/// the same loop at once may lose a measurement.
struct Habit {
  uintptr_t loop;
  uint32_t alone, shared;
  uint32_t runs, seen;  // so far; the least of the runs that look at the other way
};

/// That of the loop of that name, number of indices and number of threads. Loops that meet in one
/// place of a table take turns to be known.
Habit &habit_of(uintptr_t loop, int extent, int threads);

/// Who does the loop's next run.
struct Way {
  bool alone;
  bool wake;    // threads that sleep are woken for one of the next runs, which looks what they do
  bool counts;  // what it takes is to be learnt
};

/// The way that was the better one, now and then the other one. `asleep`: a thread would have to
/// wake, which is not what the loop takes where it runs again and again.
Way way_of(Habit &habit, bool asleep);

/// What that run took.
void learn(Habit &habit, bool alone, uint64_t ticks);

/// A clock that costs little; its unit is the processor's.
uint64_t ticks();

}  // namespace polyhalite::runtime
