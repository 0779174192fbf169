// Owned objects of isl's C interface, for the files of this folder.
#pragma once

#include <isl/aff.h>
#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/flow.h>
#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>

#include <memory>
#include <utility>

namespace polyhalite::dataflow {

struct FreeContext {
  void operator()(isl_ctx *ctx) const { isl_ctx_free(ctx); }
};
/// All objects live in one, which goes after them: a class has it as its first member.
using Context = std::unique_ptr<isl_ctx, FreeContext>;

/// Owns one reference; copies share the object.
template <typename T, T *(*kCopy)(T *), T *(*kFree)(T *)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T *taken) : object_(taken) {}
  Owned(const Owned &o) : object_(o.object_ ? kCopy(o.object_) : nullptr) {}
  Owned(Owned &&o) noexcept : object_(std::exchange(o.object_, nullptr)) {}
  Owned &operator=(Owned o) {
    std::swap(object_, o.object_);
    return *this;
  }
  ~Owned() {
    if (object_) kFree(object_);
  }

  bool defined() const { return object_ != nullptr; }
  T *get() const { return object_; }
  /// One more reference, for a function that takes one.
  T *copy() const { return object_ ? kCopy(object_) : nullptr; }
  T *release() { return std::exchange(object_, nullptr); }

 private:
  T *object_ = nullptr;
};

using Set = Owned<isl_set, isl_set_copy, isl_set_free>;
using Map = Owned<isl_map, isl_map_copy, isl_map_free>;
using UnionMap = Owned<isl_union_map, isl_union_map_copy, isl_union_map_free>;
using UnionSet = Owned<isl_union_set, isl_union_set_copy, isl_union_set_free>;
using PwAff = Owned<isl_pw_aff, isl_pw_aff_copy, isl_pw_aff_free>;
using Space = Owned<isl_space, isl_space_copy, isl_space_free>;

}  // namespace polyhalite::dataflow
