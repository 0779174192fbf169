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

constexpr int kNotAsked = -1, kToStdout = 0;

polyhalite_trace_t trace_handler = nullptr;
int trace_file = kNotAsked;
int32_t last_id = 0;

int file_of_environment() {
  int known = __atomic_load_n(&trace_file, __ATOMIC_ACQUIRE);
  if (known != kNotAsked) return known;
  const char *name = getenv("PH_TRACE_FILE");
  if (!name) name = getenv("HL_TRACE_FILE");
  int file = name ? open(name, O_CREAT | O_WRONLY | O_TRUNC | O_APPEND, 0644) : kToStdout;
  if (file < 0) {
    fprintf(stderr, "cannot write the trace to '%s'; it goes to stdout\n", name);
    file = kToStdout;
  }
  __atomic_store_n(&trace_file, file, __ATOMIC_RELEASE);
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
void write_text(const polyhalite_trace_event_t &e) {
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
  // One write a line: threads do not cut each other's.
  if (line.length > sizeof line.text - 2) line.length = sizeof line.text - 2;
  line.text[line.length++] = '\n';
  fwrite(line.text, 1, line.length, stdout);
}

void write_packet(int file, int32_t id, const polyhalite_trace_event_t &e) {
  const char *tag = e.trace_tag ? e.trace_tag : "";
  const size_t value_bytes =
      e.value ? static_cast<size_t>((e.type.bits + 7) / 8) * e.type.lanes : 0;
  const size_t coordinates = sizeof(int32_t) * static_cast<size_t>(e.dimensions);
  const size_t func = strlen(e.func) + 1, text = strlen(tag) + 1;
  const size_t used = sizeof(polyhalite_trace_packet_t) + coordinates + value_bytes + func + text;
  const size_t size = (used + 3) & ~size_t{3};
  auto *bytes = static_cast<uint8_t *>(calloc(1, size));
  if (!bytes) return;
  polyhalite_trace_packet_t packet = {static_cast<uint32_t>(size), id,           e.type,
                                      e.event,                     e.parent_id,  e.value_index,
                                      e.dimensions};
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
    fprintf(stderr, "the trace file could not be written\n");
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
  const int file = runtime::file_of_environment();
  if (file == runtime::kToStdout) {
    runtime::write_text(*event);
  } else {
    runtime::write_packet(file, id, *event);
  }
  return id;
}

PH_WEAK int32_t polyhalite_trace(void *user_context, const polyhalite_trace_event_t *event) {
  polyhalite_trace_t handler = __atomic_load_n(&runtime::trace_handler, __ATOMIC_ACQUIRE);
  return handler ? handler(user_context, event) : polyhalite_default_trace(user_context, event);
}

PH_WEAK polyhalite_trace_t
polyhalite_set_custom_trace(polyhalite_trace_t handler) {
  return __atomic_exchange_n(&runtime::trace_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK void polyhalite_set_trace_file(int fd) {
  __atomic_store_n(&runtime::trace_file, fd, __ATOMIC_RELEASE);
}

}  // extern "C"
