// Trace events: which, in which order, with which parents, coordinates and values.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite::trace_test {
namespace {

std::vector<std::string> events;
std::mutex events_lock;

std::string list(const int32_t *numbers, int n) {
  std::string text;
  for (int i = 0; i < n; i++) text += (i ? " " : "") + std::to_string(numbers[i]);
  return text;
}

// "store f 3: 0 1 2 3 = 0 2 4 6" of int32 values; the number before the colon is the parent's.
int32_t note(JITUserContext *, const polyhalite_trace_event_t *e) {
  static const char *const kNames[] = {
      "load",    "store",       "begin_realization", "end_realization", "produce", "end_produce",
      "consume", "end_consume", "begin_pipeline",    "end_pipeline",    "tag"};
  std::string text = std::string(kNames[e->event]) + " " + e->func +
                     (e->value_index ? "." + std::to_string(e->value_index) : "") + " " +
                     std::to_string(e->parent_id) + ":";
  if (e->dimensions) text += " " + list(e->coordinates, e->dimensions);
  if (e->value) {
    text += " = " + list(static_cast<const int32_t *>(e->value), e->type.lanes);
    EXPECT_EQ(e->type.code, polyhalite_type_int);
    EXPECT_EQ(e->type.bits, 32);
  } else {
    EXPECT_EQ(e->type.code, polyhalite_type_handle);
    EXPECT_EQ(e->type.lanes, 0);
  }
  if (e->trace_tag) text += std::string(" \"") + e->trace_tag + "\"";
  std::lock_guard<std::mutex> lock(events_lock);
  events.push_back(text);
  return static_cast<int32_t>(events.size());
}

using Events = std::vector<std::string>;

Events events_of(Pipeline p, const std::vector<int> &sizes, const Target &target = Target()) {
  events.clear();
  p.jit_handlers().custom_trace = note;
  p.realize(sizes, target);
  return events;
}

struct Traced {
  Var x{"x"}, y{"y"};
  Func f{"f"}, g{"g"};
  Traced() {
    f(x) = x * 2;
    g(x) = f(x) + f(x + 1);
    f.compute_root();
  }
};

TEST(Trace, NothingUnlessAsked) { EXPECT_TRUE(events_of(Traced().g, {4}).empty()); }

TEST(Trace, EveryAccessWithItsPlaceAndParent) {
  Traced t;
  t.f.trace_stores().trace_loads().trace_realizations().add_trace_tag("doubles");
  t.g.trace_realizations().trace_stores();
  EXPECT_EQ(events_of(t.g, {2}), (Events{
                                     "begin_pipeline g 0:",
                                     "tag f 1: \"func_type_and_dim: 1 0 32 1 1 0 3\"",
                                     "tag g 1: \"func_type_and_dim: 1 0 32 1 1 0 2\"",
                                     "tag f 1: \"doubles\"",
                                     "begin_realization g 1: 0 2",
                                     "begin_realization f 1: 0 3",
                                     "produce f 6: 0 3",
                                     "store f 7: 0 = 0",
                                     "store f 7: 1 = 2",
                                     "store f 7: 2 = 4",
                                     "end_produce f 7: 0 3",
                                     "consume f 6: 0 3",
                                     "produce g 5: 0 2",
                                     "load f 12: 0 = 0",
                                     "load f 12: 1 = 2",
                                     "store g 13: 0 = 2",
                                     "load f 12: 1 = 2",
                                     "load f 12: 2 = 4",
                                     "store g 13: 1 = 6",
                                     "end_produce g 13: 0 2",
                                     "end_consume f 12: 0 3",
                                     "end_realization f 6: 0 3",
                                     "end_realization g 5: 0 2",
                                     "end_pipeline g 1:",
                                 }));
}

TEST(Trace, VectorsAreOneEventAndTailsOneForEachLaneThatTakesPart) {
  Traced t;
  t.g.trace_stores().vectorize(t.x, 4, TailStrategy::GuardWithIf);
  EXPECT_EQ(events_of(t.g, {6}), (Events{
                                     "begin_pipeline g 0:",
                                     "tag g 1: \"func_type_and_dim: 1 0 32 1 1 0 6\"",
                                     "store g 0: 0 1 2 3 = 2 6 10 14",
                                     "store g 0: 4 = 18",
                                     "store g 0: 5 = 22",
                                     "end_pipeline g 1:",
                                 }));
}

TEST(Trace, OneLoadForEachPlaceOfADefinition) {
  Traced t;
  Func h("h");
  h(t.x) = t.f(t.x) * t.f(t.x) + t.f(t.x);
  t.f.trace_loads();
  EXPECT_EQ(events_of(h, {1}), (Events{
                                   "begin_pipeline h 0:",
                                   "tag f 1: \"func_type_and_dim: 1 0 32 1 1 0 1\"",
                                   "load f 0: 0 = 0",
                                   "end_pipeline h 1:",
                               }));
}

TEST(Trace, UpdatesBelongToTheProduction) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = x * 2;
  f(1) += 5;
  g(x) = f(x) + f(x + 1);
  f.compute_root().trace_stores().trace_loads().trace_realizations();
  Events all = events_of(g, {1});
  ASSERT_EQ(all.size(), 15u);
  all.erase(all.begin(), all.begin() + 4);
  EXPECT_EQ(all, (Events{
                     "store f 4: 0 = 0",
                     "store f 4: 1 = 2",
                     "load f 4: 1 = 2",
                     "store f 4: 1 = 7",
                     "end_produce f 4: 0 2",
                     "consume f 3: 0 2",
                     "load f 10: 0 = 0",
                     "load f 10: 1 = 7",
                     "end_consume f 10: 0 2",
                     "end_realization f 3: 0 2",
                     "end_pipeline g 1:",
                 }));
}

TEST(Trace, ValuesOfATupleOneByOne) {
  Traced t;
  Func pair("pair"), out("out");
  pair(t.x) = Tuple(t.x, t.x + 10);
  out(t.x) = pair(t.x)[0] + pair(t.x)[1];
  pair.compute_root().trace_stores().trace_loads();
  EXPECT_EQ(events_of(out, {1}), (Events{
                                     "begin_pipeline out 0:",
                                     "tag pair 1: \"func_type_and_dim: 2 0 32 1 0 32 1 1 0 1\"",
                                     "store pair 0: 0 = 0",
                                     "store pair.1 0: 0 = 10",
                                     "load pair 0: 0 = 0",
                                     "load pair.1 0: 0 = 10",
                                     "end_pipeline out 1:",
                                 }));
}

TEST(Trace, PlacesAreReadBeforeValues) {
  Traced t;
  Func out("out");
  RDom r(0, 2, "r");
  out(t.x) = 0;
  out(clamp(t.f(r), 0, 1)) += r;
  t.f.trace_loads();
  out.trace_stores().trace_loads();
  EXPECT_EQ(events_of(out, {2}), (Events{
                                     "begin_pipeline out 0:",
                                     "tag f 1: \"func_type_and_dim: 1 0 32 1 1 0 2\"",
                                     "tag out 1: \"func_type_and_dim: 1 0 32 1 1 0 2\"",
                                     "store out 0: 0 = 0",
                                     "store out 0: 1 = 0",
                                     "load f 0: 0 = 0",
                                     "load f 0: 0 = 0",
                                     "load out 0: 0 = 0",
                                     "store out 0: 0 = 0",
                                     "load f 0: 1 = 2",
                                     "load f 0: 1 = 2",
                                     "load out 0: 1 = 0",
                                     "store out 0: 1 = 1",
                                     "end_pipeline out 1:",
                                 }));
}

TEST(Trace, RingsAreReportedByTheirIndices) {
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x, y) = x + y;
  g(x, y) = f(x, y) + f(x, y + 1);
  f.store_root().compute_at(g, y).fold_storage(y, 2).trace_stores();
  const Events all = events_of(g, {1, 3});
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[1], "tag f 1: \"func_type_and_dim: 1 0 32 1 2 0 1 0 4\"");
  for (int i = 0; i < 4; i++) {
    EXPECT_EQ(all[static_cast<size_t>(2 + i)],
              "store f 0: 0 " + std::to_string(i) + " = " + std::to_string(i));
  }
}

TEST(Trace, ProductionsOfASlidingWindowAreWhatIsNew) {
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x, y) = x + y;
  g(x, y) = f(x, y) + f(x, y + 1);
  f.store_root().compute_at(g, y).vectorize(y, 2).trace_realizations();
  std::vector<std::string> productions;
  for (const std::string &e : events_of(g, {1, 4})) {
    if (e.rfind("produce ", 0) == 0) productions.push_back(e.substr(e.find(':')));
  }
  EXPECT_EQ(productions, (Events{": 0 1 0 2", ": 0 1 2 1", ": 0 1 3 1", ": 0 1 4 1"}));
}

// A Func with updates that nobody places is computed for each stage that uses it.
TEST(Trace, CopiesOfAFuncAreReportedAsIt) {
  Var x("x");
  Func f("f"), g("g"), h("h");
  f(x) = x;
  f(x) += 3;
  g(x) = f(x) * 2;
  h(x) = f(x) + g(x);
  g.compute_root();
  f.trace_stores().trace_loads();
  Events all = events_of(h, {1});
  EXPECT_EQ(all, (Events{
                     "begin_pipeline h 0:",
                     "tag f 1: \"func_type_and_dim: 1 0 32 1 1 0 1\"",
                     "store f 0: 0 = 0",
                     "load f 0: 0 = 0",
                     "store f 0: 0 = 3",
                     "load f 0: 0 = 3",
                     "store f 0: 0 = 0",
                     "load f 0: 0 = 0",
                     "store f 0: 0 = 3",
                     "load f 0: 0 = 3",
                     "end_pipeline h 1:",
                 }));
}

TEST(Trace, ProductionsThatShareLoopsBeginTogether) {
  Var x("x"), y("y");
  Func f("f"), g("g"), h("h");
  f(x, y) = x + y;
  g(x, y) = x - y;
  h(x, y) = f(x, y) + g(x, y);
  f.compute_root().trace_realizations().trace_stores();
  g.compute_root().compute_with(f, y).trace_realizations().trace_stores();
  Events all = events_of(h, {1, 2});
  all.erase(all.begin(), all.begin() + 3);
  EXPECT_EQ(all, (Events{
                     "begin_realization f 1: 0 1 0 2",
                     "begin_realization g 1: 0 1 0 2",
                     "produce f 4: 0 1 0 2",
                     "produce g 5: 0 1 0 2",
                     "store f 6: 0 0 = 0",
                     "store g 7: 0 0 = 0",
                     "store f 6: 0 1 = 1",
                     "store g 7: 0 1 = -1",
                     "end_produce g 7: 0 1 0 2",
                     "end_produce f 6: 0 1 0 2",
                     "consume f 4: 0 1 0 2",
                     "consume g 5: 0 1 0 2",
                     "end_consume g 15: 0 1 0 2",
                     "end_consume f 14: 0 1 0 2",
                     "end_realization g 5: 0 1 0 2",
                     "end_realization f 4: 0 1 0 2",
                     "end_pipeline h 1:",
                 }));
}

TEST(Trace, ImagesAndPipelines) {
  ImageParam in(Int(32), 1, "in");
  Buffer<int> image(2);
  image.fill(5);
  in.set(image);
  Var x("x");
  Func f("f");
  f(x) = in(x);
  Pipeline p(f);
  p.trace_pipeline();
  EXPECT_EQ(events_of(p, {2}), (Events{"begin_pipeline f 0:", "end_pipeline f 1:"}));
  in.trace_loads();
  in.add_trace_tag("a photograph");
  EXPECT_EQ(events_of(p, {2}),
            (Events{"begin_pipeline f 0:", "tag in 1: \"func_type_and_dim: 1 0 32 1 1 0 2\"",
                    "tag in 1: \"a photograph\"", "load in 1: 0 = 5", "load in 1: 1 = 5",
                    "end_pipeline f 1:"}));
}

TEST(Trace, TargetsTraceEveryFunc) {
  Traced t;
  const Target all = get_jit_target_from_environment()
                         .with_feature(Target::TraceLoads)
                         .with_feature(Target::TraceStores);
  Events got = events_of(t.g, {1}, all);
  got.erase(got.begin(), got.begin() + 3);
  EXPECT_EQ(got, (Events{"store f 0: 0 = 0", "store f 0: 1 = 2", "load f 0: 0 = 0",
                         "load f 0: 1 = 2", "store g 0: 0 = 2", "end_pipeline g 1:"}));
}

TEST(Trace, AsyncProductionsAndTheirConsumersAreWhole) {
  Traced t;
  t.f.async().trace_realizations().trace_loads().trace_stores();
  const Events all = events_of(t.g, {1});
  auto count = [&](const std::string &word) {
    int n = 0;
    for (const std::string &e : all) n += e.compare(0, word.size() + 1, word + " ") == 0;
    return n;
  };
  EXPECT_EQ(count("produce"), 1);
  EXPECT_EQ(count("end_produce"), 1);
  EXPECT_EQ(count("consume"), 1);
  EXPECT_EQ(count("end_consume"), 1);
  EXPECT_EQ(count("store"), 2);
  EXPECT_EQ(count("load"), 2);
  EXPECT_EQ(all.back(), "end_pipeline g 1:");
}

TEST(Trace, TextGoesToThePrintHandler) {
  static std::string printed;
  printed.clear();
  Traced t;
  t.g.trace_stores().vectorize(t.x, 2);
  t.g.jit_handlers().custom_print = [](JITUserContext *, const char *text) { printed += text; };
  t.g.realize({2});
  EXPECT_EQ(printed,
            "Begin pipeline g.0()\n"
            "Tag g.0() tag = \"func_type_and_dim: 1 0 32 1 1 0 2\"\n"
            "Store g.0(<0, 1>) = <2, 6>\n"
            "End pipeline g.0()\n");
}

TEST(Trace, PacketsInAFile) {
  char name[] = "trace_test_XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  polyhalite_set_trace_file(file);
  Traced t;
  t.g.trace_stores();
  t.g.realize({2});
  polyhalite_set_trace_file(0);
  std::vector<char> bytes(4096);
  const ssize_t n = pread(file, bytes.data(), bytes.size(), 0);
  close(file);
  unlink(name);
  std::vector<const polyhalite_trace_packet_t *> packets;
  for (ssize_t at = 0; at < n;) {
    packets.push_back(reinterpret_cast<const polyhalite_trace_packet_t *>(bytes.data() + at));
    ASSERT_GT(packets.back()->size, 0u);
    at += packets.back()->size;
  }
  ASSERT_EQ(packets.size(), 5u);  // begin, tag, two stores, end
  EXPECT_EQ(packets[0]->event, polyhalite_trace_begin_pipeline);
  EXPECT_EQ(packets[1]->event, polyhalite_trace_tag);
  EXPECT_EQ(packets[1]->parent_id, packets[0]->id);
  EXPECT_STREQ(packets[1]->trace_tag(), "func_type_and_dim: 1 0 32 1 1 0 2");
  for (int i = 0; i < 2; i++) {
    const polyhalite_trace_packet_t *p = packets[static_cast<size_t>(2 + i)];
    EXPECT_EQ(p->event, polyhalite_trace_store);
    EXPECT_EQ(p->coordinates()[0], i);
    int32_t value = 0;
    std::memcpy(&value, p->value(), sizeof value);
    EXPECT_EQ(value, 4 * i + 2);
    EXPECT_STREQ(p->func(), "g");
    EXPECT_STREQ(p->trace_tag(), "");
  }
  EXPECT_EQ(packets[4]->event, polyhalite_trace_end_pipeline);
}

}  // namespace
}  // namespace polyhalite::trace_test
