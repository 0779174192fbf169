#include "codegen/driver/made_up_arguments.h"

#include <algorithm>
#include <cstring>

#include "polyhalite/float16.h"

namespace polyhalite {

namespace {

using autosched::NumberBox;

runtime::Buffer<> make_buffer(Type t, const NumberBox &box) {
  std::vector<int> extents, mins;
  for (const auto &r : box) {
    extents.push_back(static_cast<int>(std::max<int64_t>(r.extent(), 1)));
    mins.push_back(static_cast<int>(r.lo));
  }
  runtime::Buffer<> b(static_cast<polyhalite_type_t>(t), extents);
  b.set_min(mins);
  return b;
}

// A number in its type, from the first byte on.
uint64_t bits_of(Type t, double number) {
  uint64_t bits = 0;
  const auto single = static_cast<float>(number);
  if (!t.is_float()) {
    bits = static_cast<uint64_t>(number);
  } else if (t.bits() == 64) {
    std::memcpy(&bits, &number, sizeof number);
  } else if (t.bits() == 32) {
    std::memcpy(&bits, &single, sizeof single);
  } else {
    bits = t.is_bfloat() ? detail::bfloat16_bits(single) : detail::float16_bits(single);
  }
  return bits;
}

// Small numbers, never 0: sums do not overflow, quotients exist.
void fill(Type t, runtime::Buffer<> *b) {
  uint32_t state = 1;
  auto *bytes = static_cast<uint8_t *>(b->data());
  const size_t size = b->size_in_bytes(), step = static_cast<size_t>(t.bytes());
  for (size_t i = 0; i + step <= size; i += step) {
    state = state * 1664525u + 1013904223u;  // Knuth's and Lewis's constants
    const uint32_t n = 1 + (state >> 25);
    const uint64_t bits = bits_of(t, t.is_float() ? n / 128.0 : n);
    std::memcpy(bytes + i, &bits, step);
  }
}

}  // namespace

MadeUpArguments::MadeUpArguments(const Algorithm &algorithm, const Boxes &images,
                                 const std::vector<NumberBox> &outputs) {
  size_t count = algorithm.inputs.size();
  for (const std::string &o : algorithm.outputs) count += algorithm.find(o)->types.size();
  buffers_.reserve(count);  // what points to one stays right
  scalars_.reserve(algorithm.inputs.size());
  for (const AlgorithmInput &i : algorithm.inputs) {
    if (i.param->is_buffer) {
      images_[i.param->name] = buffers_.size();
      if (const auto box = images.find(i.param->name); box != images.end()) {
        buffers_.push_back(make_buffer(i.param->type, box->second));
        fill(i.param->type, &buffers_.back());
      } else {
        buffers_.emplace_back(static_cast<polyhalite_type_t>(i.param->type), nullptr,
                              std::vector<int>(i.param->dims.size(), 0));
      }
      pointers_.push_back(buffers_.back().raw_buffer());
    } else {
      scalars_.push_back(i.param->has_scalar ? i.param->scalar_bits : bits_of(i.param->type, 1));
      pointers_.push_back(&scalars_.back());
    }
  }
  for (size_t o = 0; o < outputs.size(); o++) {
    for (const Type &t : algorithm.find(algorithm.outputs[o])->types) {
      buffers_.push_back(make_buffer(t, outputs[o]));
      pointers_.push_back(buffers_.back().raw_buffer());
    }
  }
}

MadeUpArguments::Boxes MadeUpArguments::image_boxes() const {
  Boxes boxes;
  for (const auto &[name, at] : images_) {
    const runtime::Buffer<> &b = buffers_[at];
    NumberBox box;
    for (int d = 0; d < b.dimensions(); d++) {
      box.push_back({b.dim(d).min(), int64_t{b.dim(d).min()} + b.dim(d).extent() - 1});
    }
    boxes[name] = box;
  }
  return boxes;
}

}  // namespace polyhalite
