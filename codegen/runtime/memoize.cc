// The cache of memoized Funcs: a hash table of entries, and a list of them by their last use.
#include "lang/abi/polyhalite_memoize.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

constexpr int64_t kDefaultSize = 1 << 20;
constexpr size_t kBuckets = 256;

// One allocation: the header, the key, then the blocks one behind the other.
struct Entry {
  Entry *in_bucket;      // the next one
  Entry *newer, *older;  // in the order of their last use
  uint64_t hash;
  int32_t key_size;
  int32_t has_eviction_key;
  uint64_t eviction_key;
  int64_t bytes;    // of the blocks
  int readers;      // that copy from it now
  bool is_dropped;  // and freed by its last reader

  uint8_t *key() { return reinterpret_cast<uint8_t *>(this + 1); }
  uint8_t *values() { return key() + key_size; }
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// All below is guarded by the lock.
Entry *buckets[kBuckets] = {};
Entry *newest = nullptr, *oldest = nullptr;
int64_t kept_bytes = 0, most_bytes = kDefaultSize;

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv
uint64_t hash_of(const uint8_t *key, int32_t size) {
  uint64_t h = 0xcbf29ce484222325u;
  for (int32_t i = 0; i < size; i++) h = (h ^ key[i]) * 0x100000001b3u;
  return h;
}

int64_t total(int32_t count, const int64_t *sizes) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < count; i++) bytes += sizes[i] > 0 ? sizes[i] : 0;
  return bytes;
}

Entry *find(uint64_t hash, const uint8_t *key, int32_t size) {
  for (Entry *e = buckets[hash % kBuckets]; e; e = e->in_bucket) {
    if (e->hash == hash && e->key_size == size && memcmp(e->key(), key, size_t(size)) == 0) {
      return e;
    }
  }
  return nullptr;
}

void unlink_use(Entry *e) {
  (e->newer ? e->newer->older : newest) = e->older;
  (e->older ? e->older->newer : oldest) = e->newer;
}

void link_as_newest(Entry *e) {
  e->newer = nullptr;
  e->older = newest;
  (newest ? newest->newer : oldest) = e;
  newest = e;
}

void drop(Entry *e) {
  Entry **at = &buckets[e->hash % kBuckets];
  while (*at != e) at = &(*at)->in_bucket;
  *at = e->in_bucket;
  unlink_use(e);
  kept_bytes -= e->bytes;
  e->is_dropped = true;
  if (e->readers == 0) free(e);
}

void shrink_to(int64_t bytes) {
  while (oldest && kept_bytes > bytes) drop(oldest);
}

}  // namespace

}  // namespace polyhalite::runtime

using polyhalite::runtime::Entry;
namespace memo = polyhalite::runtime;

extern "C" {

PH_WEAK void polyhalite_memoization_cache_set_size(int64_t bytes) {
  pthread_mutex_lock(&memo::lock);
  memo::most_bytes = bytes > 0 ? bytes : memo::kDefaultSize;
  memo::shrink_to(memo::most_bytes);
  pthread_mutex_unlock(&memo::lock);
}

PH_WEAK void polyhalite_memoization_cache_evict(void *, uint64_t eviction_key) {
  pthread_mutex_lock(&memo::lock);
  for (Entry *e = memo::newest; e;) {
    Entry *next = e->older;
    if (e->has_eviction_key && e->eviction_key == eviction_key) memo::drop(e);
    e = next;
  }
  pthread_mutex_unlock(&memo::lock);
}

PH_WEAK void polyhalite_memoization_cache_cleanup(void) {
  pthread_mutex_lock(&memo::lock);
  while (memo::oldest) memo::drop(memo::oldest);
  pthread_mutex_unlock(&memo::lock);
}

PH_WEAK int polyhalite_memoization_cache_lookup(void *, const uint8_t *key, int32_t key_size,
                                                int32_t count, uint8_t *const *blocks,
                                                const int64_t *sizes) {
  const uint64_t hash = memo::hash_of(key, key_size);
  pthread_mutex_lock(&memo::lock);
  Entry *e = memo::find(hash, key, key_size);
  if (e && e->bytes != memo::total(count, sizes)) e = nullptr;
  if (e) {
    e->readers++;
    memo::unlink_use(e);
    memo::link_as_newest(e);
  }
  pthread_mutex_unlock(&memo::lock);
  if (!e) return 1;

  const uint8_t *from = e->values();
  for (int32_t i = 0; i < count; i++) {
    if (sizes[i] <= 0) continue;
    memcpy(blocks[i], from, size_t(sizes[i]));
    from += sizes[i];
  }
  pthread_mutex_lock(&memo::lock);
  if (--e->readers == 0 && e->is_dropped) free(e);
  pthread_mutex_unlock(&memo::lock);
  return 0;
}

PH_WEAK void polyhalite_memoization_cache_store(void *, const uint8_t *key, int32_t key_size,
                                                int32_t count, uint8_t *const *blocks,
                                                const int64_t *sizes, int32_t has_eviction_key,
                                                uint64_t eviction_key) {
  const int64_t bytes = memo::total(count, sizes);
  pthread_mutex_lock(&memo::lock);
  const bool fits = bytes <= memo::most_bytes;
  pthread_mutex_unlock(&memo::lock);
  if (!fits) return;
  auto *e = static_cast<Entry *>(malloc(sizeof(Entry) + size_t(key_size) + size_t(bytes)));
  if (!e) return;
  *e = Entry{};
  e->hash = memo::hash_of(key, key_size);
  e->key_size = key_size;
  e->has_eviction_key = has_eviction_key;
  e->eviction_key = eviction_key;
  e->bytes = bytes;
  memcpy(e->key(), key, size_t(key_size));
  uint8_t *to = e->values();
  for (int32_t i = 0; i < count; i++) {
    if (sizes[i] <= 0) continue;
    memcpy(to, blocks[i], size_t(sizes[i]));
    to += sizes[i];
  }

  pthread_mutex_lock(&memo::lock);
  // Another thread may have computed the same meanwhile.
  if (Entry *old = memo::find(e->hash, key, key_size)) memo::drop(old);
  memo::shrink_to(memo::most_bytes - bytes);
  e->in_bucket = memo::buckets[e->hash % memo::kBuckets];
  memo::buckets[e->hash % memo::kBuckets] = e;
  memo::link_as_newest(e);
  memo::kept_bytes += bytes;
  pthread_mutex_unlock(&memo::lock);
}

}  // extern "C"
