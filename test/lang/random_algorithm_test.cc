// Random algorithms through their text form and the interpreter.
#include <gtest/gtest.h>

#include <cstring>

#include "lang/interpret/interpret.h"
#include "lang/ir/text.h"
#include "support/random_pipeline.h"

namespace polyhalite::random_algorithm_test {
namespace {

// A dense buffer of any type.
struct Bytes {
  Bytes(Type t, const std::vector<int> &min, const std::vector<int> &extent) {
    int64_t count = 1;
    for (size_t d = 0; d < extent.size(); d++) {
      dims.push_back({min[d], extent[d], static_cast<int32_t>(count), 0});
      count *= extent[d];
    }
    data.resize(static_cast<size_t>(count * t.bytes()));
    raw.host = data.data();
    raw.type = t;
    raw.dimensions = static_cast<int32_t>(dims.size());
    raw.dim = dims.data();
  }
  Bytes(const Bytes &) = delete;

  std::vector<polyhalite_dimension_t> dims;
  std::vector<uint8_t> data;
  polyhalite_buffer_t raw{};
};

std::vector<uint8_t> values_of(const Algorithm &a, const test::RandomPipeline &p,
                               const std::map<std::string, const polyhalite_buffer_t *> &images) {
  std::vector<std::unique_ptr<Bytes>> outputs;  // one for each value
  std::vector<polyhalite_buffer_t *> raw;
  for (size_t o = 0; o < a.outputs.size(); o++) {
    for (const Type t : a.find(a.outputs[o])->types) {
      outputs.push_back(std::make_unique<Bytes>(t, p.boxes[o].min, p.boxes[o].extent));
      raw.push_back(&outputs.back()->raw);
    }
  }
  std::map<std::string, uint64_t> scalars;
  for (const AlgorithmInput &i : a.inputs) {
    if (!i.param->is_buffer) scalars[i.param->name] = 3;
  }
  interpret(a, images, scalars, raw);
  std::vector<uint8_t> all;
  for (const auto &o : outputs) all.insert(all.end(), o->data.begin(), o->data.end());
  return all;
}

TEST(random_algorithm, computes_the_same_after_a_round_trip_through_text) {
  int interpreted = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    const test::RandomPipeline p = test::random_pipeline(seed);
    const std::string text = to_text(p.frozen.algorithm);
    const Algorithm back = parse_algorithm(text);
    ASSERT_EQ(to_text(back), text) << "seed " << seed;

    std::map<std::string, const polyhalite_buffer_t *> images;
    std::vector<std::unique_ptr<Bytes>> storage;
    for (const AlgorithmInput &input : p.frozen.algorithm.inputs) {
      const ParameterContents &param = *input.param;
      if (!param.is_buffer) continue;
      const std::vector<int> min(param.dimensions, -150), extent(param.dimensions, 400);
      storage.push_back(std::make_unique<Bytes>(param.type, min, extent));
      for (size_t i = 0; i < storage.back()->data.size(); i++) {
        // Below 64 in the low byte, zero elsewhere: small numbers of every type.
        const bool low = i % static_cast<size_t>(param.type.bytes()) == 0;
        storage.back()->data[i] = low ? static_cast<uint8_t>(i * 2654435761u >> 26) : 0;
      }
      images[param.name] = &storage.back()->raw;
    }
    std::vector<uint8_t> expected;
    try {
      expected = values_of(p.frozen.algorithm, p, images);
    } catch (const RuntimeError &e) {
      // Some read beyond these images; nothing else may go wrong.
      ASSERT_NE(std::string(e.what()).find("outside ["), std::string::npos) << e.what();
      continue;
    }
    interpreted++;
    ASSERT_EQ(values_of(back, p, images), expected) << "seed " << seed << "\n" << text;
  }
  EXPECT_GT(interpreted, 250);
}

}  // namespace
}  // namespace polyhalite::random_algorithm_test
