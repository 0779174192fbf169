/* Types, buffers and devices as compiled pipelines and their callers see them. The layouts are
 * those of halide_type_t, halide_dimension_t and halide_buffer_t. In C++ they have methods. */
#ifndef POLYHALITE_BUFFER_H
#define POLYHALITE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <type_traits>
#define PH_ABI_ENUM(type) : type
#define PH_ABI_INLINE inline __attribute__((always_inline))
#else
#define PH_ABI_ENUM(type)
#endif

typedef enum polyhalite_type_code_t PH_ABI_ENUM(uint8_t){
    polyhalite_type_int = 0,    polyhalite_type_uint = 1,   polyhalite_type_float = 2,
    polyhalite_type_handle = 3, polyhalite_type_bfloat = 4,
} polyhalite_type_code_t;

/* The type of a value: code, width in bits, lanes. */
struct polyhalite_type_t {
#ifdef __cplusplus
  polyhalite_type_code_t code;
#else
  uint8_t code;
#endif
  uint8_t bits;
  uint16_t lanes;

#ifdef __cplusplus
  constexpr polyhalite_type_t() : code(polyhalite_type_int), bits(0), lanes(0) {}
  constexpr polyhalite_type_t(polyhalite_type_code_t c, uint8_t b, uint16_t l = 1)
      : code(c), bits(b), lanes(l) {}
  /* Bytes that one lane takes in memory. */
  constexpr int bytes() const { return (bits + 7) / 8; }
  constexpr polyhalite_type_t with_lanes(uint16_t l) const { return {code, bits, l}; }
  constexpr polyhalite_type_t element_of() const { return with_lanes(1); }
  /* code | bits << 8 | lanes << 16. */
  constexpr uint32_t as_u32() const {
    return static_cast<uint32_t>(code) | static_cast<uint32_t>(bits) << 8 |
           static_cast<uint32_t>(lanes) << 16;
  }
  constexpr bool operator==(const polyhalite_type_t &o) const { return as_u32() == o.as_u32(); }
  constexpr bool operator!=(const polyhalite_type_t &o) const { return as_u32() != o.as_u32(); }
  constexpr bool operator<(const polyhalite_type_t &o) const { return as_u32() < o.as_u32(); }
#endif
};

/* One dimension: indices min .. min + extent - 1, `stride` in elements. */
typedef struct polyhalite_dimension_t {
#ifdef __cplusplus
  int32_t min = 0, extent = 0, stride = 0;
  uint32_t flags = 0;

  polyhalite_dimension_t() = default;
  polyhalite_dimension_t(int32_t m, int32_t e, int32_t s, uint32_t f = 0)
      : min(m), extent(e), stride(s), flags(f) {}
  bool operator==(const polyhalite_dimension_t &o) const {
    return min == o.min && extent == o.extent && stride == o.stride && flags == o.flags;
  }
  bool operator!=(const polyhalite_dimension_t &o) const { return !(*this == o); }
#else
  int32_t min, extent, stride;
  uint32_t flags;
#endif
} polyhalite_dimension_t;

/* Which side holds elements that the other has not seen. */
typedef enum polyhalite_buffer_flags PH_ABI_ENUM(uint64_t){
    polyhalite_buffer_flag_host_dirty = 1,
    polyhalite_buffer_flag_device_dirty = 2,
} polyhalite_buffer_flags;

struct polyhalite_buffer_t;
struct polyhalite_device_interface_impl_t;

/* What a device offers for buffers. Every function returns 0 or an error code. */
struct polyhalite_device_interface_t {
  int (*device_malloc)(void *user_context, struct polyhalite_buffer_t *buf,
                       const struct polyhalite_device_interface_t *device);
  int (*device_free)(void *user_context, struct polyhalite_buffer_t *buf);
  int (*device_sync)(void *user_context, struct polyhalite_buffer_t *buf);
  void (*device_release)(void *user_context, const struct polyhalite_device_interface_t *device);
  int (*copy_to_host)(void *user_context, struct polyhalite_buffer_t *buf);
  int (*copy_to_device)(void *user_context, struct polyhalite_buffer_t *buf,
                        const struct polyhalite_device_interface_t *device);
  int (*device_and_host_malloc)(void *user_context, struct polyhalite_buffer_t *buf,
                                const struct polyhalite_device_interface_t *device);
  int (*device_and_host_free)(void *user_context, struct polyhalite_buffer_t *buf);
  int (*buffer_copy)(void *user_context, struct polyhalite_buffer_t *src,
                     const struct polyhalite_device_interface_t *dst_device,
                     struct polyhalite_buffer_t *dst);
  int (*device_crop)(void *user_context, const struct polyhalite_buffer_t *src,
                     struct polyhalite_buffer_t *dst);
  int (*device_slice)(void *user_context, const struct polyhalite_buffer_t *src, int slice_dim,
                      int slice_pos, struct polyhalite_buffer_t *dst);
  int (*device_release_crop)(void *user_context, struct polyhalite_buffer_t *buf);
  int (*wrap_native)(void *user_context, struct polyhalite_buffer_t *buf, uint64_t handle,
                     const struct polyhalite_device_interface_t *device);
  int (*detach_native)(void *user_context, struct polyhalite_buffer_t *buf);
  int (*compute_capability)(void *user_context, int *major, int *minor);
  const struct polyhalite_device_interface_impl_t *impl;
};

/* A multi-dimensional array that somebody else owns. */
typedef struct polyhalite_buffer_t {
  uint64_t device;
  const struct polyhalite_device_interface_t *device_interface;
  uint8_t *host; /* address of the element at every dimension's min */
  uint64_t flags;
  struct polyhalite_type_t type;
  int32_t dimensions;
  polyhalite_dimension_t *dim;
  void *padding;

#ifdef __cplusplus
  bool get_flag(polyhalite_buffer_flags flag) const { return (flags & flag) != 0; }
  void set_flag(polyhalite_buffer_flags flag, bool value) {
    flags = value ? flags | flag : flags & ~static_cast<uint64_t>(flag);
  }
  bool host_dirty() const { return get_flag(polyhalite_buffer_flag_host_dirty); }
  bool device_dirty() const { return get_flag(polyhalite_buffer_flag_device_dirty); }
  void set_host_dirty(bool v = true) { set_flag(polyhalite_buffer_flag_host_dirty, v); }
  void set_device_dirty(bool v = true) { set_flag(polyhalite_buffer_flag_device_dirty, v); }
  int device_sync(void *user_context = nullptr) {
    return device_interface && device_interface->device_sync
               ? device_interface->device_sync(user_context, this)
               : 0;
  }
  /* A call with such an argument writes to its dimensions what it needs, and computes nothing. */
  bool is_bounds_query() const { return !host && !device; }

  size_t number_of_elements() const {
    size_t n = 1;
    for (int i = 0; i < dimensions; i++) n *= static_cast<size_t>(dim[i].extent);
    return n;
  }
  /* Of the first element in memory and of the end of the last one, in elements from `host`. */
  ptrdiff_t begin_offset() const {
    ptrdiff_t offset = 0;
    for (int i = 0; i < dimensions; i++) {
      if (dim[i].stride < 0) offset += static_cast<ptrdiff_t>(dim[i].stride) * (dim[i].extent - 1);
    }
    return offset;
  }
  ptrdiff_t end_offset() const {
    ptrdiff_t offset = 1;
    for (int i = 0; i < dimensions; i++) {
      if (dim[i].stride > 0) offset += static_cast<ptrdiff_t>(dim[i].stride) * (dim[i].extent - 1);
    }
    return offset;
  }
  uint8_t *begin() const { return host + begin_offset() * type.bytes(); }
  uint8_t *end() const { return host + end_offset() * type.bytes(); }
  /* From the first to the last element in memory. */
  size_t size_in_bytes() const {
    return static_cast<size_t>(end_offset() - begin_offset()) * static_cast<size_t>(type.bytes());
  }
  uint8_t *address_of(const int *pos) const {
    ptrdiff_t offset = 0;
    for (int i = 0; i < dimensions; i++) {
      offset += static_cast<ptrdiff_t>(dim[i].stride) * (pos[i] - dim[i].min);
    }
    return host + offset * type.bytes();
  }
#endif
} polyhalite_buffer_t;

/* A scalar of any type, as metadata of compiled functions has it. */
struct polyhalite_scalar_value_t {
  union {
    bool b;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
    void *handle;
  } u;
#ifdef __cplusplus
  polyhalite_scalar_value_t() { u.u64 = 0; }
#endif
};

#ifdef __cplusplus
static_assert(sizeof(polyhalite_type_t) == 4 && sizeof(polyhalite_dimension_t) == 16 &&
                  (sizeof(void *) != 8 || sizeof(polyhalite_buffer_t) == 56),
              "the layouts of buffers are fixed");

/* The type of T as an element of buffers. Types of a program's own may specialise this template. */
template <typename T>
constexpr polyhalite_type_t polyhalite_type_of() {
  using U = typename std::remove_cv<T>::type;
  if constexpr (std::is_same<U, bool>::value) {
    return {polyhalite_type_uint, 1};
  } else if constexpr (std::is_pointer<U>::value) {
    return {polyhalite_type_handle, 64};
/* GCC 12 for Arm knows the type's size, but not its name in C++. */
#if defined(__FLT16_MANT_DIG__) && \
    (defined(__x86_64__) || defined(__i386__) || defined(__clang__) || __GNUC__ >= 13)
  } else if constexpr (std::is_same<U, _Float16>::value) {
    return {polyhalite_type_float, 16};
#endif
  } else if constexpr (std::is_floating_point<U>::value) {
    return {polyhalite_type_float, 8 * sizeof(U)};
  } else {
    static_assert(std::is_integral<U>::value, "elements of a buffer are numbers or pointers");
    return {std::is_signed<U>::value ? polyhalite_type_int : polyhalite_type_uint, 8 * sizeof(U)};
  }
}
#endif

#endif
