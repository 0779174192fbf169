// Transposed convolutions, of any number of spatial dimensions: results whose places leave the same
// rest by the stride are a phase, a convolution of stride 1.
#include <algorithm>

#include "lang/ops/convolution.h"
#include "lang/ops/loops.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

std::optional<Phases> transposed_phases(const Window &window) {
  Phases phases;
  for (size_t i = 0; i < window.kernel.size(); i++) {
    if (window.dilation[i] != 1) return std::nullopt;
    const auto places = constant(window.shape[i]);
    const int stride = window.stride[i], before = window.before[i];
    const int cells = (window.kernel[i] + stride - 1) / stride;
    const int first = before / stride;
    if (before < 0 || cells - 1 < first || places.value_or(1) < 1) return std::nullopt;
    Expr count = (window.shape[i] + (before - 1)) / stride - (first - 1);
    if (places) count = static_cast<int>((*places + before - 1) / stride) - first + 1;
    phases.first.push_back(first);
    phases.window.kernel.push_back(cells);
    phases.window.stride.push_back(1);
    phases.window.dilation.push_back(1);
    phases.window.before.push_back(cells - 1 - first);
    phases.window.shape.push_back(count);
    phases.count *= stride;
    phases.differ = phases.differ || window.kernel[i] % stride != 0 || before % stride != 0;
  }
  return phases;
}

namespace {

// Kernels [phase * results + result, channel, cell...] of w[channel, result, cell...].
Tensor phase_kernels(const Tensor &w, int results, const Window &window, const Phases &phases) {
  const size_t spatial = window.kernel.size();
  Index shape{phases.count * results, w.size(0)};
  for (const int cells : phases.window.kernel) shape.emplace_back(cells);
  auto kernel = [=](const Index &at) {
    Index from{at[1], at[0] % results};
    Expr rest = at[0] / results, exists;
    for (size_t i = spatial; i-- > 0;) {
      const int stride = window.stride[i];
      const Expr cell = (phases.window.kernel[i] - 1 - at[i + 2]) * stride + rest % stride;
      rest = rest / stride;
      from.insert(from.begin() + 2, clamp(cell, 0, window.kernel[i] - 1));
      if (window.kernel[i] % stride == 0) continue;
      const Expr in = cell < window.kernel[i];
      exists = exists.defined() ? exists && in : in;
    }
    return exists.defined() ? select(exists, w(from), cast(w.type(), Expr(0))) : w(from);
  };
  return stored(Tensor(w.type(), shape, kernel, w.detached_stages()), "kernels");
}

// Along a dimension the rest of what a phase's results are placed at.
Expr rest_of_phase(const Expr &phase, const Window &window, size_t dimension) {
  int inner = 1;
  for (size_t i = dimension + 1; i < window.stride.size(); i++) inner *= window.stride[i];
  return (inner == 1 ? phase : phase / inner) % window.stride[dimension];
}

// Phases whose rest has fewer cells than others: strips of them leave out the rest, which is zeros.
// The last of those whose places begin within the border see one pixel further than the first ones,
// which else had to begin one result earlier: strips of one phase do so on their own.
StripWindows windows_of_phases(int width, int results, const Window &window, const Phases &phases) {
  bool equal = true, aligned = true;
  for (size_t i = 0; i < window.kernel.size(); i++) {
    equal = equal && window.kernel[i] % window.stride[i] == 0;
    aligned = aligned && window.before[i] % window.stride[i] == 0;
  }
  StripWindows own;
  if (width < 1) return own;
  // Strips of parts of phases, or of whole ones.
  if (!equal && (results % width == 0 || width % results == 0)) {
    own.has_cell = [=](const Expr &strip, const Index &cell) {
      Expr some;
      for (int p = 0; p < std::max(width / results, 1); p++) {
        const Expr phase =
            width > results ? strip * (width / results) + p : strip / (results / width);
        Expr all;
        for (size_t i = 0; i < window.kernel.size(); i++) {
          const int stride = window.stride[i];
          if (window.kernel[i] % stride == 0) continue;
          const Expr in =
              (phases.window.kernel[i] - 1 - cell[i]) * stride + rest_of_phase(phase, window, i) <
              window.kernel[i];
          all = all.defined() ? all && in : in;
        }
        some = some.defined() ? some || all : all;
      }
      return some;
    };
  }
  if (!aligned && results % width == 0) {
    own.further = [=](const Expr &strip, size_t i) {
      const int stride = window.stride[i], beyond = window.before[i] % stride;
      if (beyond == 0) return Expr(0);
      // 1 where the rest is less than what the border leaves.
      const Expr rest = rest_of_phase(strip / (results / width), window, i);
      return 1 - (rest + (stride - beyond)) / stride;
    };
  }
  return own;
}

// What phases have apart, each result at its place. `aligned`: all phases begin with the first
// `stride` places.
Tensor at_places(const Tensor &apart, int results, const Window &window, const Phases &phases,
                 bool aligned) {
  if (phases.count == 1) return apart;
  const size_t spatial = window.kernel.size();
  Index shape{apart.size(0), results};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  auto read = [=](const Index &at) {
    Index from{at[0], at[1]};
    Expr phase;
    for (size_t i = 0; i < spatial; i++) {
      const Expr place = at[i + 2] + window.before[i];
      const int stride = window.stride[i];
      from.push_back(aligned ? at[i + 2] / stride : place / stride - phases.first[i]);
      phase = phase.defined() ? phase * stride + place % stride : place % stride;
    }
    from[1] = phase * results + at[1];
    return apart(from);
  };
  // Results lie side by side in what they are read from: with an image stored by columns they are
  // turned a row at a time.
  return with_channels_innermost(Tensor(apart.type(), shape, read, apart.detached_stages()),
                                 "placed", Stage::Turn);
}

}  // namespace

Tensor transposed_convolution(const Tensor &x, const Tensor &strips, int results,
                              const Window &window) {
  const std::optional<Phases> phases = transposed_phases(window);
  if (!phases) {
    user_error("a transposed convolution with kernels in strips has another window",
               "only windows without dilation have phases, see transposed_phases()",
               "give its kernels as w[channel, result, ...]");
  }
  if (instead_of_columns(x, phases->window))
    return at_places(convolution(x, strips, phases->count * results, phases->window), results,
                     window, *phases, false);
  const int width = static_cast<int>(constant(strips.size(-1)).value_or(0));
  const StripWindows own = windows_of_phases(width, results, window, *phases);
  Window apart = phases->window;
  if (own.further) {
    for (size_t i = 0; i < apart.shape.size(); i++) {
      const int stride = window.stride[i];
      const auto places = constant(window.shape[i]);
      apart.shape[i] = places ? Expr(static_cast<int>(tiles(*places, stride)))
                              : (window.shape[i] + (stride - 1)) / stride;
    }
  }
  return at_places(strips_convolution(x, strips, phases->count * results, apart, Type(), 1, own),
                   results, window, *phases, static_cast<bool>(own.further));
}

Tensor transposed_convolution(const Tensor &x, const Tensor &w, const Window &window, int groups) {
  const std::optional<Phases> phases = transposed_phases(window);
  if (const auto count = constant(w.size(1)); groups == 1 && phases && count) {
    const int known = static_cast<int>(*count);
    const Tensor kernels = phase_kernels(w, known, window, *phases);
    return at_places(convolution_by_product(x, kernels, phases->window), known, window, *phases,
                     false);
  }
  const Type type = computed_type(x.type());
  const Expr results = w.size(1);  // of one group
  Index shape{x.size(0), results * groups};
  if (const auto c = constant(results)) shape[1] = static_cast<int>(*c * groups);
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  const Expr all = constant(w.size(0)) ? w.size(0) : x.size(1);
  const Expr channels = groups == 1 ? all : simplify(all / groups);
  const KernelDomain domain(channels, window.kernel);
  auto wide = [type](const Expr &e) { return e.type() == type ? e : cast(type, e); };
  // A result's cell gets each pixel that the kernel spreads to it.
  auto term = [&](const Index &at, const Expr &group) {
    Expr channel = domain.channel, result = at[1];
    if (groups > 1) {
      channel = group * channels + domain.channel;
      result = at[1] - group * results;
    }
    Index pixel{at[0], channel}, weight{channel, result};
    Expr hit;
    for (size_t i = 0; i < window.kernel.size(); i++) {
      const Expr n = x.size(static_cast<int>(i) + 2);
      const Expr from = at[i + 2] + window.before[i] - times(domain.cells[i], window.dilation[i]);
      const int stride = window.stride[i];
      const Expr source = stride == 1 ? from : from / stride;
      Expr here = from >= 0 && source < n;
      if (stride != 1) here = here && from % stride == 0;
      hit = hit.defined() ? hit && here : here;
      pixel.push_back(clamp(source, 0, n - 1));
      weight.push_back(domain.cells[i]);
    }
    const Expr value = wide(x(pixel)) * wide(w(weight));
    return hit.defined() ? select(hit, value, cast(type, Expr(0))) : value;
  };
  return summed(type, x.type(), shape, groups, domain, merged_stages({x, w}), term);
}

}  // namespace polyhalite::ops
