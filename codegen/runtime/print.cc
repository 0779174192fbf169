// What compiled code prints: values as text.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

PrintSink print_sink = nullptr;

void append_value(char *to, size_t room, const polyhalite_print_item_t &item) {
  const unsigned code = item.type & 255, bits = item.type >> 8 & 255;
  if (item.type & POLYHALITE_PRINT_TEXT) {
    snprintf(to, room, "%s", reinterpret_cast<const char *>(item.bits));
  } else if (code == polyhalite_type_handle) {
    snprintf(to, room, "%p", reinterpret_cast<void *>(item.bits));
  } else if (code == polyhalite_type_int) {
    snprintf(to, room, "%" PRId64, static_cast<int64_t>(item.bits));
  } else if (code == polyhalite_type_uint) {
    if (bits == 1) {
      snprintf(to, room, "%s", item.bits & 1 ? "true" : "false");
    } else {
      snprintf(to, room, "%" PRIu64, item.bits);
    }
  } else if (bits == 64) {
    double value;
    memcpy(&value, &item.bits, sizeof value);
    snprintf(to, room, "%e", value);
  } else {
    float value;
    const auto low = static_cast<uint32_t>(item.bits);
    memcpy(&value, &low, sizeof value);
    snprintf(to, room, "%f", static_cast<double>(value));
  }
}

}  // namespace

void set_print_sink(PrintSink sink) { __atomic_store_n(&print_sink, sink, __ATOMIC_RELEASE); }

void print_text(void *user_context, const char *text) {
  const PrintSink sink = __atomic_load_n(&print_sink, __ATOMIC_ACQUIRE);
  if (!sink || !sink(user_context, text)) polyhalite_print(user_context, text);
}

size_t format_items(char *to, size_t room, const polyhalite_print_item_t *items, int count) {
  size_t length = 0;
  to[0] = 0;
  for (int i = 0; i < count && length + 1 < room; i++) {
    if (i > 0) to[length++] = ' ';
    append_value(to + length, room - length, items[i]);
    length += strlen(to + length);
  }
  return length;
}

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK void polyhalite_format_line(char *line, const polyhalite_print_item_t *items, int count) {
  // The line's end has its place also where the values are cut.
  const size_t length = runtime::format_items(line, POLYHALITE_PRINT_BYTES - 1, items, count);
  line[length] = '\n';
  line[length + 1] = 0;
}

PH_WEAK int polyhalite_error_requirement_failed(void *user_context, const char *function,
                                                const char *condition,
                                                const polyhalite_print_item_t *items, int count) {
  char text[1024], message[2048];
  runtime::format_items(text, sizeof text, items, count);
  snprintf(message, sizeof message, "%s: requirement failed: %s%s%s", function, condition,
           count > 0 ? ": " : "", text);
  runtime::report(user_context, message);
  return polyhalite_error_code_requirement_failed;
}

}  // extern "C"
