/* The C interface between compiled pipelines, their runtime and their callers. */
#ifndef POLYHALITE_RUNTIME_H
#define POLYHALITE_RUNTIME_H

#include "polyhalite_buffer.h"
#include "polyhalite_errors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each may be defined by the program; the runtime's own definition is weak. `user_context` is the
 * pipeline's first argument where the target has user_context, else null. */
void *polyhalite_malloc(void *user_context, size_t bytes); /* 64-byte aligned */
void polyhalite_free(void *user_context, void *pointer);
void polyhalite_error(void *user_context, const char *message); /* default: prints, aborts */
void polyhalite_print(void *user_context, const char *message);

/* How the runtime finds functions: of the program, and of shared libraries that it loads, such as a
 * GPU's driver. Setting returns the handler before, null for the default; null sets the default. */
typedef void *(*polyhalite_get_symbol_t)(const char *name);
typedef void *(*polyhalite_load_library_t)(const char *name);
typedef void *(*polyhalite_get_library_symbol_t)(void *library, const char *name);
void *polyhalite_get_symbol(const char *name);
void *polyhalite_load_library(const char *name);
void *polyhalite_get_library_symbol(void *library, const char *name);
void *polyhalite_default_get_symbol(const char *name);
void *polyhalite_default_load_library(const char *name);
void *polyhalite_default_get_library_symbol(void *library, const char *name);
polyhalite_get_symbol_t polyhalite_set_custom_get_symbol(polyhalite_get_symbol_t handler);
polyhalite_load_library_t polyhalite_set_custom_load_library(polyhalite_load_library_t handler);
polyhalite_get_library_symbol_t polyhalite_set_custom_get_library_symbol(
    polyhalite_get_library_symbol_t handler);

/* A value to print: code | bits << 8 of its type (no 16-bit floats), or POLYHALITE_PRINT_TEXT for a
 * zero-terminated text; its bits, or the text's address. */
#define POLYHALITE_PRINT_TEXT (1u << 16)
#define POLYHALITE_PRINT_BYTES 8192
typedef struct polyhalite_print_item_t {
  uint32_t type, reserved;
  uint64_t bits;
} polyhalite_print_item_t;
/* Writes a line of at most POLYHALITE_PRINT_BYTES: the values with spaces between. */
void polyhalite_format_line(char *line, const polyhalite_print_item_t *items, int count);
int polyhalite_error_requirement_failed(void *user_context, const char *function,
                                        const char *condition, const polyhalite_print_item_t *items,
                                        int count);

/* What a traced pipeline reports. The layout is that of halide_trace_event_t. */
typedef enum polyhalite_trace_event_code_t {
  polyhalite_trace_load = 0,
  polyhalite_trace_store = 1,
  polyhalite_trace_begin_realization = 2,
  polyhalite_trace_end_realization = 3,
  polyhalite_trace_produce = 4,
  polyhalite_trace_end_produce = 5,
  polyhalite_trace_consume = 6,
  polyhalite_trace_end_consume = 7,
  polyhalite_trace_begin_pipeline = 8,
  polyhalite_trace_end_pipeline = 9,
  polyhalite_trace_tag = 10
} polyhalite_trace_event_code_t;
typedef struct polyhalite_trace_event_t {
  const char *func;     /* the Func's, the image's or the pipeline's name */
  void *value;          /* of loads and stores: type.lanes elements; else null */
  int32_t *coordinates; /* of loads and stores: per dimension type.lanes indices; of realizations
                           and productions: min and extent per dimension */
  const char *trace_tag;
  struct polyhalite_type_t type;
  polyhalite_trace_event_code_t event;
  int32_t parent_id;   /* what polyhalite_trace returned for the event that this one is part of */
  int32_t value_index; /* of a Func of several values */
  int32_t dimensions;  /* the length of `coordinates` */
} polyhalite_trace_event_t;
/* The event of each lane whose byte of `mask` is not 0 goes to `trace`; where none is 0, all lanes
 * in one event. For compiled code. */
void polyhalite_trace_lanes(void *user_context, const polyhalite_trace_event_t *event,
                            const uint8_t *mask,
                            int32_t (*trace)(void *, const polyhalite_trace_event_t *));
/* "text 1 -2": `to` has room for the text and 12 bytes a number. For compiled code. */
void polyhalite_format_trace_tag(char *to, const char *text, const int32_t *numbers, int count);
/* One event in a trace file; its coordinates, value, name and tag follow, the whole in multiples of
 * four bytes. */
typedef struct polyhalite_trace_packet_t {
  uint32_t size;
  int32_t id;
  struct polyhalite_type_t type;
  polyhalite_trace_event_code_t event;
  int32_t parent_id, value_index, dimensions;
#ifdef __cplusplus
  /* What follows a packet that lies in memory as it was written. */
  const int *coordinates() const { return reinterpret_cast<const int *>(this + 1); }
  int *coordinates() { return reinterpret_cast<int *>(this + 1); }
  const void *value() const { return coordinates() + dimensions; }
  void *value() { return coordinates() + dimensions; }
  const char *func() const {
    return static_cast<const char *>(value()) + type.lanes * ((type.bits + 7) / 8);
  }
  char *func() { return static_cast<char *>(value()) + type.lanes * ((type.bits + 7) / 8); }
  /* "" of all events but tags. */
  const char *trace_tag() const {
    const char *f = func();
    while (*f++) {
    }
    return f;
  }
  char *trace_tag() {
    return const_cast<char *>(static_cast<const polyhalite_trace_packet_t *>(this)->trace_tag());
  }
#endif
} polyhalite_trace_packet_t;
/* Returns the event's number. By default events are lines of text on stdout, or packets in the file
 * that PH_TRACE_FILE or HL_TRACE_FILE names. */
int32_t polyhalite_trace(void *user_context, const polyhalite_trace_event_t *event);
int32_t polyhalite_default_trace(void *user_context, const polyhalite_trace_event_t *event);
typedef int32_t (*polyhalite_trace_t)(void *, const polyhalite_trace_event_t *);
polyhalite_trace_t polyhalite_set_custom_trace(polyhalite_trace_t handler);
void polyhalite_set_trace_file(int fd); /* 0: text on stdout */
/* Where packets go; 0 for text. May be defined by the program, a file for each user_context. */
int polyhalite_get_trace_file(void *user_context);
/* Closes the file that the environment named. 0, or an error code where the trace is not whole. */
int polyhalite_shutdown_trace(void);

/* Writes a buffer to a file; the format follows from the name's end: .npy, .tif, .tiff, .mat, else
 * that of .tmp. 0, or an error code. */
int32_t polyhalite_debug_to_file(void *user_context, const char *filename,
                                 struct polyhalite_buffer_t *buffer);

typedef int (*polyhalite_task_t)(void *user_context, int index, uint8_t *closure);
/* Runs task(min) .. task(min + extent - 1), in any order; returns the first non-zero result. */
int polyhalite_do_par_for(void *user_context, polyhalite_task_t task, int min, int extent,
                          uint8_t *closure);

/* Runs the indices first .. first + count - 1 of a loop, in their order, up to the first that
 * fails. */
typedef int (*polyhalite_range_t)(void *user_context, int first, int count, uint8_t *closure);
/* As polyhalite_do_par_for, which it calls with a task of one index. Where neither handlers nor the
 * program's own functions look at each task, indices beside each other are one call of `range`. */
int polyhalite_do_par_for_ranges(void *user_context, polyhalite_range_t range, int min, int extent,
                                 uint8_t *closure);

/* One task of polyhalite_do_par_for: its result. */
int polyhalite_do_task(void *user_context, polyhalite_task_t task, int index, uint8_t *closure);

/* What the functions above do where no handler is set. */
void *polyhalite_default_malloc(void *user_context, size_t bytes);
void polyhalite_default_free(void *user_context, void *pointer);
void polyhalite_default_error(void *user_context, const char *message);
void polyhalite_default_print(void *user_context, const char *message);
int polyhalite_default_do_par_for(void *user_context, polyhalite_task_t task, int min, int extent,
                                  uint8_t *closure);
int polyhalite_default_do_task(void *user_context, polyhalite_task_t task, int index,
                               uint8_t *closure);

/* A counter that tasks of a fork wait for. */
typedef struct polyhalite_semaphore_t {
  uint64_t opaque[2];
} polyhalite_semaphore_t;
void polyhalite_semaphore_init(polyhalite_semaphore_t *semaphore, int count);
/* Waits until the count is positive, and takes 1 off. Not 0 where the fork that owns the semaphore
 * has failed: the code with which it did. */
int polyhalite_semaphore_acquire(polyhalite_semaphore_t *semaphore);
void polyhalite_semaphore_release(polyhalite_semaphore_t *semaphore);
/* Runs producer(user_context, 0, closure) beside consumer(user_context, 1, closure), on a thread of
 * its own, so that either may wait for the other. Where one of them fails, the other's waiting for
 * `semaphores` ends. Returns the first non-zero result. */
int polyhalite_do_fork(void *user_context, polyhalite_task_t producer, polyhalite_task_t consumer,
                       uint8_t *closure, polyhalite_semaphore_t *const *semaphores, int count);

/* Handlers at run time: each returns the one before; null restores the default. */
typedef int (*polyhalite_do_par_for_t)(void *, polyhalite_task_t, int, int, uint8_t *);
typedef int (*polyhalite_do_task_t)(void *, polyhalite_task_t, int, uint8_t *);
polyhalite_do_par_for_t polyhalite_set_custom_do_par_for(polyhalite_do_par_for_t handler);
polyhalite_do_task_t polyhalite_set_custom_do_task(polyhalite_do_task_t handler);
typedef void (*polyhalite_error_handler_t)(void *, const char *);
typedef void (*polyhalite_print_t)(void *, const char *);
typedef void *(*polyhalite_malloc_t)(void *, size_t);
typedef void (*polyhalite_free_t)(void *, void *);
polyhalite_error_handler_t polyhalite_set_error_handler(polyhalite_error_handler_t handler);
polyhalite_print_t polyhalite_set_custom_print(polyhalite_print_t handler);
polyhalite_malloc_t polyhalite_set_custom_malloc(polyhalite_malloc_t handler);
polyhalite_free_t polyhalite_set_custom_free(polyhalite_free_t handler);
/* 0: PH_NUM_THREADS, HL_NUM_THREADS, else the cores this process may use. Returns the old one. */
int polyhalite_set_num_threads(int n);
int polyhalite_get_num_threads(void);
void polyhalite_shutdown_thread_pool(void);

/* Whether code for these features (bit N of word N/64: polyhalite_target_features.h) runs here.
 * Asked once by pipelines that were compiled for several targets. The default one knows
 * instruction sets and ignores all else. */
int polyhalite_can_use_target_features(int count, const uint64_t *features);
int polyhalite_default_can_use_target_features(int count, const uint64_t *features);
typedef int (*polyhalite_can_use_target_features_t)(int count, const uint64_t *features);
polyhalite_can_use_target_features_t polyhalite_set_custom_can_use_target_features(
    polyhalite_can_use_target_features_t handler);

/* Target feature msan: memory that must have been written, and memory that has been. The default
 * ones call the memory sanitizer where the program has it. Each returns 0. */
int polyhalite_msan_check_memory_is_initialized(void *user_context, const void *memory,
                                                uint64_t bytes, const char *name);
int polyhalite_msan_annotate_memory_is_initialized(void *user_context, const void *memory,
                                                   uint64_t bytes);
/* The same of a buffer's elements on the host, run by run in the order of addresses. */
int polyhalite_msan_check_buffer_is_initialized(void *user_context, polyhalite_buffer_t *buffer,
                                                const char *name);
int polyhalite_msan_annotate_buffer_is_initialized(void *user_context, polyhalite_buffer_t *buffer);
void polyhalite_msan_annotate_buffer_is_initialized_as_destructor(void *user_context, void *buffer);
/* Of a buffer itself and its shape; and checks of these and of the elements. */
int polyhalite_msan_annotate_description(void *user_context, polyhalite_buffer_t *buffer);
int polyhalite_msan_check_argument(void *user_context, polyhalite_buffer_t *buffer,
                                   const char *name);

/* Called by compiled code: each makes the message, hands it to polyhalite_error and returns the
 * code that the pipeline then returns. */
int polyhalite_error_buffer_is_null(void *user_context, const char *function, const char *buffer);
int polyhalite_error_host_is_null(void *user_context, const char *function, const char *buffer);
int polyhalite_error_device_dirty_with_no_device_support(void *user_context, const char *function,
                                                         const char *buffer);
int polyhalite_error_bad_type(void *user_context, const char *function, const char *buffer,
                              uint32_t found, uint32_t wanted); /* code | bits<<8 | lanes<<16 */
int polyhalite_error_bad_dimensions(void *user_context, const char *function, const char *buffer,
                                    int32_t found, int32_t wanted);
/* Needed [needed_min, needed_max], there is [buffer_min, buffer_max]. */
int polyhalite_error_access_out_of_bounds(void *user_context, const char *function,
                                          const char *buffer, int32_t dimension, int32_t needed_min,
                                          int32_t needed_max, int32_t buffer_min,
                                          int32_t buffer_max);
/* An end of what is needed of a Func or buffer, or of a loop where `dimension` is negative, which
   scalar arguments make leave 32 bits; from
   POLYHALITE_REGION_BEYOND on: far, or to what is no number. */
#define POLYHALITE_REGION_BEYOND (INT64_C(1) << 60)
int polyhalite_error_region_overflow(void *user_context, const char *function, const char *buffer,
                                     int32_t dimension, int64_t end);
int polyhalite_error_constraint_violated(void *user_context, const char *function,
                                         const char *buffer, int32_t dimension, const char *what,
                                         int32_t found, int32_t wanted);
int polyhalite_error_buffer_too_large(void *user_context, const char *function, const char *buffer,
                                      int64_t bytes, int64_t limit);
/* The same of a dimension's extent times its stride. */
int polyhalite_error_buffer_allocation_too_large(void *user_context, const char *function,
                                                 const char *buffer, int64_t bytes, int64_t limit);
int polyhalite_error_out_of_memory(void *user_context, const char *function, const char *buffer,
                                   int64_t bytes);
int polyhalite_error_extern_stage_failed(void *user_context, const char *function,
                                         const char *extern_function, int32_t code);
int polyhalite_error_bounds_inference_call_failed(void *user_context, const char *function,
                                                  const char *extern_function, int32_t code);
int polyhalite_error_debug_to_file_failed(void *user_context, const char *function,
                                          const char *filename, int32_t code);
int polyhalite_error_unaligned_host_ptr(void *user_context, const char *function,
                                        const char *buffer, int32_t alignment);
int polyhalite_error_dim_is_null(void *user_context, const char *function, const char *buffer);
/* A dimension with a negative extent, or whose last index is beyond int32. */
int polyhalite_error_bad_range(void *user_context, const char *function, const char *buffer,
                               int32_t dimension, int32_t min, int32_t extent);
int polyhalite_error_param_too_small(void *user_context, const char *function, const char *param,
                                     double value, double min);
int polyhalite_error_param_too_large(void *user_context, const char *function, const char *param,
                                     double value, double max);
/* Bounds queries: where the buffer has no memory, sets its type and one dimension of its shape. */
int polyhalite_answer_query(void *user_context, polyhalite_buffer_t *buffer, int32_t dimension,
                            uint32_t type, int32_t min, int32_t extent, int32_t stride);
/* What a pipeline returns after a query: 0. */
int polyhalite_query_answered(void *user_context);
/* Around an update of a cell that parallel iterations share; nobody else that names this cell is
 * between the two at once. */
void polyhalite_atomic_begin(const void *cell);
void polyhalite_atomic_end(const void *cell);
/* The schedule has no branch for these inputs. */
int polyhalite_error_specialize_fail(void *user_context, const char *message);
/* bound() or bound_extent() of a Func promises more than holds. Bounds are inclusive. */
int polyhalite_error_explicit_bounds_too_small(void *user_context, const char *func,
                                               const char *variable, int32_t given_min,
                                               int32_t given_max, int32_t required_min,
                                               int32_t required_max);
/* An assumption of a proof: "split of 'x' shifts inwards: extent ACTUAL must be at least WANTED".
 * Returns `code`. */
int polyhalite_error_assumption(void *user_context, const char *function, const char *buffer,
                                int32_t dimension, const char *text, int32_t actual, int32_t wanted,
                                int32_t code);

#ifdef __cplusplus
}
#endif
#endif
