// Walks over the elements of buffers: by value, through several buffers at once, or by coordinates.
// Needs no library.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/buffer_base.h"

namespace polyhalite::runtime::detail {

/// One loop of a walk through N buffers: its trip count and each buffer's step in elements.
template <size_t N>
struct WalkLoop {
  ptrdiff_t extent;
  ptrdiff_t step[N];
};

/// The loops of a walk over the common shape of `buffers`, innermost first: small strides of the
/// first buffer inside, and neighbours that are contiguous in all buffers joined.
template <size_t N>
std::vector<WalkLoop<N>> walk_loops(const polyhalite_buffer_t *const (&buffers)[N]) {
  const int n = buffers[0]->dimensions;
  std::vector<WalkLoop<N>> loops(static_cast<size_t>(n));
  for (size_t b = 0; b < N; b++) {
    require(buffers[b]->host || buffers[b]->number_of_elements() == 0,
            "a walk over the elements of a Buffer without memory");
    require(buffers[b]->dimensions == n, "a walk over Buffers of different dimensionality");
    for (int d = 0; d < n; d++) {
      require(buffers[b]->dim[d].extent == buffers[0]->dim[d].extent,
              "a walk over Buffers of different extents");
      loops[static_cast<size_t>(d)].extent = buffers[b]->dim[d].extent;
      loops[static_cast<size_t>(d)].step[b] = buffers[b]->dim[d].stride;
    }
  }
  // Insertion sort by the first buffer's stride: few loops, and stable.
  for (size_t i = 1; i < loops.size(); i++) {
    for (size_t j = i; j > 0 && loops[j].step[0] < loops[j - 1].step[0]; j--) {
      std::swap(loops[j], loops[j - 1]);
    }
  }
  size_t last = 0;
  for (size_t i = 1; i < loops.size(); i++) {
    bool joined = true;
    for (size_t b = 0; b < N; b++) {
      joined = joined && loops[last].step[b] * loops[last].extent == loops[i].step[b];
    }
    if (joined) {
      loops[last].extent *= loops[i].extent;
    } else {
      loops[++last] = loops[i];
    }
  }
  if (!loops.empty()) loops.resize(last + 1);
  return loops;
}

template <size_t N, typename F, size_t... I, typename... Ptrs>
void walk_values(const WalkLoop<N> *loops, size_t depth, F &f, std::index_sequence<I...> all,
                 Ptrs... at) {
  if (depth == 0) {
    f(*at...);
    return;
  }
  const WalkLoop<N> &loop = loops[depth - 1];
  if (depth > 1) {
    for (ptrdiff_t i = 0; i < loop.extent; i++) {
      walk_values(loops, depth - 1, f, all, at...);
      ((at += loop.step[I]), ...);
    }
  } else if (((loop.step[I] == 1) && ...)) {
    for (ptrdiff_t i = 0; i < loop.extent; i++) f(at[i]...);
  } else {
    for (ptrdiff_t i = 0; i < loop.extent; i++) {
      f(*at...);
      ((at += loop.step[I]), ...);
    }
  }
}

/// f(element, element of the second buffer...) at all common positions, in any order.
template <typename F, typename... Buffers>
void for_each_value(F &f, Buffers &...buffers) {
  constexpr size_t N = sizeof...(Buffers);
  const polyhalite_buffer_t *const raw[N] = {buffers.raw_buffer()...};
  const std::vector<WalkLoop<N>> loops = walk_loops(raw);
  walk_values(loops.data(), loops.size(), f, std::make_index_sequence<N>(), buffers.data()...);
}

// Can F be called with N ints? And: calls it with the first N of pos.
template <typename F, typename Seq>
struct TakesInts;
template <typename F, size_t... I>
struct TakesInts<F, std::index_sequence<I...>> {
  template <size_t>
  using Int = int;
  static constexpr bool value = std::is_invocable_v<F, Int<I>...>;
  template <typename G>
  static decltype(auto) call(G &f, const int *pos) {
    return f(pos[I]...);
  }
};

/// The smallest number of ints that F takes; -1 if none up to 32 does.
template <typename F, int N = 0>
constexpr int int_arity() {
  if constexpr (N > 32) {
    return -1;
  } else if constexpr (TakesInts<F, std::make_index_sequence<N>>::value) {
    return N;
  } else {
    return int_arity<F, N + 1>();
  }
}

/// f(pos), where F takes const int * or coordinates one by one.
template <typename F>
decltype(auto) call_at(F &f, const int *pos) {
  if constexpr (std::is_invocable_v<F &, const int *>) {
    return f(pos);
  } else {
    constexpr int kArity = int_arity<F &>();
    static_assert(kArity >= 0, "the function takes neither const int * nor coordinates");
    return TakesInts<F &, std::make_index_sequence<kArity>>::call(f, pos);
  }
}

/// Visits positions, dimension 0 fastest: of all dimensions for F(const int *), of as many as F has
/// parameters for F(int...).
template <typename F>
void for_each_element(F &f, const polyhalite_buffer_t &b) {
  int n = b.dimensions;
  if constexpr (!std::is_invocable_v<F &, const int *>) {
    n = int_arity<F &>();
    require(n <= b.dimensions, "for_each_element() with more coordinates than the Buffer has");
  }
  std::vector<int> pos(static_cast<size_t>(n) + 1);
  for (int d = 0; d < n; d++) {
    if (b.dim[d].extent <= 0) return;
    pos[static_cast<size_t>(d)] = b.dim[d].min;
  }
  while (true) {
    call_at(f, static_cast<const int *>(pos.data()));
    int d = 0;
    for (; d < n; d++) {
      int &p = pos[static_cast<size_t>(d)];
      if (++p < b.dim[d].min + b.dim[d].extent) break;
      p = b.dim[d].min;
    }
    if (d == n) return;
  }
}

}  // namespace polyhalite::runtime::detail
