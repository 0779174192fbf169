// The three text forms, and that each reads back.
#include <gtest/gtest.h>

#include <random>

#include "lang/ir/node.h"
#include "polyhalite/error.h"
#include "schedule/schedule_text.h"

namespace polyhalite::schedule_text_test {
namespace {

constexpr const char *kText = R"(schedule 1
by.split(y, yo, yi, 32, ShiftInwards)
by.split(x, x, xi, n*2)
by.parallel(yo)
by.vectorize(xi)
acc.update(0).reorder(x, r)
bx.compute_at(by, yo)
bx.store_at(acc.update(1), r)
bx.compute_root()
by.bound(x, 0, 100)
)";

std::string error_of(const std::string &text) {
  try {
    parse_schedule(text, "s.txt");
    return "";
  } catch (const CompileError &e) {
    return e.what();
  }
}

TEST(schedule_text, reads_and_prints) { EXPECT_EQ(to_text(parse_schedule(kText)), kText); }

TEST(schedule_text, marks_with_a_size_split_first) {
  EXPECT_EQ(to_text(parse_schedule("schedule 1\nf.split(x, x, x_v, 2)\nf.vectorize(x, 8)\n"
                                   "f.update(0).unroll(r, n*2, GuardWithIf)\nf.parallel(y, 16)\n")),
            "schedule 1\nf.split(x, x, x_v, 2)\nf.split(x, x, x_v1, 8)\nf.vectorize(x_v1)\n"
            "f.update(0).split(r, r, r_u, n*2, GuardWithIf)\nf.update(0).unroll(r_u)\n"
            "f.split(y, y, y_p, 16)\nf.parallel(y)\n");
  EXPECT_EQ(error_of("schedule 1\nf.vectorize(x, 8, Sideways)\n").substr(0, 57),
            "s.txt:2: error: unknown tail strategy 'Sideways'\n  fix: s");
  EXPECT_EQ(error_of("schedule 1\nf.serial(x, 8)\n"),
            "s.txt:2: error: expected ')' after the arguments, found ','");
}

TEST(schedule_text, memoize_has_a_key_or_none) {
  const std::string text = "schedule 1\nf.memoize()\ng.memoize(p + 1)\n";
  EXPECT_EQ(to_text(parse_schedule(text)), text);
  EXPECT_EQ(to_cpp(parse_schedule(text)),
            "// schedule 1\n{\n  f.memoize();\n  g.memoize(p + 1);\n}\n");
}

TEST(schedule_text, directives_have_their_lines) {
  auto list =
      parse_schedule("\nschedule 1\n\nf.parallel(x)  // fast\n// f.serial(x)\nf.unroll(x)\n", "s");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].where.line, 4);
  EXPECT_EQ(list[1].where.line, 6);
  EXPECT_EQ(list[1].where.file, "s");
}

TEST(schedule_text, as_cpp) {
  EXPECT_EQ(to_cpp(parse_schedule(kText)), R"(// schedule 1
{
  Var r("r");
  Var x("x");
  Var xi("xi");
  Var y("y");
  Var yi("yi");
  Var yo("yo");
  by.split(y, yo, yi, 32, TailStrategy::ShiftInwards);
  by.split(x, x, xi, n*2);
  by.parallel(yo);
  by.vectorize(xi);
  acc.update(0).reorder(x, r);
  bx.compute_at(by, yo);
  bx.store_at(LoopLevel(acc, r, 2));
  bx.compute_root();
  by.bound(x, 0, 100);
}
)");
}

TEST(schedule_text, as_python) {
  EXPECT_EQ(to_python(parse_schedule(kText)), R"(# schedule 1
r = ph.Var("r")
x = ph.Var("x")
xi = ph.Var("xi")
y = ph.Var("y")
yi = ph.Var("yi")
yo = ph.Var("yo")
by.split(y, yo, yi, 32, ph.TailStrategy.ShiftInwards)
by.split(x, x, xi, n*2)
by.parallel(yo)
by.vectorize(xi)
acc.update(0).reorder(x, r)
bx.compute_at(by, yo)
bx.store_at(ph.LoopLevel(acc, r, 2))
bx.compute_root()
by.bound(x, 0, 100)
)");
}

TEST(schedule_text, names_that_are_no_identifiers_get_handles) {
  auto list =
      parse_schedule("schedule 1\n`f$1`.split(in, `r$x`, `a b`, 4)\n`f$1`.parallel(`r_x`)\n");
  EXPECT_EQ(to_cpp(list), R"(// schedule 1
// handle f_1 "f$1"
{
  Var a_b("a b");
  Var in_("in");
  Var r_x("r$x");
  Var r_x_("r_x");
  f_1.split(in_, r_x, a_b, 4);
  f_1.parallel(r_x_);
}
)");
  EXPECT_EQ(to_text(parse_schedule(to_cpp(list))), to_text(list));
  EXPECT_EQ(to_text(parse_schedule(to_python(list))), to_text(list));
}

// Each form of each word that takes an option or names storage.
TEST(schedule_text, storage_and_loop_words_read_back) {
  const std::string text =
      "schedule 1\n"
      "f.bound(x, 0, 16)\n"
      "f.bound_extent(x, 16)\n"
      "f.align_bounds(x, 4, 1)\n"
      "f.align_extent(x, 4)\n"
      "f.reorder_storage(y, x)\n"
      "f.align_storage(x, 8)\n"
      "f.pack(x, 8)\n"
      "f.fold_storage(y, 4)\n"
      "f.fold_storage(y, 4, backward)\n"
      "f.bound_storage(x, 64)\n"
      "f.store_in(Stack)\n"
      "f.partition(x, Always)\n"
      "f.prefetch(in, x, y, 2, Clamp)\n"
      "f.split(x, xo, xi, 8, RoundUpAndBlend)\n"
      "f.update(0).split(x, xo, xi, 8, PredicateStores)\n";
  const auto list = parse_schedule(text);
  EXPECT_EQ(to_text(list), text);
  EXPECT_EQ(to_text(parse_schedule(to_cpp(list))), text);
  EXPECT_EQ(to_text(parse_schedule(to_python(list))), text);
  EXPECT_NE(to_cpp(list).find("f.fold_storage(y, 4, false);"), std::string::npos);
  EXPECT_NE(to_cpp(list).find("f.store_in(MemoryType::Stack);"), std::string::npos);
  EXPECT_NE(to_python(list).find("f.prefetch(in_, x, y, 2, ph.PrefetchBoundStrategy.Clamp)"),
            std::string::npos)
      << to_python(list);
}

TEST(schedule_text, words_that_rewrite_definitions_read_back) {
  const std::string text =
      "schedule 1\n"
      "g.eager_inline(f)\n"
      "g.update(0).eager_inline(f, h)\n"
      "f_int32 = f.change_type(int32)\n"
      "f_bf = f.change_type(bfloat16, true)\n"
      "g_intm = g.update(0).hoist_invariants()\n"
      "a, `b c` = h.update(1).hoist_invariants()\n"
      "a.stream_loads()\n"
      "a.update(0).stream_loads(f, in)\n"
      "a.stream_stores()\n"
      "a.sme_streaming()\n"
      "a.sme_streaming(x)\n";
  const auto list = parse_schedule(text);
  EXPECT_EQ(to_text(list), text);
  EXPECT_EQ(to_cpp(list), R"(// schedule 1
// handle b_c "b c"
// handle in_ "in"
{
  Var x("x");
  g.eager_inline({f});
  g.update(0).eager_inline({f, h});
  Func f_int32 = f.change_type(Int(32));
  Func f_bf = f.change_type(BFloat(16), true);
  Func g_intm = g.update(0).hoist_invariants();
  auto [a, b_c] = h.update(1).hoist_invariants<2>();
  a.stream_loads();
  a.update(0).stream_loads({f, in_});
  a.stream_stores();
  a.sme_streaming();
  a.sme_streaming(x);
}
)");
  EXPECT_EQ(to_text(parse_schedule(to_cpp(list))), text);
  EXPECT_EQ(to_text(parse_schedule(to_python(list))), text);
  EXPECT_NE(to_python(list).find("f_bf = f.change_type(ph.BFloat(16), True)"), std::string::npos);
  EXPECT_EQ(
      error_of("schedule 1\ng = f.change_type(int33)\n"),
      "s.txt:2: error: unknown type 'int33'\n  fix: types are int8, uint16, float32 and their "
      "like");
  EXPECT_EQ(error_of("schedule 1\na, b = f.in(g)\n"),
            "s.txt:2: error: in makes one Func\n  fix: name one before '='");
}

TEST(schedule_text, broken_texts) {
  EXPECT_EQ(error_of(""),
            "s.txt:1: error: expected 'schedule 1', found ''\n"
            "  fix: begin the text with the version of its format: schedule 1");
  EXPECT_EQ(error_of("schedule 2\n"),
            "s.txt:1: error: unknown version '2' of the schedule format\n"
            "  fix: this library reads version 1");
  const std::string unknown = error_of("schedule 1\nf.spilt(x, xo, xi, 8)");
  EXPECT_EQ(unknown.rfind("s.txt:2: error: unknown directive 'spilt'\n"
                          "  fix: directives are: split, fuse, reorder, rename, skew, ",
                          0),
            0u)
      << unknown;
  EXPECT_EQ(error_of("schedule 1\nf.split(x, xo, xi)"),
            "s.txt:2: error: expected ',' between arguments, found ')'");
  EXPECT_EQ(error_of("schedule 1\nf.split(x, xo, xi, 8, Around)"),
            "s.txt:2: error: unknown tail strategy 'Around'\n"
            "  fix: strategies are: Auto, RoundUp, GuardWithIf, Predicate, PredicateLoads, "
            "PredicateStores, ShiftInwards, ShiftInwardsAndBlend, RoundUpAndBlend");
  EXPECT_EQ(error_of("schedule 1\n\nf(x)"),
            "s.txt:3: error: expected a directive: FUNC.DIRECTIVE(...) after 'f'");
  EXPECT_EQ(error_of("schedule 1\nf.update(-1).parallel(x)"),
            "s.txt:2: error: updates count from 0");
  EXPECT_EQ(error_of("schedule 1\nf.compute_at(g.updat(0), x)"),
            "s.txt:2: error: expected FUNC.update(K), found 'g.updat('");
  EXPECT_EQ(error_of("// schedule 1\n{\n  f.parallel(x);\n}\n"),
            "s.txt:3: error: 'x' is no declared Var");
  EXPECT_EQ(error_of("// schedule 1\n{\n  f.compute_root()\n}\n"),
            "s.txt:4: error: expected ';' after a statement, found '}'");
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int number(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  template <typename T, size_t N>
  const T &of(const T (&from)[N]) {
    return from[number(N)];
  }
  std::string func() {
    static const std::string kNames[] = {"f", "blur_y", "f$1", "min", "a b", "in", "update", "f.x"};
    return of(kNames);
  }
  std::string loop() {
    static const std::string kNames[] = {"x", "xo", "r$x", "r.x", "min", "for", "1st", "split"};
    return of(kNames);
  }
  Expr factor() {
    Expr n = make_variable(Int(32), VariableKind::Param, "n");
    switch (number(5)) {
      case 0:
        return n;
      case 1:
        return make_binary(Op::Mul, n, make_int(Int(32), number(9)));
      case 2:
        return make_binary(Op::Max, make_binary(Op::Sub, n, Expr(3)), Expr(4));
      case 3:
        return make_variable(Int(32), VariableKind::BufferField, "in.extent.1");
      default:
        return make_int(Int(32), number(200) - 20);
    }
  }
  Directive directive() {
    static constexpr DirectiveKind kKinds[] = {
        DirectiveKind::Split,         DirectiveKind::Fuse,         DirectiveKind::Reorder,
        DirectiveKind::Rename,        DirectiveKind::Parallel,     DirectiveKind::Vectorize,
        DirectiveKind::Skew,          DirectiveKind::Reverse,      DirectiveKind::Shift,
        DirectiveKind::Unroll,        DirectiveKind::Serial,       DirectiveKind::ComputeRoot,
        DirectiveKind::ComputeInline, DirectiveKind::ComputeAt,    DirectiveKind::StoreRoot,
        DirectiveKind::StoreAt,       DirectiveKind::Bound,        DirectiveKind::GpuBlocks,
        DirectiveKind::GpuThreads,    DirectiveKind::GpuLanes,     DirectiveKind::GpuSingleThread,
        DirectiveKind::Hexagon,       DirectiveKind::CopyToDevice, DirectiveKind::CopyToHost,
        DirectiveKind::TraceLoads,    DirectiveKind::TraceStores,  DirectiveKind::TraceTag};
    static constexpr DeviceAPI kDevices[] = {DeviceAPI::Default_GPU, DeviceAPI::CUDA,
                                             DeviceAPI::D3D12Compute};
    static constexpr TailStrategy kTails[] = {TailStrategy::Auto, TailStrategy::RoundUp,
                                              TailStrategy::GuardWithIf,
                                              TailStrategy::ShiftInwards};
    Directive d;
    d.kind = of(kKinds);
    d.func = func();
    int loops = 1;
    switch (d.kind) {
      case DirectiveKind::Split:
        loops = 3;
        d.tail = of(kTails);
        d.factors = {factor()};
        break;
      case DirectiveKind::Fuse:
        loops = 3;
        break;
      case DirectiveKind::Skew:
        loops = 3;
        d.factors = {make_int(Int(32), number(9) - 4)};
        break;
      case DirectiveKind::Shift:
        d.factors = {make_int(Int(32), number(9) - 4)};
        break;
      case DirectiveKind::Rename:
        loops = 2;
        break;
      case DirectiveKind::Reorder:
        loops = 1 + number(5);
        break;
      case DirectiveKind::TraceTag:
        d.factors = {make_string("tag \"1\"\n")};
        loops = 0;
        break;
      case DirectiveKind::Bound:
        d.factors = {factor(), factor()};
        break;
      case DirectiveKind::ComputeAt:
      case DirectiveKind::StoreAt:
        d.target_func = func();
        d.target_stage = number(4) - 1;
        break;
      case DirectiveKind::GpuBlocks:
      case DirectiveKind::GpuThreads:
        loops = 1 + number(3);
        d.device = of(kDevices);
        break;
      case DirectiveKind::GpuLanes:
        d.device = of(kDevices);
        break;
      case DirectiveKind::GpuSingleThread:
      case DirectiveKind::CopyToDevice:
        loops = 0;
        d.device = of(kDevices);
        break;
      case DirectiveKind::Hexagon:
        loops = number(2);
        break;
      case DirectiveKind::CopyToHost:
      case DirectiveKind::TraceLoads:
      case DirectiveKind::TraceStores:
      case DirectiveKind::ComputeRoot:
      case DirectiveKind::ComputeInline:
      case DirectiveKind::StoreRoot:
        loops = 0;
        break;
      default:
        break;
    }
    if (loops > 0 && d.target_func.empty() && d.kind != DirectiveKind::Bound) d.stage = number(3);
    for (int i = 0; i < loops; i++) d.loops.push_back(loop());
    return d;
  }

 private:
  std::mt19937 random_;
};

TEST(schedule_text, random_lists_read_back_in_every_form) {
  for (unsigned seed = 0; seed < 500; seed++) {
    Draw draw(seed);
    std::vector<Directive> list;
    for (int n = draw.number(12); n >= 0; n--) list.push_back(draw.directive());
    for (const std::string &text : {to_text(list), to_cpp(list), to_python(list)}) {
      std::vector<Directive> back;
      ASSERT_NO_THROW(back = parse_schedule(text)) << text;
      ASSERT_EQ(back.size(), list.size()) << text;
      for (size_t i = 0; i < list.size(); i++) {
        EXPECT_TRUE(same_directive(list[i], back[i])) << text << to_text({back[i]});
      }
    }
  }
}

TEST(schedule_text, same_directive_sees_each_part) {
  Directive d = parse_schedule("schedule 1\nf.split(x, xo, xi, 8)")[0];
  for (const char *other :
       {"g.split(x, xo, xi, 8)", "f.update(0).split(x, xo, xi, 8)", "f.split(y, xo, xi, 8)",
        "f.split(x, xo, xi, 9)", "f.split(x, xo, xi, 8, RoundUp)", "f.fuse(x, xo, xi)"}) {
    EXPECT_FALSE(same_directive(d, parse_schedule(std::string("schedule 1\n") + other)[0]))
        << other;
  }
}

}  // namespace
}  // namespace polyhalite::schedule_text_test
