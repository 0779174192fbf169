/* What pipelines of targets with profile, profile_by_timer or profile_counts report of themselves:
 * the time of each Func, by samples taken every millisecond, or exact counts. The first fields of
 * the structs lie as in Halide's.
 *
 * A program need not call any of this: when it ends, what was gathered is printed. Pipelines that
 * run in process print after each call. PH_PROFILE_JSON names a file that each report is added to,
 * as one line of JSON. */
#ifndef POLYHALITE_PROFILER_H
#define POLYHALITE_PROFILER_H

#include "polyhalite_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct polyhalite_mutex {
  uintptr_t _private[1];
} polyhalite_mutex;
void polyhalite_mutex_lock(struct polyhalite_mutex *mutex);
void polyhalite_mutex_unlock(struct polyhalite_mutex *mutex);

/* Of one Func. The first entries of a pipeline's are no Funcs: "overhead" (outside of all
 * productions), "malloc", "free" and "thread idle" (threads that wait for others). */
typedef struct polyhalite_profiler_func_stats {
  uint64_t time;           /* ns, by samples; by cycles where there are no samples */
  uint64_t memory_current; /* bytes on the heap */
  uint64_t memory_peak;
  uint64_t memory_total; /* of all allocations, one after the other */
  uint64_t stack_peak;   /* bytes in a thread's frames */
  /* The sum over samples of the threads at work on the pipeline, and the samples. */
  uint64_t active_threads_numerator, active_threads_denominator;
  const char *name;
  int num_allocs;
  /* Of profile_counts: productions, and the cycles of all threads in them, without those of other
   * Funcs inside. */
  uint64_t entries, cycles;
} polyhalite_profiler_func_stats;

/* Of all calls of one pipeline. */
typedef struct polyhalite_profiler_pipeline_stats {
  uint64_t time; /* ns, from the calls' begins to their ends */
  uint64_t memory_current, memory_peak, memory_total;
  uint64_t active_threads_numerator, active_threads_denominator;
  const char *name;
  struct polyhalite_profiler_func_stats *funcs;
  void *next; /* the next pipeline's */
  int num_funcs;
  int runs;
  int samples;
  int num_allocs;
  int counts; /* not 0: entries and cycles are known */
} polyhalite_profiler_pipeline_stats;

/* One call that runs. */
typedef struct polyhalite_profiler_instance_state {
  uint64_t billed_time; /* ns, by samples */
  uint64_t start_time;
  uint64_t memory_current, memory_peak, memory_total;
  uint64_t active_threads_numerator, active_threads_denominator;
  struct polyhalite_profiler_instance_state *next;
  struct polyhalite_profiler_instance_state **prev_next;
  struct polyhalite_profiler_pipeline_stats *pipeline_stats;
  struct polyhalite_profiler_func_stats *funcs; /* of this call alone */
  int current_func;                             /* what a sample bills */
  int active_threads;
  int samples;
  int num_allocs;
  int should_collect_statistics;
  int token; /* 1: a thread has the right to set current_func */
} polyhalite_profiler_instance_state;

typedef struct polyhalite_profiler_state {
  struct polyhalite_mutex lock; /* of all below, and of all that it leads to */
  struct polyhalite_profiler_pipeline_stats *pipelines;
  void *sampling_thread; /* null: none runs */
  struct polyhalite_profiler_instance_state *instances;
  void (*get_remote_profiler_state)(int *func, int *active_workers); /* unused on CPUs */
  int sleep_time;                                                    /* us between samples: 1000 */
  int shutdown;                                                      /* the thread is to end */
} polyhalite_profiler_state;

struct polyhalite_profiler_state *polyhalite_profiler_get_state(void);
/* Null where the pipeline has not run. Takes the lock. */
struct polyhalite_profiler_pipeline_stats *polyhalite_profiler_get_pipeline_state(
    const char *pipeline_name);
/* Bills the time since *prev_t to what runs, and sets *prev_t; the lock is the caller's. Returns
 * how many ms to wait for the next sample. */
int polyhalite_profiler_sample(struct polyhalite_profiler_state *state, uint64_t *prev_t);
/* Waits until no profiled pipeline runs, and forgets what was gathered. */
void polyhalite_profiler_reset(void);
/* The same, and ends the sampling thread. */
void polyhalite_profiler_shutdown(void);
/* Prints a table for each pipeline, a line a call of polyhalite_print. */
void polyhalite_profiler_report(void *user_context);
/* Prints {"pipelines": [...]}, one line. */
void polyhalite_profiler_report_json(void *user_context);
void polyhalite_profiler_lock(struct polyhalite_profiler_state *state);
void polyhalite_profiler_unlock(struct polyhalite_profiler_state *state);

/* -- Called by compiled code */

typedef struct polyhalite_profiler_func_info {
  const char *name;
  uint64_t stack; /* bytes */
} polyhalite_profiler_func_info;

enum {
  POLYHALITE_PROFILE_OVERHEAD = 0,
  POLYHALITE_PROFILE_MALLOC = 1,
  POLYHALITE_PROFILE_FREE = 2,
  POLYHALITE_PROFILE_IDLE = 3,
  POLYHALITE_PROFILE_FIRST_FUNC = 4
};
enum {
  POLYHALITE_PROFILE_SAMPLES = 1,
  POLYHALITE_PROFILE_BY_TIMER = 2,
  POLYHALITE_PROFILE_COUNTS = 4
};

/* A thread at work on a call; in the frame of the pipeline or the task. */
typedef struct polyhalite_profiler_thread {
  int *current; /* where the thread says what it does: &instance->current_func of one thread at a
                   time, else &spare */
  struct polyhalite_profiler_instance_state *instance;
  int spare;
  int counted; /* what `cycles` since `since` go to, of profile_counts; else -1 */
  uint64_t since;
} polyhalite_profiler_thread;

/* `instance` and `funcs` (one for each of `infos`) need not be initialized. Not 0: no memory. */
int polyhalite_profiler_instance_start(void *user_context, const char *pipeline, int options,
                                       const polyhalite_profiler_func_info *infos, int num_funcs,
                                       polyhalite_profiler_instance_state *instance,
                                       polyhalite_profiler_func_stats *funcs,
                                       polyhalite_profiler_thread *thread);
void polyhalite_profiler_instance_end(polyhalite_profiler_thread *thread);
/* A task of a parallel loop or a fork, begun by a thread that works for `func`. */
void polyhalite_profiler_task_begin(polyhalite_profiler_thread *thread,
                                    polyhalite_profiler_instance_state *instance, int options,
                                    int func);
void polyhalite_profiler_task_end(polyhalite_profiler_thread *thread);
/* Around waiting for other threads. */
void polyhalite_profiler_suspend(polyhalite_profiler_thread *thread);
void polyhalite_profiler_resume(polyhalite_profiler_thread *thread, int func);
/* profile_counts: from here on cycles go to func; `enters`: a production of it begins. */
void polyhalite_profiler_count(polyhalite_profiler_thread *thread, int func, int enters);
void polyhalite_profiler_memory_allocate(polyhalite_profiler_thread *thread, int func,
                                         uint64_t bytes);
void polyhalite_profiler_memory_free(polyhalite_profiler_thread *thread, int func, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
