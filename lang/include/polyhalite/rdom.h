// RDom: a reduction domain, the ordered loop nest that an update runs over.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/var.h"

namespace polyhalite {

struct Range {
  Expr min, extent;
  Range() = default;
  Range(Expr min, Expr extent) : min(std::move(min)), extent(std::move(extent)) {}
};
using Region = std::vector<Range>;

class ImageParam;
template <typename T, int D>
class Buffer;

/// The box [min, min + extent) of each dimension; the first is the innermost loop. Variables of a
/// one-dimensional domain "r" are named "r", of others "r_x", "r_y", "r_z", "r_w", "r_4"...
class RDom {
 public:
  /// Undefined.
  RDom() = default;
  explicit RDom(const Region &region, const std::string &name = "", Here here = Here());
  /// Pairs of min and extent, then optionally a name: RDom r(0, 3, 0, 5, "r").
  template <
      typename... Args,
      typename = std::enable_if_t<
          ((std::is_convertible_v<Args, Expr> || std::is_convertible_v<Args, std::string>) && ...)>>
  RDom(Index min, Expr extent, Args &&...more) : RDom() {
    Region region{{std::move(min.value), std::move(extent)}};
    const std::string name = collect(&region, std::forward<Args>(more)...);
    *this = RDom(region, name, Here(std::move(min.where)));
  }
  /// All points of an image.
  RDom(const ImageParam &image, Here here = Here());  // NOLINT
  template <typename T, int D>
  RDom(const Buffer<T, D> &image, Here here = Here())  // NOLINT
      : RDom(image.region(here), "", here) {}
  /// With a name for each variable.
  static RDom named(const Region &region, const std::vector<std::string> &variables,
                    Here here = Here());

  bool defined() const { return domain_ != nullptr; }
  bool same_as(const RDom &o) const { return domain_ == o.domain_; }
  int dimensions() const;
  RVar operator[](int i) const;
  operator RVar() const;  // NOLINT: of one dimension
  operator Expr() const;  // NOLINT: of one dimension

  /// Restricts the domain to points where the condition holds; several calls add up.
  void where(Expr condition, Here here = Here());
  std::shared_ptr<const ReductionDomain> domain() const { return domain_; }

  /// The first four dimensions.
  RVar x, y, z, w;

 private:
  explicit RDom(std::shared_ptr<ReductionDomain> domain);
  // Adds pairs to `region`; returns the name at the end, if there is one.
  static std::string collect(Region *) { return ""; }
  static std::string collect(Region *, const std::string &name) { return name; }
  template <typename... Args>
  static std::string collect(Region *region, Expr min, Expr extent, Args &&...more) {
    region->emplace_back(std::move(min), std::move(extent));
    return collect(region, std::forward<Args>(more)...);
  }
  std::shared_ptr<ReductionDomain> domain_;
};

}  // namespace polyhalite
