/* What a compiled pipeline tells of itself: NAME_metadata(). The layout is that of
 * halide_filter_metadata_t. */
#ifndef POLYHALITE_METADATA_H
#define POLYHALITE_METADATA_H

#include "polyhalite_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { polyhalite_filter_metadata_version = 1 };

typedef enum polyhalite_argument_kind_t {
  polyhalite_argument_kind_input_scalar = 0,
  polyhalite_argument_kind_input_buffer = 1,
  polyhalite_argument_kind_output_buffer = 2
} polyhalite_argument_kind_t;

struct polyhalite_filter_argument_t {
  const char *name;
  int32_t kind; /* polyhalite_argument_kind_t */
  int32_t dimensions;
  struct polyhalite_type_t type;
  /* Null where nothing is known, and for buffers. */
  const struct polyhalite_scalar_value_t *scalar_def, *scalar_min, *scalar_max, *scalar_estimate;
  /* Null, or min and extent of each dimension of a buffer, each of which may be null. */
  int64_t const *const *buffer_estimates;
};

struct polyhalite_filter_metadata_t {
#ifdef __cplusplus
  static const int32_t VERSION = polyhalite_filter_metadata_version;
#endif
  int32_t version;
  int32_t num_arguments;
  const struct polyhalite_filter_argument_t *arguments; /* inputs, then outputs */
  const char *target;
  const char *name;
};

/* Defined by programs that link generated registrations: called once for each before main(). The
 * pairs are null, or names and values that end with two nulls. */
void polyhalite_register_argv_and_metadata(int (*argv)(void **),
                                           const struct polyhalite_filter_metadata_t *metadata,
                                           const char *const *extra_key_value_pairs);

#ifdef __cplusplus
}

#if __cplusplus >= 201703L
#include <string_view>

/* The arguments as a constant of C++, in the headers NAME.function_info.h. */
namespace HalideFunctionInfo {

enum ArgumentKind { InputScalar = 0, InputBuffer = 1, OutputBuffer = 2 };

struct ArgumentInfo {
  std::string_view name;
  ArgumentKind kind;
  int32_t dimensions;
  polyhalite_type_t type;
};

}  // namespace HalideFunctionInfo
#endif
#endif
#endif
