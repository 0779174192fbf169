// Runs flat loop IR, given as text, as machine code and in the interpreter, on the same buffers.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "codegen/ir/text.h"
#include "codegen/ir/verify.h"
#include "codegen/llvm/jit.h"
#include "codegen/oracle/interpret_ir.h"

namespace polyhalite {

/// Elements of one buffer argument; dimension 0 is dense.
struct RunBuffer {
  Type type;
  std::vector<polyhalite_dimension_t> dims;
  std::vector<uint8_t> bytes;
  polyhalite_buffer_t raw{};

  RunBuffer(Type t, const std::vector<int> &extents) : type(t) {
    int stride = 1;
    for (int extent : extents) {
      dims.push_back({0, extent, stride, 0});
      stride *= extent;
    }
    bytes.assign(static_cast<size_t>(stride) * static_cast<size_t>(t.bytes()), 0);
  }

  template <typename T>
  T *as() {
    return reinterpret_cast<T *>(bytes.data());
  }
  size_t size() const { return bytes.size() / static_cast<size_t>(type.bytes()); }

  polyhalite_buffer_t *prepare() {
    raw.host = bytes.data();
    raw.type = type;
    raw.dimensions = static_cast<int>(dims.size());
    raw.dim = dims.data();
    return &raw;
  }
};

/// Different bytes for every seed: all bit patterns for integers, small numbers for floats.
inline void fill(RunBuffer &b, uint32_t seed) {
  uint32_t state = seed * 2654435761u + 1;
  auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (size_t i = 0; i < b.size(); i++) {
    const auto small = static_cast<float>(static_cast<int>(next() >> 20) - 2048) / 16.0f;
    if (b.type == Float(32)) {
      b.as<float>()[i] = small;
    } else if (b.type == Float(64)) {
      b.as<double>()[i] = small;
    } else if (b.type.is_bool()) {
      b.bytes[i] = next() >> 31;
    } else {
      for (int k = 0; k < b.type.bytes(); k++) {
        b.bytes[i * static_cast<size_t>(b.type.bytes()) + static_cast<size_t>(k)] = next() >> 24;
      }
    }
  }
}

/// Arguments by name; buffers are written in place.
using RunBuffers = std::map<std::string, RunBuffer *>;

inline Function parse_emittable(const std::string &text) {
  Function f = parse_function(text);
  const auto wrong = verify(f, IrLevel::Emittable);
  EXPECT_FALSE(wrong) << wrong->to_string();
  return f;
}

/// Expects that code and interpreter write the same bytes to every buffer.
inline void expect_same(const std::string &text, const RunBuffers &buffers,
                        const Target &target = get_host_target()) {
  const Function f = parse_emittable(text);
  std::map<std::string, std::vector<uint8_t>> before, interpreted;
  IrArguments arguments;
  for (const auto &[name, b] : buffers) {
    before[name] = b->bytes;
    arguments.buffers[name] = b->prepare();
  }
  ASSERT_NO_THROW(interpret_ir(f, arguments)) << text;
  for (const auto &[name, b] : buffers) {
    interpreted[name] = b->bytes;
    b->bytes = before[name];
  }
  std::vector<void *> args;
  for (const FunctionArgument &a : f.args) args.push_back(buffers.at(a.name)->prepare());
  std::string message;
  ASSERT_EQ(JitCode(f, target).call(args, &message), 0) << message;
  for (const auto &[name, b] : buffers) {
    for (size_t i = 0; i < b->size(); i++) {
      const auto n = static_cast<size_t>(b->type.bytes());
      ASSERT_EQ(std::memcmp(&b->bytes[i * n], &interpreted[name][i * n], n), 0)
          << name << "[" << i << "] differs for\n"
          << text;
    }
  }
}

}  // namespace polyhalite
