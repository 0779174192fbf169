// BufferBase: what a runtime::Buffer does without knowing its element type: shape, ownership of
// host and device memory. Header only, C++17, needs no library.
#pragma once

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "polyhalite_buffer.h"
#include "polyhalite_errors.h"

#ifndef HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT
#define HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT 128
#endif

namespace polyhalite {

/// One dimension of a buffer: indices min() .. max(), `stride` in elements. Iterable.
class BufferDimension {
 public:
  explicit BufferDimension(const polyhalite_dimension_t &d) : d_(d) {}
  int min() const { return d_.min; }
  int extent() const { return d_.extent; }
  int max() const { return d_.min + d_.extent - 1; }
  int stride() const { return d_.stride; }

  struct Iterator {
    int value;
    int operator*() const { return value; }
    bool operator!=(const Iterator &o) const { return value != o.value; }
    Iterator &operator++() {
      ++value;
      return *this;
    }
  };
  Iterator begin() const { return {d_.min}; }
  Iterator end() const { return {d_.min + d_.extent}; }

 private:
  polyhalite_dimension_t d_;
};

namespace runtime {

inline constexpr int AnyDims = -1;

/// Stands in front of host memory that a Buffer allocated.
struct AllocationHeader {
  void (*deallocate_fn)(void *);
  std::atomic<int> ref_count{1};
  explicit AllocationHeader(void (*f)(void *)) : deallocate_fn(f) {}
};

/// What happens to device memory when the last Buffer lets go of it.
enum struct BufferDeviceOwnership : int {
  Allocated,               ///< device_free
  WrappedNative,           ///< detach_native
  Unmanaged,               ///< nothing
  AllocatedDeviceAndHost,  ///< device_and_host_free
  Cropped,                 ///< device_release_crop
};

namespace detail {

struct DefaultAllocator {
  static inline void *(*allocate_fn)(size_t) = nullptr;
  static inline void (*deallocate_fn)(void *) = nullptr;
};

constexpr size_t kPage = 4096;
constexpr size_t kLargeAllocation = size_t{4} << 20;

/// Memory for free(), in huge pages where the system has them: large buffers come from memory a
/// third quicker so. Null: there is none.
inline void *allocate_large(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  void *memory = ::aligned_alloc(kHugePage, (bytes + kHugePage - 1) & ~(kHugePage - 1));
#ifdef MADV_HUGEPAGE
  if (memory) ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

/// A wrong use: std::invalid_argument, or a message and abort() where exceptions are off.
[[noreturn]] inline void refuse(const std::string &what) {
#ifdef __cpp_exceptions
  throw std::invalid_argument(what);
#else
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::abort();
#endif
}
inline void require(bool holds, const char *what) {
  if (!holds) refuse(what);
}

}  // namespace detail

class BufferBase {
 public:
  using Dimension = BufferDimension;

  BufferBase(const BufferBase &o) { share(o); }
  BufferBase(BufferBase &&o) noexcept { take(o); }
  ~BufferBase() {
    release();
    free_shape();
  }

  /// The raw buffer, valid as long as this object.
  polyhalite_buffer_t *raw_buffer() { return &buf_; }
  const polyhalite_buffer_t *raw_buffer() const { return &buf_; }
  operator polyhalite_buffer_t *() { return &buf_; }  // NOLINT

  int dimensions() const { return buf_.dimensions; }
  polyhalite_type_t type() const { return buf_.type; }
  Dimension dim(int i) const { return Dimension(buf_.dim[i]); }
  int min(int i) const { return buf_.dim[i].min; }
  int extent(int i) const { return buf_.dim[i].extent; }
  int stride(int i) const { return buf_.dim[i].stride; }
  int width() const { return dimensions() > 0 ? extent(0) : 1; }
  int height() const { return dimensions() > 1 ? extent(1) : 1; }
  int channels() const { return dimensions() > 2 ? extent(2) : 1; }
  int left() const { return dim(0).min(); }
  int right() const { return dim(0).max(); }
  int top() const { return dim(1).min(); }
  int bottom() const { return dim(1).max(); }

  size_t number_of_elements() const { return buf_.number_of_elements(); }
  /// Bytes from the first to the last element in memory; 0 where there is none.
  size_t size_in_bytes() const { return number_of_elements() == 0 ? 0 : buf_.size_in_bytes(); }

  bool contains(const std::vector<int> &pos) const {
    check(pos.size() <= static_cast<size_t>(dimensions()), "contains() with too many coordinates");
    for (size_t i = 0; i < pos.size(); i++) {
      const Dimension d = dim(static_cast<int>(i));
      if (pos[i] < d.min() || pos[i] > d.max()) return false;
    }
    return true;
  }
  template <typename... Ints>
  bool contains(Ints... pos) const {
    return contains(std::vector<int>{pos...});
  }

  /// Changes coordinates, not elements. Device memory is let go of: it has the old coordinates.
  void translate(int d, int delta) {
    check_dimension(d, "translate");
    device_deallocate();
    buf_.dim[d].min += delta;
  }
  void translate(const std::vector<int> &delta) {
    check(delta.size() <= static_cast<size_t>(dimensions()), "translate() by too many coordinates");
    for (size_t i = 0; i < delta.size(); i++) translate(static_cast<int>(i), delta[i]);
  }
  void set_min(const std::vector<int> &mins) {
    check(mins.size() <= static_cast<size_t>(dimensions()), "set_min() with too many coordinates");
    device_deallocate();
    for (size_t i = 0; i < mins.size(); i++) buf_.dim[i].min = mins[i];
  }
  template <typename... Ints>
  void set_min(Ints... mins) {
    set_min(std::vector<int>{mins...});
  }

  /// Swaps two dimensions: (x, y) becomes (y, x). Elements stay where they are.
  void transpose(int d1, int d2) {
    check_dimension(d1, "transpose");
    check_dimension(d2, "transpose");
    std::swap(buf_.dim[d1], buf_.dim[d2]);
  }
  /// Dimension order[i] of the result is dimension i of this buffer.
  void transpose(const std::vector<int> &order) {
    check(order.size() == static_cast<size_t>(dimensions()),
          "transpose() needs every dimension once");
    std::vector<polyhalite_dimension_t> old(buf_.dim, buf_.dim + buf_.dimensions);
    std::vector<bool> seen(old.size());
    for (size_t i = 0; i < order.size(); i++) {
      check_dimension(order[i], "transpose");
      check(!seen[static_cast<size_t>(order[i])], "transpose() needs every dimension once");
      seen[static_cast<size_t>(order[i])] = true;
      buf_.dim[order[i]] = old[i];
    }
  }

  bool owns_host_memory() const { return alloc_ != nullptr; }
  /// Lets go of host and device memory.
  void deallocate() { release(); }
  void device_deallocate() { release_device(); }

  // Device memory. Without a device interface there is nothing to copy and nothing to free.
  bool host_dirty() const { return buf_.host_dirty(); }
  bool device_dirty() const { return buf_.device_dirty(); }
  void set_host_dirty(bool v = true) {
    check(!v || !device_dirty(), "set_host_dirty() while the device has newer elements");
    buf_.set_host_dirty(v);
  }
  void set_device_dirty(bool v = true) {
    check(!v || !host_dirty(), "set_device_dirty() while the host has newer elements");
    buf_.set_device_dirty(v);
  }
  bool has_device_allocation() const { return buf_.device != 0; }
  BufferDeviceOwnership device_ownership() const {
    return device_ ? device_->ownership : BufferDeviceOwnership::Allocated;
  }
  int copy_to_host(void *user_context = nullptr) {
    if (!device_dirty()) return 0;
    return buf_.device_interface ? buf_.device_interface->copy_to_host(user_context, &buf_)
                                 : polyhalite_error_code_no_device_interface;
  }
  int copy_to_device(const polyhalite_device_interface_t *device, void *user_context = nullptr) {
    if (!host_dirty()) return 0;
    return device ? device->copy_to_device(user_context, &buf_, device)
                  : polyhalite_error_code_no_device_interface;
  }
  int device_malloc(const polyhalite_device_interface_t *device, void *user_context = nullptr) {
    return device ? device->device_malloc(user_context, &buf_, device)
                  : polyhalite_error_code_no_device_interface;
  }
  int device_free(void *user_context = nullptr) {
    return give_back_device(BufferDeviceOwnership::Allocated, [&] {
      return buf_.device_interface->device_free(user_context, &buf_);
    });
  }
  int device_wrap_native(const polyhalite_device_interface_t *device, uint64_t handle,
                         void *user_context = nullptr) {
    if (!device) return polyhalite_error_code_no_device_interface;
    if (!device_) device_ = new DeviceReference;
    device_->ownership = BufferDeviceOwnership::WrappedNative;
    return device->wrap_native(user_context, &buf_, handle, device);
  }
  int device_detach_native(void *user_context = nullptr) {
    return give_back_device(BufferDeviceOwnership::WrappedNative, [&] {
      return buf_.device_interface->detach_native(user_context, &buf_);
    });
  }
  int device_and_host_malloc(const polyhalite_device_interface_t *device,
                             void *user_context = nullptr) {
    return device ? device->device_and_host_malloc(user_context, &buf_, device)
                  : polyhalite_error_code_no_device_interface;
  }
  int device_and_host_free(const polyhalite_device_interface_t *, void *user_context = nullptr) {
    return give_back_device(BufferDeviceOwnership::AllocatedDeviceAndHost, [&] {
      return buf_.device_interface->device_and_host_free(user_context, &buf_);
    });
  }
  int device_sync(void *user_context = nullptr) { return buf_.device_sync(user_context); }

  /// What allocate() uses where it is given no functions; null for the C library's.
  static void set_default_allocate_fn(void *(*f)(size_t)) {
    detail::DefaultAllocator::allocate_fn = f;
  }
  static void set_default_deallocate_fn(void (*f)(void *)) {
    detail::DefaultAllocator::deallocate_fn = f;
  }

 protected:
  BufferBase() { buf_.dim = shape_; }
  BufferBase &operator=(const BufferBase &o) {
    if (this == &o) return *this;
    o.retain();  // first: this may hold the last reference through a crop
    release();
    free_shape();
    copy_fields(o);
    return *this;
  }
  BufferBase &operator=(BufferBase &&o) noexcept {
    if (this == &o) return *this;
    release();
    free_shape();
    take(o);
    return *this;
  }

  static void check(bool holds, const char *what) { detail::require(holds, what); }
  void check_dimension(int d, const char *method) const {
    if (d >= 0 && d < dimensions()) return;
    detail::refuse(std::string(method) + "() of dimension " + std::to_string(d) +
                   " of a Buffer of " + std::to_string(dimensions()));
  }

  void describe(polyhalite_type_t type, void *host, const polyhalite_dimension_t *dims, int n) {
    buf_.type = type;
    buf_.host = static_cast<uint8_t *>(host);
    copy_shape(dims, n);
  }
  // Takes over the fields, device memory included.
  void adopt(const polyhalite_buffer_t &b, BufferDeviceOwnership ownership) {
    buf_ = b;
    copy_shape(b.dim, b.dimensions);
    if (!b.device) return;
    device_ = new DeviceReference;
    device_->ownership = ownership;
  }
  void copy_shape(const polyhalite_dimension_t *dims, int n) {
    buf_.dimensions = n;
    buf_.dim = n <= kShapeInPlace ? shape_ : new polyhalite_dimension_t[static_cast<size_t>(n)];
    for (int i = 0; i < n; i++) buf_.dim[i] = dims[i];
  }

  // Memory for the shape, which std::length_error or std::bad_alloc say where there is none.
  void allocate_host(void *(*allocate_fn)(size_t), void (*deallocate_fn)(void *)) {
    release();
    constexpr size_t kAlignment = HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT;
    static_assert((kAlignment & (kAlignment - 1)) == 0 && kAlignment >= alignof(AllocationHeader),
                  "HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT is a power of 2");
    const size_t bytes = (size_in_bytes() + kAlignment - 1) & ~(kAlignment - 1);
    if (!allocate_fn) allocate_fn = detail::DefaultAllocator::allocate_fn;
    if (!deallocate_fn) deallocate_fn = detail::DefaultAllocator::deallocate_fn;
    // The header fits into the padding in front of the aligned elements.
    constexpr size_t kFront = (sizeof(AllocationHeader) + kAlignment - 1) & ~(kAlignment - 1);
    const bool own = !allocate_fn && !deallocate_fn;
    // Large ones begin with a page, all of them: a load waits for a store just before it whose
    // address is some pages away.
    const bool large = own && bytes >= detail::kLargeAllocation;
    const size_t alignment = large ? std::max(detail::kPage, kAlignment) : kAlignment;
    // Small ones are aligned here: what malloc() aligns it cuts from a larger piece each time.
    void *storage = large         ? detail::allocate_large(alignment + bytes)
                    : allocate_fn ? allocate_fn(kFront + bytes + kAlignment)
                                  : ::malloc(kFront + bytes + kAlignment);
    if (!storage) {
#ifdef __cpp_exceptions
      throw std::bad_alloc();
#else
      detail::refuse("there is no memory for a Buffer");
#endif
    }
    alloc_ = new (storage) AllocationHeader(own || !deallocate_fn ? ::free : deallocate_fn);
    const uintptr_t first = reinterpret_cast<uintptr_t>(storage) + sizeof(AllocationHeader);
    uint8_t *const elements =
        reinterpret_cast<uint8_t *>((first + alignment - 1) & ~uintptr_t{alignment - 1});
    buf_.host = elements;
    if (number_of_elements() > 0) buf_.host -= buf_.begin_offset() * buf_.type.bytes();
  }
  void check_size() const {
    size_t bytes = static_cast<size_t>(type().bytes());
    for (int i = 0; i < dimensions(); i++) {
      if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent(i)), &bytes) ||
          bytes > SIZE_MAX / 2) {
        detail::refuse("the size of a Buffer is beyond the address space");
      }
    }
  }

  void crop_host(int d, int min, int extent) {
    check_dimension(d, "crop");
    // int64: a crop may end at the last int32.
    const int64_t old_end = int64_t{this->min(d)} + this->extent(d);
    if (min < this->min(d) || extent < 0 || int64_t{min} + extent > old_end) {
      detail::refuse("a crop of dimension " + std::to_string(d) + " to " + std::to_string(extent) +
                     " elements from " + std::to_string(min) + " leaves the Buffer, which has " +
                     std::to_string(this->extent(d)) + " from " + std::to_string(this->min(d)));
    }
    if (buf_.host) {
      buf_.host += static_cast<ptrdiff_t>(min - this->min(d)) * stride(d) * buf_.type.bytes();
    }
    buf_.dim[d].min = min;
    buf_.dim[d].extent = extent;
  }
  void slice_host(int d, int pos) {
    check_dimension(d, "slice");
    if (pos < dim(d).min() || pos > dim(d).max()) {
      detail::refuse("slice() at " + std::to_string(pos) + ", outside of dimension " +
                     std::to_string(d) + ", which has " + std::to_string(extent(d)) + " from " +
                     std::to_string(min(d)));
    }
    crop_host(d, pos, 1);
    for (int i = d; i + 1 < dimensions(); i++) buf_.dim[i] = buf_.dim[i + 1];
    buf_.dimensions--;
  }
  void append_dimension() {
    const int n = dimensions();
    std::vector<polyhalite_dimension_t> dims(buf_.dim, buf_.dim + n);
    dims.emplace_back(0, 1, n == 0 ? 1 : extent(n - 1) * stride(n - 1));
    free_shape();
    copy_shape(dims.data(), n + 1);
  }
  void embed_host(int d, int pos) {
    check(d >= 0 && d <= dimensions(), "embed() at a dimension beyond the last");
    append_dimension();
    translate(dimensions() - 1, pos);
    for (int i = dimensions() - 1; i > d; i--) transpose(i, i - 1);
  }
  // `this` is a crop or slice of `whole` on the host; does the same on the device.
  template <typename F>
  void share_device_of(const BufferBase &whole, F &&device_part) {
    if (!whole.buf_.device_interface) return;
    if (device_part(whole.buf_.device_interface, &whole.buf_, &buf_) != 0) return;
    const bool is_crop =
        whole.device_ && whole.device_->ownership == BufferDeviceOwnership::Cropped;
    device_ = new DeviceReference;
    device_->ownership = BufferDeviceOwnership::Cropped;
    device_->whole = new BufferBase(is_crop ? *whole.device_->whole : whole);
  }
  // In place, unless device memory would have to be cropped: that makes a new handle.
  void crop_in_place(int d, int min, int extent) {
    if (!buf_.device_interface) return crop_host(d, min, extent);
    BufferBase part = cropped_copy(d, min, extent);
    *this = std::move(part);
  }
  BufferBase cropped_copy(int d, int min, int extent) const {
    BufferBase part = *this;
    part.device_deallocate();
    part.crop_host(d, min, extent);
    part.share_device_of(*this, [](auto *device, auto *from, auto *to) {
      return device->device_crop(nullptr, from, to);
    });
    return part;
  }
  BufferBase sliced_copy(int d, int pos) const {
    BufferBase part = *this;
    part.device_deallocate();
    part.slice_host(d, pos);
    part.share_device_of(*this, [&](auto *device, auto *from, auto *to) {
      return device->device_slice(nullptr, from, d, pos, to);
    });
    return part;
  }

  polyhalite_buffer_t buf_{};

 private:
  static constexpr int kShapeInPlace = 4;

  // Device memory that copies of a Buffer share.
  struct DeviceReference {
    std::atomic<int> count{1};
    BufferDeviceOwnership ownership = BufferDeviceOwnership::Allocated;
    BufferBase *whole = nullptr;  // of a crop: what it is a crop of
  };

  void retain() const {
    if (alloc_) alloc_->ref_count++;
    if (!buf_.device) return;
    // A pipeline has put device memory here and this is its first copy: this Buffer owns it.
    if (!device_) device_ = new DeviceReference;
    device_->count++;
  }
  void copy_fields(const BufferBase &o) {
    buf_ = o.buf_;
    copy_shape(o.buf_.dim, o.buf_.dimensions);
    alloc_ = o.alloc_;
    device_ = o.device_;
  }
  void share(const BufferBase &o) {
    o.retain();
    copy_fields(o);
  }
  void take(BufferBase &o) {
    buf_ = o.buf_;
    if (o.buf_.dim == o.shape_) {
      copy_shape(o.buf_.dim, o.buf_.dimensions);
    }
    alloc_ = o.alloc_;
    device_ = o.device_;
    o.alloc_ = nullptr;
    o.device_ = nullptr;
    o.buf_ = polyhalite_buffer_t();
    o.buf_.dim = o.shape_;
  }
  void free_shape() {
    if (buf_.dim != shape_) delete[] buf_.dim;
    buf_.dim = shape_;
  }
  void release() {
    if (alloc_) {
      if (--alloc_->ref_count == 0) {
        void (*deallocate_fn)(void *) = alloc_->deallocate_fn;
        void *storage = alloc_;
        alloc_->~AllocationHeader();
        deallocate_fn(storage);
      }
      buf_.host = nullptr;
      alloc_ = nullptr;
      buf_.set_host_dirty(false);
    }
    release_device();
  }
  void release_device() {
    const bool last = !device_ || --device_->count == 0;
    if (last && buf_.device && buf_.device_interface) {
      switch (device_ownership()) {
        case BufferDeviceOwnership::Allocated:
          buf_.device_interface->device_free(nullptr, &buf_);
          break;
        case BufferDeviceOwnership::WrappedNative:
          buf_.device_interface->detach_native(nullptr, &buf_);
          break;
        case BufferDeviceOwnership::AllocatedDeviceAndHost:
          buf_.device_interface->device_and_host_free(nullptr, &buf_);
          break;
        case BufferDeviceOwnership::Cropped:
          buf_.device_interface->device_release_crop(nullptr, &buf_);
          break;
        case BufferDeviceOwnership::Unmanaged:
          break;
      }
    }
    if (last && device_) {
      delete device_->whole;
      delete device_;
    }
    device_ = nullptr;
    buf_.device = 0;
    buf_.device_interface = nullptr;
  }
  template <typename F>
  int give_back_device(BufferDeviceOwnership wanted, F &&f) {
    check(device_ownership() == wanted, "device memory is given back in another way than it came");
    check(!device_ || device_->count == 1, "device memory is given back while copies share it");
    const int result = buf_.device_interface ? f() : 0;
    delete device_;
    device_ = nullptr;
    return result;
  }

  AllocationHeader *alloc_ = nullptr;
  mutable DeviceReference *device_ = nullptr;
  polyhalite_dimension_t shape_[kShapeInPlace];
};

/// Dense dimensions with min 0; `order` lists them from the innermost in memory. Throws
/// std::invalid_argument or std::length_error where sizes and order describe no array.
inline std::vector<polyhalite_dimension_t> dense_dimensions(const std::vector<int> &sizes,
                                                            const std::vector<int> &order = {}) {
  std::vector<polyhalite_dimension_t> dims(sizes.size());
  std::vector<bool> seen(sizes.size());
  if (!order.empty() && order.size() != sizes.size()) {
    detail::refuse("a storage order of " + std::to_string(order.size()) +
                   " dimensions for a Buffer of " + std::to_string(sizes.size()));
  }
  int64_t stride = 1;
  for (size_t i = 0; i < sizes.size(); i++) {
    const size_t d = order.empty() ? i : static_cast<size_t>(order[i]);
    if (d >= sizes.size() || seen[d]) {
      detail::refuse("dimension " + std::to_string(order[i]) +
                     " is no dimension, or named twice, in the storage order of a Buffer of " +
                     std::to_string(sizes.size()) + " dimensions");
    }
    seen[d] = true;
    if (sizes[d] < 0) {
      detail::refuse("a Buffer with extent " + std::to_string(sizes[d]) + " in dimension " +
                     std::to_string(d));
    }
    if (stride > INT32_MAX) {
      const std::string what = "the stride of dimension " + std::to_string(d) +
                               " of a Buffer would be " + std::to_string(stride) + " elements";
#ifdef __cpp_exceptions
      throw std::length_error(what);
#else
      detail::refuse(what);
#endif
    }
    dims[d] = {0, sizes[d], static_cast<int32_t>(stride)};
    stride *= sizes[d];
  }
  return dims;
}

/// The dimensions that a dense buffer of the same mins, extents and order in memory has.
inline std::vector<polyhalite_dimension_t> dense_like(const polyhalite_buffer_t &b) {
  const size_t n = static_cast<size_t>(b.dimensions);
  std::vector<int> sizes(n), order(n);
  for (size_t i = 0; i < n; i++) {
    sizes[i] = b.dim[i].extent;
    order[i] = static_cast<int>(i);
  }
  // Insertion sort by stride: few dimensions, and stable.
  for (size_t i = 1; i < n; i++) {
    for (size_t j = i; j > 0 && b.dim[order[j]].stride < b.dim[order[j - 1]].stride; j--) {
      std::swap(order[j], order[j - 1]);
    }
  }
  std::vector<polyhalite_dimension_t> dims = dense_dimensions(sizes, order);
  for (size_t i = 0; i < n; i++) dims[i].min = b.dim[i].min;
  return dims;
}

}  // namespace runtime
}  // namespace polyhalite
