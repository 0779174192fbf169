#include "lang/interpret/interpret.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

#include "lang/interpret/extern_stage.h"
#include "lang/interpret/stage.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

using namespace interpreter;

// More elements than this are not computed: the box is then a mistake.
constexpr int64_t kMaxElements = int64_t{1} << 31;
// Rounds in which an update that reads its own Func may widen the box.
constexpr int kMaxWidenings = 8;

struct FuncValues {
  Box box;                                          // what is computed, once the grids have hosts
  std::vector<Grid> grids;                          // one per value
  std::vector<std::unique_ptr<uint8_t[]>> storage;  // behind the grids
};

class Interpreter {
 public:
  Interpreter(const Algorithm &a, const std::map<std::string, const polyhalite_buffer_t *> &images,
              const std::map<std::string, uint64_t> &scalars)
      : a_(a), images_(images), scalars_(scalars), values_(a.funcs.size()) {
    for (size_t i = 0; i < a.funcs.size(); i++) index_[a.funcs[i].name] = static_cast<int>(i);
    for (size_t i = 0; i < a.funcs.size(); i++) {
      for (const Type t : a.funcs[i].types) {
        // Empty until it is computed: a point that a predicate leaves out may read it all the same.
        const std::vector<int64_t> none(a.funcs[i].args.size(), 0);
        values_[i].grids.push_back({a.funcs[i].name, t, false, none, none, none, nullptr});
      }
    }
  }

  /// Computes each Func of `wanted` over its box, and what it needs.
  void compute(const std::map<int, Box> &wanted) {
    std::vector<Box> needed(a_.funcs.size());
    std::vector<bool> is_needed(a_.funcs.size(), false);
    for (const auto &[f, box] : wanted) {
      needed[f] = box;
      is_needed[f] = true;
    }
    // Consumers first: when a producer's turn comes, all demands on it are known.
    for (int f = static_cast<int>(a_.funcs.size()) - 1; f >= 0; f--) {
      if (!is_needed[f]) continue;
      if (values_[f].grids[0].host) needed[f] = hull(needed[f], values_[f].box);
      widen_by_own_reads(f, needed[f]);
      for (const auto &[producer, box] : demands_of(f, needed[f], false)) {
        needed[producer] = is_needed[producer] ? hull(needed[producer], box) : box;
        is_needed[producer] = true;
      }
    }
    for (size_t f = 0; f < a_.funcs.size(); f++) {
      if (!is_needed[f]) continue;
      const bool is_done = values_[f].grids[0].host && contains(values_[f].box, needed[f]);
      if (!is_done) compute_func(static_cast<int>(f), needed[f]);
    }
  }

  void check_requirements() {
    for (const Expr &e : a_.requirements) {
      const CallNode &call = *as_call(e);
      const Span holds = span_of(make_select(call.args[0], Expr(1), Expr(0)), {}, bindings());
      if (holds.min == 1) continue;
      std::string text;
      for (size_t i = 2; i < call.args.size(); i++) {
        const ImmNode *imm = as_imm(call.args[i]);
        text += " " + (call.args[i]->op == Op::StringImm ? imm->s : to_text(call.args[i]));
      }
      throw RuntimeError({"a requirement does not hold:" + text, to_text(call.args[0]), "", {}});
    }
  }

  const Grid &grid(int func, int value) const { return values_[func].grids[value]; }
  int index_of(const std::string &name) const { return index_.at(name); }

 private:
  Bindings bindings() {
    Bindings b;
    b.constant = [this](const VariableNode &v) { return constant_of(v); };
    b.grid = [this](const CallNode &c) { return grid_of(c); };
    return b;
  }

  // -- Inputs

  Expr constant_of(const VariableNode &v) {
    if (v.kind == VariableKind::Param) {
      uint64_t bits = 0;
      const auto it = scalars_.find(v.name);
      if (it != scalars_.end()) {
        bits = it->second;
      } else if (v.param && v.param->has_scalar) {
        bits = v.param->scalar_bits;
      } else {
        user_error("parameter " + in_quotes(v.name) + " has no value", "",
                   "pass it among the scalars");
      }
      return constant_from_bits(v.type, bits);
    }
    const size_t field_end = v.name.rfind('.');
    const size_t field =
        field_end == std::string::npos ? field_end : v.name.rfind('.', field_end - 1);
    if (v.kind != VariableKind::BufferField || field == std::string::npos) {
      user_error("the interpreter knows no value of " + in_quotes(v.name), "", "");
    }
    const Grid &g = image(v.param   ? v.param->name
                          : v.image ? v.image->name
                                    : v.name.substr(0, field),
                          v.param.get(), v.image.get());
    const std::string what = v.name.substr(field + 1, field_end - field - 1);
    const size_t d = static_cast<size_t>(std::stoi(v.name.substr(field_end + 1)));
    if (d >= g.min.size()) {
      user_error(in_quotes(v.name) + " asks for a dimension that the image has not", "", "");
    }
    const int64_t value = what == "min" ? g.min[d] : what == "extent" ? g.extent[d] : g.stride[d];
    return make_int(v.type, value);
  }

  static Expr constant_from_bits(Type t, uint64_t bits) {
    if (!t.is_float()) return make_int(t, static_cast<int64_t>(bits));
    if (t.bits() == 64) {
      double v;
      std::memcpy(&v, &bits, sizeof v);
      return make_float(t, v);
    }
    if (t.bits() == 16) return make_float(t, float16_from(t, static_cast<uint16_t>(bits)));
    float v;
    std::memcpy(&v, &bits, sizeof v);
    return make_float(t, v);
  }

  const Grid &image(const std::string &name, const ParameterContents *param,
                    const BufferContents *constant) {
    const std::pair key(param ? static_cast<const void *>(param) : constant, name);
    auto it = image_grids_.find(key);
    if (it != image_grids_.end()) return it->second;
    const polyhalite_buffer_t *raw = nullptr;
    if (const auto given = images_.find(name); !constant && given != images_.end()) {
      raw = given->second;
    } else if (param && param->buffer) {
      raw = &param->buffer->raw();
    } else if (constant) {
      raw = &constant->raw();
    }
    if (!raw || !raw->host) {
      user_error("image " + in_quotes(name) + " has no buffer", "", "pass it among the images");
    }
    Grid g = grid_of_buffer(name, *raw);
    g.is_image = true;
    if (param) {
      check_type("image " + in_quotes(name), param->type, *raw);
      check_dimensions("image " + in_quotes(name), param->dimensions, *raw);
    }
    return image_grids_.emplace(key, std::move(g)).first->second;
  }

 public:
  static Grid grid_of_buffer(const std::string &name, const polyhalite_buffer_t &raw) {
    Grid g;
    g.name = name;
    g.type = Type(static_cast<Type::Code>(raw.type.code), raw.type.bits, 1);
    g.host = raw.host;
    for (int d = 0; d < raw.dimensions; d++) {
      g.min.push_back(raw.dim[d].min);
      g.extent.push_back(raw.dim[d].extent);
      g.stride.push_back(raw.dim[d].stride);
    }
    return g;
  }

  static void check_type(const std::string &what, Type wanted, const polyhalite_buffer_t &raw) {
    const Type found(static_cast<Type::Code>(raw.type.code), raw.type.bits, 1);
    if (found != wanted) {
      user_error(what + " has type " + found.to_string() + ", not " + wanted.to_string(), "",
                 "pass a buffer of " + wanted.to_string());
    }
  }
  static void check_dimensions(const std::string &what, int wanted,
                               const polyhalite_buffer_t &raw) {
    if (raw.dimensions == wanted) return;
    user_error(what + " has " + std::to_string(raw.dimensions) + " dimensions, not " +
                   std::to_string(wanted),
               "", "pass a buffer of " + std::to_string(wanted) + " dimensions");
  }

 private:
  const Grid *grid_of(const CallNode &c) {
    if (c.kind == CallKind::Image) return &image(c.name, c.param.get(), c.image.get());
    return &values_[index_.at(c.name)].grids[c.value_index];
  }

  ExternContext extern_context(const Bindings &names) {
    return {[this](const CallNode &c) { return grid_of(c); },
            [this](const CallNode &c) { return index_.count(c.name) > 0; }, names};
  }

  // -- Regions

  // The spans of a stage's reduction variables.
  Box reduction_of(const StageDef &s) {
    Box box;
    for (const ReductionVariable &r : s.rvars) {
      const Span min = span_of(r.min, {}, bindings()), extent = span_of(r.extent, {}, bindings());
      if (min.empty() || extent.empty()) {
        user_error("the range of reduction variable " + in_quotes(r.var) + " has no value", "", "",
                   s.where);
      }
      box.push_back({min.min, min.min + extent.min - 1});
    }
    return box;
  }

  IndexDomain domain_of(const FuncDef &f, int stage, const Box &box) {
    const StageDef &s = f.stages[stage];
    IndexDomain domain;
    for (size_t d = 0; d < f.args.size(); d++) domain.variables[f.args[d]] = box[d];
    const Box reduction = reduction_of(s);
    for (size_t k = 0; k < s.rvars.size(); k++) domain.variables[s.rvars[k].var] = reduction[k];
    domain.predicate = s.predicate;
    return domain;
  }

  // Which boxes of which Funcs the stages of `f` read over `box`: of f itself (`own`), or of
  // others. What an index reads is computed on the way.
  std::map<int, Box> demands_of(int f, const Box &box, bool own) {
    std::map<int, Box> demands;
    if (is_empty(box)) return demands;
    const FuncDef &def = a_.funcs[f];
    if (const CallNode *stage = as_extern_stage(def.stages[0]); stage && !own) {
      const Bindings names = bindings();
      for (auto &[name, need] : asked_by_extern(def, *stage, box, extern_context(names))) {
        demands[index_.at(name)] = need;
      }
    }
    for (size_t stage = 0; stage < def.stages.size(); stage++) {
      const StageDef &s = def.stages[stage];
      const IndexDomain domain = domain_of(def, static_cast<int>(stage), box);
      IndexDomain unguarded = domain;
      unguarded.predicate = Expr();
      auto collect = [&](const Expr &root, const IndexDomain &over) {
        for_each_node(root, [&](const Expr &e) {
          const CallNode *c = as_call(e);
          if (!c || c->kind != CallKind::Func) return;
          const int producer = index_.at(c->name);
          if ((producer == f) != own) return;
          Box read;
          for (const Expr &index : c->args) read.push_back(index_span(def, index, over));
          if (is_empty(read)) return;
          auto it = demands.find(producer);
          if (it == demands.end()) {
            demands[producer] = read;
          } else {
            it->second = hull(it->second, read);
          }
        });
      };
      if (is_extern_stage(s)) continue;
      if (s.predicate.defined()) collect(s.predicate, unguarded);
      for (const Expr &e : s.args) collect(e, domain);
      for (const Expr &e : s.values) collect(e, domain);
    }
    return demands;
  }

  Span index_span(const FuncDef &f, const Expr &index, const IndexDomain &domain) {
    // Values that the index, or the predicate, reads are needed now.
    bool reads_self = false;
    std::map<int, Box> wanted;
    IndexDomain unguarded = domain;
    unguarded.predicate = Expr();
    auto need = [&](const Expr &root, const IndexDomain &over) {
      for_each_node(root, [&](const Expr &e) {
        const CallNode *c = as_call(e);
        if (!c || c->kind != CallKind::Func) return;
        if (c->name == f.name) {
          reads_self = true;
          return;
        }
        Box read;
        for (const Expr &a : c->args) read.push_back(index_span(f, a, over));
        const int producer = index_.at(c->name);
        wanted[producer] = wanted.count(producer) ? hull(wanted[producer], read) : read;
      });
    };
    IndexDomain over = domain;
    if (over.predicate.defined()) {
      need(over.predicate, unguarded);
      // Its own values do not exist yet: then every point counts.
      if (reads_self) over.predicate = Expr();
      reads_self = false;
    }
    need(index, over);
    if (reads_self) return span_by_bounds(f, index, domain);
    if (!wanted.empty()) compute(wanted);
    return span_of(index, over, bindings());
  }

  // An index that depends on the Func's own values: what its form and the types say.
  Span span_by_bounds(const FuncDef &f, const Expr &index, const IndexDomain &domain) {
    VariableBounds bounds;
    for (const auto &[name, span] : domain.variables) bounds[name] = {span.min, span.max};
    const ConstantBounds b = constant_bounds(index, bounds);
    if (!b.min || !b.max) {
      user_error("an index of " + in_quotes(f.name) + " depends on its own values without bound",
                 "the region that is read cannot be told", "clamp the index", f.where);
    }
    return {*b.min, *b.max};
  }

  void widen_by_own_reads(int f, Box &box) {
    for (int round = 0; round < kMaxWidenings; round++) {
      const std::map<int, Box> own = demands_of(f, box, true);
      if (own.empty() || contains(box, own.begin()->second)) return;
      box = hull(box, own.begin()->second);
    }
    user_error(
        "updates of " + in_quotes(a_.funcs[f].name) + " read more and more of the Func itself",
        "an update that reads a pure variable's neighbours has no first point",
        "use a reduction variable for the dimension", a_.funcs[f].where);
  }

  // -- Values

  void compute_func(int f, const Box &box) {
    const FuncDef &def = a_.funcs[f];
    FuncValues &v = values_[f];
    const int64_t count = count_points(box);
    if (count > kMaxElements) {
      user_error(in_quotes(def.name) + " is needed over " + std::to_string(count) + " points",
                 "the interpreter keeps every point that is needed", "", def.where);
    }
    v.storage.clear();
    v.box = box;
    for (Grid &g : v.grids) {
      v.storage.emplace_back(new uint8_t[static_cast<size_t>(count * g.type.bytes()) + 1]());
      g.host = v.storage.back().get();
      g.min.clear();
      g.extent.clear();
      g.stride.clear();
      int64_t stride = 1;
      for (const Span &s : box) {
        g.min.push_back(s.min);
        g.extent.push_back(s.extent());
        g.stride.push_back(stride);
        stride *= s.extent();
      }
    }
    if (const CallNode *stage = as_extern_stage(def.stages[0]); stage && count > 0) {
      const Bindings names = bindings();
      run_extern(def, *stage, v.grids, extern_context(names));
    }
    for (size_t stage = is_extern_stage(def.stages[0]); count > 0 && stage < def.stages.size();
         stage++) {
      run_stage(def, static_cast<int>(stage), box, reduction_of(def.stages[stage]), bindings(),
                v.grids);
    }
  }

  const Algorithm &a_;
  const std::map<std::string, const polyhalite_buffer_t *> &images_;
  const std::map<std::string, uint64_t> &scalars_;
  std::map<std::string, int> index_;
  std::vector<FuncValues> values_;
  std::map<std::pair<const void *, std::string>, Grid> image_grids_;
};

// Copies what the output's buffer covers.
void copy_out(const Grid &from, const polyhalite_buffer_t &raw) {
  const Grid to = Interpreter::grid_of_buffer(from.name, raw);
  int64_t count = 1;
  for (const int64_t e : to.extent) count *= e;
  const int bytes = from.type.bytes();
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, source = 0, target = 0;
    for (size_t d = 0; d < to.extent.size(); d++) {
      const int64_t at = rest % to.extent[d];
      rest /= to.extent[d];
      source += (to.min[d] + at - from.min[d]) * from.stride[d];
      target += at * to.stride[d];
    }
    std::memcpy(to.host + target * bytes, from.host + source * bytes, static_cast<size_t>(bytes));
  }
}

}  // namespace

void interpret(const Algorithm &a, const std::map<std::string, const polyhalite_buffer_t *> &images,
               const std::map<std::string, uint64_t> &scalars,
               const std::vector<polyhalite_buffer_t *> &outputs) {
  // Requirements may ask for the shapes of outputs.
  std::map<std::string, const polyhalite_buffer_t *> buffers = images;
  Interpreter run(a, buffers, scalars);
  struct Target {
    int func, value;
    polyhalite_buffer_t *buffer;
  };
  std::vector<Target> targets;
  std::map<int, Box> wanted;
  size_t next = 0;
  for (const std::string &name : a.outputs) {
    const int f = run.index_of(name);
    for (size_t v = 0; v < a.funcs[f].types.size(); v++) {
      polyhalite_buffer_t *b = next < outputs.size() ? outputs[next] : nullptr;
      next++;
      const std::string what = "output " + in_quotes(name);
      if (!b || !b->host) user_error(what + " has no buffer", "", "pass one per output and value");
      Interpreter::check_type(what, a.funcs[f].types[v], *b);
      Interpreter::check_dimensions(what, a.funcs[f].dimensions(), *b);
      Box box;
      for (int d = 0; d < b->dimensions; d++) {
        box.push_back({b->dim[d].min, int64_t{b->dim[d].min} + b->dim[d].extent - 1});
      }
      buffers.emplace(a.funcs[f].buffer_name(static_cast<int>(v)), b);
      wanted[f] = wanted.count(f) ? hull(wanted[f], box) : box;
      targets.push_back({f, static_cast<int>(v), b});
    }
  }
  if (next != outputs.size()) {
    user_error("the algorithm has " + std::to_string(next) + " output values, and " +
                   std::to_string(outputs.size()) + " buffers are given",
               "", "pass one per output and value");
  }
  run.check_requirements();
  run.compute(wanted);
  for (const Target &t : targets) copy_out(run.grid(t.func, t.value), *t.buffer);
}

}  // namespace polyhalite
