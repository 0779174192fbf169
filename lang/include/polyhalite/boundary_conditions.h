// BoundaryConditions: Funcs that extend an image beyond its edges.
#pragma once

#include <type_traits>
#include <vector>

#include "polyhalite/func.h"
#include "polyhalite/param.h"

namespace polyhalite::BoundaryConditions {

/// source where the point is inside the bounds, else the nearest point's value. A dimension of
/// undefined min and extent is not bounded; bounds may be fewer than the source's dimensions.
Func repeat_edge(const Func &source, const Region &bounds);
/// source where the point is inside the bounds, else `value`; of several values the Tuple has one
/// each.
Func constant_exterior(const Func &source, const Tuple &value, const Region &bounds);
Func constant_exterior(const Func &source, const Expr &value, const Region &bounds);
// What lies beyond the bounds, for the values a b c:
/// copies of the image, side by side: ... b c [a b c] a b ...
Func repeat_image(const Func &source, const Region &bounds);
/// copies, every other one mirrored: ... b a [a b c] c b ...
Func mirror_image(const Func &source, const Region &bounds);
/// the same, with edges that are not doubled: ... c b [a b c] b a ...
Func mirror_interior(const Func &source, const Region &bounds);

namespace detail {

template <typename Image>
Func as_func(const Image &image) {
  if constexpr (std::is_convertible_v<const Image &, Func>) {
    return image;
  } else {
    return Func(image);
  }
}

template <typename... Bounds>
Region collect(Bounds &&...bounds) {
  static_assert(sizeof...(Bounds) % 2 == 0, "bounds are pairs of min and extent");
  const std::vector<Expr> list{Expr(std::forward<Bounds>(bounds))...};
  Region r;
  for (size_t i = 0; i < list.size(); i += 2) r.emplace_back(list[i], list[i + 1]);
  return r;
}

template <typename T>
using if_image = std::enable_if_t<!std::is_base_of_v<Func, T>>;

}  // namespace detail

// Of an ImageParam, a Buffer or a generator's input, whose own bounds are known.
template <typename Image, typename = detail::if_image<Image>>
Func repeat_edge(const Image &image) {
  return repeat_edge(detail::as_func(image), image.region());
}
template <typename Image, typename = detail::if_image<Image>>
Func repeat_edge(const Image &image, const Region &bounds) {
  return repeat_edge(detail::as_func(image), bounds);
}
template <typename Image, typename = detail::if_image<Image>>
Func constant_exterior(const Image &image, const Expr &value) {
  return constant_exterior(detail::as_func(image), value, image.region());
}
template <typename Image, typename = detail::if_image<Image>>
Func constant_exterior(const Image &image, const Expr &value, const Region &bounds) {
  return constant_exterior(detail::as_func(image), value, bounds);
}
template <typename Image, typename = detail::if_image<Image>>
Func constant_exterior(const Image &image, const Tuple &value) {
  return constant_exterior(detail::as_func(image), value, image.region());
}
template <typename Image, typename = detail::if_image<Image>>
Func constant_exterior(const Image &image, const Tuple &value, const Region &bounds) {
  return constant_exterior(detail::as_func(image), value, bounds);
}
template <typename Image, typename = detail::if_image<Image>>
Func repeat_image(const Image &image) {
  return repeat_image(detail::as_func(image), image.region());
}
template <typename Image, typename = detail::if_image<Image>>
Func repeat_image(const Image &image, const Region &bounds) {
  return repeat_image(detail::as_func(image), bounds);
}
template <typename Image, typename = detail::if_image<Image>>
Func mirror_image(const Image &image) {
  return mirror_image(detail::as_func(image), image.region());
}
template <typename Image, typename = detail::if_image<Image>>
Func mirror_image(const Image &image, const Region &bounds) {
  return mirror_image(detail::as_func(image), bounds);
}
template <typename Image, typename = detail::if_image<Image>>
Func mirror_interior(const Image &image) {
  return mirror_interior(detail::as_func(image), image.region());
}
template <typename Image, typename = detail::if_image<Image>>
Func mirror_interior(const Image &image, const Region &bounds) {
  return mirror_interior(detail::as_func(image), bounds);
}
// Bounds as min, extent, min, extent...
template <typename Image, typename... More>
Func repeat_edge(const Image &image, const Expr &min, const Expr &extent, More &&...more) {
  return repeat_edge(detail::as_func(image),
                     detail::collect(min, extent, std::forward<More>(more)...));
}
template <typename Image, typename... More>
Func constant_exterior(const Image &image, const Expr &value, const Expr &min, const Expr &extent,
                       More &&...more) {
  return constant_exterior(detail::as_func(image), value,
                           detail::collect(min, extent, std::forward<More>(more)...));
}
template <typename Image, typename... More>
Func constant_exterior(const Image &image, const Tuple &value, const Expr &min, const Expr &extent,
                       More &&...more) {
  return constant_exterior(detail::as_func(image), value,
                           detail::collect(min, extent, std::forward<More>(more)...));
}
template <typename Image, typename... More>
Func repeat_image(const Image &image, const Expr &min, const Expr &extent, More &&...more) {
  return repeat_image(detail::as_func(image),
                      detail::collect(min, extent, std::forward<More>(more)...));
}
template <typename Image, typename... More>
Func mirror_image(const Image &image, const Expr &min, const Expr &extent, More &&...more) {
  return mirror_image(detail::as_func(image),
                      detail::collect(min, extent, std::forward<More>(more)...));
}
template <typename Image, typename... More>
Func mirror_interior(const Image &image, const Expr &min, const Expr &extent, More &&...more) {
  return mirror_interior(detail::as_func(image),
                         detail::collect(min, extent, std::forward<More>(more)...));
}

}  // namespace polyhalite::BoundaryConditions
