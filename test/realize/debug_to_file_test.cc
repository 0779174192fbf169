// debug_to_file: what the files hold, byte by byte where that is short.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite::debug_to_file_test {
namespace {

std::string contents(const std::string &name) {
  std::ifstream in(name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  in.close();
  unlink(name.c_str());
  return bytes;
}

template <typename T>
T at(const std::string &bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  }
  return value;
}

// f(x, y) = x + 10*y over [1, 3] x [0, 1], written to a file.
std::string written(const std::string &name) {
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x, y) = cast<int16_t>(x + 10 * y);
  g(x, y) = f(x + 1, y);
  f.compute_root().debug_to_file(name);
  g.realize({3, 2});
  return contents(name);
}

void expect_elements(const std::string &bytes, size_t from) {
  for (int i = 0; i < 6; i++) {
    EXPECT_EQ(at<int16_t>(bytes, from + 2 * static_cast<size_t>(i)), 1 + i % 3 + 10 * (i / 3));
  }
}

TEST(DebugToFile, Tmp) {
  const std::string bytes = written("debug_to_file_test.tmp");
  ASSERT_EQ(bytes.size(), 20u + 12u);
  const int32_t header[] = {3, 2, 1, 1, 5};
  EXPECT_EQ(std::memcmp(bytes.data(), header, sizeof header), 0);
  expect_elements(bytes, 20);
}

TEST(DebugToFile, Numpy) {
  const std::string bytes = written("debug_to_file_test.npy");
  ASSERT_EQ(bytes.size(), 128u + 12u);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\1\0", 8));
  EXPECT_EQ(at<uint16_t>(bytes, 8), 118);
  EXPECT_EQ(bytes.substr(10, 60), "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3, ), ");
  EXPECT_EQ(bytes[127], '\n');
  expect_elements(bytes, 128);
}

TEST(DebugToFile, Matlab) {
  const std::string bytes = written("debug_to_file_test.mat");
  // Text; matrix; flags; dimensions; name; elements.
  ASSERT_EQ(bytes.size(), 128u + 8 + 16 + 16 + 8 + 24 + 8 + 16);
  EXPECT_EQ(at<uint16_t>(bytes, 124), 0x100);
  EXPECT_EQ(bytes.substr(126, 2), "IM");
  EXPECT_EQ(at<uint32_t>(bytes, 128), 14u);
  EXPECT_EQ(at<uint32_t>(bytes, 132), bytes.size() - 136);
  EXPECT_EQ(at<uint32_t>(bytes, 144), 10u);  // int16
  EXPECT_EQ(at<int32_t>(bytes, 160), 3);
  EXPECT_EQ(at<int32_t>(bytes, 164), 2);
  EXPECT_EQ(bytes.substr(176, 18), "debug_to_file_test");
  EXPECT_EQ(at<uint32_t>(bytes, 200), 3u);
  EXPECT_EQ(at<uint32_t>(bytes, 204), 12u);
  expect_elements(bytes, 208);
}

TEST(DebugToFile, Tiff) {
  const std::string bytes = written("debug_to_file_test.tiff");
  const size_t data = 8 + 2 + 15 * 12 + 4 + 16;
  ASSERT_EQ(bytes.size(), data + 12);
  EXPECT_EQ(bytes.substr(0, 4), std::string("II*\0", 4));
  EXPECT_EQ(at<uint16_t>(bytes, 8), 15);
  EXPECT_EQ(at<uint16_t>(bytes, 10), 256);
  EXPECT_EQ(at<uint32_t>(bytes, 18), 3u);
  EXPECT_EQ(at<uint32_t>(bytes, 30), 2u);
  EXPECT_EQ(at<uint32_t>(bytes, 10 + 5 * 12 + 8), data);
  expect_elements(bytes, data);
}

TEST(DebugToFile, OutputsAndVectors) {
  Var x("x");
  Func f("f");
  f(x) = cast<float>(x);
  f.vectorize(x, 4).debug_to_file("debug_to_file_out.tmp");
  f.realize({8});
  const std::string bytes = contents("debug_to_file_out.tmp");
  ASSERT_EQ(bytes.size(), 20u + 32u);
  EXPECT_EQ(at<int32_t>(bytes, 16), 0);
  EXPECT_EQ(at<float>(bytes, 20 + 4 * 7), 7.0f);
}

TEST(DebugToFile, AFileThatCannotBeWritten) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = x;
  g(x) = f(x);
  f.compute_root().debug_to_file("no/such/folder/f.tmp");
  try {
    g.realize({3});
    FAIL() << "no error";
  } catch (const RuntimeError &e) {
    EXPECT_NE(
        std::string(e.what()).find(
            "g: debug_to_file cannot write 'no/such/folder/f.tmp': the file cannot be opened "
            "or written, or its format has no such type or size; .tmp and .npy have the most"),
        std::string::npos)
        << e.what();
  }
}

TEST(DebugToFile, TuplesAndRingsHaveNoFile) {
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x) = Tuple(x, x);
  g(x) = f(x)[0] + f(x)[1];
  f.compute_root().debug_to_file("f.tmp");
  EXPECT_THROW(g.realize({3}), CompileError);
  Func h("h"), k("k");
  h(x, y) = x + y;
  k(x, y) = h(x, y) + h(x, y + 1);
  h.store_root().compute_at(k, y).fold_storage(y, 2).debug_to_file("h.tmp");
  try {
    k.realize({3, 3});
    FAIL() << "no error";
  } catch (const CompileError &e) {
    EXPECT_NE(std::string(e.what()).find("debug_to_file() of 'h'"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace polyhalite::debug_to_file_test
