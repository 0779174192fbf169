/* The C interface between compiled pipelines, their runtime and their callers. */
#ifndef POLYHALITE_RUNTIME_H
#define POLYHALITE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum polyhalite_type_code_t {
  polyhalite_type_int = 0,
  polyhalite_type_uint = 1,
  polyhalite_type_float = 2,
  polyhalite_type_handle = 3,
  polyhalite_type_bfloat = 4
} polyhalite_type_code_t;

/* A scalar type: code, width in bits, lanes. */
struct polyhalite_type_t {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

/* One dimension: indices min .. min + extent - 1, `stride` in elements. */
typedef struct polyhalite_dimension_t {
  int32_t min, extent, stride;
  uint32_t flags;
} polyhalite_dimension_t;

/* A multi-dimensional array that somebody else owns. The layout is that of halide_buffer_t. */
typedef struct polyhalite_buffer_t {
  uint64_t device;
  const void *device_interface;
  uint8_t *host; /* address of the element at every dimension's min */
  uint64_t flags;
  struct polyhalite_type_t type;
  int32_t dimensions;
  polyhalite_dimension_t *dim;
  void *padding;
} polyhalite_buffer_t;

/* Each may be defined by the program; the runtime's own definition is weak. `user_context` is the
 * pipeline's first argument where the target has user_context, else null. */
void *polyhalite_malloc(void *user_context, size_t bytes); /* 64-byte aligned */
void polyhalite_free(void *user_context, void *pointer);
void polyhalite_error(void *user_context, const char *message); /* default: prints, aborts */
void polyhalite_print(void *user_context, const char *message);

typedef int (*polyhalite_task_t)(void *user_context, int index, uint8_t *closure);
/* Runs task(min) .. task(min + extent - 1), in any order; returns the first non-zero result. */
int polyhalite_do_par_for(void *user_context, polyhalite_task_t task, int min, int extent,
                          uint8_t *closure);

/* Handlers at run time: each returns the one before; null restores the default. */
typedef void (*polyhalite_error_handler_t)(void *, const char *);
typedef void (*polyhalite_print_handler_t)(void *, const char *);
typedef void *(*polyhalite_malloc_handler_t)(void *, size_t);
typedef void (*polyhalite_free_handler_t)(void *, void *);
polyhalite_error_handler_t polyhalite_set_error_handler(polyhalite_error_handler_t handler);
polyhalite_print_handler_t polyhalite_set_custom_print(polyhalite_print_handler_t handler);
polyhalite_malloc_handler_t polyhalite_set_custom_malloc(polyhalite_malloc_handler_t handler);
polyhalite_free_handler_t polyhalite_set_custom_free(polyhalite_free_handler_t handler);
/* 0: PH_NUM_THREADS, HL_NUM_THREADS, else the cores this process may use. Returns the old one. */
int polyhalite_set_num_threads(int n);
int polyhalite_get_num_threads(void);
void polyhalite_shutdown_thread_pool(void);

/* Called by compiled code: each makes the message, hands it to polyhalite_error and returns the
 * code that the pipeline then returns. */
enum polyhalite_error_code_t {
  polyhalite_error_code_success = 0,
  polyhalite_error_code_generic = -1,
  polyhalite_error_code_access_out_of_bounds = -4,
  polyhalite_error_code_bad_type = -3,
  polyhalite_error_code_bad_dimensions = -43,
  polyhalite_error_code_out_of_memory = -11,
  polyhalite_error_code_buffer_argument_is_null = -12,
  polyhalite_error_code_host_is_null = -34,
  polyhalite_error_code_requirement_failed = -27,
  polyhalite_error_code_buffer_too_large = -6,
  polyhalite_error_code_param_too_small = -8,
  polyhalite_error_code_param_too_large = -9,
  polyhalite_error_code_constraint_violated = -7,
  polyhalite_error_code_bad_range = -28
};
int polyhalite_error_buffer_is_null(void *user_context, const char *function, const char *buffer);
int polyhalite_error_host_is_null(void *user_context, const char *function, const char *buffer);
int polyhalite_error_bad_type(void *user_context, const char *function, const char *buffer,
                              uint32_t found, uint32_t wanted); /* code | bits<<8 | lanes<<16 */
int polyhalite_error_bad_dimensions(void *user_context, const char *function, const char *buffer,
                                    int32_t found, int32_t wanted);
/* Needed [needed_min, needed_max], there is [buffer_min, buffer_max]. */
int polyhalite_error_access_out_of_bounds(void *user_context, const char *function,
                                          const char *buffer, int32_t dimension, int32_t needed_min,
                                          int32_t needed_max, int32_t buffer_min,
                                          int32_t buffer_max);
int polyhalite_error_constraint_violated(void *user_context, const char *function,
                                         const char *buffer, int32_t dimension, const char *what,
                                         int32_t found, int32_t wanted);
int polyhalite_error_buffer_too_large(void *user_context, const char *function, const char *buffer,
                                      int64_t bytes, int64_t limit);
int polyhalite_error_out_of_memory(void *user_context, const char *function, const char *buffer,
                                   int64_t bytes);
int polyhalite_error_dim_is_null(void *user_context, const char *function, const char *buffer);
/* A dimension with a negative extent, or whose last index is beyond int32. */
int polyhalite_error_bad_range(void *user_context, const char *function, const char *buffer,
                               int32_t dimension, int32_t min, int32_t extent);
int polyhalite_error_param_too_small(void *user_context, const char *function, const char *param,
                                     double value, double min);
int polyhalite_error_param_too_large(void *user_context, const char *function, const char *param,
                                     double value, double max);
/* An assumption of a proof: "split of 'x' shifts inwards: extent ACTUAL must be at least WANTED".
 */
int polyhalite_error_assumption(void *user_context, const char *function, const char *buffer,
                                int32_t dimension, const char *text, int32_t actual,
                                int32_t wanted);

#ifdef __cplusplus
}
#endif
#endif
