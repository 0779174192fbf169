#include "apps/onnx/element_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "polyhalite/float16.h"

namespace polyhalite::onnx {

namespace {

// A float's bits as a number: of negative ones the magnitude falls.
int32_t ordered(float v) {
  if (v == 0) return 0;
  int32_t bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  return bits ^ ((bits >> 31) & INT32_MAX);
}
int64_t ordered(double v) {
  if (v == 0) return 0;
  int64_t bits = 0;
  std::memcpy(&bits, &v, sizeof bits);
  return bits ^ ((bits >> 63) & INT64_MAX);
}

template <typename Key, typename T>
Key key_of(T v, bool falling) {
  if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
    return key_of<Key>(static_cast<float>(v), falling);
  } else if constexpr (std::is_floating_point_v<T>) {
    const Key key = std::isnan(v) ? std::numeric_limits<Key>::max() : ordered(v);
    return falling ? ~key : key;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    const auto key = static_cast<Key>(v ^ (uint64_t{1} << 63));
    return falling ? ~key : key;
  } else {
    const Key key = static_cast<Key>(v);
    return falling ? ~key : key;
  }
}

// Loops over so many elements have vectors.
constexpr int64_t kBlock = 64;

template <typename Key, typename T>
std::vector<Key> keys_of(const Constant &c, bool falling) {
  const int64_t n = c.elements();
  std::vector<Key> keys(static_cast<size_t>(n));
  if (c.is_splat()) {
    T v;
    std::memcpy(&v, c.data(), sizeof v);
    std::fill(keys.begin(), keys.end(), key_of<Key>(v, falling));
    return keys;
  }
  int64_t first = 0;
  T block[kBlock];
  for (; first + kBlock <= n; first += kBlock) {
    std::memcpy(block, c.data() + static_cast<size_t>(first) * sizeof(T), sizeof block);
    for (int64_t i = 0; i < kBlock; i++)
      keys[static_cast<size_t>(first + i)] = key_of<Key>(block[i], falling);
  }
  if (first == n) return keys;
  std::memcpy(block, c.data() + static_cast<size_t>(first) * sizeof(T),
              static_cast<size_t>(n - first) * sizeof(T));
  for (int64_t i = 0; first + i < n; i++)
    keys[static_cast<size_t>(first + i)] = key_of<Key>(block[i], falling);
  return keys;
}

template <typename Key>
bool any_below(const Key *keys, Key bound) {
  int any = 0;
  for (int64_t i = 0; i < kBlock; i++) any |= keys[i] < bound ? 1 : 0;
  return any != 0;
}

// Radix sorting pays where most are asked for: a pass for each byte in which keys differ.
template <typename Key>
std::vector<int64_t> sorted(const Key *keys, int64_t count) {
  using Bits = std::make_unsigned_t<Key>;
  struct Item {
    Bits key;
    uint32_t at;
  };
  constexpr int kBytes = sizeof(Key);
  const Bits sign = Bits{1} << (8 * kBytes - 1);
  const auto n = static_cast<size_t>(count);
  std::vector<Item> items(n), other(n);
  std::vector<uint32_t> counts(size_t{kBytes} * 256);
  for (size_t i = 0; i < n; i++) {
    const Bits key = static_cast<Bits>(keys[i]) ^ sign;
    items[i] = {key, static_cast<uint32_t>(i)};
    for (int b = 0; b < kBytes; b++)
      counts[static_cast<size_t>(b) * 256 + static_cast<size_t>((key >> (8 * b)) & 255)]++;
  }
  for (int b = 0; b < kBytes; b++) {
    uint32_t *const of_byte = &counts[static_cast<size_t>(b) * 256];
    if (std::any_of(of_byte, of_byte + 256, [&](uint32_t c) { return c == n; })) continue;
    uint32_t first = 0;
    for (int v = 0; v < 256; v++) first += std::exchange(of_byte[v], first);
    for (const Item &item : items) other[of_byte[(item.key >> (8 * b)) & 255]++] = item;
    std::swap(items, other);
  }
  std::vector<int64_t> positions(n);
  for (size_t i = 0; i < n; i++) positions[i] = items[i].at;
  return positions;
}

// A key and where it stands, in their order; short ones are one number.
struct LongItem {
  int64_t key = 0, at = 0;
  LongItem() = default;
  LongItem(int64_t k, int64_t place) : key(k), at(place) {}
  bool operator<(const LongItem &o) const { return key != o.key ? key < o.key : at < o.at; }
  int64_t place() const { return at; }
};
struct ShortItem {
  uint64_t both = 0;
  ShortItem() = default;
  ShortItem(int32_t k, int64_t place)
      : both(static_cast<uint64_t>(int64_t{k} - INT32_MIN) << 32 | static_cast<uint64_t>(place)) {}
  bool operator<(const ShortItem &o) const { return both < o.both; }
  int64_t place() const { return static_cast<int64_t>(both & UINT32_MAX); }
};

// Few of many: what precedes the k-th best so far waits in a list, of which only the best stay
// when it is full.
template <typename Item, typename Key>
std::vector<int64_t> selected(const Key *keys, int64_t count, int64_t k) {
  constexpr int64_t kLeastWaiting = 64;
  const int64_t full = std::min(count, 2 * k + kLeastWaiting);
  std::vector<Item> best;
  best.reserve(static_cast<size_t>(full + kBlock));
  const auto keep_best = [&] {
    std::nth_element(best.begin(), best.begin() + (k - 1), best.end());
    best.resize(static_cast<size_t>(k));
    return keys[best.back().place()];
  };
  int64_t i = 0;
  for (; i < full; i++) best.emplace_back(keys[i], i);
  Key bound = keep_best();
  while (i < count) {
    const int64_t end = std::min(i + kBlock, count);
    const bool any = end - i < kBlock || any_below(keys + i, bound);
    for (int64_t j = i; any && j < end; j++) {
      if (keys[j] < bound) best.emplace_back(keys[j], j);
    }
    if (static_cast<int64_t>(best.size()) >= full) bound = keep_best();
    i = end;
  }
  keep_best();
  std::sort(best.begin(), best.end());
  std::vector<int64_t> positions;
  for (const Item &item : best) positions.push_back(item.place());
  return positions;
}

template <typename Key>
std::vector<int64_t> first_of_keys(const Key *keys, int64_t count, int64_t k) {
  constexpr int64_t kFew = 128;
  if (k == 0) return {};
  if (count > UINT32_MAX) return selected<LongItem>(keys, count, k);
  if (4 * k < count) {
    using Item = std::conditional_t<sizeof(Key) == 4, ShortItem, LongItem>;
    return selected<Item>(keys, count, k);
  }
  if (count >= kFew) {
    std::vector<int64_t> positions = sorted(keys, count);
    positions.resize(static_cast<size_t>(k));
    return positions;
  }
  std::vector<int64_t> positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), int64_t{0});
  std::partial_sort(
      positions.begin(), positions.begin() + k, positions.end(),
      [&](int64_t a, int64_t b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  positions.resize(static_cast<size_t>(k));
  return positions;
}

}  // namespace

bool fits_short_keys(ElementType t) {
  switch (t) {
    case ElementType::Float64:
    case ElementType::Int64:
    case ElementType::UInt64:
    case ElementType::UInt32:
      return false;
    default:
      return true;
  }
}

int32_t order_key(float v, bool falling) { return key_of<int32_t>(v, falling); }

std::vector<int32_t> short_order_keys(const Constant &c, bool falling) {
  switch (c.type()) {
    case ElementType::Float32:
      return keys_of<int32_t, float>(c, falling);
    case ElementType::Float16:
      return keys_of<int32_t, float16_t>(c, falling);
    case ElementType::BFloat16:
      return keys_of<int32_t, bfloat16_t>(c, falling);
    case ElementType::Int32:
      return keys_of<int32_t, int32_t>(c, falling);
    case ElementType::Int16:
      return keys_of<int32_t, int16_t>(c, falling);
    case ElementType::UInt16:
      return keys_of<int32_t, uint16_t>(c, falling);
    default:
      return language_type(c.type())->is_int() ? keys_of<int32_t, int8_t>(c, falling)
                                               : keys_of<int32_t, uint8_t>(c, falling);
  }
}

std::vector<int64_t> order_keys(const Constant &c, bool falling) {
  switch (c.type()) {
    case ElementType::Float64:
      return keys_of<int64_t, double>(c, falling);
    case ElementType::Int64:
      return keys_of<int64_t, int64_t>(c, falling);
    case ElementType::UInt64:
      return keys_of<int64_t, uint64_t>(c, falling);
    case ElementType::UInt32:
      return keys_of<int64_t, uint32_t>(c, falling);
    default: {
      const std::vector<int32_t> keys = short_order_keys(c, falling);
      return {keys.begin(), keys.end()};
    }
  }
}

std::vector<int64_t> first_in_order(const int32_t *keys, int64_t count, int64_t k) {
  return first_of_keys(keys, count, k);
}
std::vector<int64_t> first_in_order(const int64_t *keys, int64_t count, int64_t k) {
  return first_of_keys(keys, count, k);
}

}  // namespace polyhalite::onnx
