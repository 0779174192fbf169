// Mistakes that show when a pipeline runs in process: buffers, sizes, parameters, memory, threads.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <thread>

#include "bad_input/messages.h"
#include "polyhalite/polyhalite.h"
#include "polyhalite_runtime.h"

namespace polyhalite::realize_test {
namespace {

class BadRun : public testing::Test {
 protected:
  Var x{"x"}, y{"y"};
  Func f{"f"}, g{"g"};
  ImageParam in{Int(32), 1, "in"};

  // One dimension of an int32 buffer that the caller made by hand.
  polyhalite_buffer_t *raw(int min, int extent, int stride = 1) {
    dim_ = {min, extent, stride, 0};
    raw_ = {};
    raw_.host = reinterpret_cast<uint8_t *>(memory_);
    raw_.type = {polyhalite_type_int, 32, 1};
    raw_.dimensions = 1;
    raw_.dim = &dim_;
    return &raw_;
  }

  int memory_[64] = {};
  polyhalite_dimension_t dim_;
  polyhalite_buffer_t raw_;
};

TEST_F(BadRun, numbers_of_outputs) {
  f(x) = x;
  std::vector<Buffer<>> two{Buffer<int>(3), Buffer<int>(3)};
  EXPECT_EQ(text_of([&] { f.realize(two); }),
            "@: error: realize() got 2 output buffers\n"
            "  why: the pipeline has 1 outputs\n"
            "  fix: give one buffer for each");
  EXPECT_EQ(text_of([&] { f.realize(Buffer<int>()); }),
            "@: error: realize() got an undefined output buffer\n"
            "  why: there is nowhere to write to\n"
            "  fix: construct the Buffer with its sizes");
  EXPECT_EQ(text_of([&] { f.realize(Realization({Buffer<>()})); }),
            "@: error: realize() got an undefined output buffer\n"
            "  why: there is nowhere to write to\n"
            "  fix: construct the Buffer with its sizes");
  EXPECT_EQ(text_of([&] { f.realize({3})[1]; }),
            "error: output 1 of a Realization\n"
            "  why: it has 1, counted from 0\n"
            "  fix: ask for one of them");
  EXPECT_EQ(text_of([&] { f.realize({3, 4}); }),
            "@: error: realize() of 'f' got 2 sizes\n"
            "  why: it has 1 dimensions\n"
            "  fix: give one extent for each dimension");
  EXPECT_EQ(text_of([&] { f.realize({-3}); }),
            "@: error: a Buffer with extent -3 in dimension 0\n"
            "  why: extents count elements\n"
            "  fix: give extents that are not negative");
  EXPECT_EQ(text_of([&] { Buffer<float> b = f.realize({3}); }),
            "error: a Buffer of int32 is used as a Buffer of float32\n"
            "  why: elements are not converted\n"
            "  fix: use the buffer's own type, int32");
  EXPECT_EQ(text_of([&] { Pipeline().realize({3}); }),
            "error: an undefined Pipeline is compiled\n"
            "  why: it has no outputs\n"
            "  fix: construct it from its output Funcs");
}

TEST_F(BadRun, shapes_of_outputs) {
  f(x) = x;
  EXPECT_EQ(text_of([&] { f.realize(raw(0, -4)); }),
            "@: error: f: dimension 0 of buffer 'f' has the negative extent -4; extents count "
            "elements, pass at least 0");
  EXPECT_EQ(text_of([&] { f.realize(raw(0x7ffffffe, 10)); }),
            "@: error: f: dimension 0 of buffer 'f' begins at 2147483646 and has 10 elements, but "
            "indices end at 2147483646; pass a buffer with a smaller min or extent");
  EXPECT_EQ(
      text_of([&] { f.realize(raw(0, 10, 2)); }),
      "@: error: f: the stride of dimension 0 of buffer 'f' is 2, but the pipeline was compiled "
      "for 1; pass such a buffer, or lift the constraint of an input with dim(0).set_stride");
  raw(0, 10)->dim = nullptr;
  EXPECT_EQ(text_of([&] { f.realize(&raw_); }),
            "@: error: f: buffer 'f' does not describe its dimensions (dim is null); point dim to "
            "an array of polyhalite_dimension_t");
  raw(0, 10)->host = nullptr;
  EXPECT_EQ(text_of([&] { f.realize(&raw_); }),
            "@: error: realize() got an output buffer without memory\n"
            "  why: its host pointer is null\n"
            "  fix: allocate it before the call");
  polyhalite_buffer_t empty{};
  EXPECT_EQ(text_of([&] { f.realize(&empty); }),
            "@: error: realize() got an output buffer without memory\n"
            "  why: its host pointer is null\n"
            "  fix: allocate it before the call");
}

TEST_F(BadRun, empty_outputs_are_good) {
  f(x, y) = x + y;
  f.parallel(y);
  EXPECT_EQ(text_of([&] { f.realize({0, 5}); }), "no error");
  EXPECT_EQ(text_of([&] { f.realize({5, 0}); }), "no error");
  g(x) = x;
  EXPECT_EQ(text_of([&] { g.realize({0}); }), "no error");
}

TEST_F(BadRun, outputs_that_are_smaller_than_a_tile) {
  f(x) = x;
  f.vectorize(x, 8);
  EXPECT_EQ(text_of([&] { f.realize({3}); }),
            "@: error: f: 'f', dimension 0: a split of 'x' with tail ShiftInwards needs an extent "
            "of at least its factor (GuardWithIf needs no such thing): found 3, needed 8; change "
            "the size of the output, or the schedule");
}

TEST_F(BadRun, outputs_that_no_machine_holds) {
  f(x, y) = cast<uint8_t>(x);
  EXPECT_EQ(text_of([&] { f.realize({1 << 30, 1 << 30}); }),
            "@: error: there is no memory for a Buffer of 1152921504606846976 bytes\n"
            "  why: the machine's memory, or what this process may use of it, is smaller\n"
            "  fix: use smaller extents, or work on parts of the output one by one");
}

TEST_F(BadRun, constant_buffers_that_are_too_small) {
  Buffer<int> table(8);
  table.fill(0);
  table.set_name("table");
  f(x) = table(x);
  EXPECT_EQ(
      text_of([&] { f.realize({10}); }),
      "@: error: f: buffer 'table' is accessed at 0 to 9 in dimension 0, but has only 0 to 7; pass "
      "a larger buffer, compute less of the output, or give the access a boundary condition");
}

// Ends that leave 32 bits would wrap around, and look as if nothing were needed.
TEST_F(BadRun, scalars_that_leave_32_bits) {
  Param<int> p("p", INT32_MAX), n("n", 20);
  Param<float> s("s", 3e8f);
  in.set(Buffer<int>(50));
  Func read("f"), sum("f"), scattered("f"), scaled("f"), inner("g"), around("f");
  read(x) = in(x + p);
  RDom r(p, n);
  sum() = 0;
  sum() += in(r);
  RDom q(0, 10);
  scattered(x) = 0;
  scattered(q + p) += 1;
  scaled(x) = in(cast<int>(x * s));
  inner(x, y) = x + y;
  around(x, y) = inner(x + p, y) + inner(x + p + 3, y);
  inner.compute_at(around, y);
  const auto message = [](const char *func, int64_t end) {
    return std::string("@: error: f: what is needed of '") + func + "' in dimension 0 may be " +
           std::to_string(end) +
           " from 0, and coordinates are 32-bit integers; pass other scalars, or compute less of "
           "the output";
  };
  EXPECT_EQ(text_of([&] { read.realize({10}); }), message("in", int64_t{INT32_MAX} + 11));
  EXPECT_EQ(text_of([&] { sum.realize(); }), message("in", int64_t{INT32_MAX} + 21));
  EXPECT_EQ(text_of([&] { scattered.realize({40}); }), message("f", int64_t{INT32_MAX} + 9));
  EXPECT_EQ(text_of([&] { scaled.realize({10}); }), message("in", 2700000000));
  EXPECT_EQ(text_of([&] { around.realize({8, 8}); }), message("g", int64_t{INT32_MAX} + 10));
  for (const float far : {NAN, INFINITY, -INFINITY, 1e30f}) {
    s.set(far);
    EXPECT_EQ(text_of([&] { scaled.realize({10}); }),
              "@: error: f: the scalars make what is needed of 'in' in dimension 0 no number, or "
              "one far beyond 32-bit integers; pass other scalars");
  }
}

// Ends of an RDom are cut to 32 bits.
TEST_F(BadRun, scalars_of_other_types_than_32_bits) {
  Param<uint32_t> half("half");
  Param<int64_t> wide("wide");
  Param<uint64_t> whole("whole");
  Func a("f"), b("f"), c("f"), read("f");
  RDom r(0, half, "r"), q(0, wide - 1, "r"), t(0, whole, "r");
  a() += r;
  b() += q;
  c() += t;
  read(x) = in(cast<int>(wide) + x);
  in.set(Buffer<int>(50));
  const std::string cut =
      "@: error: f: the scalars make an end of loop 'r' no 32-bit integer; pass other scalars";
  half.set(3);
  wide.set(5);
  whole.set(6);
  EXPECT_EQ(evaluate<int>(a()), 3);
  EXPECT_EQ(evaluate<int>(b()), 6);
  EXPECT_EQ(evaluate<int>(c()), 15);
  half.set(4000000000u);
  EXPECT_EQ(text_of([&] { a.realize(); }), cut);
  for (const int64_t n : {int64_t{1} << 32, -(int64_t{1} << 40), INT64_MIN}) {
    wide.set(n);
    EXPECT_EQ(text_of([&] { b.realize(); }), cut);
  }
  for (const uint64_t n : {uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}}) {
    whole.set(n);
    EXPECT_EQ(text_of([&] { c.realize(); }), cut);
  }
  wide.set(int64_t{1} << 32);
  EXPECT_EQ(text_of([&] { read.realize({4}); }),
            "@: error: f: what is needed of 'in' in dimension 0 may be 4294967296 from 0, and "
            "coordinates are 32-bit integers; pass other scalars, or compute less of the output");
}

TEST_F(BadRun, tables_that_do_not_hold_every_index) {
  ImageParam bytes(UInt(8), 1, "bytes");
  Buffer<uint8_t> b(10);
  b.fill(3);
  bytes.set(b);
  in.set(Buffer<int>(100));
  f(x) = in(bytes(x));
  EXPECT_EQ(
      text_of([&] { f.realize({10}); }),
      "@: error: f: buffer 'in' is accessed at 0 to 255 in dimension 0, but has only 0 to 99; pass "
      "a larger buffer, compute less of the output, or give the access a boundary condition");
}

TEST_F(BadRun, several_inputs_without_a_value) {
  ImageParam a(Int(32), 1, "a"), b(Int(32), 1, "b");
  Func sum("sum");
  sum(x) = a(x) + b(x);
  EXPECT_EQ(text_of([&] { sum.realize({4}); }),
            "@: error: ImageParam 'a' is not bound\n"
            "  why: the pipeline reads it, and no Buffer was set\n"
            "  fix: call set(buffer) before realize\n"
            "@: error: ImageParam 'b' is not bound\n"
            "  why: the pipeline reads it, and no Buffer was set\n"
            "  fix: call set(buffer) before realize");
}

TEST_F(BadRun, parameters_outside_their_range) {
  Param<int> n("n", 50, 0, 10);
  Param<float> scale("scale", 1.0f, 2.0f, 3.0f);
  f(x) = x + n;
  EXPECT_EQ(text_of([&] { f.realize({3}); }),
            "@: error: f: parameter 'n' is 50, but at most 10 was promised; pass such a value, or "
            "lift the limit with set_max_value");
  n.set(-1);
  EXPECT_EQ(text_of([&] { f.realize({3}); }),
            "@: error: f: parameter 'n' is -1, but at least 0 was promised; pass such a value, or "
            "lift the limit with set_min_value");
  g(x) = x * scale;
  EXPECT_EQ(text_of([&] { g.realize({3}); }),
            "@: error: g: parameter 'scale' is 1, but at least 2 was promised; pass such a value, "
            "or lift the limit with set_min_value");
  n.set(10);
  EXPECT_EQ(text_of([&] { f.realize({3}); }), "no error");
}

TEST_F(BadRun, parameters_without_a_value) {
  Param<int> n("n");
  f(x) = x + n;
  EXPECT_EQ(text_of([&] { f.realize({3}); }),
            "@: error: Param 'n' has no value\n"
            "  why: the pipeline reads it, and no value was set\n"
            "  fix: call set(value) before realize");
}

TEST_F(BadRun, constraints_and_promises_that_do_not_hold) {
  in.dim(0).set_bounds(0, 16);
  in.set(Buffer<int>(8));
  f(x) = in(x);
  EXPECT_EQ(
      text_of([&] { f.realize({3}); }),
      "@: error: f: the extent of dimension 0 of buffer 'in' is 8, but the pipeline was compiled "
      "for 16; pass such a buffer, or lift the constraint of an input with dim(0).set_extent");
  g(x) = x;
  g.bound(x, 0, 4).vectorize(x);
  EXPECT_EQ(
      text_of([&] { g.realize({8}); }),
      "@: error: Bounds given for g in x (from 0 to 3) do not cover required region (from 0 to "
      "7); give larger ones, or change the size of the output");
}

TEST_F(BadRun, intermediates_that_no_machine_holds) {
  f(x, y) = x;
  g(x, y) = f(x * 10000, y * 10000) + f(0, 0);
  f.compute_root();
  EXPECT_EQ(text_of([&] { g.realize({10000, 10000}); }),
            "@: error: g: there is no memory for 'f' (39992001199920004 bytes); compute it at an "
            "inner loop so that less of it is stored, or use smaller outputs");
}

TEST_F(BadRun, allocators_that_give_nothing) {
  f(x, y) = x + y;
  g(x, y) = f(x, y) + f(x + 1, y);
  f.compute_at(g, y);
  g.parallel(y);
  g.compile_jit();
  const auto before =
      polyhalite_set_custom_malloc([](void *, size_t) -> void * { return nullptr; });
  EXPECT_EQ(text_of([&] { g.realize({100000, 20}); }),
            "@: error: g: there is no memory for 'f' (400004 bytes); compute it at an inner loop "
            "so that less of it is stored, or use smaller outputs");
  polyhalite_set_custom_malloc(before);
  EXPECT_EQ(text_of([&] { g.realize({100000, 20}); }), "no error");
}

TEST_F(BadRun, handlers_of_the_program_leave_exceptions_alone) {
  f(x) = in(x);
  in.set(Buffer<int>(3));
  const auto before = polyhalite_set_error_handler([](void *, const char *) { std::abort(); });
  EXPECT_EQ(
      text_of([&] { f.realize({8}); }),
      "@: error: f: buffer 'in' is accessed at 0 to 7 in dimension 0, but has only 0 to 2; pass a "
      "larger buffer, compute less of the output, or give the access a boundary condition");
  polyhalite_set_error_handler(before);
}

TEST_F(BadRun, names_of_c_functions_are_free_in_process) {
  Func sine("sinf"), allocator("polyhalite_malloc");
  sine(x) = sin(cast<float>(x));
  f(x) = x;
  f.compute_root();
  allocator(x) = f(x) + f(x + 1);
  const Buffer<float> s = sine.realize({4});
  EXPECT_EQ(s(0), 0.0f);
  const Buffer<int> a = allocator.realize({100000});
  EXPECT_EQ(a(7), 15);
}

TEST_F(BadRun, targets_of_other_machines_and_broken_ones) {
  f(x) = x;
  setenv("PH_JIT_TARGET", "pdp-11", 1);
  const std::string text = text_of([&] { f.realize({3}); });
  unsetenv("PH_JIT_TARGET");
  EXPECT_EQ(text.substr(0, text.find("  fix: ")),
            "error: cannot read the target 'pdp-11' of the environment variable PH_JIT_TARGET\n"
            "  why: 'pdp' is no known word\n");
}

// Errors of one thread's pipeline neither stop nor reach the others.
TEST_F(BadRun, errors_while_several_threads_compile) {
  std::vector<std::thread> threads;
  std::vector<std::string> texts(8);
  for (int i = 0; i < 8; i++) {
    threads.emplace_back([&texts, i] {
      Var x("x");
      Func mine("mine" + std::to_string(i));
      mine(x) = x + i;
      if (i % 2) mine.vectorize(x);
      texts[i] = text_of([&] {
        const Buffer<int> b = mine.realize({16});
        if (b(3) != 3 + i) throw std::runtime_error("wrong value");
      });
    });
  }
  for (std::thread &t : threads) t.join();
  for (int i = 0; i < 8; i++) {
    const std::string name = "mine" + std::to_string(i);
    const size_t at = texts[i].find("error: ");
    EXPECT_EQ(at == std::string::npos ? texts[i] : texts[i].substr(at, texts[i].find('\n') - at),
              i % 2 == 0 ? "no error"
                         : "error: cannot vectorize loop 'x' of '" + name +
                               "': its extent is not a constant");
  }
}

TEST_F(BadRun, one_pipeline_that_fails_in_several_threads) {
  f(x) = x;
  f.vectorize(x);
  std::vector<std::thread> threads;
  std::vector<std::string> texts(6);
  for (std::string &text : texts) {
    threads.emplace_back([&] { text = text_of([&] { f.realize({16}); }, "", 0); });
  }
  for (std::thread &t : threads) t.join();
  for (const std::string &text : texts) EXPECT_EQ(text, texts[0]);
  EXPECT_NE(texts[0].find("error: cannot vectorize loop 'x'"), std::string::npos) << texts[0];
}

}  // namespace
}  // namespace polyhalite::realize_test
