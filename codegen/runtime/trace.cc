// Trace events: as text to stdout, or as packets to a file.
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

constexpr int kNotAsked = -1, kAsText = 0;

polyhalite_trace_t trace_handler = nullptr;
int trace_file = kNotAsked;
bool owns_trace_file = false;
int32_t last_id = 0;
bool is_broken = false;  // a packet could not be written

// Opened once, by the first event.
int file_of_environment() {
  static int lock = 0;
  while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) pause_briefly();
  int file = __atomic_load_n(&trace_file, __ATOMIC_ACQUIRE);
  if (file == kNotAsked) {
    const char *name = getenv("PH_TRACE_FILE");
    if (!name) name = getenv("HL_TRACE_FILE");
    file = name ? open(name, O_CREAT | O_WRONLY | O_TRUNC | O_APPEND, 0644) : kAsText;
    if (file < 0) {
      fprintf(stderr, "cannot write the trace to '%s'; it is printed\n", name);
      file = kAsText;
    }
    owns_trace_file = file != kAsText;
    __atomic_store_n(&trace_file, file, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  return file;
}

// A line of bounded length.
struct Line {
  char text[4096];
  size_t length = 0;
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...) {
    if (length + 1 >= sizeof text) return;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    if (n > 0) length += static_cast<size_t>(n);
    if (length >= sizeof text) length = sizeof text - 1;
  }
};

void add_value(Line &line, const polyhalite_trace_event_t &e, int lane) {
  const int bytes = (e.type.bits + 7) / 8;
  uint64_t bits = 0;
  memcpy(&bits, static_cast<const uint8_t *>(e.value) + static_cast<size_t>(lane) * bytes, bytes);
  if (e.type.code == polyhalite_type_float && e.type.bits == 32) {
    float v;
    memcpy(&v, &bits, sizeof v);
    line.add("%f", static_cast<double>(v));
  } else if (e.type.code == polyhalite_type_float && e.type.bits == 64) {
    double v;
    memcpy(&v, &bits, sizeof v);
    line.add("%f", v);
  } else if (e.type.code == polyhalite_type_int) {
    const int unused = 64 - e.type.bits;
    line.add("%" PRId64, static_cast<int64_t>(bits << unused) >> unused);
  } else if (e.type.code == polyhalite_type_uint) {
    line.add("%" PRIu64, bits);
  } else {
    line.add("0x%" PRIx64, bits);
  }
}

// Load f.0(<0, 1>, <2, 2>) = <5, 6>
void write_text(void *user_context, const polyhalite_trace_event_t &e) {
  static const char *const kNames[] = {
      "Load",    "Store",       "Begin realization", "End realization", "Produce", "End produce",
      "Consume", "End consume", "Begin pipeline",    "End pipeline",    "Tag"};
  const bool access = e.event == polyhalite_trace_load || e.event == polyhalite_trace_store;
  const int lanes = access && e.type.lanes > 1 ? e.type.lanes : 1;
  Line line;
  line.add("%s %s.%d(", kNames[e.event], e.func, e.value_index);
  for (int i = 0; i < e.dimensions; i++) {
    if (i > 0) line.add(", ");
    if (lanes > 1 && i % lanes == 0) line.add("<");
    line.add("%d", e.coordinates[i]);
    if (lanes > 1 && i % lanes == lanes - 1) line.add(">");
  }
  line.add(")");
  if (access) {
    line.add(lanes > 1 ? " = <" : " = ");
    for (int i = 0; i < lanes; i++) {
      if (i > 0) line.add(", ");
      add_value(line, e, i);
    }
    if (lanes > 1) line.add(">");
  }
  if (e.trace_tag && *e.trace_tag) line.add(" tag = \"%s\"", e.trace_tag);
  // One call a line: threads do not cut each other's.
  if (line.length > sizeof line.text - 2) line.length = sizeof line.text - 2;
  line.text[line.length++] = '\n';
  line.text[line.length] = 0;
  print_text(user_context, line.text);
}

void write_packet(int file, int32_t id, const polyhalite_trace_event_t &e) {
  const char *tag = e.trace_tag ? e.trace_tag : "";
  const size_t value_bytes = e.value ? static_cast<size_t>(e.type.bits + 7) / 8 * e.type.lanes : 0;
  const size_t coordinates = sizeof(int32_t) * static_cast<size_t>(e.dimensions);
  const size_t func = strlen(e.func) + 1, text = strlen(tag) + 1;
  const size_t used = sizeof(polyhalite_trace_packet_t) + coordinates + value_bytes + func + text;
  const size_t size = (used + 3) & ~size_t{3};
  auto *bytes = static_cast<uint8_t *>(calloc(1, size));
  if (!bytes) return;
  polyhalite_trace_packet_t packet = {
      static_cast<uint32_t>(size), id, e.type, e.event, e.parent_id, e.value_index, e.dimensions};
  if (!e.value) packet.type.lanes = 0;
  uint8_t *to = bytes;
  auto append = [&](const void *from, size_t n) {
    if (n) memcpy(to, from, n);
    to += n;
  };
  append(&packet, sizeof packet);
  append(e.coordinates, coordinates);
  append(e.value, value_bytes);
  append(e.func, func);
  append(tag, text);
  if (write(file, bytes, size) != static_cast<ssize_t>(size)) {
    if (!__atomic_exchange_n(&is_broken, true, __ATOMIC_RELAXED)) {
      fprintf(stderr, "a packet of the trace could not be written\n");
    }
  }
  free(bytes);
}

}  // namespace

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK int32_t polyhalite_default_trace(void *user_context,
                                         const polyhalite_trace_event_t *event) {
  const int32_t id = __atomic_add_fetch(&runtime::last_id, 1, __ATOMIC_RELAXED);
  const int file = polyhalite_get_trace_file(user_context);
  if (file == runtime::kAsText) {
    runtime::write_text(user_context, *event);
  } else {
    runtime::write_packet(file, id, *event);
  }
  return id;
}

PH_WEAK int32_t polyhalite_trace(void *user_context, const polyhalite_trace_event_t *event) {
  polyhalite_trace_t handler = __atomic_load_n(&runtime::trace_handler, __ATOMIC_ACQUIRE);
  return handler ? handler(user_context, event) : polyhalite_default_trace(user_context, event);
}

PH_WEAK polyhalite_trace_t polyhalite_set_custom_trace(polyhalite_trace_t handler) {
  return __atomic_exchange_n(&runtime::trace_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK void polyhalite_set_trace_file(int fd) {
  __atomic_store_n(&runtime::trace_file, fd, __ATOMIC_RELEASE);
}

PH_WEAK int polyhalite_get_trace_file(void *user_context) {
  const int file = __atomic_load_n(&runtime::trace_file, __ATOMIC_ACQUIRE);
  return file == runtime::kNotAsked ? runtime::file_of_environment() : file;
}

PH_WEAK int polyhalite_shutdown_trace(void) {
  if (!runtime::owns_trace_file) return 0;
  runtime::owns_trace_file = false;
  const int file = __atomic_exchange_n(&runtime::trace_file, runtime::kNotAsked, __ATOMIC_ACQ_REL);
  const bool whole = close(file) == 0 && !runtime::is_broken;
  runtime::is_broken = false;
  return whole ? 0 : polyhalite_error_code_trace_failed;
}

PH_WEAK void polyhalite_trace_lanes(void *user_context, const polyhalite_trace_event_t *event,
                                    const uint8_t *mask, polyhalite_trace_t trace) {
  const int lanes = event->type.lanes;
  bool all = true;
  for (int l = 0; l < lanes; l++) all = all && mask[l];
  if (all) {
    trace(user_context, event);
    return;
  }
  const int dimensions = event->dimensions / lanes;
  const size_t bytes = static_cast<size_t>(event->type.bits + 7) / 8;
  int32_t few[16], *coordinates = few;
  if (dimensions > 16) {
    coordinates = static_cast<int32_t *>(malloc(sizeof(int32_t) * static_cast<size_t>(dimensions)));
    if (!coordinates) return;
  }
  for (int l = 0; l < lanes; l++) {
    if (!mask[l]) continue;
    polyhalite_trace_event_t one = *event;
    one.type.lanes = 1;
    one.value = static_cast<uint8_t *>(event->value) + static_cast<size_t>(l) * bytes;
    for (int d = 0; d < dimensions; d++) coordinates[d] = event->coordinates[d * lanes + l];
    one.coordinates = coordinates;
    one.dimensions = dimensions;
    trace(user_context, &one);
  }
  if (coordinates != few) free(coordinates);
}

PH_WEAK void polyhalite_format_trace_tag(char *to, const char *text, const int32_t *numbers,
                                         int count) {
  to = stpcpy(to, text);
  for (int i = 0; i < count; i++) to += snprintf(to, 13, " %d", numbers[i]);
}

}  // extern "C"
