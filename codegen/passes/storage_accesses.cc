#include "codegen/passes/storage_accesses.h"

#include <algorithm>

#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

// Number of the block and place in it of element i, with as few divisions as the counters' ranges
// allow. What is a multiple of g, which divides the block, is kept apart from the rest, which is
// less than g:
//
//   blocks of 16:   16*xo + xi  ->  xo, xi                  xi in [0, 16)
//                    8*xo + xi  ->  xo/2, (xo%2)*8 + xi     xi in [0, 8)
std::pair<Expr, Expr> StorageAccesses::in_block(const Expr &i, int64_t block) const {
  const Linear element = to_linear(simplify(i));
  for (int64_t g = block; g >= 1; g--) {
    if (block % g != 0) continue;
    Linear multiple, rest;
    multiple.type = rest.type = i.type();
    for (const auto &[atom, factor] : element.terms) {
      if (factor % g == 0) {
        multiple.add(to_linear(atom), factor / g);
      } else {
        rest.add(to_linear(atom), factor);
      }
    }
    rest.constant = ((element.constant % g) + g) % g;
    multiple.constant = (element.constant - rest.constant) / g;
    if (!is_within(rest, g)) continue;
    const Expr of_block = to_expr(multiple), place = to_expr(rest);
    if (g == block) return {of_block, place};
    const Expr parts = make_int(i.type(), block / g), size = make_int(i.type(), g);
    return {make_binary(Op::Div, of_block, parts),
            make_binary(Op::Add, make_binary(Op::Mul, make_binary(Op::Mod, of_block, parts), size),
                        place)};
  }
  internal_check(false, "a multiple of 1 leaves no rest");
  return {};
}

// Is it in [0, limit) whatever the loops' counters are?
bool StorageAccesses::is_within(const Linear &l, int64_t limit) const {
  int64_t low = l.constant, high = l.constant;
  for (const auto &[atom, factor] : l.terms) {
    const VariableNode *v = as_variable(atom);
    const auto loop =
        std::find_if(tree_.loops.begin(), tree_.loops.end(), [&](const LoopInfo &info) {
          return v && v->kind == VariableKind::Loop && info.name == v->name;
        });
    int64_t min, extent;
    if (loop == tree_.loops.end() || !is_const_int(survey_.loops[loop->id].min, &min) ||
        !is_const_int(survey_.loops[loop->id].extent, &extent)) {
      return false;
    }
    const int64_t first = factor * min, last = factor * (min + extent - 1);
    low += std::min(first, last);
    high += std::max(first, last);
  }
  return low >= 0 && high < limit;
}

void StorageAccesses::place(int func, std::vector<Expr> &indices) const {
  const FuncSurvey &survey = survey_.funcs[func];
  for (size_t d = 0; d < survey.fold.size(); d++) {
    if (survey.fold[d] == 0) continue;
    indices[d] = make_binary(Op::Mod, indices[d], make_int(indices[d].type(), survey.fold[d]));
  }
  const FuncStorage &storage = tree_.storage[func];
  for (const int d : storage.packed) {
    if (survey.fold[d] == 0) {
      indices[d] = make_binary(Op::Sub, indices[d], survey.stored[d].min);
    }
    const auto [number, at] = in_block(indices[d], storage.dims[d].block);
    indices[d] = number;
    indices.push_back(at);
  }
}

Expr StorageAccesses::rewrite(const Expr &e) {
  const CallNode *c = as_call(e);
  if (!c || c->kind != CallKind::Func) return rewrite_children(e);
  std::vector<Expr> args;
  for (const Expr &a : c->args) args.push_back((*this)(a));
  place(tree_.algorithm.index_of(c->name), args);
  return with_args(e, std::move(args));
}

std::vector<int> memory_order(const FuncStorage &storage) {
  if (storage.packed.empty()) return storage.order;
  const int dims = static_cast<int>(storage.dims.size());
  std::vector<int> order;
  for (size_t i = 0; i < storage.packed.size(); i++) order.push_back(dims + static_cast<int>(i));
  for (int d = 0; d < dims; d++) order.push_back(storage.order.empty() ? d : storage.order[d]);
  return order;
}

std::vector<Expr> memory_box(const FuncStorage &storage, const std::vector<Expr> &box) {
  std::vector<Expr> memory = box;
  for (const int d : storage.packed) {
    const Expr block = make_int(Int(32), storage.dims[d].block);
    memory[2 * d] = Expr(0);
    memory[2 * d + 1] = simplify(make_binary(Op::Div, box[2 * d + 1], block));
    memory.push_back(Expr(0));
    memory.push_back(block);
  }
  return memory;
}

}  // namespace polyhalite
