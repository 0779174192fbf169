#include "apps/demo/run_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "apps/demo/timing.h"
#include "apps/onnx/session.h"

namespace polyhalite_apps {
namespace {

using polyhalite::onnx::Constant;
using polyhalite::onnx::ElementType;
using polyhalite::onnx::Program;
using polyhalite::onnx::Session;

// A plane that is 0 beyond its edges, as the model's padding has it.
float at(const Plane &plane, int x, int y) {
  const bool inside = x >= 0 && y >= 0 && x < plane.dim(0).extent() && y < plane.dim(1).extent();
  return inside ? plane(x, y) : 0;
}

Plane plain_edges(const Image &image) {
  const int width = image.dim(0).extent(), height = image.dim(1).extent();
  const Plane gray = brightness(image);
  constexpr float kBinomial[] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};
  Plane smooth(width, height), edges(width, height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      float sum = 0;
      for (int j = -2; j <= 2; j++) {
        for (int i = -2; i <= 2; i++) {
          sum += kBinomial[i + 2] * kBinomial[j + 2] * at(gray, x + i, y + j);
        }
      }
      smooth(x, y) = sum;
    }
  }
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      auto s = [&](int i, int j) { return at(smooth, x + i, y + j); };
      const float dx = s(1, -1) - s(-1, -1) + 2 * (s(1, 0) - s(-1, 0)) + s(1, 1) - s(-1, 1);
      const float dy = s(-1, 1) - s(-1, -1) + 2 * (s(0, 1) - s(0, -1)) + s(1, 1) - s(1, -1);
      edges(x, y) = std::clamp((std::fabs(dx) + std::fabs(dy)) / 2, 0.f, 1.f);
    }
  }
  return edges;
}

}  // namespace

ModelRun run_edges_model(const std::string &path, const Image &photograph) {
  const int width = photograph.dim(0).extent(), height = photograph.dim(1).extent();
  std::vector<uint8_t> bytes(photograph.size_in_bytes());
  std::memcpy(bytes.data(), photograph.data(), bytes.size());
  const Program::Tensors inputs = {
      {"image", Constant::of_bytes(ElementType::Float32, {1, 3, height, width}, std::move(bytes))}};

  ModelRun run;
  std::optional<Session> session;
  std::shared_ptr<const Program> program;
  run.import_and_compile_seconds = seconds_of([&] {
    session.emplace(path);
    program = session->program_for(inputs);
  });
  run.report = program->report();
  Program::Tensors outputs;
  run.seconds = median_seconds([&] { outputs = program->run(inputs); });

  const Constant &edges = outputs.at("edges");
  const Plane expected = plain_edges(photograph);
  run.edges = Plane(width, height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      const auto value = static_cast<float>(edges.number(static_cast<int64_t>(y) * width + x));
      run.edges(x, y) = value;
      // Written so that a value that is no number counts as infinitely wrong.
      const double off = std::fabs(value - expected(x, y));
      run.largest_difference = off <= run.largest_difference ? run.largest_difference
                               : std::isnan(off)             ? HUGE_VAL
                                                             : off;
    }
  }
  return run;
}

}  // namespace polyhalite_apps
