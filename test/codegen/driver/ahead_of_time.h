// A pipeline compiled to files, linked with a program, and run.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "lang/ir/freeze.h"
#include "lang/output_file.h"
#include "polyhalite/backend.h"
#include "polyhalite/polyhalite.h"
#include "test/support/program.h"

namespace polyhalite {

class AheadOfTime : public testing::Test {
 protected:
  AheadOfTime() { backend().emit_runtime(host_, Emit::static_library, path("libruntime.a")); }

  std::string path(const std::string &name) const { return folder_.path(name); }

  // f(x) = in(x)*gain + extra
  std::shared_ptr<FrozenPipeline> scale(int extra) {
    ImageParam in(UInt(8), 1, "in");
    Param<int> gain("gain", 3, 1, 9);
    Var x("x");
    Func f("f");
    f(x) = cast<int>(in(x)) * gain + extra;
    in.dim(0).set_estimate(2, 100);
    gain.set_estimate(4);
    f.set_estimate(x, 0, 50);
    auto p = std::make_shared<FrozenPipeline>(
        freeze({f.function()}, {in.parameter().contents(), gain.parameter().contents()}));
    p->output_names = {"result"};
    return p;
  }

  std::pair<std::string, int> run(const std::string &command) { return folder_.run(command); }

  // What a C++ program prints that has `body` in main() and a dense buffer `in` of 1 to 8 and
  // `out`.
  std::string output_of(const std::string &declarations, const std::string &body,
                        const std::string &files) {
    write_file(
        path("main.cc"),
        "#include <cstdio>\n#include <cstdlib>\n#include \"lang/abi/polyhalite_metadata.h\"\n" +
            declarations +
            R"(
int main() {
  uint8_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int32_t to[8] = {};
  polyhalite_dimension_t from_dim = {0, 8, 1, 0}, to_dim = {0, 8, 1, 0};
  polyhalite_buffer_t in{}, out{};
  in.host = from; in.type.code = polyhalite_type_uint; in.type.bits = 8; in.type.lanes = 1;
  in.dimensions = 1; in.dim = &from_dim;
  out.host = (uint8_t *)to; out.type.code = polyhalite_type_int; out.type.bits = 32;
  out.type.lanes = 1; out.dimensions = 1; out.dim = &to_dim;
)" + body + "  return 0;\n}\n",
        "the test's program");
    const auto built = run("c++ -std=c++17 -Wall -I. -I" POLYHALITE_TEST_DIR
                           "/../.. -I" POLYHALITE_TEST_DIR "/../../lang/abi main.cc " +
                           files + " libruntime.a -lpthread -o main" + test::kSanitizers);
    EXPECT_EQ(built.second, 0) << built.first;
    const auto [text, status] = run("./main");
    EXPECT_EQ(status, 0);
    return text;
  }

  const test::TemporaryFolder folder_;
  Target host_ = get_host_target();
};

}  // namespace polyhalite
