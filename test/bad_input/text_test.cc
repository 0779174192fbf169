// Texts of algorithms, schedules and loop IR that somebody broke: a CompileError with a place, or a
// text that still reads; and what a broken but readable text leads to further on.
#include <gtest/gtest.h>

#include <random>

#include "bad_input/messages.h"
#include "codegen/ir/text.h"
#include "codegen/ir/verify.h"
#include "lang/ir/text.h"
#include "polyhedral/judge.h"
#include "schedule/schedule_text.h"

namespace polyhalite::text_test {
namespace {

constexpr const char *kAlgorithm = R"(algorithm 1
param n: int32, min 1, max 100
image in: uint8, 2, extent.0 640
constant k: int32 (0, 3) = {1, 2, 1}
bx(x, y) = int32(in(x, y)) + k(1)*n
by(x, y) = bx(x, y) + bx(x, y + 1)
over r(0, 10), s(0, n) where r < s: by(x, r) = by(x, r) + bx(x, s)
output by
estimates by, min.0 0, extent.1 480
)";

constexpr const char *kSchedule = R"(schedule 1
by.split(y, yo, yi, 8, GuardWithIf)
by.reorder(x, yi, yo)
by.parallel(yo)
by.update(0).vectorize(x)
bx.compute_at(by, yi)
bx.store_root()
by.bound(x, 0, 64)
)";

constexpr const char *kLoops = R"(func f(in: input float32[1], n: int32, out: output float32[1]) {
  assert in.stride.0 == 1 else extern<int32>(polyhalite_error_generic, "f", in.stride.0)
  allocate t: float32[64i64] stack
  for x in (0, 8) parallel {
    let i = int64(x)*8i64
    t[ramp(i, 1i64, 8)] = in[ramp(i, 1i64, 8) if ramp(x, 1, 8) < broadcast(n, 8)]*broadcast(2.0f, 8)
    if x < 4 {
      out[i] = t[i] + select(x < 2, 1.0f, -0.5f)
    }
  }
}
)";

// One or several characters lost, doubled, swapped or replaced.
std::string broken(std::string text, std::mt19937 &random) {
  auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  static const std::string kCharacters = "(){}[],.:;=+-*/%<>!&|\"' \n0189xyrf_$\\\x01\xff";
  for (size_t edits = 1 + below(3); edits > 0 && !text.empty(); edits--) {
    const size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text.erase(at, 1 + below(8));
        break;
      case 1:
        text.insert(at, text.substr(below(text.size()), 1 + below(12)));
        break;
      case 2:
        std::swap(text[at], text[below(text.size())]);
        break;
      case 3:
        text[at] = kCharacters[below(kCharacters.size())];
        break;
      case 4:
        text.insert(at, "99999999999999999999");
        break;
    }
  }
  return text;
}

// Runs `read` on broken texts; anything but success and CompileErrors with a place is a fault.
template <typename F>
void survives(const char *text, int count, F &&read) {
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < count; i++) {
    const std::string changed = broken(text, random);
    try {
      read(changed);
    } catch (const CompileError &e) {
      refused++;
      EXPECT_FALSE(e.diagnostic().what.empty()) << changed;
      EXPECT_GT(e.diagnostic().where.line, 0) << e.what() << "\n" << changed;
    } catch (const std::exception &e) {
      ADD_FAILURE() << e.what() << "\n" << changed;
    }
  }
  EXPECT_GT(refused, count / 2);
}

TEST(BadText, algorithms) {
  parse_algorithm(kAlgorithm);
  survives(kAlgorithm, 20000, [](const std::string &s) { parse_algorithm(s); });
}

TEST(BadText, schedules) {
  parse_schedule(kSchedule);
  survives(kSchedule, 20000, [](const std::string &s) { parse_schedule(s); });
}

TEST(BadText, loops) {
  parse_function(kLoops);
  survives(kLoops, 20000, [](const std::string &s) { parse_function(s); });
}

// Texts that read are judged or refused.
TEST(BadText, schedules_on_an_algorithm) {
  const Algorithm a = parse_algorithm(kAlgorithm);
  std::mt19937 random(11);
  for (int i = 0; i < 300; i++) {
    const std::string changed = broken(kSchedule, random);
    try {
      build_and_judge(a, parse_schedule(changed));
    } catch (const CompileError &) {
    } catch (const std::exception &e) {
      ADD_FAILURE() << e.what() << "\n" << changed;
    }
  }
}

TEST(BadText, broken_loops_fail_verification) {
  std::mt19937 random(13);
  for (int i = 0; i < 3000; i++) {
    const std::string changed = broken(kLoops, random);
    try {
      verify(parse_function(changed), IrLevel::Flat);
    } catch (const CompileError &) {
    } catch (const std::exception &e) {
      ADD_FAILURE() << e.what() << "\n" << changed;
    }
  }
}

}  // namespace
}  // namespace polyhalite::text_test
