/* Threads, condition variables and arrays of mutexes, for programs' own code that runs beside
 * pipelines: what POSIX has, by the runtime's names. A mutex is polyhalite_profiler.h's. */
#ifndef POLYHALITE_THREADS_H
#define POLYHALITE_THREADS_H

#include "polyhalite_profiler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros are one that nobody waits for. Waiting may end without a signal. */
typedef struct polyhalite_cond {
  uintptr_t _private[1];
} polyhalite_cond;
void polyhalite_cond_signal(struct polyhalite_cond *cond);
void polyhalite_cond_broadcast(struct polyhalite_cond *cond);
void polyhalite_cond_wait(struct polyhalite_cond *cond, struct polyhalite_mutex *mutex);
/* Null where there is no memory. Locking and unlocking return 0. */
struct polyhalite_mutex_array;
struct polyhalite_mutex_array *polyhalite_mutex_array_create(uint64_t count);
void polyhalite_mutex_array_destroy(void *user_context, void *array);
int polyhalite_mutex_array_lock(struct polyhalite_mutex_array *array, int entry);
int polyhalite_mutex_array_unlock(struct polyhalite_mutex_array *array, int entry);

/* A thread that runs run(closure) and must be joined; null where the system gives none. */
struct polyhalite_thread;
struct polyhalite_thread *polyhalite_spawn_thread(void (*run)(void *), void *closure);
void polyhalite_join_thread(struct polyhalite_thread *thread);

#ifdef __cplusplus
}
#endif

#endif
