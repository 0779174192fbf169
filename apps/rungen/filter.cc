#include "apps/rungen/filter.h"

#include <cmath>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace polyhalite::rungen {

namespace {

[[noreturn]] void fail(const std::string &text) { throw std::runtime_error(text); }

}  // namespace

bool Argument::is_context() const { return std::strcmp(info->name, "__user_context") == 0; }

Filter::Filter(Function function, const Metadata *metadata)
    : function_(function), metadata_(metadata) {
  for (int i = 0; i < metadata->num_arguments; i++) {
    Argument a;
    a.info = metadata->arguments + i;
    if (!a.is_scalar()) a.array = std::make_unique<Array>(a.info->type, a.info->dimensions);
    arguments_.push_back(std::move(a));
  }
}

Argument *Filter::find(const std::string &name) {
  for (Argument &a : arguments_) {
    if (a.info->name == name && !a.is_context()) return &a;
  }
  return nullptr;
}

std::string Filter::describe() const {
  std::ostringstream text;
  text << "Filter name: \"" << metadata_->name << "\"\n";
  for (const Argument &a : arguments_) {
    if (a.is_context()) continue;
    text << (a.is_output() ? "  Output \"" : "  Input \"") << a.info->name << "\" is of type ";
    if (a.is_scalar()) {
      text << type_name(a.info->type) << '\n';
    } else {
      text << "Buffer<" << type_name(a.info->type) << "> with " << a.info->dimensions
           << " dimensions\n";
    }
  }
  return text.str();
}

void Filter::set_scalar(Argument &a, const std::string &text) {
  const Type t = a.info->type;
  auto *bytes = reinterpret_cast<uint8_t *>(&a.scalar);
  if (text == "default" || text == "estimate") {
    const auto *known = text == "default" ? a.info->scalar_def : a.info->scalar_estimate;
    if (!known) {
      fail("argument '" + std::string(a.info->name) + "' has no " + text +
           "; give a value, as in " + a.info->name + "=1");
    }
    a.scalar = *known;
    return;
  }
  if (t.code == polyhalite_type_handle) {
    if (text == "0" || text == "null" || text == "nullptr") return;
    fail("argument '" + std::string(a.info->name) +
         "' is an address, which only null can be given");
  }
  char *end = nullptr;
  bool is_held = true;
  if (t.bits == 64 && t.code != polyhalite_type_float) {
    // Doubles have not all of these.
    errno = 0;
    const bool is_signed = t.code == polyhalite_type_int;
    const uint64_t value = is_signed ? static_cast<uint64_t>(std::strtoll(text.c_str(), &end, 0))
                                     : std::strtoull(text.c_str(), &end, 0);
    a.scalar.u.u64 = value;
    is_held = errno == 0 && (is_signed || text.find('-') == std::string::npos);
  } else if (t.bits == 1) {
    a.scalar.u.u8 = text == "true" || text == "1";
    const bool known = text == "true" || text == "false" || text == "1" || text == "0";
    end = const_cast<char *>(known ? "" : "x");
  } else {
    const double value = std::strtod(text.c_str(), &end);
    is_held = holds(t, value);
    set(bytes, t, value);
  }
  if (text.empty() || *end || !is_held) {
    fail("argument '" + std::string(a.info->name) + "' takes a value of type " + type_name(t) +
         ", not '" + text + "'");
  }
}

std::optional<std::vector<polyhalite_dimension_t>> Filter::estimate(const Argument &a) {
  if (a.info->dimensions > 0 && !a.info->buffer_estimates) return std::nullopt;
  std::vector<polyhalite_dimension_t> dims;
  for (int d = 0; d < a.info->dimensions; d++) {
    const int64_t *min = a.info->buffer_estimates[2 * d];
    const int64_t *extent = a.info->buffer_estimates[2 * d + 1];
    if (!min || !extent) return std::nullopt;
    dims.push_back({static_cast<int32_t>(*min), static_cast<int32_t>(*extent), 0, 0});
  }
  return dims;
}

void Filter::call(const std::vector<polyhalite_buffer_t *> &buffers, const char *doing) {
  void *context = nullptr;
  std::vector<void *> args;
  for (size_t i = 0; i < arguments_.size(); i++) {
    Argument &a = arguments_[i];
    if (a.is_context()) {
      args.push_back(&context);
    } else if (a.is_scalar()) {
      args.push_back(&a.scalar);
    } else {
      args.push_back(buffers[i]);
    }
  }
  const int code = function_(args.data());
  if (code != 0) fail(std::string(doing) + " failed with code " + std::to_string(code));
}

std::vector<std::vector<polyhalite_dimension_t>> Filter::query() {
  std::vector<std::vector<polyhalite_dimension_t>> shapes(arguments_.size());
  std::vector<polyhalite_buffer_t> raw(arguments_.size());
  std::vector<polyhalite_buffer_t *> buffers(arguments_.size(), nullptr);
  for (size_t i = 0; i < arguments_.size(); i++) {
    Argument &a = arguments_[i];
    if (a.is_scalar()) continue;
    shapes[i] = a.array->dims();
    raw[i] = polyhalite_buffer_t{};
    raw[i].type = a.info->type;
    raw[i].dimensions = a.info->dimensions;
    raw[i].dim = shapes[i].data();
    buffers[i] = &raw[i];
  }
  call(buffers, "the bounds query");
  return shapes;
}

void Filter::run() {
  std::vector<polyhalite_buffer_t *> buffers(arguments_.size(), nullptr);
  for (size_t i = 0; i < arguments_.size(); i++) {
    if (!arguments_[i].is_scalar()) buffers[i] = arguments_[i].array->raw();
  }
  call(buffers, "the filter");
}

std::vector<int> parse_extents(const std::string &text) {
  const std::string wanted = "extents are written as in [640,480,3]; '" + text + "' is not";
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') fail(wanted);
  std::vector<int> list;
  const char *p = text.c_str() + 1;
  while (*p != ']') {
    char *end = nullptr;
    const long n = std::strtol(p, &end, 10);
    if (end == p || n < 0 || n > INT32_MAX || (*end != ',' && *end != ']')) fail(wanted);
    list.push_back(static_cast<int>(n));
    p = *end == ',' ? end + 1 : end;
  }
  return list;
}

}  // namespace polyhalite::rungen
