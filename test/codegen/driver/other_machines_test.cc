// Pipelines for other machines, run there: on this one's other modes, or in an emulator. What such
// a run needs may be missing here, and then the test says so and is skipped.
#include <gtest/gtest.h>

#include <cstring>

#include "lang/output_file.h"
#include "polyhalite/polyhalite.h"
#include "test/support/program.h"

// The extern stage of the pipeline, in this process; the program has the same.
extern "C" int other_machines_twice(polyhalite_buffer_t *in, polyhalite_buffer_t *out) {
  if (in->is_bounds_query()) {
    for (int d = 0; d < 2; d++) {
      in->dim[d].min = out->dim[d].min;
      in->dim[d].extent = out->dim[d].extent;
    }
    return 0;
  }
  for (int y = 0; y < out->dim[1].extent; y++) {
    for (int x = 0; x < out->dim[0].extent; x++) {
      const int at[] = {out->dim[0].min + x, out->dim[1].min + y};
      float value = 0;
      std::memcpy(&value, in->address_of(at), 4);
      value *= 2;
      std::memcpy(out->address_of(at), &value, 4);
    }
  }
  return 0;
}

namespace polyhalite::other_machines_test {
namespace {

constexpr int kWidth = 37, kHeight = 21;

const char *const kProgram = R"(
#include <cstdio>
#include <cstring>

#include "polyhalite/runtime_buffer.h"
#include "polyhalite_metadata.h"
#include "polyhalite_runtime.h"
#include "everything.h"

extern "C" int other_machines_twice(polyhalite_buffer_t *in, polyhalite_buffer_t *out) {
  if (in->is_bounds_query()) {
    for (int d = 0; d < 2; d++) {
      in->dim[d].min = out->dim[d].min;
      in->dim[d].extent = out->dim[d].extent;
    }
    return 0;
  }
  for (int y = 0; y < out->dim[1].extent; y++) {
    for (int x = 0; x < out->dim[0].extent; x++) {
      const int at[] = {out->dim[0].min + x, out->dim[1].min + y};
      float value = 0;
      std::memcpy(&value, in->address_of(at), 4);
      value *= 2;
      std::memcpy(out->address_of(at), &value, 4);
    }
  }
  return 0;
}

static void tell(void *, const char *message) { std::printf("%s\n", message); }

static unsigned long long sum_of(const void *bytes, size_t n) {
  unsigned long long h = 14695981039346656037ull;
  for (size_t i = 0; i < n; i++) {
    h = (h ^ static_cast<const unsigned char *>(bytes)[i]) * 1099511628211ull;
  }
  return h;
}

int main() {
  using polyhalite::runtime::Buffer;
  polyhalite_set_error_handler(tell);
  Buffer<uint8_t, 2> in(37, 21);
  in.for_each_element([&](int x, int y) { in(x, y) = static_cast<uint8_t>(x * 7 + y * 13); });
  Buffer<float, 2> out(37, 21);
  Buffer<int64_t, 2> wide(37, 21);
  std::printf("pointers %d\n", static_cast<int>(sizeof(void *)));
  for (int round = 0; round < 3; round++) {
    if (everything(in, 123456789012345, 1.5f, true, -3, out, wide) != 0) return 1;
  }
  std::printf("%llx %llx\n", sum_of(out.data(), out.size_in_bytes()),
              sum_of(wide.data(), wide.size_in_bytes()));
  int64_t big = 123456789012345;
  float gain = 1.5f;
  bool on = false;
  int8_t small = 4;
  void *args[] = {in.raw_buffer(), &big, &gain, &on, &small, out.raw_buffer(), wide.raw_buffer()};
  if (everything_argv(args) != 0) return 2;
  std::printf("%llx %llx\n", sum_of(out.data(), out.size_in_bytes()),
              sum_of(wide.data(), wide.size_in_bytes()));
  Buffer<uint8_t, 2> query(nullptr, {0, 0});
  if (everything(query, 1, 1.0f, true, 1, out, wide) != 0) return 3;
  std::printf("needs %d %d\n", query.dim(0).extent(), query.dim(1).extent());
  in.crop(0, 0, 30);
  std::printf("%d\n", everything(in, 1, 1.0f, true, 1, out, wide));
  const polyhalite_filter_metadata_t *m = everything_metadata();
  for (int i = 0; i < m->num_arguments; i++) {
    const polyhalite_filter_argument_t &a = m->arguments[i];
    std::printf("%s %d/%d %d", a.name, a.type.code, a.type.bits, a.dimensions);
    if (a.scalar_estimate) std::printf(" %lld", (long long)a.scalar_estimate->u.i64);
    if (a.buffer_estimates) std::printf(" %lld", (long long)*a.buffer_estimates[1]);
    std::printf("\n");
  }
  return 0;
}
)";

// Of every part of a pipeline that pointers, sizes or calls of C functions have to do with.
struct Everything {
  ImageParam in{UInt(8), 2, "in"};
  Param<int64_t> big{"big"};
  Param<float> gain{"gain"};
  Param<bool> on{"on"};
  Param<int8_t> small{"small"};
  Func out{"out"}, wide{"wide"};

  Everything() {
    Var x("x"), y("y");
    Func a("a"), b("b"), twice("twice"), histogram("histogram"), slow("slow"), kept("kept");
    a(x, y) = cast<int64_t>(in(x, y)) * big / 7 + small;
    b(x, y) = select(on, cast<float>(a(x, y) % 1000) * gain, 0.5f);
    twice.define_extern("other_machines_twice", {b}, Float(32), 2);
    Var i("i");
    RDom r(0, 37, 0, 21);
    histogram(i) = 0;
    histogram(cast<int>(in(r.x, r.y))) += 1;
    kept(x, y) = (x + y) * big;
    slow(x, y) = cast<float>((kept(x, y) + a(x, y)) % 251) + 0.25f;
    out(x, y) = twice(x, y) + histogram(cast<int>(in(x, y))) + slow(x, y);
    wide(x, y) = require(a(x, y) != 99, a(x, y), "is not", 99) + histogram(0);

    a.compute_root().parallel(y).vectorize(x, 4);
    b.compute_root().vectorize(x, 8, TailStrategy::GuardWithIf);
    twice.compute_root();
    histogram.compute_root();
    histogram.update().atomic().parallel(r.y);
    kept.compute_root().memoize();
    slow.store_root().compute_at(out, y).async();
    out.vectorize(x, 8);
    wide.parallel(y);
    in.set_estimates({{0, kWidth}, {0, kHeight}});
    big.set_estimate(5);
  }
  Pipeline pipeline() { return Pipeline({out, wide}); }

  // As the program prints them.
  std::string sums(bool is_on, int8_t add) {
    Buffer<uint8_t, 2> image(kWidth, kHeight);
    image.for_each_element(
        [&](int x, int y) { image(x, y) = static_cast<uint8_t>(x * 7 + y * 13); });
    in.set(image);
    big.set(123456789012345);
    gain.set(1.5f);
    on.set(is_on);
    small.set(add);
    Realization result = pipeline().realize({kWidth, kHeight});
    std::string text;
    for (size_t k = 0; k < 2; k++) {
      const Buffer<> &b = result[k];
      unsigned long long h = 14695981039346656037ull;
      const auto *bytes = static_cast<const unsigned char *>(b.data());
      for (size_t n = 0; n < b.size_in_bytes(); n++) h = (h ^ bytes[n]) * 1099511628211ull;
      char word[32];
      std::snprintf(word, sizeof(word), "%s%llx", k ? " " : "", h);
      text += word;
    }
    return text + "\n";
  }
};

struct Machine {
  const char *target, *compiler, *emulator, *pointer_bytes;
};

void PrintTo(const Machine &m, std::ostream *out) { *out << m.target; }

class OtherMachines : public testing::TestWithParam<Machine> {
 protected:
  std::string compile(const std::string &words) const {
    return std::string(GetParam().compiler) +
           " -std=c++17 -Wall -I. -I" POLYHALITE_TEST_DIR "/../.. -I" POLYHALITE_TEST_DIR
           "/../../lang/abi -I" POLYHALITE_TEST_DIR "/../../lang/include " +
           words;
  }
  const test::TemporaryFolder folder_;
};

TEST_P(OtherMachines, RunWhatIsCompiledForThem) {
  const Machine &m = GetParam();
  write_file(folder_.path("try.cc"),
             "#include <pthread.h>\n#include <string>\nint main() { return 0; }\n",
             "the test's file");
  const auto [why, missing] =
      folder_.run("(" + compile("try.cc -o try && ") + m.emulator + "./try)");
  if (missing) {
    GTEST_SKIP() << "programs for " << m.target << " cannot be built or run here: " << why;
  }
  Everything e;
  const std::string want = e.sums(true, -3) + e.sums(false, 4);
  e.pipeline().compile_to({{Emit::object, folder_.path("everything.o")},
                           {Emit::c_header, folder_.path("everything.h")}},
                          {e.in, e.big, e.gain, e.on, e.small}, "everything", Target(m.target));
  write_file(folder_.path("main.cc"), kProgram, "the test's program");
  const auto [errors, failed] = folder_.run(
      "(" +
      compile("-O1 -fno-exceptions -fno-rtti -fno-threadsafe-statics -c " POLYHALITE_TEST_DIR
              "/../../codegen/runtime/*.cc") +
      " && " + compile("main.cc *.o -lm -lpthread -o main") + ")");
  ASSERT_EQ(failed, 0) << errors;
  const auto [text, status] = folder_.run(m.emulator + std::string("./main"));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text,
            std::string("pointers ") + m.pointer_bytes + "\n" + want +
                "needs 37 21\n"
                "everything: buffer 'in' is accessed at 0 to 36 in dimension 0, but has only 0 to "
                "29; pass a larger buffer, compute less of the output, or give the access a "
                "boundary condition\n"
                "-4\n"
                "in 1/8 2 37\nbig 0/64 0 5\ngain 2/32 0\non 1/1 0\nsmall 0/8 0\n"
                "out 2/32 2\nwide 0/64 2\n");
}

// Where GCC's own headers for 32 bits are not installed, the system's lie with those of 64.
INSTANTIATE_TEST_SUITE_P(
    all, OtherMachines,
    testing::Values(Machine{"x86-32-linux", "c++ -m32 -idirafter /usr/include/x86_64-linux-gnu", "",
                            "4"},
                    Machine{"arm-32-linux", "clang++-19 --target=arm-linux-gnueabihf -fuse-ld=lld",
                            "qemu-arm -L /usr/arm-linux-gnueabihf ", "4"},
                    Machine{"arm-64-linux", "clang++-19 --target=aarch64-linux-gnu -fuse-ld=lld",
                            "qemu-aarch64 -L /usr/aarch64-linux-gnu ", "8"}));

}  // namespace
}  // namespace polyhalite::other_machines_test
