// Files that are no models, or models that cannot be compiled: each with its whole message.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/onnx/session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::bad_file_test {
namespace {

ModelBuilder small_model() {
  ModelBuilder b;
  b.input("x", {1, 3}).weights("w", {3, 2}, {1, 2, 3, 4, 5, 6});
  b.node("MatMul", {"x", "w"}, {"y"}).node("Relu", {"y"}, {"z"}).output("z");
  return b;
}

Model load_bytes(const std::string &bytes) {
  return load_model(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), "test.onnx",
                    ".");
}

TEST(onnx_bad_file, every_truncation_is_a_diagnostic) {
  const std::string whole = small_model().bytes();
  ASSERT_NO_THROW(load_bytes(whole));
  for (size_t n = 0; n < whole.size(); n++) {
    try {
      load_bytes(whole.substr(0, n));
      // What is left out may be a field that nobody needs: the imports stand last.
    } catch (const CompileError &e) {
      ASSERT_NE(std::string(e.what()).find("error: "), std::string::npos);
    }
  }
  EXPECT_EQ(error_of([&] { load_bytes(whole.substr(0, 9)); }),
            "error: 'test.onnx' is no ONNX model: byte 4\n"
            "  why: a field of 118 bytes is cut off after 5\n"
            "  fix: give a whole model file");
}

TEST(onnx_bad_file, every_changed_byte_is_a_model_or_a_diagnostic) {
  const std::string whole = small_model().bytes();
  for (size_t n = 0; n < whole.size(); n++) {
    for (int bit = 0; bit < 8; bit++) {
      std::string changed = whole;
      changed[n] = static_cast<char>(changed[n] ^ 1 << bit);
      try {
        load_bytes(changed);
      } catch (const CompileError &) {
      }
    }
  }
}

TEST(onnx_bad_file, all_unsupported_operators_are_listed_at_once) {
  ModelBuilder b;
  b.input("x", {1, 3}).node("Magic", {"x"}, {"a"}).node("StringSplit", {"a"}, {"c", "d"});
  b.node("Relu", {"c"}, {"y"}).node("Fast", {"y"}, {"z"}, {}, "my.domain").output("z");
  b.import("my.domain", 1);
  EXPECT_EQ(error_of([&] { b.load(); }),
            "error: operator Magic is unknown, node 'make_a'\n"
            "  why: ai.onnx has no operator of this name\n"
            "  fix: replace the operator, or export with others\n"
            "error: operator StringSplit in opset 18, node 'make_c'\n"
            "  why: it came with opset 20\n"
            "  fix: replace the operator, or export with others\n"
            "error: operator my.domain.Fast is not supported, node 'make_z'\n"
            "  why: the domain is none of the standard's, or has no such operator here\n"
            "  fix: replace the operator, or export with others");
}

TEST(onnx_bad_file, names_without_definition_and_cycles) {
  EXPECT_EQ(error_of([] {
              ModelBuilder().input("x", {2}).node("Relu", {"q"}, {"y"}).output("y").load();
            }),
            "error: node 'make_y' (Relu, version 14) reads 'q'\n"
            "  why: no node, input or weight has the name\n"
            "  fix: export the model again");
  EXPECT_EQ(error_of([] {
              ModelBuilder()
                  .input("x", {2})
                  .node("Add", {"x", "b"}, {"a"})
                  .node("Relu", {"a"}, {"b"})
                  .output("b")
                  .load();
            }).substr(0, 44),
            "error: node 'make_a' depends on itself\n  why");
  EXPECT_EQ(error_of([] {
              ModelBuilder()
                  .input("x", {2})
                  .node("Relu", {"x"}, {"y"})
                  .node("Relu", {"x"}, {"y"})
                  .output("y")
                  .load();
            }),
            "error: node 'make_y' (Relu, version 14) defines 'y'\n"
            "  why: the name is taken\n"
            "  fix: export the model again");
}

TEST(onnx_bad_file, wrong_arity) {
  EXPECT_EQ(error_of([] {
              ModelBuilder().input("x", {2}).node("Relu", {"x", "x"}, {"y"}).output("y").load();
            }),
            "error: node 'make_y' (Relu-14) has 2 inputs and 1 outputs\n"
            "  why: the operator takes 1 to 1 inputs, and has 1 to 1 outputs\n"
            "  fix: export the model again");
}

TEST(onnx_bad_file, operands_of_wrong_ranks_and_types) {
  auto error = [](const std::string &op, const std::vector<TestDim> &shape,
                  const std::vector<Message> &attributes = {}) {
    return error_of([&] {
      ModelBuilder b;
      b.input("x", shape).node(op, {"x"}, {"y"}, attributes).output("y");
      Program(b.load(), {});
    });
  };
  EXPECT_EQ(error("Trilu", {3}),
            "error: node 'make_y' (Trilu, version 14): operand 0 has rank 1\n"
            "  why: it is at least 2\n"
            "  fix: mend the model, or give other shapes");
  EXPECT_NE(error("EyeLike", {3}).find("operand 0 has rank 1\n  why: it is 2"), std::string::npos);
  EXPECT_NE(error("DFT", {}).find("operand 0 has rank 0\n  why: it is at least 2"),
            std::string::npos);
  EXPECT_NE(error("LRN", {2, 3}, {int_attribute("size", 1 << 30)}).find("size is 1073741824"),
            std::string::npos);
  EXPECT_NE(
      error("Hardmax", {2, 3}, {int_attribute("axis", 2)}).find("axis 2 of a tensor of rank 2"),
      std::string::npos);
  ModelBuilder b;
  b.input("x", {2}).input("shape", {1}).node("Reshape", {"x", "shape"}, {"y"}).output("y");
  EXPECT_EQ(error_of([&] {
              Session(b.load()).run({{"x", floats({2}, {1, 2})}, {"shape", floats({1}, {2})}});
            }),
            "error: node 'make_y' (Reshape, version 14): operand 1 has elements of float32\n"
            "  why: they are sizes, which are integers\n"
            "  fix: mend the model, or give other shapes");
}

TEST(onnx_bad_file, sizes_of_weights) {
  auto load = [](const Message &tensor) {
    return error_of([&] {
      ModelBuilder()
          .initializer(tensor)
          .input("x", {1})
          .node("Relu", {"x"}, {"y"})
          .output("y")
          .load();
    });
  };
  EXPECT_EQ(load(ModelBuilder::tensor<float>("w", 1, {2, 2}, {1, 2, 3})),
            "error: tensor 'w' has 12 bytes of elements\n"
            "  why: its shape needs 16\n"
            "  fix: export the model again");
  EXPECT_EQ(load(ModelBuilder::tensor<float>("w", 1, {-1}, {1})),
            "error: tensor 'w' has the size -1\n"
            "  why: sizes are not negative\n"
            "  fix: export the model again");
  EXPECT_EQ(load(ModelBuilder::tensor<float>("w", 1, {INT64_MAX, 4}, {1})),
            "error: tensor 'w' is larger than 2^63 bytes\n"
            "  why: its shape overflows\n"
            "  fix: export the model again");
  EXPECT_EQ(load(ModelBuilder::tensor<float>("w", 77, {1}, {1})),
            "error: tensor 'w' has elements of type 77\n"
            "  why: they are not supported\n"
            "  fix: use numbers of 8 to 64 bits, or bool");
}

TEST(onnx_bad_file, functions_that_call_themselves) {
  auto body = [](const std::string &name, const std::string &called) {
    return Message().text(1, name).text(4, "a").text(5, "b").text(10, "f").message(
        7, ModelBuilder::node_message(called, {"a"}, {"b"}, {}, "f"));
  };
  ModelBuilder b;
  b.import("f", 1).function(body("One", "Two")).function(body("Two", "One"));
  b.input("x", {2}).node("One", {"x"}, {"y"}, {}, "f").output("y");
  EXPECT_NE(error_of([&] { b.load(); }).find("function 'f.One' calls itself"), std::string::npos);
}

TEST(onnx_bad_file, deep_nesting) {
  Message m = ModelBuilder::node_message("Relu", {"x"}, {"y"});
  for (int i = 0; i < 200; i++) {
    const Message region = Message().message(1, m);
    m = ModelBuilder::node_message(
        "If", {"x"}, {"y"}, {Message().text(1, "then_branch").message(6, region).number(20, 5)});
  }
  const std::string bytes = Message().message(7, Message().message(1, m)).bytes();
  EXPECT_NE(error_of([&] { load_bytes(bytes); }).find("messages are nested more than 100 deep"),
            std::string::npos);
}

TEST(onnx_bad_file, parts_that_are_not_known_are_noted) {
  ModelBuilder b = small_model();
  const std::string bytes = b.bytes() + Message().number(99, 1).bytes();
  EXPECT_EQ(load_bytes(bytes).notes,
            std::vector<std::string>{"unknown part of the file: ModelProto field 99"});
}

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/polyhalite-onnx-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    std::ofstream(folder_ + "/w.bin", std::ios::binary).write("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  using Keys = std::vector<std::pair<std::string, std::string>>;
  ModelBuilder model(const Keys &keys, int64_t n = 2) {
    Message t = Message().number(1, n).number(2, 1).text(8, "w").number(14, 1);
    for (const auto &[k, v] : keys) t.message(13, Message().text(1, k).text(2, v));
    ModelBuilder b;
    b.initializer(t).input("x", {2}).node("Add", {"x", "w"}, {"y"}).output("y");
    return b;
  }
  std::string error(const Keys &keys) {
    std::string text = error_of([&] { model(keys).load(folder_ + "/"); });
    return text.substr(0, text.find("\n  fix"));
  }
  std::string folder_;
};

TEST_F(ExternalData, is_mapped) {
  const Model m =
      model({{"location", "w.bin"}, {"offset", "4"}, {"length", "8"}}).load(folder_ + "/");
  EXPECT_EQ(m.graph.values[0].constant->number(0), 1);
  EXPECT_EQ(m.graph.values[0].constant->number(1), 2);
}

TEST_F(ExternalData, outside_of_the_file) {
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "8"}, {"length", "8"}}),
            "error: tensor 'w' needs 8 bytes from byte 8 of 'w.bin'\n  why: the file has 12 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "13"}}),
            "error: tensor 'w' begins at byte 13 of 'w.bin'\n  why: the file has 12 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"length", "4"}}),
            "error: tensor 'w' has 4 bytes of external data\n  why: its shape needs 8");
  EXPECT_EQ(
      error({{"location", "w.bin"}, {"offset", "-4"}}),
      "error: tensor 'w' has the external offset '-4'\n  why: it is a number of bytes from 0 on");
}

TEST_F(ExternalData, keys) {
  EXPECT_EQ(error({{"location", "w.bin"}, {"location", "v.bin"}}),
            "error: tensor 'w' has the external key 'location' twice\n  why: each key stands once");
  EXPECT_EQ(error({{"location", "w.bin"}, {"run", "rm"}}),
            "error: tensor 'w' has the external key 'run'\n"
            "  why: known keys are location, offset, length and checksum");
  EXPECT_EQ(error({{"offset", "0"}}),
            "error: tensor 'w' names no external file\n  why: the key location is missing");
}

TEST_F(ExternalData, paths_that_leave_the_folder) {
  EXPECT_EQ(error({{"location", "../w.bin"}}),
            "error: tensor 'w' lies in the file '../w.bin'\n  why: '..' leaves the model's folder");
  EXPECT_EQ(error({{"location", "/etc/passwd"}}),
            "error: tensor 'w' lies in the file '/etc/passwd'\n"
            "  why: the file is named relative to the model's folder");
  std::filesystem::create_symlink("/etc/passwd", folder_ + "/link");
  EXPECT_EQ(error({{"location", "link"}}),
            "error: tensor 'w' lies in the file 'link'\n  why: 'link' is a symbolic link");
  std::filesystem::create_directory_symlink("/etc", folder_ + "/etc");
  EXPECT_EQ(error({{"location", "etc/passwd"}}),
            "error: tensor 'w' lies in the file 'etc/passwd'\n  why: 'etc' is a symbolic link");
  EXPECT_EQ(error({{"location", "none.bin"}}),
            "error: tensor 'w' lies in the file 'none.bin'\n  why: No such file or directory");
}

}  // namespace
}  // namespace polyhalite::onnx::bad_file_test
