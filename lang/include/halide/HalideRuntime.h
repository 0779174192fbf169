/* Halide's names for the runtime's types and functions. The symbols keep their own names, so that
 * both libraries can live in one process. */
#ifndef POLYHALITE_HALIDE_RUNTIME_H
#define POLYHALITE_HALIDE_RUNTIME_H

#include "polyhalite_runtime.h"

#define halide_type_code_t polyhalite_type_code_t
#define halide_type_int polyhalite_type_int
#define halide_type_uint polyhalite_type_uint
#define halide_type_float polyhalite_type_float
#define halide_type_handle polyhalite_type_handle
#define halide_type_bfloat polyhalite_type_bfloat
#define halide_type_t polyhalite_type_t
#define halide_dimension_t polyhalite_dimension_t
#define halide_buffer_t polyhalite_buffer_t

#define halide_malloc polyhalite_malloc
#define halide_free polyhalite_free
#define halide_error polyhalite_error
#define halide_print polyhalite_print
#define halide_task_t polyhalite_task_t
#define halide_do_par_for polyhalite_do_par_for
#define halide_error_handler_t polyhalite_error_handler_t
#define halide_print_handler_t polyhalite_print_handler_t
#define halide_malloc_t polyhalite_malloc_handler_t
#define halide_free_t polyhalite_free_handler_t
#define halide_set_error_handler polyhalite_set_error_handler
#define halide_set_custom_print polyhalite_set_custom_print
#define halide_set_custom_malloc polyhalite_set_custom_malloc
#define halide_set_custom_free polyhalite_set_custom_free
#define halide_set_num_threads polyhalite_set_num_threads
#define halide_get_num_threads polyhalite_get_num_threads
#define halide_shutdown_thread_pool polyhalite_shutdown_thread_pool

#endif
