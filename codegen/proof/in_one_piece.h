// in_one_piece: accesses of memory in blocks as accesses of memory in one piece.
//
//   rows((x - m)/8, y, (x - m) % 8)   ->   rows(x, y)
//
// A block's number and a place in it, which lies in [0, 8), are one number: 8*block + place tells
// cells apart as both do, and so does any number that is added to it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

/// How the elements of one dimension of a Func lie in memory in blocks: element i in block
/// (i - min)/size, at place (i - min) % size. Where the least element lies nothing in loop IR says:
/// `min` is taken for a hint, and a wrong one proves nothing.
struct BlockedDimension {
  int dimension = 0;
  int64_t size = 1;
  Expr min;
};
/// By Func: its dimensions in blocks, in the order in which their places stand behind its indices.
using BlockedMemories = std::map<std::string, std::vector<BlockedDimension>>;

class InOnePiece : public ExprRewriter {
 public:
  /// `counters`: what is known of loops' counters. Refers to both.
  InOnePiece(const BlockedMemories &blocked, const VariableBounds &counters)
      : blocked_(blocked), counters_(counters) {}

  std::vector<Expr> indices(const std::string &func, const std::vector<Expr> &access);
  /// Funcs with an access whose place is not seen to be in its block.
  const std::set<std::string> &unseen() const { return unseen_; }

 protected:
  Expr rewrite(const Expr &e) override;

 private:
  const BlockedMemories &blocked_;
  const VariableBounds &counters_;
  std::set<std::string> unseen_;
};

}  // namespace polyhalite
