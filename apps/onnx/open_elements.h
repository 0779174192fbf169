// Elements that decide about shapes, as open sizes.
#pragma once

#include <set>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// Whether the elements of v may be sizes of their own: some integers, whose number is known.
bool may_be_open(const Value &v);

/// While shapes are inferred: the elements of values among the open ones of g.findings become known
/// as sizes. What the values are made of is read by ReadSizes, as far from them as sizes are
/// followed, so that what they have in common is one size:
///
///   %b = Add(%a, 1)   %y = Slice(%x, %a, %b)   ->
///   %c = ReadSizes(%a)   %b = Add(%c, 1)   %y = Slice(%x, %c, %b)
class OpenElements {
 public:
  explicit OpenElements(Graph *g) : g_(*g) {}

  /// Node *at wants to know the elements of v. Where that can be, *at is then where inference goes
  /// on, which is in front of it; else false.
  bool open(size_t *at, ValueId v);

 private:
  void read(ValueId v);
  bool is_followed(const Node &n) const;

  Graph &g_;
  std::set<ValueId> tried_;  // as nodes that sizes may be followed through
  std::set<ValueId> read_;
  size_t first_ = 0;  // the foremost node that is new
};

}  // namespace polyhalite::onnx
