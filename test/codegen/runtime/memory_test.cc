// Memory of the runtime: alignment, reuse, handlers.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "codegen/runtime/internal.h"

namespace {

#if !defined(__SANITIZE_ADDRESS__)
TEST(RuntimeMemory, a_freed_block_serves_the_next_request_of_its_size) {
  for (size_t bytes : {size_t{1000}, size_t{1} << 20, size_t{20} << 20}) {
    polyhalite::runtime::release_cached_memory();
    void *first = polyhalite_malloc(nullptr, bytes);
    polyhalite_free(nullptr, first);
    void *other_size = polyhalite_malloc(nullptr, bytes * 3);
    void *again = polyhalite_malloc(nullptr, bytes);
    EXPECT_NE(other_size, first);
    EXPECT_EQ(again, first);
    polyhalite_free(nullptr, again);
    polyhalite_free(nullptr, other_size);
  }
}

// A tile's many rows at a time, more than are kept of other sizes.
TEST(RuntimeMemory, small_blocks_serve_again_however_many) {
  polyhalite::runtime::release_cached_memory();
  std::set<void *> first, again;
  for (int i = 0; i < 50; i++) first.insert(polyhalite_malloc(nullptr, 801));
  EXPECT_EQ(first.size(), 50u);
  for (void *p : first) polyhalite_free(nullptr, p);
  for (int i = 0; i < 50; i++) again.insert(polyhalite_malloc(nullptr, 1024));
  EXPECT_EQ(again, first);
  for (void *p : again) polyhalite_free(nullptr, p);
  // Those beyond what is kept go back.
  std::vector<void *> many;
  for (int i = 0; i < 200; i++) many.push_back(polyhalite_malloc(nullptr, 64));
  for (void *p : many) polyhalite_free(nullptr, p);
  polyhalite::runtime::release_cached_memory();
}

// Of a program that has run many pipelines.
TEST(RuntimeMemory, new_sizes_push_out_old_ones) {
  for (const size_t unit : {size_t{1000}, size_t{2} << 20}) {
    std::vector<void *> blocks;
    for (size_t i = 1; i < 60; i++) blocks.push_back(polyhalite_malloc(nullptr, i * unit));
    for (void *p : blocks) polyhalite_free(nullptr, p);
    const size_t bytes = 70 * unit;
    auto *first = static_cast<unsigned char *>(polyhalite_malloc(nullptr, bytes));
    first[bytes / 2] = 123;
    polyhalite_free(nullptr, first);
    // Whoever asks in between gets what was given up, not this.
    void *between = polyhalite_malloc(nullptr, 50 * unit);
    auto *again = static_cast<unsigned char *>(polyhalite_malloc(nullptr, bytes));
    EXPECT_EQ(again, first);
    EXPECT_EQ(again[bytes / 2], 123);
    polyhalite_free(nullptr, between);
    polyhalite_free(nullptr, again);
    polyhalite::runtime::release_cached_memory();
  }
}
#endif

TEST(RuntimeMemory, blocks_are_aligned_and_do_not_overlap) {
  std::vector<std::pair<unsigned char *, size_t>> blocks;
  for (size_t i = 0; i < 40; i++) {
    const size_t bytes = i % 7 == 0 ? (size_t{4} << 20) + i : i * 37;
    auto *p = static_cast<unsigned char *>(polyhalite_malloc(nullptr, bytes));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    std::memset(p, static_cast<int>(i), bytes);
    blocks.emplace_back(p, bytes);
  }
  for (size_t i = 0; i < blocks.size(); i++) {
    for (size_t b = 0; b < blocks[i].second; b++) ASSERT_EQ(blocks[i].first[b], i);
    polyhalite_free(nullptr, blocks[i].first);
  }
}

TEST(RuntimeMemory, threads_free_what_others_allocated) {
  for (int round = 0; round < 50; round++) {
    std::vector<void *> blocks;
    for (int i = 0; i < 40; i++) blocks.push_back(polyhalite_malloc(nullptr, 10000));
    std::thread([&] {
      for (void *p : blocks) polyhalite_free(nullptr, p);
    }).join();
  }
}

TEST(RuntimeMemory, impossible_sizes_give_null) {
  EXPECT_EQ(polyhalite_malloc(nullptr, SIZE_MAX), nullptr);
  EXPECT_EQ(polyhalite_malloc(nullptr, size_t{1} << 48), nullptr);
}

int handled = 0;

TEST(RuntimeMemory, handlers_replace_and_come_back) {
  polyhalite_set_custom_malloc([](void *, size_t n) {
    handled++;
    return std::malloc(n);
  });
  polyhalite_set_custom_free([](void *, void *p) {
    handled++;
    std::free(p);
  });
  polyhalite_free(nullptr, polyhalite_malloc(nullptr, 10));
  EXPECT_EQ(handled, 2);
  EXPECT_NE(polyhalite_set_custom_malloc(nullptr), nullptr);
  EXPECT_NE(polyhalite_set_custom_free(nullptr), nullptr);
  polyhalite_free(nullptr, polyhalite_malloc(nullptr, 10));
  EXPECT_EQ(handled, 2);
}

}  // namespace
