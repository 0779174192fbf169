// What runs write to: Realization, the outputs as a value, and RealizationArg, outputs that exist.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/buffer.h"

namespace polyhalite {

/// The outputs of a run.
class Realization {
 public:
  Realization() = default;
  explicit Realization(const Buffer<> &b) : buffers_{b} {}
  explicit Realization(std::vector<Buffer<>> buffers) : buffers_(std::move(buffers)) {}
  explicit Realization(std::initializer_list<Buffer<>> buffers) : buffers_(buffers) {}
  template <typename T, int D, typename... More,
            typename = std::enable_if_t<(sizeof...(More) > 0) &&
                                        (std::is_convertible_v<More, Buffer<>> && ...)>>
  explicit Realization(const Buffer<T, D> &first, const More &...more) : buffers_{first, more...} {}

  size_t size() const { return buffers_.size(); }
  /// CompileError for an index that it has not.
  Buffer<> &operator[](size_t i) { return buffers_[checked(i)]; }
  const Buffer<> &operator[](size_t i) const { return buffers_[checked(i)]; }
  /// Of a single output.
  template <typename T, int D>
  operator Buffer<T, D>() const {  // NOLINT
    return Buffer<T, D>(single());
  }
  /// Waits for devices, of which there is none.
  int device_sync(void * = nullptr) { return 0; }

 private:
  const Buffer<> &single() const;
  size_t checked(size_t i) const;
  std::vector<Buffer<>> buffers_;
};

/// What realize() writes to: one buffer for each value of each output.
class RealizationArg {
 public:
  template <typename T, int D, typename... More,
            typename = std::enable_if_t<(std::is_convertible_v<More, Buffer<>> && ...)>>
  RealizationArg(const Buffer<T, D> &first, const More &...more) {  // NOLINT
    add(first);
    (add(more), ...);
  }
  template <typename T, int D, int S>
  RealizationArg(runtime::Buffer<T, D, S> &b) : buffers_{b.raw_buffer()} {}  // NOLINT
  // A template, so that realize({0}) names a size and no null pointer.
  template <typename B, typename = std::enable_if_t<std::is_same_v<B, polyhalite_buffer_t>>>
  RealizationArg(B *b) : buffers_{b} {}   // NOLINT
  RealizationArg(const Realization &r) {  // NOLINT
    for (size_t i = 0; i < r.size(); i++) add(r[i]);
  }
  RealizationArg(const std::vector<Buffer<>> &list) {  // NOLINT
    for (const Buffer<> &b : list) add(b);
  }
  const std::vector<polyhalite_buffer_t *> &buffers() const { return buffers_; }
  size_t size() const { return buffers_.size(); }

 private:
  void add(const Buffer<> &b) { buffers_.push_back(b.defined() ? &b.contents()->raw() : nullptr); }
  std::vector<polyhalite_buffer_t *> buffers_;
};

}  // namespace polyhalite
