// The schedule of Fourier transforms: vectors of members of a batch, the results of a pass's factor
// side by side.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

void schedule_fourier(const Stage &s, const Target &target) {
  Func spectrum = s.func;
  const bool blocks = s.groups == 1;  // of rows, which are the members
  const int lanes = target.natural_vector_size(Float(64));
  const std::vector<Var> args = spectrum.args();
  const Var part = args[0], k = args[1], row = args[2];
  spectrum.compute_root();
  spectrum.bound(part, 0, 2).bound(k, 0, static_cast<int>(*constant(s.extents[1])));
  if (blocks) {
    Var member("member");
    spectrum.split(row, row, member, lanes, TailStrategy::GuardWithIf);
    spectrum.reorder(member, part, k, row).vectorize(member).unroll(part).parallel(row);
  } else {
    spectrum.unroll(part);
  }
  for (size_t i = 0; i < s.parts.size(); i++) {
    Func f = s.parts[i];
    const std::vector<Var> of = f.args();
    if (blocks)
      f.compute_at(spectrum, row);
    else
      f.compute_root();
    if (s.tile[i] == 0) {
      // Members of the next batch, which stand across the last one's.
      f.reorder(of[1], of[0]).vectorize(of[1], lanes, TailStrategy::GuardWithIf);
      continue;
    }
    f.vectorize(of[0], lanes, blocks ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
    f.unroll(of[1]);
  }
}

}  // namespace polyhalite::ops
