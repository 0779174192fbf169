// Memory of pipelines: 64-byte aligned, with recently freed blocks kept for reuse, because
// pipelines allocate the same sizes in every tile and in every call, and fresh pages cost more than
// the work that is done on them.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

polyhalite_malloc_t malloc_handler = nullptr;
polyhalite_free_t free_handler = nullptr;

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLargeBlock = size_t{4} << 20;  // from here on: huge pages, shared cache
#if defined(__SANITIZE_ADDRESS__)
// Blocks that are kept would hide uses after the free.
constexpr size_t kCachedPerThread = 0;
constexpr size_t kCachedShared = 0;
constexpr int kSmallKept = 0;
#else
constexpr size_t kCachedPerThread = size_t{8} << 20;
constexpr size_t kCachedShared = size_t{256} << 20;
constexpr int kSmallKept = 64;  // of each size, by each thread
#endif
constexpr size_t kAddressSpace = SIZE_MAX > UINT32_MAX ? static_cast<size_t>(uint64_t{1} << 47)
                                                       : SIZE_MAX / 2;
constexpr int kThreadSlots = 16;
constexpr int kSharedSlots = 32;
// Large blocks start at different cache sets: rows of several buffers are used at the same time.
constexpr size_t kStagger = 9 * kAlignment;
constexpr int kStaggers = 16;

struct Header {
  void *base;       // of the underlying block
  size_t capacity;  // usable bytes
};
static_assert(sizeof(Header) <= kAlignment);

Header *header_of(void *p) {
  return reinterpret_cast<Header *>(static_cast<char *>(p) - kAlignment);
}

// Freed blocks, the longest unused one first. What does not fit makes them go: they may be those of
// pipelines that never run again.
struct Cache {
  void *slots[kSharedSlots];  // user pointers
  int used;
  size_t bytes;

  // A block of at least `bytes`, but not so large that most of it would idle.
  void *take(size_t wanted) {
    int best = -1;
    for (int i = 0; i < used; i++) {
      const size_t have = header_of(slots[i])->capacity;
      if (have < wanted || have > wanted + wanted / 4 + 4096) continue;
      if (best < 0 || have <= header_of(slots[best])->capacity) best = i;
    }
    return best < 0 ? nullptr : remove(best);
  }

  // Takes the block of p, and gives those up for which then no room is left.
  void put(void *p, int count, size_t limit) {
    const size_t capacity = header_of(p)->capacity;
    if (capacity > limit) return free_block(p);
    while (used == count || bytes + capacity > limit) free_block(remove(0));
    slots[used++] = p;
    bytes += capacity;
  }

  void release() {
    while (used > 0) free_block(remove(used - 1));
  }

 private:
  static void free_block(void *p) { ::free(header_of(p)->base); }

  void *remove(int i) {
    void *p = slots[i];
    for (used--; i < used; i++) slots[i] = slots[i + 1];
    bytes -= header_of(p)->capacity;
    return p;
  }
};

// Freed blocks of up to 4 KiB, of 64 bytes times powers of two: a list for each size, which the
// blocks themselves make. Loops that allocate a row take one and give it back each time.
class SmallBlocks {
 public:
  static constexpr size_t kMostBytes = 4096;

  /// What a block for `bytes`, at most kMostBytes, has.
  static size_t capacity(size_t bytes) { return kAlignment << size_class(bytes); }

  void *take(size_t bytes) {
    List &list = lists_[size_class(bytes)];
    void *p = list.first;
    if (!p) return nullptr;
    list.first = *static_cast<void **>(p);
    list.count--;
    return p;
  }

  void put(void *p) {
    List &list = lists_[size_class(header_of(p)->capacity)];
    if (list.count >= kSmallKept) return ::free(header_of(p)->base);
    *static_cast<void **>(p) = list.first;
    list.first = p;
    list.count++;
  }

  void release() {
    for (List &list : lists_) {
      while (list.first) {
        void *p = list.first;
        list.first = *static_cast<void **>(p);
        ::free(header_of(p)->base);
      }
      list.count = 0;
    }
  }

 private:
  static constexpr int kSizes = 7;
  struct List {
    void *first;
    int count;
  };

  static int size_class(size_t bytes) {
    const size_t lines = (bytes + kAlignment - 1) / kAlignment;
    return lines <= 1 ? 0 : 64 - __builtin_clzll(lines - 1);
  }

  List lists_[kSizes];
};

pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
Cache shared_cache = {};
int next_stagger = 0;

struct ThreadBlocks {
  Cache cache;
  SmallBlocks small;
};
thread_local ThreadBlocks thread_blocks = {};
thread_local bool thread_registered = false;
pthread_key_t thread_key;
pthread_once_t thread_key_once = PTHREAD_ONCE_INIT;

void release_blocks(void *blocks) {
  static_cast<ThreadBlocks *>(blocks)->cache.release();
  static_cast<ThreadBlocks *>(blocks)->small.release();
}
void make_thread_key() { pthread_key_create(&thread_key, release_blocks); }

// The thread's blocks are released when it ends.
void register_thread() {
  if (thread_registered) return;
  thread_registered = true;
  pthread_once(&thread_key_once, make_thread_key);
  pthread_setspecific(thread_key, &thread_blocks);
}

void *fresh(size_t bytes) {
  const bool large = bytes >= kLargeBlock;
  size_t offset = kAlignment;
  if (large) {
    const int stagger = __atomic_fetch_add(&next_stagger, 1, __ATOMIC_RELAXED);
    offset += static_cast<size_t>(stagger % kStaggers) * kStagger;
  }
  const size_t grain = large ? kHugePage : kAlignment;
  if (bytes > kAddressSpace) return nullptr;
  const size_t capacity = bytes <= SmallBlocks::kMostBytes
                              ? SmallBlocks::capacity(bytes)
                              : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const size_t whole = (offset + capacity + grain - 1) / grain * grain;
  void *base = aligned_alloc(grain, whole);
  if (!base) return nullptr;
  if (large) madvise(base, whole, MADV_HUGEPAGE);
  void *p = static_cast<char *>(base) + offset;
  *header_of(p) = {base, capacity};
  return p;
}

void *default_malloc(size_t bytes) {
  void *p = nullptr;
  if (bytes <= SmallBlocks::kMostBytes) {
    p = thread_blocks.small.take(bytes);
  } else if (bytes >= kLargeBlock) {
    pthread_mutex_lock(&shared_lock);
    p = shared_cache.take(bytes);
    pthread_mutex_unlock(&shared_lock);
  } else {
    p = thread_blocks.cache.take(bytes);
  }
  if (p) return p;
  p = fresh(bytes);
  if (p) return p;
  release_cached_memory();
  return fresh(bytes);
}

void default_free(void *p) {
  if (header_of(p)->capacity >= kLargeBlock) {
    pthread_mutex_lock(&shared_lock);
    shared_cache.put(p, kSharedSlots, kCachedShared);
    pthread_mutex_unlock(&shared_lock);
    return;
  }
  register_thread();
  if (header_of(p)->capacity <= SmallBlocks::kMostBytes) {
    thread_blocks.small.put(p);
  } else {
    thread_blocks.cache.put(p, kThreadSlots, kCachedPerThread);
  }
}

}  // namespace

void release_cached_memory() {
  pthread_mutex_lock(&shared_lock);
  shared_cache.release();
  pthread_mutex_unlock(&shared_lock);
  release_blocks(&thread_blocks);
}

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK void *polyhalite_default_malloc(void *, size_t bytes) {
  return runtime::default_malloc(bytes);
}

PH_WEAK void polyhalite_default_free(void *, void *pointer) {
  if (pointer) runtime::default_free(pointer);
}

PH_WEAK void *polyhalite_malloc(void *user_context, size_t bytes) {
  polyhalite_malloc_t handler = __atomic_load_n(&runtime::malloc_handler, __ATOMIC_ACQUIRE);
  return handler ? handler(user_context, bytes) : polyhalite_default_malloc(user_context, bytes);
}

PH_WEAK void polyhalite_free(void *user_context, void *pointer) {
  if (!pointer) return;
  polyhalite_free_t handler = __atomic_load_n(&runtime::free_handler, __ATOMIC_ACQUIRE);
  if (handler) {
    handler(user_context, pointer);
  } else {
    polyhalite_default_free(user_context, pointer);
  }
}

PH_WEAK polyhalite_malloc_t polyhalite_set_custom_malloc(polyhalite_malloc_t handler) {
  return __atomic_exchange_n(&runtime::malloc_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK polyhalite_free_t polyhalite_set_custom_free(polyhalite_free_t handler) {
  return __atomic_exchange_n(&runtime::free_handler, handler, __ATOMIC_ACQ_REL);
}

}  // extern "C"
