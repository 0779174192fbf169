// Pipelines as C++ source: compiled by this machine's compiler and run, they compute what the same
// pipelines do in process.
#include <gtest/gtest.h>

#include <cstring>

#include "lang/ir/freeze.h"
#include "lang/output_file.h"
#include "polyhalite/backend.h"
#include "polyhalite/polyhalite.h"
#include "test/support/program.h"

namespace polyhalite::c_source_test {
namespace {

class CSource : public testing::Test {
 protected:
  // Prints the first `count` int64 values of the output over in(x) = x*37 % 101, for the scalars.
  std::string run_source(Func f, ImageParam in, const std::vector<Argument> &scalars,
                         const std::string &values, const std::string &type, int size,
                         const std::string &more = "") {
    std::vector<Argument> args = {in};
    args.insert(args.end(), scalars.begin(), scalars.end());
    f.compile_to_c(path("source.cc"), args, "source");
    f.compile_to_header(path("source.h"), args, "source");
    write_file(path("main.cc"),
               "#include <cstdio>\n#include \"polyhalite/runtime_buffer.h\"\n"
               "#include \"polyhalite_metadata.h\"\n#include \"polyhalite_runtime.h\"\n"
               "#include \"source.h\"\n" +
                   more +
                   "static void tell(void *, const char *m) { std::printf(\"%s\\n\", m); }\n"
                   "int main() {\n  polyhalite_set_error_handler(tell);\n"
                   "  polyhalite_set_custom_print(tell);\n"
                   "  polyhalite::runtime::Buffer<int32_t, 1> in(100);\n"
                   "  for (int i = 0; i < 100; i++) in(i) = i * 37 % 101;\n"
                   "  polyhalite::runtime::Buffer<" +
                   type + ", 1> out(" + std::to_string(size) + ");\n  const int code = source(in" +
                   values +
                   ", out);\n  if (code) { std::printf(\"%d\\n\", code); return 0; }\n"
                   "  for (int i = 0; i < " +
                   std::to_string(size) +
                   "; i++) std::printf(\"%.9g \", (double)out(i));\n"
                   "  std::printf(\"%s\\n\", source_metadata()->name);\n}\n",
               "the test's program");
    const std::string include = " -I. -I" POLYHALITE_TEST_DIR
                                "/../../lang/abi"
                                " -I" POLYHALITE_TEST_DIR "/../../lang/include";
    compile_standalone_runtime(path("runtime.o"), get_host_target());
    const auto [errors, failed] =
        folder_.run("c++ -std=c++17 -O1 -Wall -Wno-unused" + include +
                    " main.cc source.cc runtime.o -lm -lpthread -o main" + test::kSanitizers);
    EXPECT_EQ(failed, 0) << errors;
    return folder_.run("./main").first;
  }

  static Buffer<int32_t, 1> numbers() {
    Buffer<int32_t, 1> b(100);
    for (int i = 0; i < 100; i++) b(i) = i * 37 % 101;
    return b;
  }

  template <typename T>
  static std::string text_of(const Buffer<T, 1> &b) {
    std::string text;
    for (int i = 0; i < b.width(); i++) {
      char word[40];
      std::snprintf(word, sizeof(word), "%.9g ", static_cast<double>(b(i)));
      text += word;
    }
    return text + "source\n";
  }

  std::string path(const std::string &name) const { return folder_.path(name); }
  const test::TemporaryFolder folder_;
  ImageParam in_{Int(32), 1, "in"};
  Var x_{"x"};
};

TEST_F(CSource, IntegersWrapAndDivideAsElsewhere) {
  Param<int> p("p");
  Func f("f");
  const Expr v = in_(x_) - 50;
  f(x_) = cast<int64_t>(v / p) + v % p + cast<int8_t>(v * 7) +
          cast<uint16_t>(v) * cast<uint16_t>(v) + (v >> 2) + (cast<uint32_t>(v) << 3) +
          popcount(v) + count_leading_zeros(cast<int16_t>(v)) + absd(v, p) +
          cast<int>(saturating_add(cast<int8_t>(v), cast<int8_t>(100))) + min(v, p) +
          select(v < 0 || v == 7, 1000, 2000) + v / 0 + (cast<int64_t>(v) << 40) / -3;
  in_.set(numbers());
  for (int value : {7, -3}) {
    p.set(value);
    const Buffer<int64_t, 1> want = f.realize({100});
    EXPECT_EQ(run_source(f, in_, {p}, ", " + std::to_string(value), "int64_t", 100), text_of(want));
  }
}

TEST_F(CSource, FloatsOfEveryWidth) {
  Func f("f");
  const Expr v = cast<float>(in_(x_)) / 8 - 5;
  const Expr half = cast<float>(cast(Float(16), v) * cast(Float(16), 3));
  f(x_) = sqrt(abs(v)) + half + cast<float>(cast(BFloat(16), v)) + floor(v) + round(v * 2) +
          max(v, 0.25f) + v % 2.5f + reinterpret<float>(reinterpret<int>(v)) +
          cast<float>(cast<double>(v) * Expr(1e10));
  in_.set(numbers());
  const Buffer<float, 1> want = f.realize({100});
  EXPECT_EQ(run_source(f, in_, {}, "", "float", 100), text_of(want));
}

// As generators write it: outputs have names of their own, and other pipelines call the function as
// an extern stage, to which they hand their context as a void *.
TEST_F(CSource, OutputsByTheirCallersNamesAndContextsOfBothKinds) {
  Func f("f");
  f(x_) = Tuple(in_(x_) + 1, in_(x_) * 2);
  f.vectorize(x_, 8);
  FrozenPipeline p = freeze({f.function()}, {in_.parameter().contents()});
  p.output_names = {"pair.0", "second"};
  Target target = get_host_target();
  target.set_features({Target::UserContext, Target::CPlusPlusMangling});
  backend().emit(p, "tool::both", target,
                 {{Emit::c_source, path("source.cc")}, {Emit::c_header, path("source.h")}},
                 nullptr);
  write_file(path("main.cc"), R"(#include <cstdio>
#include "polyhalite/runtime_buffer.h"
#include "source.h"
namespace tool {
int both(void *, polyhalite_buffer_t *, polyhalite_buffer_t *, polyhalite_buffer_t *);
}
int main() {
  polyhalite::runtime::Buffer<int32_t, 1> in(9), a(9), b(9);
  in.fill(5);
  int code = tool::both((void const *)nullptr, in, a, b);
  std::printf("%d %d %d", code, a(8), b(8));
  in.fill(7);
  code = tool::both((void *)nullptr, in, a, b);
  std::printf(" %d %d %d", code, a(8), b(8));
}
)",
             "the test's program");
  compile_standalone_runtime(path("runtime.o"), get_host_target());
  const auto [errors, failed] = folder_.run(
      "c++ -std=c++17 -I. -I" POLYHALITE_TEST_DIR "/../../lang/abi -I" POLYHALITE_TEST_DIR
      "/../../lang/include main.cc source.cc runtime.o -lm -lpthread -o main" +
      std::string(test::kSanitizers));
  EXPECT_EQ(failed, 0) << errors;
  EXPECT_EQ(folder_.run("./main").first, "0 6 10 0 8 14");
}

TEST_F(CSource, SchedulesKeepTheirMeaning) {
  Func a("a"), b("b"), h("h"), f("f");
  RDom r(0, 100);
  a(x_) = in_(x_) * in_(x_);
  b(x_) = a(x_) + a(min(x_ + 1, 99));
  h(x_) = 0;
  h(in_(r) % 10) += 1;
  f(x_) = b(x_) + h(x_ % 10) * 3;
  Var xo("xo");
  a.compute_root().parallel(x_).vectorize(x_, 8, TailStrategy::GuardWithIf);
  b.compute_root().vectorize(x_, 8).unroll(x_, 2);
  h.compute_root();
  h.update().atomic().parallel(r);
  f.split(x_, xo, x_, 16, TailStrategy::GuardWithIf).parallel(xo).vectorize(x_);
  Func slow("slow");
  slow(x_) = f(x_) + 1;
  f.store_root().compute_root();
  in_.set(numbers());
  const Buffer<int32_t, 1> want = slow.realize({100});
  EXPECT_EQ(run_source(slow, in_, {}, "", "int32_t", 100), text_of(want));
}

TEST_F(CSource, TasksRunBesideEachOther) {
  Func a("a"), f("f");
  Var y("y");
  a(x_) = in_(x_) + 1;
  f(x_) = a(x_) * 2;
  a.compute_at(f, x_).store_root().async();
  in_.set(numbers());
  const Buffer<int32_t, 1> want = f.realize({100});
  EXPECT_EQ(run_source(f, in_, {}, "", "int32_t", 100), text_of(want));
}

TEST_F(CSource, MistakesAreReported) {
  Param<int> limit("limit");
  Func f("f");
  f(x_) = require(in_(x_) < limit, in_(x_), "is", in_(x_));
  EXPECT_EQ(
      run_source(f, in_, {limit}, ", 30", "int32_t", 100),
      "source: requirement failed: in[int64(f.s0.x) - int64(in.min.0)] < limit: is 37\n-27\n");
}

TEST_F(CSource, InputsThatAreTooSmallAreReported) {
  Func f("f");
  f(x_) = in_(x_ + 5);
  EXPECT_EQ(
      run_source(f, in_, {}, "", "int32_t", 100),
      "source: buffer 'in' is accessed at 5 to 104 in dimension 0, but has only 0 to 99; pass a "
      "larger buffer, compute less of the output, or give the access a boundary condition\n-4\n");
}

TEST_F(CSource, ProgramsFunctionsAreCalled) {
  Func f("f"), g("g");
  f(x_) = in_(x_) + 1;
  g.define_extern("triple", {f, 3}, Int(32), 1);
  f.compute_root();
  EXPECT_EQ(run_source(g, in_, {}, "", "int32_t", 3,
                       "extern \"C\" int triple(polyhalite_buffer_t *in, int32_t by, "
                       "polyhalite_buffer_t *out) {\n"
                       "  if (in->is_bounds_query()) {\n    in->dim[0].min = out->dim[0].min;\n"
                       "    in->dim[0].extent = out->dim[0].extent;\n    return 0;\n  }\n"
                       "  for (int i = 0; i < out->dim[0].extent; i++) {\n"
                       "    ((int32_t *)out->host)[i] = by * ((int32_t *)in->host)[i];\n  }\n"
                       "  return 0;\n}\n"),
            "3 114 225 source\n");
}

TEST_F(CSource, ConstantsAndPrintsGoAlong) {
  Buffer<int32_t, 1> table(std::vector<int>{4}, "table");
  for (int i = 0; i < 4; i++) table(i) = 10 * i;
  Func f("f");
  f(x_) = print_when(x_ == 2, table(x_ % 4) + in_(x_), "\"at\"", x_);
  EXPECT_EQ(run_source(f, in_, {}, "", "int32_t", 4), "94 \"at\" 2\n\n0 47 94 40 source\n");
}

}  // namespace
}  // namespace polyhalite::c_source_test
