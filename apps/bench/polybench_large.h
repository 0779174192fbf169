// Extents of PolyBench's LARGE data set.
#pragma once

namespace polyhalite_apps::large {

constexpr int kAdi = 1000, kFdtdX = 1000, kFdtdY = 1200, kHeat = 120, kJacobi = 1300,
              kSeidel = 2000, kSteps = 500;

}  // namespace polyhalite_apps::large
