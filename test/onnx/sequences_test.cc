// Sequences and optional values, against results by hand.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "apps/onnx/emit_library.h"
#include "apps/onnx/item_session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::sequences_test {
namespace {

using Lists = std::vector<std::vector<float>>;

std::vector<float> list(const Item &item) { return list(std::get<Constant>(item)); }

Lists lists(const Item &item) {
  Lists all;
  for (const Constant &c : std::get<std::vector<Constant>>(item)) all.push_back(list(c));
  return all;
}

std::vector<int64_t> shape(const Item &item) { return std::get<Constant>(item).shape(); }

Constant boolean(bool v) {
  const uint8_t byte = v ? 1 : 0;
  return Constant::splat(ElementType::Bool, {}, &byte);
}

Constant row(const std::vector<float> &v) { return floats({static_cast<int64_t>(v.size())}, v); }

std::string read(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Compiled, and with the interpreter.
Items run(const ModelBuilder &b, const Items &inputs) {
  CompileOptions options;
  options.engine = Engine::Interpreter;
  options.optimize = false;
  const Items plain = ItemSession(b.load(), options).run(inputs);
  const Items outputs = ItemSession(b.load()).run(inputs);
  EXPECT_EQ(outputs.size(), plain.size());
  for (const auto &[name, item] : outputs) EXPECT_EQ(compare(item, plain.at(name), 1e-5, 1e-6), "");
  return outputs;
}

size_t count(const Graph &g, const std::string &op) {
  return static_cast<size_t>(
      std::count_if(g.nodes.begin(), g.nodes.end(), [&](const Node &n) { return n.op == op; }));
}

ModelBuilder &place(ModelBuilder *b, const std::string &name, int64_t at) {
  return b->initializer(ModelBuilder::tensor<int64_t>(name, 7, {}, {at}));
}

TEST(onnx_sequences, places_count_from_both_ends) {
  struct Edit {
    std::string op;
    std::optional<int64_t> at;
    std::vector<float> left;
  };
  // x stands for [1], a for [2], b for [3]; the sequence is a, b.
  for (const Edit &edit : std::vector<Edit>{{"SequenceInsert", 0, {1, 2, 3}},
                                            {"SequenceInsert", 1, {2, 1, 3}},
                                            {"SequenceInsert", 2, {2, 3, 1}},
                                            {"SequenceInsert", -1, {2, 1, 3}},
                                            {"SequenceInsert", -2, {1, 2, 3}},
                                            {"SequenceInsert", {}, {2, 3, 1}},
                                            {"SequenceErase", 0, {3}},
                                            {"SequenceErase", -1, {2}},
                                            {"SequenceErase", {}, {2}}}) {
    ModelBuilder b;
    b.input("x", {1}).input("a", {1}).input("b", {1}).node("SequenceConstruct", {"a", "b"}, {"s"});
    std::vector<std::string> operands{"s"};
    if (edit.op == "SequenceInsert") operands.emplace_back("x");
    if (edit.at) {
      place(&b, "at", *edit.at);
      operands.emplace_back("at");
    }
    b.node(edit.op, operands, {"t"});
    b.node("ConcatFromSequence", {"t"}, {"y"}, {int_attribute("axis", 0)}).output("y").output("t");
    place(&b, "last", -1).node("SequenceAt", {"t", "last"}, {"z"}).output("z");
    b.node("SequenceLength", {"t"}, {"n"}).output("n");
    const Items out = run(b, {{"x", row({1})}, {"a", row({2})}, {"b", row({3})}});
    EXPECT_EQ(list(out.at("y")), edit.left);
    EXPECT_EQ(lists(out.at("t")).size(), edit.left.size());
    EXPECT_EQ(list(out.at("z")), (std::vector<float>{edit.left.back()}));
    EXPECT_EQ(list(out.at("n")), (std::vector<float>{static_cast<float>(edit.left.size())}));
    EXPECT_EQ(shape(out.at("n")).size(), 0u);
  }
}

TEST(onnx_sequences, places_may_be_given_to_the_run) {
  ModelBuilder b;
  b.input("a", {1}).input("b", {2}).input("at", {}, 7);
  b.node("SequenceEmpty", {}, {"none"}).node("SequenceInsert", {"none", "a"}, {"one"});
  b.node("SequenceInsert", {"one", "b"}, {"s"}).node("SequenceAt", {"s", "at"}, {"y"}).output("y");
  ItemSession session(b.load());
  Items in{{"a", row({1})}, {"b", row({2, 3})}};
  for (const int64_t at : {0, 1, -1, -2}) {
    in["at"] = Constant::integer(at);
    const bool first = at == 0 || at == -2;
    EXPECT_EQ(list(session.run(in).at("y")), list(first ? row({1}) : row({2, 3})));
  }
  in["at"] = Constant::integer(2);
  EXPECT_EQ(error_of([&] { session.run(in); }),
            "error: node 'make_y' (SequenceAt, version 11): position 2 of a sequence of 2\n"
            "  why: positions are from -2 to 1\n"
            "  fix: give one of these");
}

// Elements of one shape are looked up as a run goes: one program serves all positions.
TEST(onnx_sequences, places_of_elements_of_one_shape_need_no_program_each) {
  ModelBuilder b;
  b.input("a", {2}).input("b", {2}).input("at", {}, 7).node("SequenceConstruct", {"a", "b"}, {"s"});
  b.node("SequenceAt", {"s", "at"}, {"y"}).output("y");
  Session session(b.load());
  Program::Tensors in{{"a", row({1, 2})}, {"b", row({3, 4})}, {"at", Constant::integer(0)}};
  const auto program = session.program_for(in);
  EXPECT_EQ(list(session.run(in).at("y")), (std::vector<float>{1, 2}));
  in["at"] = Constant::integer(-1);
  EXPECT_EQ(list(session.run(in).at("y")), (std::vector<float>{3, 4}));
  EXPECT_EQ(session.program_for(in), program);
}

TEST(onnx_sequences, splits_of_open_sizes) {
  struct Split {
    std::optional<std::vector<int64_t>> sizes;
    bool scalar;
    int64_t axis, keepdims;
    Lists parts;
    std::vector<int64_t> shape;  // of the first one
  };
  // 0 1 2
  // 3 4 5
  for (const Split &split :
       std::vector<Split>{{{}, false, 0, 1, {{0, 1, 2}, {3, 4, 5}}, {1, 3}},
                          {{}, false, 0, 0, {{0, 1, 2}, {3, 4, 5}}, {3}},
                          {{}, false, 1, 1, {{0, 3}, {1, 4}, {2, 5}}, {2, 1}},
                          {{}, false, -1, 0, {{0, 3}, {1, 4}, {2, 5}}, {2}},
                          {{{2}}, true, 1, 0, {{0, 1, 3, 4}, {2, 5}}, {2, 2}},
                          {{{3}}, true, 1, 1, {{0, 1, 2, 3, 4, 5}}, {2, 3}},
                          {{{1, 2}}, false, 1, 1, {{0, 3}, {1, 2, 4, 5}}, {2, 1}}}) {
    for (const bool given : {false, true}) {
      ModelBuilder b;
      b.input("x", {"N", "M"});
      Items in{{"x", floats({2, 3}, {0, 1, 2, 3, 4, 5})}};
      std::vector<std::string> operands{"x"};
      if (split.sizes) {
        operands.emplace_back("sizes");
        const Constant sizes =
            split.scalar ? Constant::integer((*split.sizes)[0]) : Constant::integers(*split.sizes);
        const std::vector<int64_t> &dims = sizes.shape();
        if (given) {
          b.input("sizes", {dims.begin(), dims.end()}, 7);
          in["sizes"] = sizes;
        } else {
          b.initializer(ModelBuilder::tensor<int64_t>("sizes", 7, dims, *split.sizes));
        }
      }
      b.node("SplitToSequence", operands, {"s"},
             {int_attribute("axis", split.axis), int_attribute("keepdims", split.keepdims)});
      b.node("SequenceLength", {"s"}, {"n"}).output("n").output("s");
      const Items out = run(b, in);
      EXPECT_EQ(lists(out.at("s")), split.parts);
      EXPECT_EQ(std::get<std::vector<Constant>>(out.at("s"))[0].shape(), split.shape);
      EXPECT_EQ(list(out.at("n")), (std::vector<float>{static_cast<float>(split.parts.size())}));
    }
  }
}

TEST(onnx_sequences, stacks_are_joined_along_each_axis) {
  // Rows 0 1, 2 3, 4 5 of an open number.
  struct Join {
    int64_t axis, new_axis;
    std::vector<int64_t> shape;
    std::vector<float> elements;
  };
  for (const Join &join : std::vector<Join>{{0, 1, {3, 2}, {0, 1, 2, 3, 4, 5}},
                                            {1, 1, {2, 3}, {0, 2, 4, 1, 3, 5}},
                                            {-1, 1, {2, 3}, {0, 2, 4, 1, 3, 5}},
                                            {0, 0, {6}, {0, 1, 2, 3, 4, 5}},
                                            {-1, 0, {6}, {0, 1, 2, 3, 4, 5}}}) {
    ModelBuilder b;
    b.input("x", {"N", 2}).node("SplitToSequence", {"x"}, {"s"}, {int_attribute("keepdims", 0)});
    b.node("ConcatFromSequence", {"s"}, {"y"},
           {int_attribute("axis", join.axis), int_attribute("new_axis", join.new_axis)});
    b.output("y");
    const Items out = run(b, {{"x", floats({3, 2}, {0, 1, 2, 3, 4, 5})}});
    EXPECT_EQ(shape(out.at("y")), join.shape);
    EXPECT_EQ(list(out.at("y")), join.elements);
  }
}

// outs = before; for turn in range(n): h = h + x; outs.append(h) or outs.append(h[:turn + 1])
ModelBuilder appending(bool growing, const std::vector<std::string> &before = {}) {
  ModelBuilder body, b;
  body.input("turn", {}, 7).input("goes", {}, 9);
  body.input_of("s", ModelBuilder::sequence_of(ModelBuilder::tensor_type({"any"})))
      .input("h", {"N"});
  body.node("Identity", {"goes"}, {"goes_on"}).node("Add", {"h", "x"}, {"next"});
  body.integers("zero", {0}).integers("one", {1}).node("Add", {"turn", "one"}, {"end"});
  body.node("Slice", {"next", "zero", "end"}, {"some"});
  body.node("SequenceInsert", {"s", growing ? "some" : "next"}, {"longer"});
  body.output("goes_on").output("longer").output("next");
  b.input("n", {}, 7).input("x", {"N"});
  b.node(before.empty() ? "SequenceEmpty" : "SequenceConstruct", before, {"empty"});
  b.node("Loop", {"n", "", "empty", "x"}, {"outs", "last"},
         {graph_attribute("body", body.region("body"))});
  return b.output("outs").output("last");
}

TEST(onnx_sequences, loops_that_append_tensors_of_one_shape_collect_them) {
  ModelBuilder b = appending(false);
  b.node("ConcatFromSequence", {"outs"}, {"y"}, {int_attribute("axis", 0)}).output("y");
  place(&b, "at", -2).node("SequenceAt", {"outs", "at"}, {"one_before"}).output("one_before");
  b.node("SequenceLength", {"outs"}, {"length"}).output("length");
  const Items out = run(b, {{"x", row({1, 2})}, {"n", Constant::integer(3)}});
  EXPECT_EQ(lists(out.at("outs")), (Lists{{2, 4}, {3, 6}, {4, 8}}));
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{2, 4, 3, 6, 4, 8}));
  EXPECT_EQ(list(out.at("one_before")), (std::vector<float>{3, 6}));
  EXPECT_EQ(list(out.at("last")), (std::vector<float>{4, 8}));
  EXPECT_EQ(list(out.at("length")), (std::vector<float>{3}));
  // One program for all numbers of turns and all sizes.
  Session session(appending(false).load());
  const auto program = session.program_for({{"x", row({1})}, {"n", Constant::integer(3)}});
  EXPECT_EQ(count(program->graph(), "Loop"), 1u);
  EXPECT_EQ(session.program_for({{"x", row({1, 2})}, {"n", Constant::integer(5)}}), program);
}

// What only a length is wanted of is made, because the run tells it.
TEST(onnx_sequences, lengths_of_what_nobody_reads) {
  ModelBuilder positive;
  positive.input("x", {"N"}).node("NonZero", {"x"}, {"places"});
  positive.node("SplitToSequence", {"places"}, {"s"}, {int_attribute("axis", 1)});
  positive.node("SequenceLength", {"s"}, {"length"})
      .node("Cast", {"length"}, {"y"}, {int_attribute("to", 1)});
  const Items out = run(positive.output("y"), {{"x", row({3, 0, 4, 5})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{3}));
}

TEST(onnx_sequences, loops_append_to_what_is_there) {
  ModelBuilder b = appending(false, {"x", "x"});
  for (const int64_t n : {2, 0}) {
    const Items out = run(b, {{"x", row({1, 2})}, {"n", Constant::integer(n)}});
    EXPECT_EQ(lists(out.at("outs")),
              n == 2 ? (Lists{{1, 2}, {1, 2}, {2, 4}, {3, 6}}) : (Lists{{1, 2}, {1, 2}}));
  }
}

TEST(onnx_sequences, loops_that_append_tensors_of_several_shapes_are_written_out) {
  const ModelBuilder b = appending(true);
  for (const int64_t n : {3, 1, 0}) {
    const Items out = run(b, {{"x", row({1, 2, 3})}, {"n", Constant::integer(n)}});
    Lists wanted{{2}, {3, 6}, {4, 8, 12}};
    wanted.resize(static_cast<size_t>(n));
    EXPECT_EQ(lists(out.at("outs")), wanted);
  }
  Session session(b.load());
  const auto program = session.program_for({{"x", row({1, 2})}, {"n", Constant::integer(2)}});
  EXPECT_EQ(count(program->graph(), "Loop"), 0u);
}

// pair = [a, b]; for ...: pair = [pair[1], pair[0] + pair[1]]
TEST(onnx_sequences, states_that_are_sequences_of_one_length) {
  ModelBuilder body, b;
  body.input("turn", {}, 7).input("goes", {}, 9);
  body.input_of("s", ModelBuilder::sequence_of(ModelBuilder::tensor_type({"N"})));
  body.node("Identity", {"goes"}, {"goes_on"});
  place(&body, "p0", 0).node("SequenceAt", {"s", "p0"}, {"u"});
  place(&body, "p1", 1).node("SequenceAt", {"s", "p1"}, {"v"}).node("Add", {"u", "v"}, {"w"});
  body.node("SequenceConstruct", {"v", "w"}, {"t"}).output("goes_on").output("t");
  b.input("n", {}, 7).input("a", {"N"}).input("b", {"N"});
  b.node("SequenceConstruct", {"a", "b"}, {"start"});
  b.node("Loop", {"n", "", "start"}, {"s"}, {graph_attribute("body", body.region("body"))});
  b.output("s");
  Items in{{"a", row({1, 0})}, {"b", row({1, 1})}};
  for (const int64_t n : {4, 0}) {
    in["n"] = Constant::integer(n);
    EXPECT_EQ(lists(run(b, in).at("s")),
              n == 4 ? (Lists{{5, 3}, {8, 5}}) : (Lists{{1, 0}, {1, 1}}));
  }
  Session session(b.load());
  const auto program =
      session.program_for({{"a", row({1})}, {"b", row({1})}, {"n", Constant::integer(1)}});
  EXPECT_EQ(count(program->graph(), "Loop"), 1u);
}

// A Loop over a sequence, and in it an If that appends or does not.
ModelBuilder choosing(bool by_elements) {
  ModelBuilder yes, no, body, b;
  yes.node("SequenceInsert", {"s", "e"}, {"p"}).output("p");
  no.node("Identity", {"s"}, {"q"}).output("q");
  const Message sequence = ModelBuilder::sequence_of(ModelBuilder::tensor_type({"N"}));
  body.input("turn", {}, 7).input("goes", {}, 9).input_of("s", sequence);
  body.node("Identity", {"goes"}, {"goes_on"}).node("SequenceAt", {"x", "turn"}, {"e"});
  place(&body, "one", 1).initializer(ModelBuilder::tensor<float>("none", 1, {}, {0}));
  body.node("ReduceSum", {"e"}, {"sum"}, {int_attribute("keepdims", 0)});
  if (by_elements) {
    body.node("Greater", {"sum", "none"}, {"c"});
  } else {
    body.node("Less", {"turn", "one"}, {"c"});
  }
  body.node("If", {"c"}, {"t"},
            {graph_attribute("then_branch", yes.region("yes")),
             graph_attribute("else_branch", no.region("no"))});
  body.output("goes_on").output("t");
  b.input_of("x", sequence)
      .node("SequenceLength", {"x"}, {"n"})
      .node("SequenceEmpty", {}, {"none"});
  b.node("Loop", {"n", "", "none"}, {"y"}, {graph_attribute("body", body.region("body"))});
  return b.output("y");
}

TEST(onnx_sequences, turns_may_append_or_not) {
  const std::vector<Constant> x{row({1, 2}), row({-1, -2, 0}), row({3})};
  EXPECT_EQ(lists(run(choosing(false), {{"x", x}}).at("y")), (Lists{{1, 2}}));
  EXPECT_EQ(lists(run(choosing(true), {{"x", x}}).at("y")), (Lists{{1, 2}, {3}}));
}

TEST(onnx_sequences, branches_that_give_as_many_elements_need_no_program_each) {
  for (const bool equal : {true, false}) {
    ModelBuilder yes, no, b;
    yes.node("SequenceConstruct", {"x", "x"}, {"p"}).output("p");
    no.node("Neg", {"x"}, {"minus"}).node("SequenceInsert", {"s", "minus"}, {"q"}).output("q");
    b.input("c", {}, 9).input("x", {"N"});
    b.node("SequenceConstruct",
           equal ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "x"}, {"s"});
    b.node("If", {"c"}, {"r"},
           {graph_attribute("then_branch", yes.region("yes")),
            graph_attribute("else_branch", no.region("no"))});
    b.output("r");
    const Constant x = row({1, 2});
    EXPECT_EQ(lists(run(b, {{"c", boolean(true)}, {"x", x}}).at("r")), (Lists{{1, 2}, {1, 2}}));
    EXPECT_EQ(lists(run(b, {{"c", boolean(false)}, {"x", x}}).at("r")),
              equal ? (Lists{{1, 2}, {-1, -2}}) : (Lists{{1, 2}, {1, 2}, {-1, -2}}));
    Session session(b.load());
    const auto program = session.program_for({{"c", boolean(true)}, {"x", x}});
    EXPECT_EQ(session.program_for({{"c", boolean(false)}, {"x", x}}) == program, equal);
  }
}

TEST(onnx_sequences, maps_run_a_body_for_each_element) {
  ModelBuilder body;
  body.input("e", {"N"}).input("t", {"M"}).node("ReduceSum", {"t"}, {"sum"});
  body.node("Mul", {"e", "sum"}, {"m"}).node("Add", {"m", "k"}, {"r"});
  body.node("Shape", {"e"}, {"size"}).output("r").output("size");
  const Message attribute = graph_attribute("body", body.region("body"));
  ModelBuilder b;
  b.input_of("x", ModelBuilder::sequence_of(ModelBuilder::tensor_type({"N"}))).input("t", {"M"});
  b.weights("k", {1}, {0.5f}).node("SequenceMap", {"x", "t"}, {"y", "sizes"}, {attribute});
  b.output("y").output("sizes");
  const Items out =
      run(b, {{"x", std::vector<Constant>{row({1, 2}), row({3})}}, {"t", row({1, 1})}});
  EXPECT_EQ(lists(out.at("y")), (Lists{{2.5f, 4.5f}, {6.5f}}));
  EXPECT_EQ(lists(out.at("sizes")), (Lists{{2}, {1}}));
  EXPECT_EQ(lists(run(b, {{"x", std::vector<Constant>{}}, {"t", row({1})}}).at("y")), Lists());
  // Rows of an open number are scanned.
  ModelBuilder open;
  open.input("x", {"N", 2}).input("t", {"M"}).weights("k", {1}, {0.5f});
  open.node("SplitToSequence", {"x"}, {"s"}, {int_attribute("keepdims", 0)});
  open.node("SequenceMap", {"s", "t"}, {"y", "sizes"}, {attribute}).output("y");
  EXPECT_EQ(lists(run(open, {{"x", floats({2, 2}, {1, 2, 3, 4})}, {"t", row({2})}}).at("y")),
            (Lists{{2.5f, 4.5f}, {6.5f, 8.5f}}));
  Session session(open.load());
  const auto program = session.program_for({{"x", floats({1, 2}, {1, 2})}, {"t", row({2})}});
  EXPECT_EQ(count(program->graph(), "Scan"), 1u);
}

TEST(onnx_sequences, optional_values_are_there_or_not) {
  ModelBuilder yes, no, b;
  yes.node("OptionalGetElement", {"x"}, {"p"}).output("p");
  no.node("Neg", {"d"}, {"q"}).output("q");
  b.input_of("x", ModelBuilder::optional_of(ModelBuilder::tensor_type({"N"}))).input("d", {"N"});
  b.node("OptionalHasElement", {"x"}, {"there"});
  b.node("If", {"there"}, {"y"},
         {graph_attribute("then_branch", yes.region("yes")),
          graph_attribute("else_branch", no.region("no"))});
  b.node("Identity", {"x"}, {"same"}).output("y").output("there").output("same");
  b.node("Optional", {}, {"nothing"}).output("nothing");
  Items out = run(b, {{"x", row({1, 2})}, {"d", row({3, 4})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{1, 2}));
  EXPECT_EQ(list(out.at("same")), (std::vector<float>{1, 2}));
  EXPECT_EQ(list(out.at("there")), (std::vector<float>{1}));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(out.at("nothing")));
  for (const Items &in : {Items{{"d", row({3, 4})}}, Items{{"x", {}}, {"d", row({3, 4})}}}) {
    out = run(b, in);
    EXPECT_EQ(list(out.at("y")), (std::vector<float>{-3, -4}));
    EXPECT_TRUE(std::holds_alternative<std::monostate>(out.at("same")));
  }
}

TEST(onnx_sequences, an_empty_sequence_is_there) {
  ModelBuilder b;
  const Message sequence = ModelBuilder::sequence_of(ModelBuilder::tensor_type({2}));
  b.input_of("x", ModelBuilder::optional_of(sequence)).node("OptionalHasElement", {"x"}, {"y"});
  b.node("Identity", {"x"}, {"z"}).output("y").output("z");
  ItemSession session(b.load());
  EXPECT_TRUE(session.form("x").optional && session.form("x").sequence);
  Items out = session.run({{"x", std::vector<Constant>{}}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{1}));
  EXPECT_EQ(lists(out.at("z")), Lists());
  out = session.run({});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{0}));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(out.at("z")));
  out = session.run({{"x", std::vector<Constant>{row({1, 2}), row({3, 4})}}});
  EXPECT_EQ(lists(out.at("z")), (Lists{{1, 2}, {3, 4}}));
}

TEST(onnx_sequences, libraries_have_them_inside) {
  ModelBuilder b;
  b.input("x", {2, 4}).node("SplitToSequence", {"x"}, {"s"}, {int_attribute("axis", 1)});
  place(&b, "at", 1).node("SequenceErase", {"s", "at"}, {"t"});
  b.node("ConcatFromSequence", {"t"}, {"y"}, {int_attribute("axis", 1)}).output("y");
  const LibraryFiles files = emit_library(
      Program(b.load(), {}), testing::TempDir() + "sequences_library", "m", get_host_target());
  EXPECT_NE(read(files.header).find("out_0: float32[2, 3]"), std::string::npos);
}

}  // namespace
}  // namespace polyhalite::onnx::sequences_test
