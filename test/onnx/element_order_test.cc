// Keys that stand as elements do, and constants in another order, against loops over all elements.
#include "test/onnx/element_lists.h"

namespace polyhalite::onnx::element_order_test {
namespace {
template <typename Key>
void expect_first_in_order(const std::vector<Key> &keys, const std::string &what) {
  const auto n = static_cast<int64_t>(keys.size());
  const List all = order_of(keys, false);
  for (const int64_t k : List{0, 1, 2, n / 5, n / 4 - 1, n / 4, n / 4 + 1, n / 2, n - 1, n}) {
    if (k < 0 || k > n) continue;
    EXPECT_EQ(first_in_order(keys.data(), n, k), List(all.begin(), all.begin() + k))
        << k << " of " << n << " " << what;
  }
}
// Counts around blocks of 64, and around where there is another way to sort.
template <typename Key>
void expect_first_in_orders() {
  std::mt19937_64 bits(1);
  for (const int64_t n : {0, 1, 2, 5, 63, 64, 65, 127, 128, 129, 191, 192, 256, 300, 1000}) {
    const auto size = static_cast<size_t>(n);
    expect_first_in_order(std::vector<Key>(size, 7), "equal keys");
    expect_first_in_order(std::vector<Key>(size, std::numeric_limits<Key>::max()), "largest keys");
    expect_first_in_order(draw(n, some_values<Key>(), 2), "few keys");
    std::vector<Key> any, rising, falling;
    for (int64_t i = 0; i < n; i++) {
      any.push_back(static_cast<Key>(bits()));
      rising.push_back(static_cast<Key>(3 * i));
      falling.push_back(static_cast<Key>(-3 * i));
    }
    expect_first_in_order(any, "keys");
    expect_first_in_order(rising, "rising keys");
    expect_first_in_order(falling, "falling keys");
  }
  // One precedes all others, wherever it stands in its block.
  for (int64_t best = 0; best < 200; best++) {
    std::vector<Key> keys(200, 5);
    keys[static_cast<size_t>(best)] = 4;
    EXPECT_EQ(first_in_order(keys.data(), 200, 2), (List{best, best == 0 ? 1 : 0}));
  }
}
TEST(onnx_element_order, first_keys_in_order) {
  expect_first_in_orders<int32_t>();
  expect_first_in_orders<int64_t>();
}

template <typename Key, typename T>
void expect_keys(const std::vector<Key> &keys, const std::vector<T> &values, bool falling) {
  ASSERT_EQ(keys.size(), values.size());
  for (size_t i = 0; i < values.size(); i++) {
    for (size_t j = 0; j < values.size(); j++) {
      ASSERT_EQ(keys[i] < keys[j], precedes(values[i], values[j], falling))
          << element_name(element_of<T>()) << " " << static_cast<double>(values[i]) << " and "
          << static_cast<double>(values[j]) << ", falling " << falling;
    }
  }
}
TEST(onnx_element_order, keys_stand_as_elements) {
  for_all_types([](auto one) {
    using T = decltype(one);
    for (const bool falling : {false, true}) {
      for (const int64_t n : {0, 1, 63, 64, 65, 130}) {
        const std::vector<T> values = draw(n, some_values_and_nan<T>(), 3);
        const Constant c = tensor({n}, values);
        expect_keys(order_keys(c, falling), values, falling);
        if (fits_short_keys(c.type())) expect_keys(short_order_keys(c, falling), values, falling);
      }
      for (const T v : some_values_and_nan<T>()) {
        const int64_t key = order_keys(tensor<T>({1}, {v}), falling)[0];
        const Constant all = Constant::splat(element_of<T>(), {70}, &v);
        EXPECT_EQ(order_keys(all, falling), List(70, key));
        if constexpr (std::is_same_v<T, float>) {
          EXPECT_EQ(order_key(v, falling), key);
        }
      }
    }
  });
}

TEST(onnx_element_order, constants_are_packed_in_any_order) {
  std::mt19937 bits(4);
  for (int round = 0; round < 400; round++) {
    const ElementType types[] = {ElementType::UInt8, ElementType::Float16, ElementType::Float32,
                                 ElementType::Int64};
    const ElementType type = types[bits() % 4];
    const auto width = static_cast<size_t>(language_type(type)->bytes());
    List shape(bits() % 6);
    for (int64_t &n : shape) n = bits() % 32 == 0 ? 0 : 1 + bits() % 5;
    const auto n = static_cast<size_t>(product(shape));
    std::vector<uint8_t> bytes(n * width + width + 1);
    for (uint8_t &b : bytes) b = static_cast<uint8_t>(bits());
    // Elements of a file stand at any byte.
    const uint8_t *const data = bytes.data() + bits() % 2;
    const bool splat = bits() % 4 == 0;
    const Constant c =
        splat ? Constant::splat(type, shape, data) : Constant(type, shape, nullptr, data);
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), bits);
    std::vector<uint8_t> wanted;
    for (size_t to = 0; to < n; to++) {
      List at(shape.size());
      auto rest = static_cast<int64_t>(to);
      for (size_t k = order.size(); k-- > 0;) {
        const auto d = static_cast<size_t>(order[k]);
        at[d] = rest % shape[d];
        rest /= shape[d];
      }
      size_t from = 0;
      for (size_t d = 0; d < shape.size(); d++)
        from = from * static_cast<size_t>(shape[d]) + static_cast<size_t>(at[d]);
      const uint8_t *const element = data + (splat ? 0 : from * width);
      wanted.insert(wanted.end(), element, element + width);
    }
    EXPECT_EQ(c.packed(order), wanted)
        << shape_text(shape) << " of " << width << " bytes, " << testing::PrintToString(order);
    if (!splat) {
      EXPECT_EQ(c.packed(), std::vector<uint8_t>(data, data + n * width));
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::element_order_test
