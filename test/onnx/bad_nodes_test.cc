// Nodes that say what the format has not: a message, where some ended the process before.
#include <gtest/gtest.h>

#include "apps/onnx/session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::bad_nodes_test {
namespace {

std::string error_of_program(const ModelBuilder &b) {
  return error_of([&] { Program(b.load(), {}); });
}

TEST(onnx_bad_nodes, words_that_the_format_has_not) {
  ModelBuilder b(18);
  b.input("x", {1, 1, 4, 4}).weights("scales", {4}, {1, 1, 2, 2});
  b.node("Resize", {"x", "", "scales"}, {"y"}, {text_attribute("mode", "bilinear")}).output("y");
  EXPECT_EQ(error_of([&] { b.load(); }),
            "error: node 'make_y' (Resize, version 18): its attribute 'mode' is 'bilinear'\n"
            "  why: the format has 'nearest', 'linear', 'cubic'\n"
            "  fix: mend the model, or export it again");
  ModelBuilder known(18);
  known.input("x", {1, 1, 4, 4}).weights("scales", {4}, {1, 1, 2, 2});
  known.node("Resize", {"x", "", "scales"}, {"y"}, {text_attribute("mode", "linear")}).output("y");
  EXPECT_EQ(error_of_program(known), "no error");
}

TEST(onnx_bad_nodes, operands_that_are_left_out) {
  ModelBuilder b(23);
  b.input("x", {2, 3}).node("RMSNormalization", {"x", ""}, {"y"}).output("y");
  EXPECT_EQ(error_of([&] { b.load(); }),
            "error: node 'make_y' (RMSNormalization-23) leaves operand 1 out\n"
            "  why: the operator needs its first 2\n"
            "  fix: export the model again");
}

TEST(onnx_bad_nodes, types_that_the_format_has_not) {
  ModelBuilder b(18);
  b.input("x", {2, 3}).node("EyeLike", {"x"}, {"y"}, {int_attribute("dtype", -1)}).output("y");
  EXPECT_EQ(error_of_program(b),
            "error: node 'make_y' (EyeLike, version 9): its result has elements of type -1\n"
            "  why: the format has no such elements, or they are not supported\n"
            "  fix: mend the model, or give other shapes");
}

TEST(onnx_bad_nodes, patches_that_do_not_fit_the_image) {
  const auto patches = [](const std::vector<Message> &attributes, int count) {
    ModelBuilder b(18);
    b.input("x", {1, 4, count}).integers("image", {4, 4}).integers("block", {2, 2});
    b.node("Col2Im", {"x", "image", "block"}, {"y"}, attributes).output("y");
    return error_of_program(b);
  };
  EXPECT_EQ(patches({}, 9), "no error");
  EXPECT_EQ(patches({ints_attribute("strides", {2})}, 4),
            "error: node 'make_y' (Col2Im, version 18): image and patch have 2 and 2 dimensions\n"
            "  why: there is a positive block, stride and dilation for each, and two pads\n"
            "  fix: mend the model, or give other shapes");
  EXPECT_EQ(patches({ints_attribute("strides", {2, 2})}, 9),
            "error: node 'make_y' (Col2Im, version 18): patches of the operand, and of the image, "
            "are 9 and 4\n"
            "  why: they have to be equal\n"
            "  fix: mend the model, or give other shapes");
}

TEST(onnx_bad_nodes, blocks_that_do_not_fit_the_image) {
  const auto blocks = [](const char *op, int64_t size) {
    ModelBuilder b(13);
    b.input("x", {1, 8, 4, 6});
    b.node(op, {"x"}, {"y"}, {int_attribute("blocksize", size)}).output("y");
    return error_of_program(b);
  };
  const auto message = [](const char *op, const std::string &what, const std::string &why) {
    return std::string("error: node 'make_y' (") + op + ", version 13): " + what +
           "\n  why: " + why + "\n  fix: mend the model, or give other shapes";
  };
  for (const char *op : {"DepthToSpace", "SpaceToDepth"}) {
    EXPECT_EQ(blocks(op, 2), "no error");
    EXPECT_EQ(blocks(op, 0),
              message(op, "blocksize is 0", "blocks have 1 to 32767 rows and columns"));
    EXPECT_EQ(blocks(op, int64_t{1} << 40),
              message(op, "blocksize is 1099511627776", "blocks have 1 to 32767 rows and columns"));
  }
  EXPECT_EQ(blocks("DepthToSpace", 3), message("DepthToSpace", "the operand has 8 channels",
                                               "they are a multiple of 9, by the blocksize"));
  EXPECT_EQ(blocks("SpaceToDepth", 3), message("SpaceToDepth", "the operand has 4 rows",
                                               "they are a multiple of 3, by the blocksize"));
}

TEST(onnx_bad_nodes, a_past_that_does_not_fit) {
  const auto attention = [](const std::vector<TestDim> &past_key,
                            const std::vector<TestDim> &past_value) {
    ModelBuilder b(23);
    for (const char *name : {"q", "k", "v"}) b.input(name, {2, 3, 4, 8});
    b.input("pk", past_key).input("pv", past_value);
    b.node("Attention", {"q", "k", "v", "", "pk", "pv"}, {"y"}).output("y");
    return error_of_program(b);
  };
  EXPECT_EQ(attention({2, 3, 5, 8}, {2, 3, 5, 8}), "no error");
  EXPECT_EQ(attention({2, 4, 24}, {2, 3, 5, 8}),
            "error: node 'make_y' (Attention, version 23): operand 4 has rank 3\n"
            "  why: it is 4\n"
            "  fix: mend the model, or give other shapes");
  EXPECT_EQ(attention({2, 3, 5, 8}, {2, 3, 6, 8}),
            "error: node 'make_y' (Attention, version 23): numbers of past keys and values are 5 "
            "and 6\n"
            "  why: they have to be equal\n"
            "  fix: mend the model, or give other shapes");
}

TEST(onnx_bad_nodes, windows_masks_and_lengths_that_do_not_fit) {
  const auto attention = [](const std::vector<TestDim> &mask, const std::vector<TestDim> &lengths,
                            int64_t window) {
    ModelBuilder b(25);
    for (const char *name : {"q", "k", "v"}) b.input(name, {2, 3, 4, 8});
    b.input("m", mask).input("l", lengths, 7);
    b.node("Attention", {"q", "k", "v", "m", "", "", "l"}, {"y"},
           {int_attribute("right_window_size", window)})
        .output("y");
    return error_of_program(b);
  };
  const auto message = [](const std::string &what, const std::string &why) {
    return "error: node 'make_y' (Attention, version 25): " + what + "\n  why: " + why +
           "\n  fix: mend the model, or give other shapes";
  };
  EXPECT_EQ(attention({4}, {2}, -1), "no error");
  EXPECT_EQ(attention({4}, {2}, -2),
            message("right_window_size is -2",
                    "windows have 0 or more keys on a side, or -1: all of them"));
  EXPECT_EQ(attention({5}, {2}, 0), message("its mask has 5 keys, of 4",
                                            "it has a place for each key, or for the first ones"));
  EXPECT_EQ(attention({4}, {1}, 0),
            message("numbers of lengths and of images are 1 and 2", "they have to be equal"));
  EXPECT_EQ(attention({4}, {2, 1}, 0), message("operand 6 has rank 2", "it is 1"));
}

TEST(onnx_bad_nodes, attributes_that_the_version_does_not_have) {
  const auto error = [](int64_t opset, const char *op, const std::string &attribute) {
    ModelBuilder b(opset);
    b.input("x", {1, 2, 3, 4});
    b.node(op, {"x", "x", "x"}, {"y"}, {int_attribute(attribute, 1)}).output("y");
    return error_of([&] { b.load(); });
  };
  const auto message = [](const std::string &node, const std::string &attribute,
                          const std::string &why) {
    return "error: node 'make_y' (" + node + "): it has no attribute '" + attribute +
           "'\n  why: " + why + "\n  fix: mend the model, or export it again";
  };
  EXPECT_EQ(error(25, "Attention", "left_window_size"), "no error");
  EXPECT_EQ(error(24, "Attention", "left_window_size"),
            message("Attention, version 24", "left_window_size", "it came with version 25"));
  EXPECT_EQ(error(24, "Attention", "window"),
            message("Attention, version 24", "window",
                    "the operator has is_causal, kv_num_heads, q_num_heads, "
                    "qk_matmul_output_mode, scale, softcap, softmax_precision"));
  EXPECT_EQ(error(9, "Slice", "axes"), "no error");
  EXPECT_EQ(error(13, "Slice", "axes"),
            message("Slice, version 13", "axes", "it went with version 10"));
  EXPECT_EQ(error(13, "Where", "axis"),
            message("Where, version 9", "axis", "the operator has none"));
}

}  // namespace
}  // namespace polyhalite::onnx::bad_nodes_test
