#include "schedule/storage.h"

#include <algorithm>

#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"

namespace polyhalite {

namespace {

int dimension_of(const FuncDef &f, const std::string &var, const Directive &d) {
  for (int i = 0; i < f.dimensions(); i++) {
    if (f.args[i] == var) return i;
  }
  std::string names;
  for (const std::string &a : f.args) names += (names.empty() ? "" : ", ") + a;
  user_error(std::string("cannot ") + directive_verb(d.kind) + " '" + var + "' of '" + d.func +
                 "': it is no dimension of it",
             "", "its dimensions are: " + (names.empty() ? "none" : names), d.where);
}

Expr positive(const Expr &e, const char *what, const Directive &d) {
  const Expr n = simplify(e);
  int64_t k;
  if (!is_const_int(n, &k) || k >= 1) return n;
  user_error(std::string("cannot ") + directive_verb(d.kind) + " '" + d.loops[0] + "' of '" +
                 d.func + "': the " + what + " is " + std::to_string(k),
             "", "give at least 1", d.where);
}

int64_t constant(const Expr &e, const char *what, const Directive &d) {
  int64_t k;
  if (is_const_int(positive(e, what, d), &k)) return k;
  user_error(std::string("cannot ") + directive_verb(d.kind) + " '" + d.loops[0] + "' of '" +
                 d.func + "': the " + what + " is no constant",
             "the layout of storage inside the pipeline is fixed when it is compiled",
             "give a number", d.where);
}

// The named dimensions in their order, then the others.
std::vector<int> reordered(const FuncDef &f, const Directive &d) {
  std::vector<int> order;
  for (const std::string &var : d.loops) {
    const int i = dimension_of(f, var, d);
    if (std::count(order.begin(), order.end(), i)) {
      user_error("cannot reorder the storage of '" + d.func + "': '" + var + "' is named twice", "",
                 "name each dimension once, innermost first", d.where);
    }
    order.push_back(i);
  }
  // They take the places that they have had among all, as loops do in reorder().
  std::vector<int> places = order, all;
  std::sort(places.begin(), places.end());
  for (int i = 0; i < f.dimensions(); i++) all.push_back(i);
  for (size_t i = 0; i < places.size(); i++) all[places[i]] = order[i];
  return all;
}

MemoryType memory_type(const Directive &d) {
  for (MemoryType m : {MemoryType::Auto, MemoryType::Heap, MemoryType::Stack, MemoryType::Register,
                       MemoryType::GPUShared}) {
    if (d.option == memory_type_name(m)) return m;
  }
  user_error("cannot store '" + d.func + "' in MemoryType::" + d.option, "",
             "use Auto, Heap, Stack, Register or GPUShared", d.where);
}

}  // namespace

FuncStorage storage_of(const FuncDef &func, const std::string &user_name,
                       const std::vector<Directive> &directives) {
  FuncStorage s;
  s.dims.resize(func.dimensions());
  for (const Directive &d : directives) {
    if (d.func != user_name) continue;
    switch (d.kind) {
      case DirectiveKind::ReorderStorage:
        s.order = reordered(func, d);
        break;
      case DirectiveKind::AlignStorage:
        s.dims[dimension_of(func, d.loops[0], d)].align = constant(d.factors[0], "alignment", d);
        break;
      case DirectiveKind::Pack: {
        const int dim = dimension_of(func, d.loops[0], d);
        if (std::count(s.packed.begin(), s.packed.end(), dim)) {
          user_error("cannot pack '" + d.loops[0] + "' of '" + d.func + "' into blocks of " +
                         std::to_string(constant(d.factors[0], "factor", d)) + ", and of " +
                         std::to_string(s.dims[dim].block),
                     "its cells are in blocks already", "keep one of both", d.where);
        }
        s.packed.push_back(dim);
        s.dims[dim].block = constant(d.factors[0], "factor", d);
        s.pack_where = d.where;
        break;
      }
      case DirectiveKind::FoldStorage: {
        StorageDimension &dim = s.dims[dimension_of(func, d.loops[0], d)];
        dim.fold = constant(d.factors[0], "extent", d);
        dim.fold_where = d.where;
        dim.backward = d.option == "backward";
        break;
      }
      case DirectiveKind::BoundStorage: {
        StorageDimension &dim = s.dims[dimension_of(func, d.loops[0], d)];
        dim.bound = positive(d.factors[0], "extent", d);
        dim.bound_where = d.where;
        break;
      }
      case DirectiveKind::StoreIn:
        s.memory = memory_type(d);
        s.memory_where = d.where;
        break;
      case DirectiveKind::Memoize:
        s.memoized = true;
        if (!d.factors.empty()) s.eviction = d.factors[0];
        s.memoize_where = d.where;
        break;
      default:
        break;
    }
  }
  if (std::is_sorted(s.order.begin(), s.order.end())) s.order.clear();
  return s;
}

std::vector<BoundDirective> bounds_of(const FuncDef &func, int index, const std::string &user_name,
                                      const std::vector<Directive> &directives) {
  std::vector<BoundDirective> bounds;
  for (const Directive &d : directives) {
    if (d.func != user_name) continue;
    const bool is_bound = d.kind == DirectiveKind::Bound || d.kind == DirectiveKind::BoundExtent ||
                          d.kind == DirectiveKind::AlignBounds ||
                          d.kind == DirectiveKind::AlignExtent;
    if (!is_bound) continue;
    BoundDirective b;
    b.func = index;
    b.dimension = dimension_of(func, d.loops[0], d);
    b.where = d.where;
    if (d.kind == DirectiveKind::Bound) {
      b.min = d.factors[0];
      b.extent = d.factors[1];
    } else if (d.kind == DirectiveKind::BoundExtent) {
      b.extent = d.factors[0];
    } else {
      b.modulus = positive(d.factors[0], "modulus", d);
      if (d.kind == DirectiveKind::AlignBounds) b.remainder = d.factors[1];
    }
    bounds.push_back(std::move(b));
  }
  return bounds;
}

}  // namespace polyhalite
