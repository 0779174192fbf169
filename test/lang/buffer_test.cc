// Buffers of the language and of programs that call compiled pipelines.
#include <gtest/gtest.h>

#include "lang/ir/node.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::buffer_test {
namespace {

TEST(Buffer, ElementsAreAddressedInColumnOrder) {
  Buffer<int> b(4, 3);
  b.for_each_element([&](int x, int y) { b(x, y) = x + 10 * y; });
  EXPECT_EQ(b.data()[1], 1);
  EXPECT_EQ(b.data()[4], 10);
  EXPECT_EQ(b(3, 2), 23);
  EXPECT_EQ(b.number_of_elements(), 12u);
  EXPECT_EQ(b.size_in_bytes(), 48u);
}

TEST(Buffer, CopiesShareElementsAndCopyDoesNot) {
  Buffer<float> a(2);
  a.fill(1.0f);
  Buffer<float> shared = a, apart = a.copy();
  a(0) = 5.0f;
  EXPECT_EQ(shared(0), 5.0f);
  EXPECT_EQ(apart(0), 1.0f);
}

TEST(Buffer, CropSliceTranslateAndTranspose) {
  Buffer<int> b(5, 4);
  b.for_each_element([&](int x, int y) { b(x, y) = x + 10 * y; });
  const Buffer<int> c = b.cropped(0, 2, 2).cropped(1, 1, 2);
  EXPECT_EQ(c(2, 1), 12);
  EXPECT_EQ(*c.data(), 12);
  EXPECT_EQ(c.dim(0).max(), 3);
  EXPECT_EQ(b.sliced(1, 3)(2), 32);
  EXPECT_EQ(b.translated(0, 100)(101, 2), 21);
  EXPECT_EQ(b.transposed(0, 1)(2, 4), 24);
  EXPECT_EQ(b.dim(0).extent(), 5);
}

TEST(Buffer, InterleavedStridesAreKeptByCopy) {
  const auto b = Buffer<uint8_t>::make_interleaved(7, 5, 3);
  EXPECT_EQ(b.stride(0), 3);
  EXPECT_EQ(b.stride(1), 21);
  EXPECT_EQ(b.stride(2), 1);
  EXPECT_EQ(b.copy().stride(0), 3);
}

TEST(Buffer, WrongTypeIsRefused) {
  const Buffer<> b(UInt(8), {4, 4});
  EXPECT_EQ(message_of([&] { Buffer<float> f(b); }),
            "error: a Buffer of uint8 is used as a Buffer of float32\n"
            "  why: elements are not converted\n"
            "  fix: use the buffer's own type, uint8");
  EXPECT_EQ(message_of([&] { (Buffer<uint8_t, 3>(b)); }),
            "error: a Buffer of 2 dimensions is used as one of 3\n"
            "  why: the number of dimensions is part of the type\n"
            "  fix: use the same number, or slice the buffer");
}

TEST(Buffer, CallWithExpressionsReadsItAsAConstant) {
  Var x("x");
  const Buffer<int16_t> b(8);
  const Expr e = b(x + 1);
  ASSERT_NE(as_call(e), nullptr);
  EXPECT_EQ(as_call(e)->kind, CallKind::Image);
  EXPECT_EQ(as_call(e)->image, b.contents());
  EXPECT_EQ(e.type(), Int(16));
}

TEST(Buffer, BindingAWrongBufferNamesTheLine) {
  ImageParam input(Float(32), 2, "pixels");
  const Buffer<uint8_t> b(4, 4);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { input.set(b); }),
            at(line) +
                "error: a Buffer of uint8 is bound to ImageParam 'pixels'\n"
                "  why: its elements are float32\n"
                "  fix: bind a Buffer of that type");
}

TEST(Buffer, RefusesWhatLeavesItsShape) {
  Buffer<int> b({4, 3}, "grid");
  EXPECT_EQ(message_of([&] { b.crop(0, 2, 5); }),
            "error: Buffer 'grid': a crop of dimension 0 to 5 elements from 2 leaves the Buffer, "
            "which has 4 from 0\n"
            "  why: its extents are 4 from 0, 3 from 0\n"
            "  fix: stay within its shape");
  EXPECT_EQ(b(1, 0, 0), b(1, 0));
  EXPECT_EQ(message_of([&] { b(1); }),
            "error: Buffer 'grid' is indexed with 1 coordinate\n"
            "  why: it has 2 dimensions\n"
            "  fix: give one coordinate for each dimension");
  EXPECT_EQ(b.extent(0), 4);
}

TEST(Buffer, NamesFollowSizesInConstructors) {
  const Buffer<float, 2> b(3, 2, "weights");
  EXPECT_EQ(b.name(), "weights");
  EXPECT_EQ(b.dimensions(), 2);
  int values[2][3] = {{0, 1, 2}, {3, 4, 5}};
  const Buffer<int> wrapped(values, "table");
  EXPECT_EQ(wrapped.extent(0), 3);
  EXPECT_EQ(wrapped(2, 1), 5);
}

TEST(Buffer, OneCoordinateOfAScalarIsItsElement) {
  Buffer<int> b = Buffer<int>::make_scalar();
  b() = 7;
  EXPECT_EQ(b(0), 7);
  EXPECT_NE(message_of([&] { b(1); }).find("it has 0 dimensions"), std::string::npos);
}

}  // namespace
}  // namespace polyhalite::buffer_test
