// What the profiler has gathered, as a table and as JSON.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

using Pipeline = polyhalite_profiler_pipeline_stats;
using FuncStats = polyhalite_profiler_func_stats;

// Text that grows; empty for ever once there is no memory.
class Text {
 public:
  ~Text() { free(text_); }
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int n = vsnprintf(nullptr, 0, format, args);
    va_end(args);
    if (n > 0 && reserve(length_ + static_cast<size_t>(n) + 1)) {
      vsnprintf(text_ + length_, room_ - length_, format, again);
      length_ += static_cast<size_t>(n);
    }
    va_end(again);
  }
  /// Spaces up to a column.
  void pad(size_t column) {
    add("%*s", length_ < column ? static_cast<int>(column - length_) : 1, "");
  }
  void clear() { length_ = 0; }
  const char *get() const { return length_ ? text_ : ""; }
  size_t length() const { return length_; }

 private:
  bool reserve(size_t bytes) {
    if (bytes <= room_) return true;
    auto *more = static_cast<char *>(realloc(text_, bytes * 2));
    if (!more) return false;
    text_ = more;
    room_ = bytes * 2;
    return true;
  }

  char *text_ = nullptr;
  size_t length_ = 0, room_ = 0;
};

// What samples, or without them cycles, tell of the pipeline's time.
struct Measured {
  const Pipeline &p;
  uint64_t all_time = 0, all_cycles = 0;

  explicit Measured(const Pipeline &pipeline) : p(pipeline) {
    for (int i = 0; i < p.num_funcs; i++) {
      all_time += p.funcs[i].time;
      all_cycles += p.funcs[i].cycles;
    }
  }
  /// Of the pipeline's time, that of a Func: 0 to 1.
  double share(const FuncStats &f) const {
    if (all_time) return static_cast<double>(f.time) / static_cast<double>(all_time);
    return all_cycles ? static_cast<double>(f.cycles) / static_cast<double>(all_cycles) : 0;
  }
  double ms(const FuncStats &f) const { return share(f) * static_cast<double>(p.time) / 1e6; }
};

double average(uint64_t numerator, uint64_t denominator) {
  return denominator ? static_cast<double>(numerator) / static_cast<double>(denominator) : 0;
}

// Runs may be too short for samples; memory is known all the same.
bool is_shown(const FuncStats &f) {
  return f.time || f.num_allocs || f.stack_peak || f.entries || f.cycles;
}

void print_table(void *user_context, const Pipeline &p) {
  const Measured m(p);
  const double runs = p.runs ? p.runs : 1;
  const double ms = static_cast<double>(p.time) / 1e6;
  const double threads = average(p.active_threads_numerator, p.active_threads_denominator);
  const bool serial = p.active_threads_numerator == p.active_threads_denominator;
  Text line;
  line.add("%s\n total time: %f ms  samples: %d  runs: %d  time per run: %f ms\n", p.name, ms,
           p.samples, p.runs, ms / runs);
  if (!serial) line.add(" average threads used: %f\n", threads);
  line.add(" heap allocations: %d  peak heap usage: %" PRIu64 " bytes\n", p.num_allocs,
           p.memory_peak);
  print_text(user_context, line.get());
  for (int i = 0; i < p.num_funcs; i++) {
    const FuncStats &f = p.funcs[i];
    if (!is_shown(f)) continue;
    line.clear();
    line.add("  %s:", f.name);
    line.pad(25);
    line.add("%.3fms", m.ms(f) / runs);
    line.pad(38);
    line.add("(%.1f%%)", 100 * m.share(f));
    size_t column = 48;
    line.pad(column);
    if (!serial && f.active_threads_denominator) {
      line.add("threads: %.3f", average(f.active_threads_numerator, f.active_threads_denominator));
    }
    if (!serial) line.pad(column += 16);
    if (p.counts) {
      line.add("entered: %" PRIu64, f.entries);
      line.pad(column += 20);
      line.add("cycles: %" PRIu64, f.cycles);
      line.pad(column += 25);
    }
    if (f.num_allocs) {
      line.add("peak: %" PRIu64, f.memory_peak);
      line.pad(column += 16);
      line.add("num: %d", f.num_allocs);
      line.pad(column += 14);
      line.add("avg: %" PRIu64, f.memory_total / static_cast<uint64_t>(f.num_allocs));
      line.pad(column += 14);
    }
    if (f.stack_peak) line.add("stack: %" PRIu64, f.stack_peak);
    line.add("\n");
    print_text(user_context, line.get());
  }
}

void add_quoted(Text &to, const char *text) {
  to.add("\"");
  for (; *text; text++) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') {
      to.add("\\%c", c);
    } else if (c < 0x20) {
      to.add("\\u%04x", c);
    } else {
      to.add("%c", c);
    }
  }
  to.add("\"");
}

void add_json(Text &to, const Pipeline &p) {
  const Measured m(p);
  to.add("{\"name\": ");
  add_quoted(to, p.name);
  to.add(
      ", \"time_ms\": %.6f, \"runs\": %d, \"samples\": %d, \"threads\": %.3f, "
      "\"allocations\": %d, \"memory_peak\": %" PRIu64 ", \"memory_total\": %" PRIu64
      ", \"funcs\": [",
      static_cast<double>(p.time) / 1e6, p.runs, p.samples,
      average(p.active_threads_numerator, p.active_threads_denominator), p.num_allocs,
      p.memory_peak, p.memory_total);
  bool first = true;
  for (int i = 0; i < p.num_funcs; i++) {
    const FuncStats &f = p.funcs[i];
    if (!is_shown(f)) continue;
    to.add(first ? "{\"name\": " : ", {\"name\": ");
    first = false;
    add_quoted(to, f.name);
    to.add(
        ", \"time_ms\": %.6f, \"share\": %.4f, \"threads\": %.3f, \"allocations\": %d, "
        "\"memory_peak\": %" PRIu64 ", \"memory_total\": %" PRIu64 ", \"stack_peak\": %" PRIu64,
        m.ms(f), m.share(f), average(f.active_threads_numerator, f.active_threads_denominator),
        f.num_allocs, f.memory_peak, f.memory_total, f.stack_peak);
    if (p.counts) to.add(", \"entered\": %" PRIu64 ", \"cycles\": %" PRIu64, f.entries, f.cycles);
    to.add("}");
  }
  to.add("]}");
}

const Pipeline *next_of(const Pipeline *p) { return static_cast<const Pipeline *>(p->next); }

void make_json(Text &to, const Pipeline *pipelines) {
  to.add("{\"pipelines\": [");
  const char *separator = "";
  for (const Pipeline *p = pipelines; p; p = next_of(p)) {
    if (!p->runs) continue;
    to.add("%s", separator);
    add_json(to, *p);
    separator = ", ";
  }
  to.add("]}\n");
}

}  // namespace

void report_profile(void *user_context, const Pipeline *pipelines) {
  if (!pipelines) return;
  for (const Pipeline *p = pipelines; p; p = next_of(p)) {
    if (p->runs) print_table(user_context, *p);
  }
  const char *name = getenv("PH_PROFILE_JSON");
  if (!name || !*name) return;
  Text json;
  make_json(json, pipelines);
  FILE *file = fopen(name, "a");
  const bool written = file && fwrite(json.get(), 1, json.length(), file) == json.length();
  if ((file && fclose(file) != 0) || !written) {
    fprintf(stderr, "cannot write the profile to '%s'\n", name);
  }
}

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK void polyhalite_profiler_report(void *user_context) {
  polyhalite_profiler_state *s = polyhalite_profiler_get_state();
  polyhalite_profiler_lock(s);
  runtime::report_profile(user_context, s->pipelines);
  polyhalite_profiler_unlock(s);
}

PH_WEAK void polyhalite_profiler_report_json(void *user_context) {
  polyhalite_profiler_state *s = polyhalite_profiler_get_state();
  runtime::Text json;
  polyhalite_profiler_lock(s);
  runtime::make_json(json, s->pipelines);
  polyhalite_profiler_unlock(s);
  runtime::print_text(user_context, json.get());
}

}  // extern "C"
