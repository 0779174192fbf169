// Error messages of compiled pipelines: what, with both numbers, and how to mend it.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

polyhalite_error_handler_t error_handler = nullptr;
polyhalite_print_t print_handler = nullptr;
ErrorSink error_sink = nullptr;

constexpr size_t kMessageBytes = 1024;

// "uint8", "float32", "bool" of code | bits << 8 | lanes << 16.
struct TypeName {
  char text[32];
  explicit TypeName(uint32_t type) {
    static const char *const kCodes[] = {"int", "uint", "float", "handle", "bfloat"};
    const uint32_t code = type & 255, bits = type >> 8 & 255, lanes = type >> 16;
    if (code == polyhalite_type_uint && bits == 1) {
      snprintf(text, sizeof text, "bool");
    } else if (code == polyhalite_type_handle) {
      snprintf(text, sizeof text, "handle");
    } else {
      snprintf(text, sizeof text, "%s%u", code < 5 ? kCodes[code] : "unknown type ", bits);
    }
    if (lanes != 1) {
      char lanes_text[16];
      snprintf(lanes_text, sizeof lanes_text, "x%u", lanes);
      size_t n = 0;
      while (text[n]) n++;
      snprintf(text + n, sizeof text - n, "%s", lanes_text);
    }
  }
};

}  // namespace

void set_error_sink(ErrorSink sink) { __atomic_store_n(&error_sink, sink, __ATOMIC_RELEASE); }

int fail(void *user_context, int code, const char *format, ...) {
  char message[kMessageBytes];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  report(user_context, message);
  return code;
}

void report(void *user_context, const char *message) {
  ErrorSink sink = __atomic_load_n(&error_sink, __ATOMIC_ACQUIRE);
  if (sink && sink(user_context, message)) return;
  polyhalite_error(user_context, message);
}

}  // namespace polyhalite::runtime

using polyhalite::runtime::fail;
using polyhalite::runtime::TypeName;
namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK void polyhalite_default_error(void *, const char *message) {
  fprintf(stderr, "error: %s\n", message);
  abort();
}

PH_WEAK void polyhalite_default_print(void *, const char *message) { fputs(message, stderr); }

PH_WEAK void polyhalite_error(void *user_context, const char *message) {
  polyhalite_error_handler_t handler = __atomic_load_n(&runtime::error_handler, __ATOMIC_ACQUIRE);
  if (handler) {
    handler(user_context, message);
    return;
  }
  polyhalite_default_error(user_context, message);
}

PH_WEAK void polyhalite_print(void *user_context, const char *message) {
  polyhalite_print_t handler = __atomic_load_n(&runtime::print_handler, __ATOMIC_ACQUIRE);
  if (handler) {
    handler(user_context, message);
  } else {
    polyhalite_default_print(user_context, message);
  }
}

PH_WEAK polyhalite_error_handler_t
polyhalite_set_error_handler(polyhalite_error_handler_t handler) {
  return __atomic_exchange_n(&runtime::error_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK polyhalite_print_t polyhalite_set_custom_print(polyhalite_print_t handler) {
  return __atomic_exchange_n(&runtime::print_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK int polyhalite_error_buffer_is_null(void *user_context, const char *function,
                                            const char *buffer) {
  return fail(user_context, polyhalite_error_code_buffer_argument_is_null,
              "%s: buffer '%s' is null; pass a pointer to a polyhalite_buffer_t", function, buffer);
}

PH_WEAK int polyhalite_error_host_is_null(void *user_context, const char *function,
                                          const char *buffer) {
  return fail(user_context, polyhalite_error_code_host_is_null,
              "%s: buffer '%s' has no memory (host is null); allocate it before the call", function,
              buffer);
}

PH_WEAK int polyhalite_error_device_dirty_with_no_device_support(void *user_context,
                                                                 const char *function,
                                                                 const char *buffer) {
  return fail(user_context, polyhalite_error_code_device_dirty_with_no_device_support,
              "%s: buffer '%s' was last written on a device (device_dirty is set), which this "
              "pipeline does not use; copy it to the host before the call",
              function, buffer);
}

PH_WEAK int polyhalite_error_extern_stage_failed(void *user_context, const char *function,
                                                 const char *extern_function, int32_t code) {
  return fail(user_context, code, "%s: the function '%s' of an extern stage returned %d, not 0",
              function, extern_function, code);
}

PH_WEAK int polyhalite_error_bounds_inference_call_failed(void *user_context, const char *function,
                                                          const char *extern_function,
                                                          int32_t code) {
  return fail(user_context, code,
              "%s: the function '%s' of an extern stage returned %d, not 0, when it was asked what "
              "it needs (some buffers had no memory)",
              function, extern_function, code);
}

PH_WEAK int polyhalite_error_unaligned_host_ptr(void *user_context, const char *function,
                                                const char *buffer, int32_t alignment) {
  return fail(user_context, polyhalite_error_code_unaligned_host_ptr,
              "%s: the elements of buffer '%s' do not begin at a multiple of %d bytes, as was "
              "promised; pass such a buffer, or lift the promise made with set_host_alignment",
              function, buffer, alignment);
}

PH_WEAK int polyhalite_error_dim_is_null(void *user_context, const char *function,
                                         const char *buffer) {
  return fail(
      user_context, polyhalite_error_code_host_is_null,
      "%s: buffer '%s' does not describe its dimensions (dim is null); point dim to an array "
      "of polyhalite_dimension_t",
      function, buffer);
}

PH_WEAK int polyhalite_error_bad_range(void *user_context, const char *function, const char *buffer,
                                       int32_t dimension, int32_t min, int32_t extent) {
  if (extent < 0) {
    return fail(
        user_context, polyhalite_error_code_buffer_extents_negative,
        "%s: dimension %d of buffer '%s' has the negative extent %d; extents count elements, "
        "pass at least 0",
        function, dimension, buffer, extent);
  }
  return fail(user_context, polyhalite_error_code_buffer_extents_negative,
              "%s: dimension %d of buffer '%s' begins at %d and has %d elements, but indices end "
              "at 2147483646; pass a buffer with a smaller min or extent",
              function, dimension, buffer, min, extent);
}

PH_WEAK int polyhalite_error_param_too_small(void *user_context, const char *function,
                                             const char *param, double value, double min) {
  return fail(user_context, polyhalite_error_code_param_too_small,
              "%s: parameter '%s' is %.15g, but at least %.15g was promised; pass such a value, or "
              "lift the limit with set_min_value",
              function, param, value, min);
}

PH_WEAK int polyhalite_error_param_too_large(void *user_context, const char *function,
                                             const char *param, double value, double max) {
  return fail(user_context, polyhalite_error_code_param_too_large,
              "%s: parameter '%s' is %.15g, but at most %.15g was promised; pass such a value, or "
              "lift the limit with set_max_value",
              function, param, value, max);
}

PH_WEAK int polyhalite_error_bad_type(void *user_context, const char *function, const char *buffer,
                                      uint32_t found, uint32_t wanted) {
  return fail(user_context, polyhalite_error_code_bad_type,
              "%s: buffer '%s' has elements of type %s, but the pipeline was compiled for %s; pass "
              "a buffer of %s",
              function, buffer, TypeName(found).text, TypeName(wanted).text, TypeName(wanted).text);
}

PH_WEAK int polyhalite_error_bad_dimensions(void *user_context, const char *function,
                                            const char *buffer, int32_t found, int32_t wanted) {
  return fail(user_context, polyhalite_error_code_bad_dimensions,
              "%s: buffer '%s' has %d dimension%s, but the pipeline was compiled for %d; pass a "
              "buffer with %d",
              function, buffer, found, found == 1 ? "" : "s", wanted, wanted);
}

PH_WEAK int polyhalite_error_access_out_of_bounds(void *user_context, const char *function,
                                                  const char *buffer, int32_t dimension,
                                                  int32_t needed_min, int32_t needed_max,
                                                  int32_t buffer_min, int32_t buffer_max) {
  return fail(
      user_context, polyhalite_error_code_access_out_of_bounds,
      "%s: buffer '%s' is accessed at %d to %d in dimension %d, but has only %d to %d; pass "
      "a larger buffer, compute less of the output, or give the access a boundary condition",
      function, buffer, needed_min, needed_max, dimension, buffer_min, buffer_max);
}

PH_WEAK int polyhalite_error_region_overflow(void *user_context, const char *function,
                                             const char *buffer, int32_t dimension, int64_t end) {
  if (dimension < 0) {
    return fail(user_context, polyhalite_error_code_access_out_of_bounds,
                "%s: the scalars make an end of loop '%s' no 32-bit integer; pass other scalars",
                function, buffer);
  }
  if (end >= POLYHALITE_REGION_BEYOND) {
    return fail(user_context, polyhalite_error_code_access_out_of_bounds,
                "%s: the scalars make what is needed of '%s' in dimension %d no number, or one far "
                "beyond 32-bit integers; pass other scalars",
                function, buffer, dimension);
  }
  return fail(user_context, polyhalite_error_code_access_out_of_bounds,
              "%s: what is needed of '%s' in dimension %d may be %lld from 0, and coordinates are "
              "32-bit integers; pass other scalars, or compute less of the output",
              function, buffer, dimension, static_cast<long long>(end));
}

PH_WEAK int polyhalite_error_constraint_violated(void *user_context, const char *function,
                                                 const char *buffer, int32_t dimension,
                                                 const char *what, int32_t found, int32_t wanted) {
  return fail(user_context, polyhalite_error_code_constraint_violated,
              "%s: the %s of dimension %d of buffer '%s' is %d, but the pipeline was compiled for "
              "%d; pass such a buffer, or lift the constraint of an input with dim(%d).set_%s",
              function, what, dimension, buffer, found, wanted, dimension, what);
}

PH_WEAK int polyhalite_error_buffer_too_large(void *user_context, const char *function,
                                              const char *buffer, int64_t bytes, int64_t limit) {
  return fail(user_context, polyhalite_error_code_buffer_extents_too_large,
              "%s: buffer '%s' has %lld bytes, but at most %lld can be addressed; pass a smaller "
              "buffer, or compile with large_buffers",
              function, buffer, static_cast<long long>(bytes), static_cast<long long>(limit));
}

PH_WEAK int polyhalite_error_buffer_allocation_too_large(void *user_context, const char *function,
                                                         const char *buffer, int64_t bytes,
                                                         int64_t limit) {
  return fail(user_context, polyhalite_error_code_buffer_allocation_too_large,
              "%s: a dimension of buffer '%s' spans %lld bytes, but at most %lld can be addressed; "
              "pass a buffer with smaller strides, or compile with large_buffers",
              function, buffer, static_cast<long long>(bytes), static_cast<long long>(limit));
}

PH_WEAK int polyhalite_error_out_of_memory(void *user_context, const char *function,
                                           const char *buffer, int64_t bytes) {
  if (bytes == INT64_MAX) {
    return fail(user_context, polyhalite_error_code_out_of_memory,
                "%s: '%s' has more bytes than are addressed; compute it at an inner loop so that "
                "less of it is stored, use smaller outputs, or compile with large_buffers",
                function, buffer);
  }
  return fail(user_context, polyhalite_error_code_out_of_memory,
              "%s: there is no memory for '%s' (%lld bytes); compute it at an inner loop so that "
              "less of it is stored, or use smaller outputs",
              function, buffer, static_cast<long long>(bytes));
}

PH_WEAK int polyhalite_error_specialize_fail(void *user_context, const char *message) {
  return fail(user_context, polyhalite_error_code_specialize_fail,
              "the schedule has no branch for these inputs: %s", message);
}

PH_WEAK int polyhalite_error_explicit_bounds_too_small(void *user_context, const char *func,
                                                       const char *variable, int32_t given_min,
                                                       int32_t given_max, int32_t required_min,
                                                       int32_t required_max) {
  return fail(user_context, polyhalite_error_code_explicit_bounds_too_small,
              "Bounds given for %s in %s (from %d to %d) do not cover required region (from %d to "
              "%d); give larger ones, or change the size of the output",
              func, variable, given_min, given_max, required_min, required_max);
}

PH_WEAK int polyhalite_error_assumption(void *user_context, const char *function,
                                        const char *buffer, int32_t dimension, const char *text,
                                        int32_t actual, int32_t wanted, int32_t code) {
  return fail(user_context, static_cast<polyhalite_error_code_t>(code),
              "%s: '%s', dimension %d: %s: found %d, needed %d; change the size of the output, or "
              "the schedule",
              function, buffer, dimension, text, actual, wanted);
}

}  // extern "C"
