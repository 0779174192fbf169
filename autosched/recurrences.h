// Nests for updates whose reduction variables say where they write: recurrences, factorizations,
// steps of time, triangles of sums. The order of their loops is part of what they mean, so that a
// nest is a guess until the judge has accepted it.
//
//   for k, phase, j, i:   a(i, j) = mux(phase, {sqrt(a(i, j)), a(i, j) / a(k, k), ...})
//     ->   phases unrolled, vectors along i
//   for i, k, j, j <= i:  c(j, i) += a(j, k) * b(k, i)
//     ->   blocks of j and i around k, which stay in registers; blocks of j at once
#pragma once

#include <functional>
#include <optional>

#include "autosched/machine.h"
#include "autosched/model.h"

namespace polyhalite::autosched {

/// Whether the nest is legal, with all Funcs at root.
using AcceptsNest = std::function<bool(const FixedNest &)>;

/// The best nest for a stage that is accepted; nothing where the stage is no such update, or where
/// none is better than its loops as they are.
std::optional<FixedNest> find_nest(const PipelineModel &model, const Machine &machine, int func,
                                   int stage, const AcceptsNest &accepts);

}  // namespace polyhalite::autosched
