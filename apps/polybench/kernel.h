// A program of PolyBench 4.2 in the language: its sizes, images and results, and its schedules.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

/// The schedule that the auto-scheduler is asked for: without any directive but what its programs
/// need to be computed once.
constexpr const char *kFound = "found";

/// One program with one of its schedules. Arrays are PolyBench's, doubles: its a[i][j] is a(j, i).
class Kernel {
 public:
  /// An array: extents by what they are as sizes, the innermost first.
  using Shape = std::vector<int>;

  Kernel(std::vector<polyhalite::Expr> sizes, std::string schedule)
      : sizes_(std::move(sizes)), schedule_(std::move(schedule)) {}

  /// Size k, as PolyBench's command lines order them.
  polyhalite::Expr size(int k) const { return sizes_[k]; }
  /// An array that the program reads; `shape` gives the place of each extent among the sizes.
  polyhalite::Func input(const std::string &name, const Shape &shape) {
    images_.emplace_back(polyhalite::Float(64), static_cast<int>(shape.size()), name);
    image_shapes_.push_back(shape);
    return images_.back();
  }
  /// An array that is left behind.
  void output(const polyhalite::Func &result, const Shape &shape) {
    results_.push_back(result);
    result_shapes_.push_back(shape);
  }
  bool scheduled(const std::string &name) const { return schedule_ == name; }
  bool by_hand() const { return !scheduled("none") && !scheduled(kFound); }

  std::vector<polyhalite::ImageParam> &images() { return images_; }
  const std::vector<polyhalite::Func> &results() const { return results_; }
  const std::vector<Shape> &image_shapes() const { return image_shapes_; }
  const std::vector<Shape> &result_shapes() const { return result_shapes_; }

 private:
  std::vector<polyhalite::Expr> sizes_;
  std::string schedule_;
  std::vector<polyhalite::ImageParam> images_;
  std::vector<polyhalite::Func> results_;
  std::vector<Shape> image_shapes_, result_shapes_;
};

/// What the arrays hold at first.
enum class Start {
  Any,        // numbers between 0 and 1
  Dominant,   // a large diagonal: factorizations need no pivots
  Symmetric,  // that, and symmetric
  Small,      // autocorrelations that shrink
};

struct Program {
  const char *name;
  std::vector<std::string> schedules;   // beside "none", which has no directives
  std::vector<std::vector<int>> sizes;  // small ones, for checking
  Start start;
  void (*describe)(Kernel &);
  /// The same as plain loops. Results that begin as images are images here, and stay so: `out` is
  /// all written.
  void (*plain)(const int *size, const double *const *in, double *const *out);
};

/// All 30, by group.
std::vector<Program> polybench_programs();

std::vector<Program> data_mining_programs();
std::vector<Program> blas_programs();
std::vector<Program> product_programs();
std::vector<Program> solver_programs();
std::vector<Program> medley_programs();
std::vector<Program> stencil_programs();

}  // namespace polyhalite_apps
