#include "test/support/random_extern.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lang/abi/polyhalite_buffer.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/param.h"

namespace {

constexpr uint64_t kModulus = 61;  // of values, so that sums of them stay small

using Position = std::vector<int>;

// The element's bits as a number: whatever its type is, equal values have equal ones.
uint64_t bits_at(const polyhalite_buffer_t &b, const Position &at) {
  uint64_t bits = 0;
  std::memcpy(&bits, b.address_of(at.data()), static_cast<size_t>(b.type.bytes()));
  return bits;
}

Position moved(Position at, size_t dimension, int by) {
  if (dimension < at.size()) at[dimension] += by;
  return at;
}

// Element `at` of the output: in(x + dx, y) and in(x, y + dy), mixed.
int32_t mix(const polyhalite_buffer_t &in, const Position &at, int dx, int dy) {
  const uint64_t a = bits_at(in, moved(at, 0, dx)) % kModulus;
  const uint64_t b = bits_at(in, moved(at, 1, dy)) % kModulus;
  return static_cast<int32_t>((a + 2 * b) % kModulus);
}

template <typename Visit>
void for_each_position(const polyhalite_buffer_t &b, Visit visit) {
  Position at;
  for (int d = 0; d < b.dimensions; d++) {
    if (b.dim[d].extent <= 0) return;
    at.push_back(b.dim[d].min);
  }
  for (;;) {
    visit(at);
    size_t d = 0;
    for (; d < at.size(); d++) {
      if (++at[d] < b.dim[d].min + b.dim[d].extent) break;
      at[d] = b.dim[d].min;
    }
    if (d == at.size()) return;
  }
}

// What the function reads for `out`.
void ask(polyhalite_buffer_t &in, const polyhalite_buffer_t &out, int dx, int dy) {
  for (int d = 0; d < in.dimensions; d++) {
    const int by = d == 0 ? dx : d == 1 ? dy : 0;
    in.dim[d].min = out.dim[d].min + std::min(by, 0);
    in.dim[d].extent = out.dim[d].extent + std::abs(by);
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int ph_random_extern(polyhalite_buffer_t *in, int dx, int dy,
                                                            polyhalite_buffer_t *out) {
  if (in->is_bounds_query() || out->is_bounds_query()) {
    if (in->is_bounds_query()) ask(*in, *out, dx, dy);
    return 0;
  }
  for_each_position(*out, [&](const Position &at) {
    const int32_t value = mix(*in, at, dx, dy);
    std::memcpy(out->address_of(at.data()), &value, sizeof value);
  });
  return 0;
}

// Of two values; it makes its rows in pairs of elements, the first one even.
__attribute__((visibility("default"))) int ph_random_extern_pairs(polyhalite_buffer_t *in, int dx,
                                                                  int dy,
                                                                  polyhalite_buffer_t *first,
                                                                  polyhalite_buffer_t *second) {
  if (first->is_bounds_query() || in->is_bounds_query()) {
    for (polyhalite_buffer_t *out : {first, second}) {
      if (!out->is_bounds_query()) continue;
      polyhalite_dimension_t &row = out->dim[0];
      const int end = (row.min + row.extent + 1) & ~1;
      row.min &= ~1;
      row.extent = end - row.min;
    }
    if (in->is_bounds_query()) ask(*in, *first, dx, dy);
    return 0;
  }
  for_each_position(*first, [&](const Position &at) {
    const int32_t value = mix(*in, at, dx, dy);
    const auto low = static_cast<uint8_t>(value + at[0]);
    std::memcpy(first->address_of(at.data()), &value, sizeof value);
    std::memcpy(second->address_of(at.data()), &low, sizeof low);
  });
  return 0;
}

}  // extern "C"

namespace polyhalite::test {

namespace {

Expr converted(Type to, const Expr &e) {
  if (to.is_bool()) return make_binary(Op::Ne, e, make_zero(e.type()));
  return e.type() == to ? e : make_cast(to, e);
}

class ReadInstead : public ExprRewriter {
 public:
  ReadInstead(Dice &dice, const std::string &of, const FuncDef &stage)
      : dice_(dice), of_(of), stage_(stage) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Func || c->name != of_) return r;
    const int value = dice_.between(0, static_cast<int>(stage_.types.size()) - 1);
    const Type t = stage_.types[static_cast<size_t>(value)];
    return converted(c->type, make_func_call(t, stage_.name, c->args, value));
  }

 private:
  Dice &dice_;
  const std::string of_;
  const FuncDef &stage_;
};

// A buffer without memory, as a question has it.
struct AskedBuffer {
  polyhalite_buffer_t raw{};
  std::vector<polyhalite_dimension_t> dims;

  // False where `query` is no buffer_query over constants.
  bool take(const Expr &query) {
    const CallNode *c = as_call(query);
    if (!c || c->kind != CallKind::Extern || c->name != intrinsic::kBufferQuery) return false;
    int64_t dimensions = 0, min = 0, extent = 0;
    if (!is_const_int(c->args[1], &dimensions)) return false;
    dims.resize(static_cast<size_t>(dimensions));
    for (size_t d = 0; 2 + 2 * d < c->args.size(); d++) {
      if (!is_const_int(c->args[2 + 2 * d], &min) || !is_const_int(c->args[3 + 2 * d], &extent)) {
        return false;
      }
      dims[d] = {static_cast<int32_t>(min), static_cast<int32_t>(extent), 1, 0};
    }
    raw.dimensions = static_cast<int32_t>(dimensions);
    raw.dim = dims.data();
    return true;
  }
};

class Answers : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = simplify(rewrite_children(e));
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Extern || c->name != intrinsic::kExternBounds) return r;
    constexpr size_t kIn = 4, kDx = 5, kDy = 6, kOut = 7;  // behind name, operand, dimension, end
    int64_t operand = 0, d = 0, is_max = 0, dx = 0, dy = 0;
    AskedBuffer in, out[2];
    const size_t outputs = c->args.size() - kOut;
    bool known = is_const_int(c->args[1], &operand) && is_const_int(c->args[2], &d) &&
                 is_const_int(c->args[3], &is_max) && in.take(c->args[kIn]) &&
                 is_const_int(c->args[kDx], &dx) && is_const_int(c->args[kDy], &dy);
    for (size_t i = 0; i < outputs; i++) known = known && out[i].take(c->args[kOut + i]);
    if (!known) return r;
    const int x = static_cast<int>(dx), y = static_cast<int>(dy);
    if (outputs == 1) {
      ph_random_extern(&in.raw, x, y, &out[0].raw);
    } else {
      ph_random_extern_pairs(&in.raw, x, y, &out[0].raw, &out[1].raw);
    }
    const AskedBuffer &asked = operand == 0 ? in : out[static_cast<size_t>(operand) + kIn - kOut];
    const polyhalite_dimension_t &range = asked.dims[static_cast<size_t>(d)];
    return Expr(is_max ? range.min + range.extent - 1 : range.min);
  }
};

bool reads(const FuncDef &f, const std::string &producer) {
  const auto in = [&](const std::vector<Expr> &list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Expr &e) { return calls_func(e, producer); });
  };
  return std::any_of(f.stages.begin(), f.stages.end(),
                     [&](const StageDef &s) { return in(s.args) || in(s.values); });
}

FuncDef stage_of(Dice &dice, const FuncDef &producer, const Algorithm &a) {
  FuncDef f;
  f.name = producer.name + "_extern";
  f.args = producer.args;
  const bool pairs = dice.chance(40);
  f.types = pairs ? std::vector<Type>{Int(32), UInt(8)} : std::vector<Type>{Int(32)};
  Expr dx = Expr(dice.between(-2, 2));
  for (const AlgorithmInput &i : a.inputs) {
    if (!i.param->is_buffer && dice.chance(30)) dx = detail::parameter_value(i.param);
  }
  StageDef s;
  for (const std::string &name : f.args) {
    s.args.push_back(make_variable(Int(32), VariableKind::Pure, name));
  }
  const Expr read =
      make_func_call(producer.types[0], producer.name, extern_indices(producer.dimensions()), 0);
  for (size_t v = 0; v < f.types.size(); v++) {
    s.values.push_back(extern_call_node(
        f.types[v], intrinsic::kExternStage,
        {make_string(pairs ? "ph_random_extern_pairs" : "ph_random_extern"),
         Expr(static_cast<int>(v)), extern_buffer({read}), dx, Expr(dice.between(-2, 2))}));
  }
  f.stages.push_back(std::move(s));
  return f;
}

}  // namespace

void add_extern_stage(Dice &dice, Algorithm &a) {
  std::vector<std::pair<size_t, size_t>> edges;  // producer and consumer
  for (size_t p = 0; p < a.funcs.size(); p++) {
    if (a.funcs[p].types.size() != 1) continue;
    for (size_t c = p + 1; c < a.funcs.size(); c++) {
      if (reads(a.funcs[c], a.funcs[p].name)) edges.emplace_back(p, c);
    }
  }
  if (edges.empty()) return;
  const auto [p, c] = dice.pick(edges);
  const FuncDef stage = stage_of(dice, a.funcs[p], a);
  ReadInstead rewrite(dice, a.funcs[p].name, stage);
  for (StageDef &s : a.funcs[c].stages) {
    for (Expr &e : s.args) e = rewrite(e);
    for (Expr &e : s.values) e = rewrite(e);
    if (s.predicate.defined()) s.predicate = rewrite(s.predicate);
  }
  a.funcs.insert(a.funcs.begin() + static_cast<std::ptrdiff_t>(p) + 1, stage);
}

std::vector<Directive> operands_at_root(Dice &dice, const Algorithm &a) {
  std::vector<Directive> list;
  auto at_root = [&](const std::string &func) {
    if (a.is_output(func)) return;
    Directive d;
    d.kind = DirectiveKind::ComputeRoot;
    d.func = func;
    d.where = {"extern", static_cast<int>(list.size()) + 1};
    d.order = list.size();
    list.push_back(std::move(d));
  };
  for (const FuncDef &f : a.funcs) {
    const CallNode *stage = as_extern_stage(f.stages[0]);
    if (!stage) continue;
    for (const ExternOperand &o : extern_operands(*stage)) {
      if (o.buffer) at_root(o.buffer->name);
    }
    if (dice.chance(60)) at_root(f.name);
  }
  return list;
}

Expr with_answers(const Expr &e) {
  bool asks = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    asks = asks || (c && c->kind == CallKind::Extern && c->name == intrinsic::kExternBounds);
  });
  return asks ? Answers()(e) : e;
}

bool has_extern_stage(const Algorithm &a) {
  return std::any_of(a.funcs.begin(), a.funcs.end(),
                     [](const FuncDef &f) { return extern_stage_of(f) != nullptr; });
}

}  // namespace polyhalite::test
