#include "codegen/c_source/c_source.h"

#include "codegen/c_source/c_writer.h"
#include "codegen/llvm/c_header.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

// The operators of the loop IR that C++ has not, or has with other meanings.
constexpr const char *kSupport = R"(
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "polyhalite_memoize.h"
#include "polyhalite_metadata.h"
#include "polyhalite_runtime.h"

namespace {

template <typename T>
using Unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Rounded down where the divisor is positive; the remainder is never negative. 0 for 0.
template <typename T>
T ph_mod(T a, T b) {
  if (b == 0 || b == T(-1)) return std::is_signed_v<T> || b == 0 ? T(0) : T(a % b);
  const T rest = T(a % b);
  return rest < 0 ? T(b > 0 ? rest + b : rest - b) : rest;
}
template <typename T>
T ph_div(T a, T b) {
  if (b == 0) return 0;
  if (std::is_signed_v<T> && b == T(-1)) return T(Unsigned<T>(0) - Unsigned<T>(a));
  const T rest = T(a % b);
  return T(a / b - (rest < 0 ? (b > 0 ? 1 : -1) : 0));
}

template <typename T>
T ph_left_by(T x, uint64_t n) {
  return n >= 8 * sizeof(T) ? T(0) : T(Unsigned<T>(x) << n);
}
template <typename T>
T ph_right_by(T x, uint64_t n) {
  return n >= 8 * sizeof(T) ? T(x < 0 ? -1 : 0) : T(x >> n);
}
template <typename T, typename N>
T ph_shift_left(T x, N n) {
  return n < 0 ? ph_right_by(x, 0 - uint64_t(n)) : ph_left_by(x, uint64_t(n));
}
template <typename T, typename N>
T ph_shift_right(T x, N n) {
  return n < 0 ? ph_left_by(x, 0 - uint64_t(n)) : ph_right_by(x, uint64_t(n));
}

template <typename T>
auto ph_abs(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else {
    return std::make_unsigned_t<T>(x < 0 ? Unsigned<T>(0) - Unsigned<T>(x) : Unsigned<T>(x));
  }
}
template <typename T>
auto ph_absd(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(a - b);
  } else {
    return std::make_unsigned_t<T>(a > b ? Unsigned<T>(a) - Unsigned<T>(b)
                                         : Unsigned<T>(b) - Unsigned<T>(a));
  }
}

template <typename T>
int ph_popcount(T x) {
  return __builtin_popcountll(std::make_unsigned_t<T>(x));
}
template <typename T>
int ph_leading_zeros(T x) {
  return x == 0 ? 8 * sizeof(T) : __builtin_clzll(std::make_unsigned_t<T>(x)) - (64 - 8 * sizeof(T));
}
template <typename T>
int ph_trailing_zeros(T x) {
  return x == 0 ? 8 * sizeof(T) : __builtin_ctzll(std::make_unsigned_t<T>(x));
}

template <typename To, typename From>
To ph_reinterpret(From x) {
  if constexpr (std::is_pointer_v<From> && !std::is_pointer_v<To>) {
    return To(reinterpret_cast<uintptr_t>(x));
  } else if constexpr (std::is_pointer_v<To> && !std::is_pointer_v<From>) {
    return reinterpret_cast<To>(uintptr_t(x));
  } else {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &x, sizeof(To));
    return result;
  }
}
// As 64 bits: integers by their values, others by their bits.
template <typename T>
uint64_t ph_bits(T x) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uintptr_t>(x);
  } else if constexpr (std::is_floating_point_v<T>) {
    return ph_reinterpret<Unsigned<T>>(x);
  } else {
    return static_cast<uint64_t>(x);
  }
}
inline void ph_put(uint8_t *to, uint64_t bits) { std::memcpy(to, &bits, 8); }

inline float ph_of_bfloat16(uint16_t bits) { return ph_reinterpret<float>(uint32_t(bits) << 16); }
inline uint16_t ph_bfloat16_of(float x) {
  const uint32_t bits = ph_reinterpret<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float ph_of_float16(uint16_t bits) {
  const uint32_t magnitude = uint32_t(bits & 0x7fff) << 13, sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t number = magnitude >= 0x0f800000
                              ? magnitude | 0x7f800000
                              : ph_reinterpret<uint32_t>(ph_reinterpret<float>(magnitude) * 0x1p112f);
  return ph_reinterpret<float>(number | sign);
}
inline uint16_t ph_float16_of(float x) {
  const uint32_t bits = ph_reinterpret<uint32_t>(x), magnitude = bits & 0x7fffffff;
  const uint32_t sign = bits >> 16 & 0x8000;
  if (magnitude > 0x7f800000) return uint16_t(sign | 0x7e00);
  if (magnitude >= 0x477ff000) return uint16_t(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    return uint16_t(sign | (ph_reinterpret<uint32_t>(ph_reinterpret<float>(magnitude) + 0.5f) - 0x3f000000));
  }
  return uint16_t(sign | (magnitude + 0xc8000fff + (magnitude >> 13 & 1)) >> 13);
}

// Sizes: what does not fit is so large that there is no memory for it.
inline int64_t ph_bytes(int64_t count, int64_t size) {
  int64_t bytes = 0;
  return __builtin_mul_overflow(count < 0 ? 0 : count, size, &bytes) ? INT64_MAX : bytes;
}
template <typename... Numbers>
int64_t ph_limited_product(int64_t limit, Numbers... numbers) {
  uint64_t product = 1;
  for (int64_t n : {int64_t(numbers)...}) {
    if (__builtin_mul_overflow(product, uint64_t(n), &product) || product > uint64_t(limit)) {
      product = INT64_MAX;
    }
  }
  return int64_t(product);
}
struct Memory {
  void *context, *pointer;
  Memory(void *context, int64_t bytes)
      : context(context),
        pointer(uint64_t(bytes) > SIZE_MAX ? nullptr : polyhalite_malloc(context, size_t(bytes))) {}
  ~Memory() {
    if (pointer) polyhalite_free(context, pointer);
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
};

template <typename Task>
int ph_task(void *, int index, uint8_t *closure) {
  return (*reinterpret_cast<Task *>(closure))(index);
}
template <typename Task>
uint8_t *ph_closure(Task &task) {
  return reinterpret_cast<uint8_t *>(&task);
}

inline polyhalite_type_t ph_type(uint32_t n) {
  return polyhalite_type_t(polyhalite_type_code_t(n & 255), uint8_t(n >> 8), uint16_t(n >> 16));
}

)";

std::string parameter(const FilterArgument &a) {
  if (a.name == kUserContextName) return "void const *__user_context";
  if (a.kind != FilterArgument::InputScalar) {
    return "struct polyhalite_buffer_t *" + c_identifier(a.name) + "_buffer";
  }
  return c_type(a.type) + " " + c_identifier(a.name);
}

std::string from_address(const FilterArgument &a, size_t i) {
  const std::string at = "args[" + std::to_string(i) + "]";
  if (a.kind != FilterArgument::InputScalar) return "(struct polyhalite_buffer_t *)" + at;
  return "*(" + c_type(a.type) + " *)" + at;
}

// The elements of constant buffers, as bytes.
std::string constant_data(const Function &f) {
  std::string text;
  for (const auto &c : f.constants) {
    const polyhalite_buffer_t &raw = c->raw();
    if (raw.number_of_elements() == 0) continue;
    const std::string name = c_identifier(c->name);
    text += "alignas(64) const uint8_t " + name + "_bytes[] = {";
    const size_t size = raw.size_in_bytes();
    for (size_t i = 0; i < size; i++) {
      text += (i % 24 == 0 ? "\n  " : "") + std::to_string(raw.begin()[i]) + ",";
    }
    text += "};\nconst uint8_t *const " + name + "_data = " + name + "_bytes + " +
            std::to_string(raw.host - raw.begin()) + ";\n";
  }
  return text;
}

// One constant of the metadata; what refers to it.
std::string number(const std::optional<uint64_t> &bits, int *count, std::string *text,
                   const char *type) {
  if (!bits) return "nullptr";
  const std::string name = "number_" + std::to_string((*count)++);
  *text += "  static const uint64_t " + name + " = UINT64_C(" + std::to_string(*bits) + ");\n";
  return "reinterpret_cast<const " + std::string(type) + " *>(&" + name + ")";
}

std::string metadata(const Filter &f) {
  int count = 0;
  std::string text, list;
  for (const FilterArgument &a : f.arguments) {
    const auto scalar = [&](const Expr &e) {
      return number(constant_bits(e, a.type), &count, &text, "polyhalite_scalar_value_t");
    };
    std::string estimates = "nullptr", entries;
    bool any = false;
    for (const Expr &e : a.bounds_estimates) {
      const auto bits = constant_bits(e, Int(64));
      any = any || bits;
      entries += number(bits, &count, &text, "int64_t") + ", ";
    }
    if (any) {
      estimates = "estimates_" + std::to_string(count++);
      text += "  static int64_t const *const " + estimates + "[] = {" + entries + "};\n";
    }
    list += "      {\"" + a.name + "\", " + std::to_string(a.kind) + ", " +
            std::to_string(a.dimensions) + ", polyhalite_type_t(polyhalite_type_code_t(" +
            std::to_string(a.type.code()) + "), " + std::to_string(a.type.bits()) + ", 1), " +
            scalar(a.default_value) + ", " + scalar(a.min) + ", " + scalar(a.max) + ", " +
            scalar(a.estimate) + ", " + estimates + "},\n";
  }
  text += list.empty()
              ? ""
              : "  static const polyhalite_filter_argument_t arguments[] = {\n" + list + "  };\n";
  return text + "  static const polyhalite_filter_metadata_t data = {1, " +
         std::to_string(f.arguments.size()) + ", " + (list.empty() ? "nullptr" : "arguments") +
         ", \"" + f.target.to_string() + "\", \"" + f.name + "\"};\n  return &data;\n";
}

// Extern stages that are this function hand their context on as a void *.
std::string function_for_stages(const Filter &f) {
  if (!f.symbol_for_stages()) return "";
  std::string parameters = "void *__user_context", arguments = "(void const *)__user_context";
  for (size_t i = 1; i < f.arguments.size(); i++) {
    const FilterArgument &a = f.arguments[i];
    parameters += ", " + parameter(a);
    arguments +=
        ", " + c_identifier(a.name) + (a.kind == FilterArgument::InputScalar ? "" : "_buffer");
  }
  return "int " + f.name + "(" + parameters + ") {\n  return " + f.name + "(" + arguments +
         ");\n}\n\n";
}

}  // namespace

std::string c_source(const Function &f, const Filter &filter) {
  CWriter writer(f, filter);
  const std::string body = writer.write();
  std::string parameters, arguments;
  bool context = false;
  for (size_t i = 0; i < filter.arguments.size(); i++) {
    parameters += (i ? ", " : "") + parameter(filter.arguments[i]);
    arguments += (i ? ", " : "") + from_address(filter.arguments[i], i);
    context = context || filter.arguments[i].name == kUserContextName;
  }
  const std::string linkage = filter.is_mangled() ? "" : "extern \"C\" ";
  return c_header(filter) + kSupport + constant_data(f) + "}  // namespace\n\n" +
         writer.declarations() + open_namespaces(filter) + linkage + "int " + filter.name + "(" +
         parameters + ") {\n  void *const ph_context = " +
         (context ? "const_cast<void *>(__user_context)" : "nullptr") + ";\n  (void)ph_context;\n" +
         body + "}\n\n" + function_for_stages(filter) + linkage + "int " + filter.name +
         "_argv(void **args) {\n  return " + filter.name + "(" + arguments + ");\n}\n\n" + linkage +
         "const struct polyhalite_filter_metadata_t *" + filter.name + "_metadata() {\n" +
         metadata(filter) + "}\n" + close_namespaces(filter);
}

}  // namespace polyhalite
