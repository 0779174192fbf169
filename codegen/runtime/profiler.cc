// The profiler: who runs, and what for. Compiled code says in `current_func` of its call which Func
// it works for; a thread, or the signal of a timer, looks there every millisecond.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

using State = polyhalite_profiler_state;
using Instance = polyhalite_profiler_instance_state;
using Pipeline = polyhalite_profiler_pipeline_stats;
using FuncStats = polyhalite_profiler_func_stats;
using Thread = polyhalite_profiler_thread;

State state = {{{0}}, nullptr, nullptr, nullptr, nullptr, 1000, 0};
pthread_t sampling_thread;
bool has_timer = false;

uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t cycles() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return now();
#endif
}

void add(uint64_t *to, uint64_t n) { __atomic_fetch_add(to, n, __ATOMIC_RELAXED); }

void raise(uint64_t *peak, uint64_t value) {
  uint64_t old = __atomic_load_n(peak, __ATOMIC_RELAXED);
  while (old < value && !__atomic_compare_exchange_n(peak, &old, value, true, __ATOMIC_RELAXED,
                                                     __ATOMIC_RELAXED)) {
  }
}

class Locked {
 public:
  explicit Locked(State *s) : state_(s) { polyhalite_profiler_lock(s); }
  ~Locked() { polyhalite_profiler_unlock(state_); }

 private:
  State *state_;
};

void *sample_until_shutdown(void *) {
  constexpr int kPatience = 500;  // samples of nothing
  State *s = polyhalite_profiler_get_state();
  uint64_t last = now();
  int idle = 0;
  polyhalite_profiler_lock(s);
  while (!s->shutdown) {
    // Time in which nothing runs is nobody's.
    if (s->instances) {
      polyhalite_profiler_sample(s, &last);
      idle = 0;
    } else if (++idle < kPatience) {
      last = now();
    } else {
      pthread_detach(pthread_self());
      s->sampling_thread = nullptr;
      break;
    }
    const int us = s->sleep_time;
    polyhalite_profiler_unlock(s);
    const timespec wait = {us / 1000000, us % 1000000 * 1000L};
    nanosleep(&wait, nullptr);
    polyhalite_profiler_lock(s);
  }
  polyhalite_profiler_unlock(s);
  return nullptr;
}

uint64_t last_signal;

void sample_on_signal(int) {
  // The lock's owner may be the thread that the signal interrupts.
  State *s = polyhalite_profiler_get_state();
  if (!try_lock(&s->lock)) return;
  if (s->instances) {
    polyhalite_profiler_sample(s, &last_signal);
  } else {
    last_signal = now();
  }
  polyhalite_profiler_unlock(s);
}

void start_timer(State *s) {
  if (has_timer) return;
  has_timer = true;
  last_signal = now();
  struct sigaction action = {};
  action.sa_handler = sample_on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  const timeval period = {s->sleep_time / 1000000, s->sleep_time % 1000000};
  const itimerval every = {period, period};
  setitimer(ITIMER_PROF, &every, nullptr);
}

void start_thread(State *s) {
  if (s->sampling_thread) return;
  s->shutdown = 0;
  if (pthread_create(&sampling_thread, nullptr, sample_until_shutdown, nullptr) == 0) {
    s->sampling_thread = &sampling_thread;
  }
}

void stop_sampling(State *s) {
  if (has_timer) {
    const itimerval never = {};
    setitimer(ITIMER_PROF, &never, nullptr);
    has_timer = false;
  }
  if (!s->sampling_thread) return;
  s->shutdown = 1;
  // Another copy of the runtime in this process may have started it.
  const pthread_t thread = *static_cast<pthread_t *>(s->sampling_thread);
  polyhalite_profiler_unlock(s);
  pthread_join(thread, nullptr);
  polyhalite_profiler_lock(s);
  s->sampling_thread = nullptr;
}

// The statistics of a pipeline, new ones where it has none. Null without memory.
Pipeline *statistics_of(State *s, const char *name, const polyhalite_profiler_func_info *infos,
                        int n) {
  for (Pipeline *p = s->pipelines; p; p = static_cast<Pipeline *>(p->next)) {
    if (p->num_funcs != n || strcmp(p->name, name) != 0) continue;
    bool same = true;
    for (int i = 0; same && i < n; i++) same = strcmp(p->funcs[i].name, infos[i].name) == 0;
    if (same) return p;
  }
  // Names outlive the code that gave them.
  size_t bytes = sizeof(Pipeline) + sizeof(FuncStats) * static_cast<size_t>(n) + strlen(name) + 1;
  for (int i = 0; i < n; i++) bytes += strlen(infos[i].name) + 1;
  auto *p = static_cast<Pipeline *>(calloc(1, bytes));
  if (!p) return nullptr;
  p->funcs = reinterpret_cast<FuncStats *>(p + 1);
  char *text = reinterpret_cast<char *>(p->funcs + n);
  auto keep = [&](const char *from) {
    const char *kept = text;
    text = stpcpy(text, from) + 1;
    return kept;
  };
  p->name = keep(name);
  p->num_funcs = n;
  for (int i = 0; i < n; i++) {
    p->funcs[i].name = keep(infos[i].name);
    p->funcs[i].stack_peak = infos[i].stack;
  }
  p->next = s->pipelines;
  s->pipelines = p;
  return p;
}

void free_pipelines(Pipeline *p) {
  while (p) {
    auto *next = static_cast<Pipeline *>(p->next);
    free(p);
    p = next;
  }
}

void forget(State *s) {
  free_pipelines(s->pipelines);
  s->pipelines = nullptr;
}

void wait_until_idle(State *s) {
  while (s->instances) {
    polyhalite_profiler_unlock(s);
    sched_yield();
    polyhalite_profiler_lock(s);
  }
}

// The thread's cycles so far go to what it worked for.
void take_cycles(Thread *t, uint64_t until) {
  if (t->counted >= 0) add(&t->instance->funcs[t->counted].cycles, until - t->since);
  t->since = until;
}

void take_token(Thread *t) {
  int free = 0;
  const bool mine = __atomic_compare_exchange_n(&t->instance->token, &free, 1, false,
                                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  t->current = mine ? &t->instance->current_func : &t->spare;
}

void give_token(Thread *t) {
  if (t->current == &t->spare) return;
  __atomic_store_n(t->current, static_cast<int>(POLYHALITE_PROFILE_IDLE), __ATOMIC_RELAXED);
  t->current = &t->spare;
  __atomic_store_n(&t->instance->token, 0, __ATOMIC_RELEASE);
}

void merge(Instance *i, uint64_t time) {
  Pipeline *p = i->pipeline_stats;
  for (int f = 0; f < p->num_funcs; f++) {
    FuncStats &to = p->funcs[f];
    const FuncStats &from = i->funcs[f];
    to.time += from.time;
    to.memory_total += from.memory_total;
    to.num_allocs += from.num_allocs;
    raise(&to.memory_peak, from.memory_peak);
    to.active_threads_numerator += from.active_threads_numerator;
    to.active_threads_denominator += from.active_threads_denominator;
    to.entries += from.entries;
    to.cycles += from.cycles;
  }
  p->time += time;
  p->runs++;
  p->samples += i->samples;
  p->num_allocs += i->num_allocs;
  p->memory_total += i->memory_total;
  raise(&p->memory_peak, i->memory_peak);
  p->active_threads_numerator += i->active_threads_numerator;
  p->active_threads_denominator += i->active_threads_denominator;
}

}  // namespace

// The lock is not held: printing calls the user's code, which may run pipelines.
void finish_profiling(void (*use)(void *with, const Pipeline *pipelines), void *with) {
  State *s = polyhalite_profiler_get_state();
  Pipeline *done = nullptr;
  {
    Locked lock(s);
    if (s->instances) return;  // the last call to end reports all
    done = s->pipelines;
    s->pipelines = nullptr;
  }
  use(with, done);
  free_pipelines(done);
}

namespace {

__attribute__((destructor)) void report_at_exit() {
  State *s = polyhalite_profiler_get_state();
  polyhalite_profiler_lock(s);
  stop_sampling(s);
  if (!s->instances) report_profile(nullptr, s->pipelines);
  if (!s->instances) forget(s);
  polyhalite_profiler_unlock(s);
}

}  // namespace

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

// A signal of the timer waits while its thread has the lock: it must not wait for it.
PH_WEAK void polyhalite_profiler_lock(polyhalite_profiler_state *s) {
  polyhalite_mutex_lock(&s->lock);
}
PH_WEAK void polyhalite_profiler_unlock(polyhalite_profiler_state *s) {
  polyhalite_mutex_unlock(&s->lock);
}

PH_WEAK polyhalite_profiler_state *polyhalite_profiler_get_state(void) { return &runtime::state; }

PH_WEAK polyhalite_profiler_pipeline_stats *polyhalite_profiler_get_pipeline_state(
    const char *name) {
  polyhalite_profiler_state *s = polyhalite_profiler_get_state();
  runtime::Locked lock(s);
  for (auto *p = s->pipelines; p; p = static_cast<polyhalite_profiler_pipeline_stats *>(p->next)) {
    if (strcmp(p->name, name) == 0) return p;
  }
  return nullptr;
}

PH_WEAK int polyhalite_profiler_sample(polyhalite_profiler_state *s, uint64_t *prev_t) {
  const uint64_t t = runtime::now(), since = t - *prev_t;
  *prev_t = t;
  for (auto *i = s->instances; i; i = i->next) {
    const int func = __atomic_load_n(&i->current_func, __ATOMIC_RELAXED);
    const int threads = __atomic_load_n(&i->active_threads, __ATOMIC_RELAXED);
    i->billed_time += since;
    i->funcs[func].time += since;
    i->samples++;
    i->active_threads_numerator += static_cast<uint64_t>(threads);
    i->active_threads_denominator++;
    i->funcs[func].active_threads_numerator += static_cast<uint64_t>(threads);
    i->funcs[func].active_threads_denominator++;
  }
  return (s->sleep_time + 999) / 1000;
}

PH_WEAK void polyhalite_profiler_reset(void) {
  polyhalite_profiler_state *s = polyhalite_profiler_get_state();
  runtime::Locked lock(s);
  runtime::wait_until_idle(s);
  runtime::forget(s);
}

PH_WEAK void polyhalite_profiler_shutdown(void) {
  polyhalite_profiler_state *s = polyhalite_profiler_get_state();
  runtime::Locked lock(s);
  runtime::wait_until_idle(s);
  runtime::stop_sampling(s);
  runtime::forget(s);
}

PH_WEAK int polyhalite_profiler_instance_start(void *user_context, const char *pipeline,
                                               int options,
                                               const polyhalite_profiler_func_info *infos,
                                               int num_funcs,
                                               polyhalite_profiler_instance_state *instance,
                                               polyhalite_profiler_func_stats *funcs,
                                               polyhalite_profiler_thread *thread) {
  memset(instance, 0, sizeof *instance);
  memset(funcs, 0, sizeof *funcs * static_cast<size_t>(num_funcs));
  instance->funcs = funcs;
  instance->active_threads = 1;
  instance->should_collect_statistics = 1;
  instance->current_func = POLYHALITE_PROFILE_OVERHEAD;
  polyhalite_profiler_state *s = polyhalite_profiler_get_state();
  {
    runtime::Locked lock(s);
    instance->pipeline_stats = runtime::statistics_of(s, pipeline, infos, num_funcs);
    if (instance->pipeline_stats) {
      if (options & POLYHALITE_PROFILE_BY_TIMER) {
        runtime::start_timer(s);
      } else if (options & POLYHALITE_PROFILE_SAMPLES) {
        runtime::start_thread(s);
      }
      instance->pipeline_stats->counts |= options & POLYHALITE_PROFILE_COUNTS;
      instance->next = s->instances;
      if (instance->next) instance->next->prev_next = &instance->next;
      instance->prev_next = &s->instances;
      s->instances = instance;
      instance->start_time = runtime::now();
    }
  }
  if (!instance->pipeline_stats) {
    runtime::report(user_context, "no memory for the profile of a pipeline");
    return polyhalite_error_code_out_of_memory;
  }
  thread->instance = instance;
  runtime::take_token(thread);
  thread->counted = options & POLYHALITE_PROFILE_COUNTS ? POLYHALITE_PROFILE_OVERHEAD : -1;
  thread->since = thread->counted >= 0 ? runtime::cycles() : 0;
  return 0;
}

PH_WEAK void polyhalite_profiler_instance_end(polyhalite_profiler_thread *t) {
  if (t->counted >= 0) runtime::take_cycles(t, runtime::cycles());
  const uint64_t end = runtime::now();
  polyhalite_profiler_instance_state *i = t->instance;
  runtime::Locked lock(polyhalite_profiler_get_state());
  *i->prev_next = i->next;
  if (i->next) i->next->prev_next = i->prev_next;
  if (i->should_collect_statistics) runtime::merge(i, end - i->start_time);
}

PH_WEAK void polyhalite_profiler_task_begin(polyhalite_profiler_thread *t,
                                            polyhalite_profiler_instance_state *instance,
                                            int options, int func) {
  t->instance = instance;
  t->counted = options & POLYHALITE_PROFILE_COUNTS ? func : -1;
  polyhalite_profiler_resume(t, func);
}

PH_WEAK void polyhalite_profiler_task_end(polyhalite_profiler_thread *t) {
  polyhalite_profiler_suspend(t);
}

PH_WEAK void polyhalite_profiler_suspend(polyhalite_profiler_thread *t) {
  if (t->counted >= 0) runtime::take_cycles(t, runtime::cycles());
  runtime::give_token(t);
  __atomic_fetch_sub(&t->instance->active_threads, 1, __ATOMIC_RELAXED);
}

PH_WEAK void polyhalite_profiler_resume(polyhalite_profiler_thread *t, int func) {
  __atomic_fetch_add(&t->instance->active_threads, 1, __ATOMIC_RELAXED);
  runtime::take_token(t);
  __atomic_store_n(t->current, func, __ATOMIC_RELAXED);
  if (t->counted < 0) return;
  t->counted = func;
  t->since = runtime::cycles();
}

PH_WEAK void polyhalite_profiler_count(polyhalite_profiler_thread *t, int func, int enters) {
  runtime::take_cycles(t, runtime::cycles());
  t->counted = func;
  if (enters) runtime::add(&t->instance->funcs[func].entries, 1);
}

PH_WEAK void polyhalite_profiler_memory_allocate(polyhalite_profiler_thread *t, int func,
                                                 uint64_t bytes) {
  polyhalite_profiler_instance_state *i = t->instance;
  polyhalite_profiler_func_stats &f = i->funcs[func];
  __atomic_fetch_add(&i->num_allocs, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&f.num_allocs, 1, __ATOMIC_RELAXED);
  runtime::add(&i->memory_total, bytes);
  runtime::add(&f.memory_total, bytes);
  runtime::raise(&i->memory_peak, __atomic_add_fetch(&i->memory_current, bytes, __ATOMIC_RELAXED));
  runtime::raise(&f.memory_peak, __atomic_add_fetch(&f.memory_current, bytes, __ATOMIC_RELAXED));
}

PH_WEAK void polyhalite_profiler_memory_free(polyhalite_profiler_thread *t, int func,
                                             uint64_t bytes) {
  __atomic_fetch_sub(&t->instance->memory_current, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&t->instance->funcs[func].memory_current, bytes, __ATOMIC_RELAXED);
}

}  // extern "C"
