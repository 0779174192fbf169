// What the files of the runtime share. The runtime is linked into users' programs: it needs the C
// library and threads, and no C++ library.
#pragma once

#include "lang/abi/polyhalite_profiler.h"
#include "lang/abi/polyhalite_runtime.h"

#define PH_WEAK __attribute__((weak))

namespace polyhalite::runtime {

/// Takes a message for the context of a call that was compiled in process; false where the context
/// is none of its own.
using ErrorSink = bool (*)(void *user_context, const char *message);
void set_error_sink(ErrorSink sink);

/// Hands the message to the sink or to polyhalite_error.
void report(void *user_context, const char *message);

/// The same with a format; returns `code`.
__attribute__((format(printf, 3, 4))) int fail(void *user_context, int code, const char *format,
                                               ...);

/// The same of what pipelines print.
using PrintSink = bool (*)(void *user_context, const char *text);
void set_print_sink(PrintSink sink);
/// Hands the text to the sink or to polyhalite_print.
void print_text(void *user_context, const char *text);

/// Values as text with spaces between, cut to fit; returns the length.
size_t format_items(char *to, size_t room, const polyhalite_print_item_t *items, int count);

/// profiler_report.cc: prints what was gathered of a list of pipelines.
void report_profile(void *user_context, const polyhalite_profiler_pipeline_stats *pipelines);
/// Where no profiled pipeline runs: hands on what was gathered, and forgets it.
void finish_profiling(void (*use)(void *with, const polyhalite_profiler_pipeline_stats *pipelines),
                      void *with);

bool try_lock(polyhalite_mutex *mutex);

/// What spinning threads do meanwhile; and for how many times before they sleep.
inline constexpr int kSpins = 400;  // pauses, about 40 cycles each
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

/// The closure of a loop over ranges for those who see each index, and their task.
struct Ranges {
  polyhalite_range_t range;
  uint8_t *closure;
};
inline int run_one_of_ranges(void *user_context, int index, uint8_t *closure) {
  const Ranges &ranges = *reinterpret_cast<const Ranges *>(closure);
  return ranges.range(user_context, index, 1, ranges.closure);
}

/// The parallel loop that this thread works for: loops below it are its own to help with.
void *current_job_of_thread();
void set_current_job(void *job);

/// Ends the threads that wait for forks.
void stop_fork_threads();

/// Releases the memory that freed blocks left behind for reuse.
void release_cached_memory();

}  // namespace polyhalite::runtime
