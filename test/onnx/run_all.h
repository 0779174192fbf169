// A model run in every way that there is.
#pragma once

#include <gtest/gtest.h>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx {

// Both engines and both optimisation levels give the same.
inline Program::Tensors run_all(const ModelBuilder &b, const Program::Tensors &inputs) {
  CompileOptions options;
  const Program::Tensors first = Session(b.load(), options).run(inputs);
  options.engine = Engine::Interpreter;
  const Program::Tensors second = Session(b.load(), options).run(inputs);
  options.engine = Engine::Compiled;
  options.optimize = false;
  const Program::Tensors third = Session(b.load(), options).run(inputs);
  for (const auto &[name, t] : first) {
    EXPECT_EQ(compare(t, second.at(name), 1e-5, 1e-6), "") << name << ": compiled and interpreted";
    EXPECT_EQ(compare(t, third.at(name), 1e-5, 1e-6), "") << name << ": optimised and not";
  }
  return first;
}

// Compiled with all passes, held against the nodes one by one in the interpreter.
inline Session::Run run_beside_nodes(const ModelBuilder &b, const Program::Tensors &inputs,
                                     double tolerance, Session *session = nullptr) {
  CompileOptions plain;
  plain.engine = Engine::Interpreter;
  plain.optimize = false;
  Session own(b.load());
  Session::Run got = (session ? *session : own).run_program(inputs);
  const Program::Tensors wanted = Session(b.load(), plain).run(inputs);
  for (const auto &[name, tensor] : wanted) {
    EXPECT_EQ(compare(got.outputs.at(name), tensor, tolerance, tolerance), "")
        << name << "\n"
        << to_text(got.program->graph());
  }
  return got;
}

}  // namespace polyhalite::onnx
