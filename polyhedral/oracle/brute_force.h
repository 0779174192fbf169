// The brute-force judge: enumerates the instances of a surveyed loop tree on small extents, in the
// tree's order, and compares what every read meets with what the sequential algorithm left there.
// The test oracle of the judge; it shares no reasoning with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "polyhedral/oracle/experiment.h"
#include "polyhedral/survey.h"

namespace polyhalite::oracle {

struct NamedPoint {
  StageId stage;
  std::vector<std::pair<std::string, int64_t>> at;  // algorithm variables
};

/// What a run did that the algorithm does not. Claims are the judge's:
///   a  an instance outside of its domain ran      b  a cell was read, or left, that nothing
///   produced c  a cell held another instance's value       d  productions at once shared storage
///   e  a parallel or vector loop carries something      f  an address is outside of its box
struct Violation {
  char claim;
  std::string func;  // whose storage, or the image
  Coordinates cell;
  std::vector<NamedPoint> instances;  // the one that noticed, then the other, if there is one
  std::string text;                   // all of it in one line
};

struct Enumeration {
  std::optional<Violation> violation;
  /// Why the experiment proves nothing: an assumption that the entry would refuse; empty else.
  std::string unmet;
  int64_t instances = 0;
  bool legal() const { return !violation && unmet.empty(); }
};

/// Beyond them the experiment is `unmet`.
struct Limits {
  int64_t instances = 500'000;
  int64_t reference = 300'000;  // of updates, to know what cells are to hold
};

/// One run, with the data of experiment.seed.
Enumeration enumerate(const LoopTree &tree, const Survey &survey, const Experiment &experiment,
                      const Limits &limits = {});

/// `experiment` with its outputs enlarged until the entry check of the compiled code takes them, as
/// far as that can be done.
Experiment with_room(const LoopTree &tree, const Survey &survey, Experiment experiment);

/// The first violation that `tries` sets of data show. Where no subscript or condition depends on
/// data one set is enough, and only one is tried.
Enumeration brute_force(const LoopTree &tree, const Survey &survey, Experiment experiment,
                        int tries = 4, const Limits &limits = {});

}  // namespace polyhalite::oracle
