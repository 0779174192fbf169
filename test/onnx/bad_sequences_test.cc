// Sequences and optional values that cannot be: each with its whole message.
#include <gtest/gtest.h>

#include "apps/onnx/canonicalize.h"
#include "apps/onnx/infer.h"
#include "apps/onnx/item_session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::bad_sequences_test {
namespace {

const Message kSequence = ModelBuilder::sequence_of(ModelBuilder::tensor_type({"N"}));

Constant row(const std::vector<float> &v) { return floats({static_cast<int64_t>(v.size())}, v); }

std::string error_of_run(const ModelBuilder &b, const Items &inputs = {}) {
  return error_of([&] { ItemSession(b.load()).run(inputs); });
}

ModelBuilder &place(ModelBuilder *b, const std::string &name, int64_t at) {
  return b->initializer(ModelBuilder::tensor<int64_t>(name, 7, {}, {at}));
}

// With a sequence s of so many copies of x.
ModelBuilder with_sequence(size_t copies) {
  ModelBuilder b;
  b.input("x", {2});
  if (copies == 0) return b.node("SequenceEmpty", {}, {"s"});
  return b.node("SequenceConstruct", std::vector<std::string>(copies, "x"), {"s"});
}

TEST(onnx_bad_sequences, a_sequence_is_no_tensor) {
  EXPECT_EQ(
      error_of_run(with_sequence(2).node("Relu", {"s"}, {"y"}).output("y"), {{"x", row({1, 2})}}),
      "error: node 'make_y' (Relu, version 14): operand 0 's' is a sequence\n"
      "  why: the operator takes a tensor\n"
      "  fix: take an element with SequenceAt, or all with ConcatFromSequence");
  EXPECT_EQ(error_of_run(with_sequence(2).node("SequenceLength", {"x"}, {"y"}).output("y"),
                         {{"x", row({1, 2})}}),
            "error: node 'make_y' (SequenceLength, version 11): operand 0 'x' is a tensor\n"
            "  why: the operator takes a sequence\n"
            "  fix: make it one with SequenceConstruct");
  EXPECT_EQ(error_of_run(with_sequence(1).node("SequenceConstruct", {"x", "s"}, {"y"}).output("y"),
                         {{"x", row({1, 2})}}),
            "error: node 'make_y' (SequenceConstruct, version 11): operand 1 's' is a sequence\n"
            "  why: the operator takes a tensor\n"
            "  fix: take an element with SequenceAt, or all with ConcatFromSequence");
  ModelBuilder absent;
  absent.node("Optional", {}, {"o"}).node("OptionalGetElement", {"o"}, {"y"}).output("y");
  EXPECT_EQ(error_of_run(absent),
            "error: node 'make_y' (OptionalGetElement, version 18): operand 0 'o' is an optional "
            "value that is absent\n"
            "  why: there is nothing to take\n"
            "  fix: ask OptionalHasElement first, or give the value");
  ModelBuilder none;
  none.node("SequenceLength", {""}, {"y"}).output("y");
  EXPECT_EQ(error_of_run(none),
            "error: node 'make_y' (SequenceLength-11) leaves operand 0 out\n"
            "  why: the operator needs its first 1\n"
            "  fix: export the model again");
}

TEST(onnx_bad_sequences, places_are_inside) {
  auto error_at = [](size_t copies, const std::string &op) {
    ModelBuilder b = with_sequence(copies);
    place(&b, "at", -3);
    const bool inserts = op == "SequenceInsert";
    b.node(op,
           inserts ? std::vector<std::string>{"s", "x", "at"} : std::vector<std::string>{"s", "at"},
           {"y"});
    return error_of_run(b.output("y"), {{"x", row({1, 2})}});
  };
  EXPECT_EQ(error_at(2, "SequenceAt"),
            "error: node 'make_y' (SequenceAt, version 11): position -3 of a sequence of 2\n"
            "  why: positions are from -2 to 1\n"
            "  fix: give one of these");
  EXPECT_EQ(error_at(0, "SequenceAt"),
            "error: node 'make_y' (SequenceAt, version 11): its sequence has no elements\n"
            "  why: there is none to take\n"
            "  fix: give one element at least");
  EXPECT_EQ(error_at(2, "SequenceInsert"),
            "error: node 'make_y' (SequenceInsert, version 11): position -3 of a sequence of 2\n"
            "  why: positions are from -2 to 2\n"
            "  fix: give one of these");
  EXPECT_EQ(error_at(0, "SequenceErase"),
            "error: node 'make_y' (SequenceErase, version 11): its sequence has no elements\n"
            "  why: there is none to take\n"
            "  fix: give one element at least");
  ModelBuilder two = with_sequence(2);
  two.integers("at", {0, 1}).node("SequenceAt", {"s", "at"}, {"y"}).output("y");
  EXPECT_EQ(error_of_run(two, {{"x", row({1, 2})}}),
            "error: node 'make_y' (SequenceAt, version 11): operand 1 has 2 elements\n"
            "  why: it is one integer\n"
            "  fix: give a tensor of shape []");
}

TEST(onnx_bad_sequences, elements_have_one_type) {
  ModelBuilder b = with_sequence(2);
  b.integers("whole", {1}).node("SequenceInsert", {"s", "whole"}, {"y"}).output("y");
  b.node("SequenceConstruct", {"whole", "x"}, {"z"}).output("z");
  EXPECT_EQ(error_of_run(b, {{"x", row({1, 2})}}),
            "error: node 'make_y' (SequenceInsert, version 11): operand 1 is int64 beside elements "
            "of float32\n"
            "  why: a sequence has elements of one type\n"
            "  fix: cast it\n"
            "error: node 'make_z' (SequenceConstruct, version 11): operand 1 is float32 beside "
            "elements of int64\n"
            "  why: a sequence has elements of one type\n"
            "  fix: cast it");
  ModelBuilder other;
  other.input("x", {2}).node("SequenceEmpty", {}, {"s"}, {int_attribute("dtype", 7)});
  other.node("SequenceInsert", {"s", "x"}, {"y"}).output("y");
  EXPECT_EQ(error_of_run(other, {{"x", row({1, 2})}}),
            "error: node 'make_y' (SequenceInsert, version 11): operand 1 is float32 beside "
            "elements of int64\n"
            "  why: a sequence has elements of one type\n"
            "  fix: cast it");
}

TEST(onnx_bad_sequences, shapes_have_to_follow) {
  EXPECT_EQ(error_of_run(with_sequence(0)
                             .node("ConcatFromSequence", {"s"}, {"y"}, {int_attribute("axis", 0)})
                             .output("y"),
                         {{"x", row({1, 2})}}),
            "error: node 'make_y' (ConcatFromSequence, version 11): its sequence has no elements\n"
            "  why: nothing says what shape the result has\n"
            "  fix: give one element at least");
  ModelBuilder b;
  b.input("x", {"N", 2}).node("SplitToSequence", {"x"}, {"s"}, {int_attribute("keepdims", 0)});
  b.node("ConcatFromSequence", {"s"}, {"y"}, {int_attribute("axis", 1)}).output("y");
  EXPECT_EQ(error_of_run(b, {{"x", floats({1, 2}, {1, 2})}}),
            "error: node 'make_y' (ConcatFromSequence, version 11): axis 1 of elements of rank 1\n"
            "  why: axes are from -1 to 0\n"
            "  fix: give one of these");
  auto error_of_split = [](int64_t axis, int64_t each) {
    ModelBuilder split;
    split.input("x", {2});
    place(&split, "each", each)
        .node("SplitToSequence", {"x", "each"}, {"s"}, {int_attribute("axis", axis)});
    return error_of_run(split.output("s"), {{"x", row({1, 2})}});
  };
  EXPECT_EQ(error_of_split(1, 1),
            "error: node 'make_s' (SplitToSequence, version 11): axis 1 of a tensor of rank 1\n"
            "  why: axes are from -rank to rank - 1\n"
            "  fix: give one of these");
  EXPECT_EQ(error_of_split(0, 0),
            "error: node 'make_s' (SplitToSequence, version 11): parts have 0 places\n"
            "  why: they have one at least\n"
            "  fix: give a size from 1 on");
}

// for ...: outs.append(x[:turn + 1]), as long as the sum of x is small, or for n turns.
ModelBuilder growing(bool counted) {
  ModelBuilder body, b;
  body.input("turn", {}, 7).input("goes", {}, 9).input_of("s", kSequence);
  body.integers("zero", {0}).integers("one", {1}).node("Add", {"turn", "one"}, {"end"});
  body.node("Slice", {"x", "zero", "end"}, {"some"}).node("SequenceInsert", {"s", "some"}, {"t"});
  body.node("ReduceSum", {"some"}, {"sum"}, {int_attribute("keepdims", 0)});
  if (counted) {
    body.node("Identity", {"goes"}, {"goes_on"});
  } else {
    body.node("Less", {"sum", "most"}, {"goes_on"});
  }
  body.output("goes_on").output("t");
  b.input("x", {"N"}).input("n", {}, 7).node("SequenceEmpty", {}, {"s"});
  b.initializer(ModelBuilder::tensor<float>("most", 1, {}, {3}));
  b.node("Loop", {counted ? "n" : "", "", "s"}, {"y"},
         {graph_attribute("body", body.region("body"))});
  return b.output("y");
}

TEST(onnx_bad_sequences, turns_that_change_sequences_are_countable) {
  const Items in{{"x", row({1, 2, 3})}, {"n", Constant::integer(1 << 20)}};
  EXPECT_EQ(error_of_run(growing(false), in),
            "error: node 'make_y' (Loop, version 16): its turns change a sequence, and decide how "
            "many of them there are\n"
            "  why: where they do more than append tensors of one shape they are written out: node "
            "'make_some' (Slice, version 13) in its region needs the elements of 'end'\n"
            "  fix: append tensors of one shape, or give the number of turns");
  EXPECT_EQ(
      error_of_run(growing(true), in),
      "error: node 'make_y' (Loop, version 16): it would be written out as more than 30000 nodes\n"
      "  why: each element, or turn, has nodes of its own where they are not of one shape\n"
      "  fix: give tensors of one shape, or fewer of them");
}

TEST(onnx_bad_sequences, results_of_turns_are_tensors) {
  ModelBuilder body, b = with_sequence(1);
  body.input("turn", {}, 7).input("goes", {}, 9).node("Identity", {"goes"}, {"goes_on"});
  body.node("SequenceConstruct", {"x"}, {"t"}).output("goes_on").output("t");
  place(&b, "n", 2);
  b.node("Loop", {"n", ""}, {"y"}, {graph_attribute("body", body.region("body"))}).output("y");
  EXPECT_EQ(error_of_run(b, {{"x", row({1, 2})}}),
            "error: node 'make_y' (Loop, version 16): result 1 of its region is a sequence or an "
            "optional value\n"
            "  why: a tensor is wanted there\n"
            "  fix: mend the model, or give other shapes");
  ModelBuilder scan = with_sequence(1), step;
  step.input_of("t", kSequence).node("Identity", {"t"}, {"u"}).output("u");
  scan.node("Scan", {"s"}, {"y"},
            {graph_attribute("body", step.region("step")), int_attribute("num_scan_inputs", 1)});
  EXPECT_EQ(error_of_run(scan.output("y"), {{"x", row({1, 2})}}),
            "error: node 'make_y' (Scan, version 16): operand 0 's' is a sequence\n"
            "  why: the operator takes a tensor\n"
            "  fix: take an element with SequenceAt, or all with ConcatFromSequence");
}

TEST(onnx_bad_sequences, maps_take_one_of_each) {
  ModelBuilder body, b;
  body.input("e", {"N"}).input("f", {"N"}).node("Add", {"e", "f"}, {"r"}).output("r");
  b.input_of("x", kSequence).input_of("y", kSequence);
  b.node("SequenceMap", {"x", "y"}, {"z"}, {graph_attribute("body", body.region("body"))});
  EXPECT_EQ(error_of_run(b.output("z"), {{"x", std::vector<Constant>{row({1})}},
                                         {"y", std::vector<Constant>{row({1}), row({2})}}}),
            "error: node 'make_z' (SequenceMap, version 17): sequences have 1 and 2 elements\n"
            "  why: the body takes one of each\n"
            "  fix: give sequences of one length");
  ModelBuilder lacks;
  lacks.input_of("x", kSequence).node("SequenceMap", {"x"}, {"z"}).output("z");
  EXPECT_EQ(error_of_run(lacks, {{"x", std::vector<Constant>{}}}),
            "error: node 'make_z' (SequenceMap, version 17): it has no attribute 'body'\n"
            "  why: its nodes are a graph of this name\n"
            "  fix: export the model again");
}

TEST(onnx_bad_sequences, inputs_are_what_the_model_says) {
  ModelBuilder b;
  b.input_of("s", kSequence).input("x", {2}).node("Identity", {"s"}, {"y"}).output("y");
  b.input_of("o", ModelBuilder::optional_of(ModelBuilder::tensor_type({2})));
  b.node("OptionalHasElement", {"o"}, {"z"}).node("Identity", {"x"}, {"w"}).output("z").output("w");
  const std::vector<Constant> list{row({1, 2})};
  EXPECT_EQ(error_of_run(b, {{"x", row({1, 2})}}),
            "error: input 's' is missing\n"
            "  why: it is a sequence\n"
            "  fix: give its elements");
  EXPECT_EQ(error_of_run(b, {{"x", row({1, 2})}, {"s", row({1, 2})}}),
            "error: input 's' gets a tensor\n"
            "  why: it is a sequence\n"
            "  fix: give a list of tensors");
  EXPECT_EQ(error_of_run(b, {{"x", list}, {"s", list}}),
            "error: input 'x' gets a sequence\n"
            "  why: it is a tensor\n"
            "  fix: give one tensor");
  EXPECT_EQ(error_of_run(b, {{"x", row({1, 2})}, {"s", list}, {"o", list}}),
            "error: input 'o' gets a sequence\n"
            "  why: it is an optional tensor\n"
            "  fix: give one tensor");
  EXPECT_EQ(error_of_run(b, {{"x", row({1, 2})}, {"s", Item()}}),
            "error: input 's' gets nothing\n"
            "  why: it is a sequence\n"
            "  fix: give a list of tensors");
  EXPECT_EQ(error_of_run(b, {{"s", list}}),
            "error: input 'x' is missing\n"
            "  why: it has the type float32[2]\n"
            "  fix: give a tensor of this name");
  EXPECT_EQ(error_of([&] { Program(b.load(), {}); }),
            "error: input 's' is a sequence or an optional value\n"
            "  why: how many tensors it is follows from what a run is given\n"
            "  fix: run the model with polyhalite run or from Python, or export it with tensors");
  ModelBuilder nested;
  nested.input_of("x", ModelBuilder::sequence_of(kSequence)).node("Identity", {"x"}, {"y"});
  EXPECT_EQ(error_of([&] { nested.output("y").load(); }),
            "error: input 'x' is no tensor, and no sequence of tensors\n"
            "  why: maps, sparse tensors and sequences of others are not supported\n"
            "  fix: pass tensors");
}

TEST(onnx_bad_sequences, every_changed_byte_is_a_model_or_a_diagnostic) {
  for (const bool counted : {false, true}) {
    const std::string whole = growing(counted).bytes();
    for (size_t n = 0; n < whole.size(); n++) {
      for (int bit = 0; bit < 8; bit++) {
        std::string changed = whole;
        changed[n] = static_cast<char>(changed[n] ^ 1 << bit);
        try {
          const Model m = load_model(reinterpret_cast<const uint8_t *>(changed.data()),
                                     changed.size(), "test.onnx", ".");
          Graph g = canonicalize(m.graph);
          for (const ValueId v : g.inputs) {
            if (g.value(v).name == "n") g.value(v).constant = Constant::integer(2);
          }
          infer_shapes(&g);
        } catch (const CompileError &) {
        }
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::bad_sequences_test
