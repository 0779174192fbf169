// What an algorithm computes before and after directives that derive another one from it, as the
// interpreter has it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "lang/interpret/interpret.h"
#include "lang/ir/text.h"
#include "polyhalite/buffer.h"
#include "schedule/derive_algorithm.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

/// The values of output `out`, whose boxes have `extents`, where image `in` of one dimension has
/// `input`'s. They follow each other value by value, as numbers.
inline std::vector<double> interpreted(const Algorithm &a, const std::vector<int> &extents,
                                       const Buffer<> &input) {
  const FuncDef &f = *a.find(a.outputs[0]);
  std::vector<Buffer<>> buffers;
  std::vector<polyhalite_buffer_t *> raw;
  for (const Type &t : f.types) buffers.emplace_back(t, extents);
  for (Buffer<> &b : buffers) raw.push_back(b.raw_buffer());
  interpret(a, {{"in", const_cast<Buffer<> &>(input).raw_buffer()}}, {}, raw);
  std::vector<double> values;
  for (size_t v = 0; v < buffers.size(); v++) {
    const Type t = f.types[v];
    const auto *bytes = static_cast<const uint8_t *>(buffers[v].data());
    for (size_t i = 0; i < buffers[v].number_of_elements(); i++, bytes += t.bytes()) {
      uint64_t bits = 0;
      std::memcpy(&bits, bytes, static_cast<size_t>(t.bytes()));
      float single;
      double wide;
      std::memcpy(&single, bytes, std::min<size_t>(sizeof single, t.bytes()));
      std::memcpy(&wide, &bits, sizeof wide);
      const int unused = 64 - t.bits();
      values.push_back(t.is_float() ? (t.bits() == 32 ? static_cast<double>(single) : wide)
                       : t.is_int()
                           ? static_cast<double>(static_cast<int64_t>(bits << unused) >> unused)
                           : static_cast<double>(bits));
    }
  }
  return values;
}

/// `n` numbers of the type, from low to high, in an order that `seed` mixes.
inline Buffer<> mixed_numbers(Type t, int n, int low, int high, uint32_t seed = 1) {
  Buffer<> b(t, std::vector<int>{n});
  auto *bytes = static_cast<uint8_t *>(b.data());
  for (int i = 0; i < n; i++, bytes += t.bytes()) {
    seed = seed * 1664525u + 1013904223u;
    const int64_t values = int64_t{high} - low + 1;
    const int64_t whole = low + static_cast<int64_t>(seed >> 8) % values;
    const auto single = static_cast<float>(whole) / 8;
    if (t.is_float()) {
      std::memcpy(bytes, &single, sizeof single);
    } else {
      std::memcpy(bytes, &whole, static_cast<size_t>(t.bytes()));
    }
  }
  return b;
}

/// After the directives the values are what they were before; of floats nearly.
inline void expect_same_values(const std::string &algorithm, const std::string &directives,
                               const std::vector<int> &extents, const Buffer<> &input) {
  SCOPED_TRACE(algorithm + directives);
  const Algorithm a = parse_algorithm("algorithm 1\n" + algorithm, "a.txt");
  const Algorithm b =
      derive_algorithm(a, parse_schedule("schedule 1\n" + directives, "s.txt")).algorithm;
  EXPECT_NE(to_text(a), to_text(b));
  const std::vector<double> before = interpreted(a, extents, input),
                            after = interpreted(b, extents, input);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); i++) {
    if (a.find(a.outputs[0])->types[0].is_float()) {
      EXPECT_NEAR(after[i], before[i], 1e-4 * (1 + std::abs(before[i]))) << i;
    } else {
      EXPECT_EQ(after[i], before[i]) << i;
    }
  }
}

/// The definitions after the directives, or the message.
inline std::string derived(const std::string &algorithm, const std::string &directives) {
  const Algorithm a = parse_algorithm("algorithm 1\n" + algorithm, "a.txt");
  std::vector<Directive> list = parse_schedule("schedule 1\n" + directives, "s.txt");
  for (Directive &d : list) d.where.line--;
  try {
    const std::string text = to_text(derive_algorithm(a, list).algorithm);
    EXPECT_EQ(to_text(parse_algorithm(text)), text);
    return text.substr(text.find('\n') + 1);
  } catch (const CompileError &e) {
    return e.what() + std::string("\n");
  }
}

}  // namespace polyhalite
