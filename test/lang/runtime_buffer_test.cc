// runtime::Buffer: views, walks, copies, who owns memory.
#include "polyhalite/runtime_buffer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace polyhalite::runtime_buffer_test {
namespace {

using runtime::Buffer;

Buffer<int> numbered(int width, int height) {
  Buffer<int> b(width, height);
  b.fill([](int x, int y) { return x + 10 * y; });
  return b;
}

template <typename F>
std::string refusal(F &&f) {
  try {
    f();
  } catch (const std::invalid_argument &e) {
    return e.what();
  }
  return "accepted";
}

TEST(RuntimeBuffer, BorrowsOwnsAndMoves) {
  int data[6] = {0, 1, 2, 3, 4, 5};
  runtime::Buffer<int> b(data, 3, 2);
  EXPECT_EQ(b(2, 1), 5);
  EXPECT_FALSE(b.owns_host_memory());
  runtime::Buffer<int, 2> owned(3, 2);
  owned.copy_from(b);
  runtime::Buffer<int, 2> moved = std::move(owned);
  EXPECT_EQ(moved(1, 1), 4);
  EXPECT_EQ(moved.raw_buffer()->dim[1].stride, 3);
  const polyhalite_buffer_t *raw = moved.raw_buffer();
  EXPECT_EQ(raw->dimensions, 2);
  runtime::Buffer<> any = moved;
  EXPECT_EQ(any.as<int>()(0, 1), 3);
}

TEST(RuntimeBuffer, ViewsHaveShapesOfTheirOwn) {
  Buffer<int> b = numbered(5, 4);
  Buffer<int> c = b.cropped({{1, 3}, {2, 2}});
  EXPECT_EQ(c(1, 2), 21);
  EXPECT_EQ(c.number_of_elements(), 6u);
  c.translate({-1, -2});
  EXPECT_EQ(c(0, 0), 21);
  c.transpose(0, 1);
  EXPECT_EQ(c(1, 2), 33);
  EXPECT_EQ(b.extent(0), 5);
  c(0, 0) = -1;
  EXPECT_EQ(b(1, 2), -1);
}

TEST(RuntimeBuffer, SlicesAndEmbeddingsChangeTheNumberOfDimensions) {
  const Buffer<int, 2> b = numbered(5, 4);
  const Buffer<int, 1> row = b.sliced(1, 2);
  EXPECT_EQ(row(3), 23);
  const Buffer<int, 3> cube = b.embedded(1, 7);
  EXPECT_EQ(cube(3, 7, 2), 23);
  EXPECT_EQ(&cube(3, 7, 2), &b(3, 2));
  Buffer<int> grown = b;
  for (int i = 0; i < 4; i++) grown.add_dimension();  // beyond what is kept in place
  EXPECT_EQ(grown.dimensions(), 6);
  EXPECT_EQ(grown(3, 2, 0, 0, 0, 0), 23);
  const Buffer<int> copied = grown;
  const Buffer<int> moved = std::move(grown);
  EXPECT_EQ(copied(4, 3, 0, 0, 0, 0), 34);
  EXPECT_EQ(moved.extent(0), 5);
}

TEST(RuntimeBuffer, NegativeStridesRunBackwards) {
  int data[4] = {0, 1, 2, 3};
  const polyhalite_dimension_t shape[] = {{10, 4, -1}};
  Buffer<int> b(data + 3, 1, shape);
  EXPECT_EQ(b(10), 3);
  EXPECT_EQ(b(13), 0);
  EXPECT_EQ(b.begin(), data);
  EXPECT_EQ(b.end(), data + 4);
  EXPECT_EQ(b.size_in_bytes(), 16u);
  int sum = 0;
  b.for_each_value([&](int v) { sum += v; });
  EXPECT_EQ(sum, 6);
  const Buffer<int> dense = b.copy();
  EXPECT_EQ(dense(11), 2);
}

TEST(RuntimeBuffer, CopiesAreEqualInEveryLayout) {
  Buffer<uint16_t> planar(6, 4, 3);
  planar.set_min(-2, 5, 1);
  planar.fill([](int x, int y, int c) { return 100 * x + 10 * y + c + 500; });
  const Buffer<uint16_t> interleaved = planar.copy_to_interleaved();
  EXPECT_EQ(interleaved.stride(0), 3);
  EXPECT_EQ(interleaved.stride(2), 1);
  int differences = 0;
  planar.for_each_value([&](uint16_t a, uint16_t b) { differences += a != b; }, interleaved);
  EXPECT_EQ(differences, 0);
  const Buffer<uint16_t> back = interleaved.copy_to_planar();
  EXPECT_EQ(back.stride(0), 1);
  EXPECT_EQ(back(3, 8, 2), planar(3, 8, 2));
}

TEST(RuntimeBuffer, CopyFromTouchesTheOverlapOnly) {
  Buffer<int> target(4, 4);
  target.fill(-1);
  target.copy_from(numbered(6, 6).cropped(0, 2, 4).cropped(1, 1, 5));
  EXPECT_EQ(target(1, 1), -1);
  EXPECT_EQ(target(2, 0), -1);
  EXPECT_EQ(target(2, 1), 12);
  EXPECT_EQ(target(3, 3), 33);
  // Elements of a type that is known at run time only.
  Buffer<> any = numbered(4, 4);
  Buffer<>(target).copy_from(any);
  EXPECT_EQ(target(0, 0), 0);
}

TEST(RuntimeBuffer, WalksTakePositionsOrLeadingCoordinates) {
  const Buffer<int> b = numbered(3, 2);
  std::vector<int> seen;
  b.for_each_element([&](const int *pos) { seen.push_back(b(pos)); });
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 10, 11, 12}));
  seen.clear();
  b.for_each_element([&](int x) { seen.push_back(x); });
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
  Buffer<float> scalar = Buffer<float>::make_scalar();
  scalar.fill(3.0f);
  EXPECT_EQ(scalar(), 3.0f);
  EXPECT_TRUE(scalar.all_equal(3.0f));
}

int allocations = 0;
void *counted_malloc(size_t n) {
  allocations++;
  return ::malloc(n);
}
void counted_free(void *p) {
  allocations--;
  ::free(p);
}

TEST(RuntimeBuffer, MemoryGoesBackToWhereItCameFrom) {
  {
    Buffer<float> b(nullptr, 7, 3);
    b.allocate(counted_malloc, counted_free);
    EXPECT_EQ(allocations, 1);
    EXPECT_TRUE(b.owns_host_memory());
    Buffer<const float> shared = b.cropped(0, 1, 2);
    b.deallocate();
    EXPECT_EQ(b.data(), nullptr);
    EXPECT_EQ(allocations, 1);
    Buffer<float> copied = shared.copy(counted_malloc, counted_free);
    EXPECT_EQ(allocations, 2);
    shared = copied;
    EXPECT_EQ(allocations, 1);
  }
  EXPECT_EQ(allocations, 0);
}

// All at the same place of a page, whatever the smallest index.
TEST(RuntimeBuffer, LargeOnesBeginWithAPage) {
  for (const int width : {1024, 1025, 3000}) {
    Buffer<float> b(width, 1025);
    b.set_min(-7, 100);
    b.fill(1.0f);
    b(width - 8, 1124) = 2.0f;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data()) % 4096, 0u) << width;
    EXPECT_EQ(b(-7, 100) + b(width - 8, 1124), 3.0f);
  }
}

TEST(RuntimeBuffer, RefusesWrongShapesAndTypes) {
  Buffer<int> b = numbered(5, 4);
  EXPECT_EQ(refusal([&] { b.slice(1, 4); }),
            "slice() at 4, outside of dimension 1, which has 4 from 0");
  EXPECT_EQ(refusal([&] { b.transpose({0, 0}); }), "transpose() needs every dimension once");
  EXPECT_EQ(refusal([&] { b.copy_from(Buffer<int>(3)); }),
            "copy_from() a Buffer of another dimensionality");
  b.check_overflow();
  const polyhalite_dimension_t huge[] = {{0, 1 << 30, 1}, {0, 1 << 30, 0}, {0, 1 << 30, 0}};
  const Buffer<> vast(polyhalite_type_of<int>(), nullptr, 3, huge);
  EXPECT_EQ(refusal([&] { vast.check_overflow(); }),
            "the size of a Buffer is beyond the address space");
  const Buffer<> any = b;
  EXPECT_NE(refusal([&] { any.as<float>(); }), "accepted");
  EXPECT_FALSE((Buffer<int, 3>::can_convert_from(any)));
  EXPECT_TRUE((Buffer<int, 2>::can_convert_from(any)));
}

int fake_frees = 0;
int fake_crops = 0;
polyhalite_device_interface_t fake_device() {
  polyhalite_device_interface_t d{};
  d.device_malloc = [](void *, polyhalite_buffer_t *b, const polyhalite_device_interface_t *i) {
    b->device = 1;
    b->device_interface = i;
    return 0;
  };
  d.device_free = [](void *, polyhalite_buffer_t *b) {
    fake_frees++;
    b->device = 0;
    b->device_interface = nullptr;
    return 0;
  };
  d.device_crop = [](void *, const polyhalite_buffer_t *from, polyhalite_buffer_t *to) {
    to->device = from->device;
    to->device_interface = from->device_interface;
    fake_crops++;
    return 0;
  };
  d.device_release_crop = [](void *, polyhalite_buffer_t *) {
    fake_crops--;
    return 0;
  };
  return d;
}

TEST(RuntimeBuffer, DeviceMemoryIsSharedAndGivenBackOnce) {
  const polyhalite_device_interface_t device = fake_device();
  {
    Buffer<int> b = numbered(4, 4);
    EXPECT_EQ(b.device_malloc(&device), 0);
    Buffer<int> shared = b;
    {
      const Buffer<int> part = b.cropped(0, 1, 2).cropped(1, 1, 2);
      EXPECT_TRUE(part.has_device_allocation());
      EXPECT_GE(fake_crops, 1);
    }
    EXPECT_EQ(fake_crops, 0);
    b = Buffer<int>();
    EXPECT_EQ(fake_frees, 0);
  }
  EXPECT_EQ(fake_frees, 1);
  Buffer<int> without(2);
  EXPECT_EQ(without.device_malloc(nullptr), polyhalite_error_code_no_device_interface);
}

TEST(RuntimeBuffer, ListsOfSizesMakeOne) {
  runtime::Buffer<float, 2> pair[2] = {{3, 4}, {5, 6}};
  EXPECT_EQ(pair[1].dim(1).extent(), 6);
  static_assert(!std::is_convertible_v<int, runtime::Buffer<int>>, "a size is no buffer");
}

}  // namespace
}  // namespace polyhalite::runtime_buffer_test
