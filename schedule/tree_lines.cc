#include "schedule/tree_lines.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <tuple>
#include <utility>

#include "lang/ir/expr_text.h"
#include "schedule/derive.h"

namespace polyhalite {

namespace {

// Deeper texts are no trees that a machine could run.
constexpr int kMaxDepth = 1000;

class Reader {
 public:
  Reader(const std::string &text, const Algorithm &algorithm, const std::string &name)
      : algorithm_(algorithm), tokens_(text, name) {
    indents_.push_back(0);
    for (size_t i = 0; i < text.size();) {
      size_t end = text.find('\n', i), first = text.find_first_not_of(' ', i);
      if (end == std::string::npos) end = text.size();
      indents_.push_back(first == std::string::npos ? 0 : static_cast<int>(first - i));
      i = end + 1;
    }
  }

  TreeLines run() {
    tokens_.expect("tree", "first");
    const int64_t version = tokens_.expect_integer("the version of the text");
    if (version != 1) {
      tokens_.fail_behind(
          "version " + std::to_string(version) + " of the loop tree's text is not known",
          "this library reads version 1");
    }
    while (!tokens_.at_end()) {
      if (!tokens_.peek().starts_line) {
        tokens_.fail("expected the end of the line, found " + tokens_.describe_next());
      }
      read_line();
    }
    return std::move(result_);
  }

 private:
  void read_line() {
    const bool is_alone = tokens_.peek(1).starts_line || tokens_.peek(1).kind == Token::End;
    const bool named = tokens_.peek(1).kind == Token::Name && !tokens_.peek(1).starts_line;
    if (named && result_.lines.empty()) {
      if (tokens_.accept("bound")) return read_bound();
      if (tokens_.accept("store")) return read_storage();
      if (tokens_.accept("prefetch")) return read_prefetch();
    }
    TreeLine line;
    line.where = tokens_.where();
    place(line);
    if (named && tokens_.accept("for")) {
      read_loop(line);
    } else if (named && (tokens_.at("allocate") || tokens_.at("hoist") || tokens_.at("fork"))) {
      const std::string word = tokens_.next().text;
      line.kind = word == "hoist"  ? TreeNode::Hoist
                  : word == "fork" ? TreeNode::Fork
                                   : TreeNode::Allocate;
      const std::string func = tokens_.expect_name("a Func");
      line.stage.func = algorithm_.index_of(func);
      if (line.stage.func < 0) tokens_.fail_behind("the algorithm has no Func '" + func + "'");
      if (line.kind == TreeNode::Hoist && tokens_.accept("ring")) line.ring = read_scalar();
    } else if (!is_alone && tokens_.accept("if")) {
      line.kind = TreeNode::Branch;
      line.condition = read_condition();
    } else if (is_alone && tokens_.accept("else")) {
      line.kind = TreeNode::Branch;
    } else {
      read_stage(line);
    }
    result_.lines.push_back(std::move(line));
  }

  // Two spaces a level.
  void place(TreeLine &line) {
    const int indent = indents_[tokens_.peek().line];
    line.depth = indent / 2;
    while (static_cast<int>(enclosing_.size()) > line.depth) enclosing_.pop_back();
    if (indent % 2 != 0 || line.depth > static_cast<int>(enclosing_.size())) {
      tokens_.fail("the line is indented by " + std::to_string(indent) + " spaces",
                   "a node stands two spaces inside of the loop or allocation that encloses it",
                   "indent it by at most " + std::to_string(2 * enclosing_.size()));
    }
    if (line.depth > kMaxDepth) {
      tokens_.fail("the tree is more than " + std::to_string(kMaxDepth) + " levels deep");
    }
    if (line.depth > 0) line.parent = enclosing_.back();
    // A stage encloses nothing.
    if (tokens_.at("for") || tokens_.at("allocate") || tokens_.at("hoist") || tokens_.at("fork") ||
        tokens_.at("if") || tokens_.at("else")) {
      enclosing_.push_back(static_cast<int>(result_.lines.size()));
    }
  }

  // for f.s0.yo parallel reduction of yo.1
  void read_loop(TreeLine &line) {
    LoopInfo &loop = line.loop;
    loop.where = line.where;
    loop.name = tokens_.expect_name("a loop: FUNC.sSTAGE.NAME");
    const auto stage = stage_of(loop.name, loop.label);
    if (!stage || loop.label.empty()) {
      tokens_.fail_behind("'" + loop.name + "' is no loop of a stage of the algorithm", "",
                          "name it FUNC.sSTAGE.NAME");
    }
    line.stage = loop.stage = *stage;
    loop.kind = read_kind();
    loop.is_reduction = tokens_.accept("reduction");
    if (tokens_.accept("partition")) {
      const std::string word = tokens_.expect_name("Never or Always");
      if (word != "Never" && word != "Always") tokens_.fail_behind("expected Never or Always");
      loop.partition = word == "Never" ? Partition::Never : Partition::Always;
    }
    loop.dim = tokens_.accept("of") ? tokens_.expect_name("a dimension") : loop.label;
  }

  LoopKind read_kind() {
    for (LoopKind k : {LoopKind::Serial, LoopKind::Parallel, LoopKind::Vector, LoopKind::Unrolled,
                       LoopKind::GpuBlock, LoopKind::GpuThread, LoopKind::GpuLane}) {
      if (tokens_.accept(loop_kind_name(k))) return k;
    }
    tokens_.fail("expected a kind of loop, found " + tokens_.describe_next(), "",
                 "kinds are: serial, parallel, vector, unrolled, gpu_block, gpu_thread, gpu_lane");
  }

  // f.s0: y -> yo, yi by 32 ShiftInwards; c, x -> t
  void read_stage(TreeLine &line) {
    line.kind = TreeNode::Stage;
    const std::string name =
        tokens_.expect_name("for, allocate, hoist, fork or a stage: FUNC.sSTAGE");
    std::string rest;
    const auto stage = stage_of(name, rest);
    if (!stage || !rest.empty()) {
      tokens_.fail_behind(
          "'" + name + "' is no stage of the algorithm", "",
          "a node is 'for LOOP KIND', 'allocate FUNC', 'hoist FUNC', 'fork FUNC' or 'FUNC.sSTAGE'");
    }
    line.stage = *stage;
    line.nest.atomic = tokens_.accept("atomic");
    line.nest.any_order = line.nest.atomic && tokens_.accept("any_order");
    line.nest.allow_races = tokens_.accept("allow_races");
    line.nest.stream_stores = tokens_.accept("stream_stores");
    if (tokens_.accept("stream_loads")) {
      do {
        line.nest.stream_loads.push_back(tokens_.expect_name("a Func or an image"));
      } while (tokens_.accept(","));
    }
    if (tokens_.accept("tensorize")) {
      if (tokens_.peek(0).kind != Token::String) tokens_.fail("expected an instruction in quotes");
      line.tensor = TensorLoops{tokens_.next().text, {}, {}};
      tokens_.expect("over", "after the instruction");
      do {
        line.tensor->loops.push_back(tokens_.expect_name("a loop"));
      } while (tokens_.accept(","));
    }
    if (tokens_.accept("with")) read_shared(line);
    if (!tokens_.accept(":")) return;
    do {
      line.nest.derivations.push_back(read_derivation());
    } while (tokens_.accept(";"));
  }

  // with g.s0 over y AlignStart, x NoAlign
  void read_shared(TreeLine &line) {
    const std::string name = tokens_.expect_name("a stage: FUNC.sSTAGE");
    std::string rest;
    const auto leader = stage_of(name, rest);
    if (!leader || !rest.empty())
      tokens_.fail_behind("'" + name + "' is no stage of the algorithm");
    tokens_.expect("over", "before the loops that are shared");
    do {
      SharedLoop s;
      s.where = tokens_.where();
      s.leader = *leader;
      s.dim = tokens_.expect_name("a dimension");
      bool found = false;
      for (LoopAlignStrategy a : {LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd,
                                  LoopAlignStrategy::NoAlign}) {
        if (found || !tokens_.accept(align_strategy_name(a))) continue;
        s.align = a;
        found = true;
      }
      if (!found) {
        tokens_.fail("expected an alignment, found " + tokens_.describe_next(), "",
                     "a tree has: AlignStart, AlignEnd, NoAlign");
      }
      line.nest.shared.push_back(std::move(s));
    } while (tokens_.accept(","));
  }

  Derivation read_derivation() {
    Derivation d{
        Derivation::Split, tokens_.expect_name("a dimension"), "", "", {}, TailStrategy::Auto, {}};
    d.where = tokens_.where();
    if (tokens_.accept(",")) {
      d.kind = Derivation::Fuse;
      d.b = tokens_.expect_name("a dimension");
      tokens_.expect("->", "after the dimensions that are fused");
      d.c = tokens_.expect_name("a dimension");
      return d;
    }
    tokens_.expect("->", "after the dimension that is split");
    d.b = tokens_.expect_name("a dimension");
    if (read_linear(d)) return d;
    tokens_.expect(",", "between the dimensions of a split");
    d.c = tokens_.expect_name("a dimension");
    tokens_.expect("by", "before the factor");
    d.factor = read_scalar();
    for (TailStrategy t : tail_strategies()) {
      if (!tokens_.accept(tail_strategy_name(t))) continue;
      d.tail = t;
      return d;
    }
    tokens_.fail("expected a tail strategy, found " + tokens_.describe_next(), "",
                 "a tree has: " + tail_strategy_names());
  }

  // x -> x.1 skew 2 of t    x -> x.1 reverse    x -> x.1 shift 3: what stands behind x.1
  bool read_linear(Derivation &d) {
    if (tokens_.accept("skew")) {
      d.kind = Derivation::Skew;
    } else if (tokens_.accept("shift")) {
      d.kind = Derivation::Shift;
    } else if (tokens_.accept("reverse")) {
      d.kind = Derivation::Reverse;
    } else {
      return false;
    }
    d.c = std::move(d.b);
    d.b.clear();
    if (d.kind == Derivation::Reverse) return true;
    const int64_t constant = tokens_.expect_integer("a constant");
    if (constant > kMaxSkew || constant < -kMaxSkew ||
        (constant == 0 && d.kind == Derivation::Skew)) {
      tokens_.fail_behind("no loop is skewed or shifted by " + std::to_string(constant));
    }
    d.factor = make_int(Int(32), constant);
    if (d.kind == Derivation::Shift) return true;
    tokens_.expect("of", "after the factor of a skew");
    d.b = tokens_.expect_name("a dimension");
    return true;
  }

  // bound f.x from 0 extent n    bound f.x extent n    bound f.x multiple 4 of 0
  void read_bound() {
    BoundDirective b;
    b.where = tokens_.where();
    std::tie(b.func, b.dimension) = read_dimension();
    if (tokens_.accept("multiple")) {
      b.modulus = read_scalar();
      if (tokens_.accept("of")) b.remainder = read_scalar();
    } else {
      if (tokens_.accept("from")) b.min = read_scalar();
      tokens_.expect("extent", "before the extent");
      b.extent = read_scalar();
    }
    result_.bounds.push_back(std::move(b));
  }

  // store f in Stack    store f order 1 0    store f pack 0 by 16, 1 by 4    store f memoized evict
  // 7 store f.x align 8 fold 4 backward bound n
  void read_storage() {
    result_.storage.resize(algorithm_.funcs.size());
    if (const int f = algorithm_.index_of(tokens_.peek().text); f >= 0) {
      tokens_.next();
      FuncStorage &s = result_.storage[f];
      if (tokens_.accept("in")) {
        const std::string word = tokens_.expect_name("a type of memory");
        for (MemoryType m :
             {MemoryType::Heap, MemoryType::Stack, MemoryType::Register, MemoryType::GPUShared}) {
          if (word == memory_type_name(m)) s.memory = m;
        }
        if (s.memory == MemoryType::Auto) {
          tokens_.fail_behind("'" + word + "' is no type of memory", "",
                              "types are: Heap, Stack, Register, GPUShared");
        }
        return;
      }
      if (tokens_.accept("memoized")) {
        s.memoized = true;
        if (tokens_.accept("evict")) s.eviction = read_fixed();
        return;
      }
      const int dims = algorithm_.funcs[f].dimensions();
      if (tokens_.accept("pack")) {
        s.dims.resize(dims);
        do {
          const int64_t d = tokens_.expect_integer("the number of a dimension");
          if (d < 0 || d >= dims || std::count(s.packed.begin(), s.packed.end(), d)) {
            tokens_.fail_behind("a dimension is packed once, and counted from 0");
          }
          tokens_.expect("by", "before the size of a block");
          s.packed.push_back(static_cast<int>(d));
          s.dims[d].block = read_size("the size of a block");
        } while (tokens_.accept(","));
        return;
      }
      tokens_.expect("order", "or 'in', 'pack' or 'memoized' after a Func");
      while (static_cast<int>(s.order.size()) < dims) {
        const int64_t d = tokens_.expect_integer("the number of a dimension");
        if (d < 0 || d >= dims || std::count(s.order.begin(), s.order.end(), d)) {
          tokens_.fail_behind("the order names each dimension once, from 0");
        }
        s.order.push_back(static_cast<int>(d));
      }
      return;
    }
    const auto [f, d] = read_dimension();
    FuncStorage &s = result_.storage[f];
    s.dims.resize(algorithm_.funcs[f].dimensions());
    StorageDimension &dim = s.dims[d];
    if (tokens_.accept("align")) dim.align = read_size("an alignment");
    if (tokens_.accept("fold")) {
      dim.fold = read_size("the size of a ring");
      dim.backward = tokens_.accept("backward");
    }
    if (tokens_.accept("bound")) dim.bound = read_scalar();
  }

  int64_t read_size(const char *what) {
    const int64_t n = tokens_.expect_integer(what);
    if (n < 1 || n > INT32_MAX) tokens_.fail_behind("it counts elements");
    return n;
  }

  // prefetch in at f.s0.x from f.s0.y by 2 Clamp
  void read_prefetch() {
    TreePrefetch p;
    p.directive.where = tokens_.where();
    p.directive.target = tokens_.expect_name("a Func or an image");
    tokens_.expect("at", "after what is prefetched");
    p.at = tokens_.expect_name("a loop");
    tokens_.expect("from", "after a loop");
    p.from = tokens_.expect_name("a loop");
    tokens_.expect("by", "after a loop");
    p.directive.offset = read_scalar();
    const std::string word = tokens_.expect_name("what happens at the ends");
    bool known = false;
    for (PrefetchBoundStrategy s :
         {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf,
          PrefetchBoundStrategy::NonFaulting}) {
      if (word != prefetch_bound_name(s)) continue;
      p.directive.strategy = s;
      known = true;
    }
    if (!known) {
      tokens_.fail_behind("'" + word + "' is no way to bound a prefetch", "",
                          "ways are: Clamp, GuardWithIf, NonFaulting");
    }
    result_.prefetches.push_back(std::move(p));
  }

  // FUNC.VAR: the numbers of both.
  std::pair<int, int> read_dimension() {
    const std::string name = tokens_.expect_name("a dimension: FUNC.VAR");
    for (size_t f = 0; f < algorithm_.funcs.size(); f++) {
      const FuncDef &func = algorithm_.funcs[f];
      for (int d = 0; d < func.dimensions(); d++) {
        if (name == func.name + "." + func.args[d]) return {static_cast<int>(f), d};
      }
    }
    tokens_.fail_behind("the algorithm has no dimension '" + name + "'");
  }

  Expr read_fixed() {
    NameResolver names;
    names.variable = names.param = [this](const std::string &name) { return input(name); };
    return ExprParser(tokens_, names).parse();
  }

  Expr read_condition() {
    const SourceLocation where = tokens_.where();
    const Expr e = read_fixed();
    if (e.type().is_bool()) return e;
    user_error("expected a condition, found a value of type " + e.type().to_string(), "", "",
               where);
  }

  // An int32 over the algorithm's Params and image fields.
  Expr read_scalar() {
    const SourceLocation where = tokens_.where();
    const Expr e = read_fixed();
    if (e.type() != Int(32)) {
      user_error("expected a value of type int32, found one of " + e.type().to_string(), "", "",
                 where);
    }
    return e;
  }

  Expr input(const std::string &name) const {
    for (const AlgorithmInput &i : algorithm_.inputs) {
      const ParameterContents &p = *i.param;
      const bool is_field = p.is_buffer && name.rfind(p.name + ".", 0) == 0;
      if (!is_field && (p.is_buffer || name != p.name)) continue;
      auto node = std::make_shared<VariableNode>(
          is_field ? Int(32) : p.type, is_field ? VariableKind::BufferField : VariableKind::Param,
          name);
      node->param = i.param;
      return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
    }
    for (const std::string &f : algorithm_.outputs) {
      const std::string output = algorithm_.find(f)->buffer_name(0);
      for (const char *field : {".min.", ".extent.", ".stride."}) {
        if (name.rfind(output + field, 0) == 0) {
          return make_variable(Int(32), VariableKind::BufferField, name);
        }
      }
    }
    return Expr();
  }

  // "f.s1.x" is stage 1 of f, and the rest "x". Func names may have dots: the longest one counts.
  std::optional<StageId> stage_of(const std::string &name, std::string &rest) const {
    std::optional<StageId> found;
    size_t longest = 0;
    for (size_t f = 0; f < algorithm_.funcs.size(); f++) {
      const std::string prefix = algorithm_.funcs[f].name + ".s";
      if (name.rfind(prefix, 0) != 0 || prefix.size() < longest) continue;
      for (size_t s = 0; s < algorithm_.funcs[f].stages.size(); s++) {
        const std::string stage = prefix + std::to_string(s);
        if (name.rfind(stage, 0) != 0) continue;
        if (name.size() > stage.size() && name[stage.size()] != '.') continue;
        found = StageId{static_cast<int>(f), static_cast<int>(s)};
        rest = name.size() > stage.size() ? name.substr(stage.size() + 1) : "";
        longest = prefix.size();
      }
    }
    return found;
  }

  const Algorithm &algorithm_;
  TokenStream tokens_;
  std::vector<int> indents_;    // [line of the text], from 1
  std::vector<int> enclosing_;  // [depth] lines of the nodes that are open
  TreeLines result_;
};

}  // namespace

TreeLines read_tree_lines(const std::string &text, const Algorithm &algorithm,
                          const std::string &name) {
  return Reader(text, algorithm, name).run();
}

}  // namespace polyhalite
