// runtime::Buffer: arrays for programs that call ahead-of-time compiled pipelines. Header only,
// C++17, needs no library.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/buffer_methods.h"

namespace polyhalite::runtime {

inline constexpr int AnyDims = -1;

/// A handle on an array that is shared with its copies, or borrowed from the caller. T is the
/// element type, or void where it is known at run time only; D the number of dimensions, or -1.
template <typename T = void, int D = AnyDims>
class Buffer : public detail::BufferMethods<Buffer<T, D>, T> {
  using Base = detail::BufferMethods<Buffer<T, D>, T>;
  using Bytes = std::conditional_t<std::is_const_v<T>, const void, void>;

 public:
  Buffer() = default;
  Buffer(const Buffer &o) : Buffer(o.raw_, o.owner_) {}
  Buffer(Buffer &&o) noexcept = default;
  Buffer &operator=(const Buffer &o) {
    if (this != &o) *this = Buffer(o);
    return *this;
  }
  Buffer &operator=(Buffer &&o) noexcept = default;
  /// The same elements as another type or number of dimensions; both must be compatible.
  template <typename T2, int D2, typename = std::enable_if_t<!(std::is_same_v<T, T2> && D == D2)>>
  Buffer(const Buffer<T2, D2> &o) : Buffer(*o.raw_buffer(), o.owner()) {  // NOLINT
    static_assert(!std::is_const_v<T2> || std::is_const_v<T>, "constness cannot be dropped");
  }

  /// Owning, dense, not initialised.
  template <typename... Ints, typename = std::enable_if_t<detail::all_ints<Ints...>>>
  explicit Buffer(int first, Ints... more)
      : Buffer(std::vector<int>{first, static_cast<int>(more)...}) {}
  explicit Buffer(const std::vector<int> &sizes, const std::vector<int> &storage_order = {})
      : Buffer(detail::runtime_type_of<T>(), sizes, storage_order) {}
  Buffer(polyhalite_type_t type, const std::vector<int> &sizes,
         const std::vector<int> &storage_order = {}) {
    describe(type, detail::dense_dimensions(sizes, storage_order));
    allocate();
  }
  /// Borrowing: the caller keeps `data` alive.
  template <typename... Ints, typename = std::enable_if_t<detail::all_ints<Ints...>>>
  Buffer(T *data, int first, Ints... more)
      : Buffer(data, std::vector<int>{first, static_cast<int>(more)...}) {}
  Buffer(T *data, const std::vector<int> &sizes)
      : Buffer(detail::runtime_type_of<T>(), data, detail::dense_dimensions(sizes)) {}
  Buffer(T *data, int dimensions, const polyhalite_dimension_t *shape)
      : Buffer(detail::runtime_type_of<T>(), data,
               std::vector<polyhalite_dimension_t>(shape, shape + dimensions)) {}
  Buffer(polyhalite_type_t type, Bytes *data, std::vector<polyhalite_dimension_t> dims) {
    describe(type, std::move(dims));
    raw_.host = static_cast<uint8_t *>(const_cast<void *>(static_cast<const void *>(data)));
  }
  explicit Buffer(const polyhalite_buffer_t &b, std::shared_ptr<void> owner = nullptr)
      : owner_(std::move(owner)) {
    describe(b.type, std::vector<polyhalite_dimension_t>(b.dim, b.dim + b.dimensions));
    raw_.host = b.host;
  }

  static Buffer make_scalar() { return Buffer(std::vector<int>{}); }
  /// Channels innermost in memory: strides (channels, channels * width, 1).
  static Buffer make_interleaved(int width, int height, int channels) {
    return Buffer({width, height, channels}, {2, 0, 1});
  }
  static Buffer make_interleaved(T *data, int width, int height, int channels) {
    return Buffer(detail::runtime_type_of<T>(), data,
                  detail::dense_dimensions({width, height, channels}, {2, 0, 1}));
  }

  polyhalite_buffer_t *raw_buffer() { return &raw_; }
  const polyhalite_buffer_t *raw_buffer() const { return &raw_; }
  operator polyhalite_buffer_t *() { return &raw_; }              // NOLINT
  operator const polyhalite_buffer_t *() const { return &raw_; }  // NOLINT
  polyhalite_type_t type() const { return raw_.type; }
  const std::shared_ptr<void> &owner() const { return owner_; }
  bool owns_host_memory() const { return owner_ != nullptr; }

  template <typename... Ints, typename = std::enable_if_t<detail::all_ints<Ints...>>>
  typename Base::Element &operator()(int first, Ints... more) const {
    const int pos[] = {first, static_cast<int>(more)...};
    return this->at(pos);
  }
  typename Base::Element &operator()() const { return *this->data(); }
  typename Base::Element &operator()(const int *pos) const { return this->at(pos); }

  template <typename T2, int D2 = D>
  Buffer<T2, D2> as() const {
    return Buffer<T2, D2>(raw_, owner_);
  }
  Buffer alias() const { return *this; }
  Buffer allocate_like() const {
    Buffer b;
    b.describe(raw_.type, detail::dense_like(raw_));
    b.allocate();
    return b;
  }

  // Elements live on the host only: nothing to copy and nothing to mark.
  void set_host_dirty(bool = true) {}
  void copy_to_host() {}

 private:
  void describe(polyhalite_type_t type, std::vector<polyhalite_dimension_t> dims) {
    dims_ = std::move(dims);
    raw_ = polyhalite_buffer_t{};
    raw_.type = type;
    raw_.dimensions = static_cast<int32_t>(dims_.size());
    // A scalar has no dimensions; data() of an empty vector may be null, which is fine.
    raw_.dim = dims_.data();
  }
  void allocate() {
    owner_ = detail::allocate_bytes(this->size_in_bytes());
    raw_.host = static_cast<uint8_t *>(owner_.get());
  }

  polyhalite_buffer_t raw_{};
  std::vector<polyhalite_dimension_t> dims_;  // moving a vector keeps raw_.dim valid
  std::shared_ptr<void> owner_;
};

}  // namespace polyhalite::runtime
