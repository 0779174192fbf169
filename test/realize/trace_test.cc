// Trace events: which, in which order, with which parents, coordinates and values.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite {
namespace {

std::vector<std::string> events;

std::string list(const int32_t *numbers, int n) {
  std::string text;
  for (int i = 0; i < n; i++) text += (i ? " " : "") + std::to_string(numbers[i]);
  return text;
}

// "store f 3: 0 1 2 3 = 0 2 4 6" of int32 values; the number before the colon is the parent's.
int32_t note(void *, const polyhalite_trace_event_t *e) {
  static const char *const kNames[] = {"load",    "store",       "begin_realization",
                                       "end_realization", "produce", "end_produce",
                                       "consume", "end_consume", "begin_pipeline",
                                       "end_pipeline",    "tag"};
  std::string text = std::string(kNames[e->event]) + " " + e->func + " " +
                     std::to_string(e->parent_id) + ": " + list(e->coordinates, e->dimensions);
  if (e->value) {
    text += " = " + list(static_cast<const int32_t *>(e->value), e->type.lanes);
    EXPECT_EQ(e->type.code, polyhalite_type_int);
    EXPECT_EQ(e->type.bits, 32);
  }
  if (e->trace_tag) text += std::string(" \"") + e->trace_tag + "\"";
  events.push_back(text);
  return static_cast<int32_t>(events.size());
}

struct Traced {
  Var x{"x"};
  Func f{"f"}, g{"g"};
  Traced() {
    f(x) = x * 2;
    g(x) = f(x) + f(x + 1);
    f.compute_root();
  }
  std::vector<std::string> run(int n) {
    events.clear();
    const auto before = polyhalite_set_custom_trace(note);
    const Buffer<int> out = g.realize({n});
    polyhalite_set_custom_trace(before);
    for (int i = 0; i < n; i++) EXPECT_EQ(out(i), 4 * i + 2);
    return events;
  }
};

TEST(Trace, NothingUnlessAsked) { EXPECT_TRUE(Traced().run(4).empty()); }

TEST(Trace, EveryAccessWithItsPlaceAndParent) {
  Traced t;
  t.f.trace_stores().trace_loads().trace_realizations().add_trace_tag("doubles");
  t.g.trace_realizations().trace_stores();
  EXPECT_EQ(t.run(2), (std::vector<std::string>{
                          "begin_pipeline g 0: ",
                          "tag f 1:  \"doubles\"",
                          "begin_realization g 1: 0 2",
                          "begin_realization f 1: 0 3",
                          "produce f 4: 0 3",
                          "store f 5: 0 = 0",
                          "store f 5: 1 = 2",
                          "store f 5: 2 = 4",
                          "end_produce f 5: 0 3",
                          "consume f 4: 0 3",
                          "produce g 3: 0 2",
                          "load f 10: 0 = 0",
                          "load f 10: 1 = 2",
                          "store g 11: 0 = 2",
                          "load f 10: 1 = 2",
                          "load f 10: 2 = 4",
                          "store g 11: 1 = 6",
                          "end_produce g 11: 0 2",
                          "end_consume f 10: 0 3",
                          "end_realization f 4: 0 3",
                          "end_realization g 3: 0 2",
                          "end_pipeline g 1: ",
                      }));
}

TEST(Trace, VectorsAreOneEvent) {
  Traced t;
  t.f.trace_stores().vectorize(t.x, 4);
  EXPECT_EQ(t.run(7), (std::vector<std::string>{
                          "begin_pipeline g 0: ",
                          "store f 1: 0 1 2 3 = 0 2 4 6",
                          "store f 1: 4 5 6 7 = 8 10 12 14",
                          "end_pipeline g 1: ",
                      }));
}

TEST(Trace, PipelineAndImages) {
  ImageParam in(Int(32), 1, "in");
  Buffer<int> image(2);
  image.fill(5);
  in.set(image);
  in.trace_loads();
  Var x("x");
  Func f("f");
  f(x) = in(x);
  Pipeline p(f);
  p.trace_pipeline();
  events.clear();
  const auto before = polyhalite_set_custom_trace(note);
  p.realize({2});
  polyhalite_set_custom_trace(before);
  EXPECT_EQ(events, (std::vector<std::string>{"begin_pipeline f 0: ", "load in 1: 0 = 5",
                                              "load in 1: 1 = 5", "end_pipeline f 1: "}));
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
  // begin, two stores, end
  std::vector<polyhalite_trace_packet_t> packets;
  for (ssize_t at = 0; at < n;) {
    polyhalite_trace_packet_t p;
    std::memcpy(&p, bytes.data() + at, sizeof p);
    if (p.event == polyhalite_trace_store) {
      int32_t coordinate, value;
      std::memcpy(&coordinate, bytes.data() + at + sizeof p, 4);
      std::memcpy(&value, bytes.data() + at + sizeof p + 4, 4);
      EXPECT_EQ(value, 4 * coordinate + 2);
      EXPECT_STREQ(bytes.data() + at + sizeof p + 8, "g");
    }
    packets.push_back(p);
    ASSERT_GT(p.size, 0u);
    at += p.size;
  }
  ASSERT_EQ(packets.size(), 4u);
  EXPECT_EQ(packets[0].event, polyhalite_trace_begin_pipeline);
  EXPECT_EQ(packets[1].parent_id, packets[0].id);
  EXPECT_EQ(packets[3].event, polyhalite_trace_end_pipeline);
}

}  // namespace
}  // namespace polyhalite
