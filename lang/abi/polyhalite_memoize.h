/* What memoized Funcs compute, kept between runs. One cache for the process's runtime; calls may
 * come from many threads. */
#ifndef POLYHALITE_MEMOIZE_H
#define POLYHALITE_MEMOIZE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many bytes are kept; what was not used for longest goes first. 0: the default, 1 MiB. */
void polyhalite_memoization_cache_set_size(int64_t bytes);
/* Drops what was stored with this eviction key. */
void polyhalite_memoization_cache_evict(void *user_context, uint64_t eviction_key);
/* Drops everything. */
void polyhalite_memoization_cache_cleanup(void);

/* Called by compiled code, which keys an entry by the bytes that name its Func, box and inputs. An
 * entry has one block of memory for each value of the Func; sizes below 0 count as 0. */

/* Copies the entry into the blocks: 0; or 1 where there is none of this key and these sizes. */
int polyhalite_memoization_cache_lookup(void *user_context, const uint8_t *key, int32_t key_size,
                                        int32_t count, uint8_t *const *blocks,
                                        const int64_t *sizes);
/* Keeps a copy of the blocks, unless it is larger than the cache or there is no memory. */
void polyhalite_memoization_cache_store(void *user_context, const uint8_t *key, int32_t key_size,
                                        int32_t count, uint8_t *const *blocks, const int64_t *sizes,
                                        int32_t has_eviction_key, uint64_t eviction_key);

#ifdef __cplusplus
}
#endif
#endif
