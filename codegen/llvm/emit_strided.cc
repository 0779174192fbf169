// Loads of every second, third or fourth element: dense pieces, and lanes picked from them. Those
// that lie side by side have the same pieces:
//
//   f[ramp(2*x, 2, 8)], f[ramp(2*x + 1, 2, 8)]  ->  f[2*x .. 2*x + 7], f[2*x + 8 .. 2*x + 15]
//
// Under a mask each piece loads what is wanted of it, and nothing else: a gather of 16 lanes takes
// as long as 20 such loads on a Zen 4.
#include <algorithm>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/ir/visit.h"

namespace polyhalite {

using llvm::Value;

namespace {

bool less(const Polynomial &a, const Polynomial &b) {
  const MonomialLess before;
  return std::lexicographical_compare(a.terms.begin(), a.terms.end(), b.terms.begin(),
                                      b.terms.end(), [&](const auto &x, const auto &y) {
                                        if (before(x.first, y.first)) return true;
                                        if (before(y.first, x.first)) return false;
                                        return x.second < y.second;
                                      });
}

// The constant of a sum, which loses it.
int64_t take_constant(Polynomial &p) {
  const auto constant = p.terms.find({});
  if (constant == p.terms.end()) return 0;
  const int64_t c = constant->second;
  p.terms.erase(constant);
  return c;
}

bool is_masked(const LoadNode &load) { return load.args.size() > 1 && !is_true(load.args[1]); }

}  // namespace

bool FunctionEmitter::StridedLoads::operator<(const StridedLoads &o) const {
  if (buffer != o.buffer) return buffer < o.buffer;
  if (lanes != o.lanes) return lanes < o.lanes;
  if (stride != o.stride) return stride < o.stride;
  return less(base, o.base);
}

std::optional<int64_t> FunctionEmitter::short_stride(const LaneAddress &at, Type t) {
  constexpr int64_t kMost = 4;
  const auto stride = at.stride.as_constant();
  const bool is_short = stride && *stride >= 2 && *stride <= kMost && t.lanes() > 1;
  return is_short ? stride : std::nullopt;
}

// Only what surely runs tells that elements may be read. Both sides of a select are computed.
FunctionEmitter::StridedFirsts FunctionEmitter::strided_loads_of(const std::vector<Stmt> &stmts) {
  StridedFirsts firsts;
  for (const Stmt &s : stmts) {
    if (s->kind == StmtKind::Assert || kernel_) return {};
    if (s->kind != StmtKind::Store) continue;
    for (const Expr &e : s->args) {
      for_each_node(e, [&](const Expr &n) {
        const LoadNode *load = as_load(n);
        if (!load || is_masked(*load) || load->args[0].type().is_scalar()) return;
        auto at = to_lane_address(load->args[0],
                                  [this](const std::string &name) { return definition(name); });
        const auto stride = at ? short_stride(*at, load->type) : std::nullopt;
        if (!stride) return;
        const int64_t first = take_constant(at->base);
        firsts[{load->buffer, load->type.lanes(), *stride, at->base}].insert(first);
      });
    }
  }
  return firsts;
}

// Where the pieces of a load begin, counted from its first element. The last one ends at the last
// element wanted, so that nothing outside of the buffer is read, unless loads of the elements in
// front of it and behind it make pieces that serve them all.
std::vector<int> FunctionEmitter::pieces_of(const LoadNode &load, const LaneAddress &at,
                                            int64_t stride) {
  const int lanes = load.type.lanes(), length = static_cast<int>((lanes - 1) * stride) + 1;
  std::vector<int> starts;
  Polynomial base = at.base;
  const int64_t first = take_constant(base);
  for (const StridedFirsts &known : strided_) {
    const auto group = known.find({load.buffer, lanes, stride, base});
    if (group == known.end()) continue;
    const std::set<int64_t> &firsts = group->second;
    std::optional<int64_t> begin;
    for (int64_t b = first - stride + 1; b <= first; b++) {
      if (!firsts.count(b) || !firsts.count(b + stride - 1)) continue;
      const bool in_step = (b - *firsts.begin()) % stride == 0;
      if (!begin || in_step) begin = b;
    }
    if (!begin) continue;
    for (int64_t k = 0; k < stride; k++) {
      starts.push_back(static_cast<int>(*begin - first + k * lanes));
    }
    return starts;
  }
  for (int start = 0; start + lanes < length; start += lanes) starts.push_back(start);
  starts.push_back(length - lanes);
  return starts;
}

Value *FunctionEmitter::load_strided(const LoadNode &load, const LaneAddress &at, int64_t stride) {
  const Type t = load.type;
  const std::vector<int> starts = pieces_of(load, at, stride);
  std::vector<Value *> pieces;
  for (int start : starts) {
    Polynomial p = at.base;
    p.add(Polynomial::constant(start));
    auto *piece = builder_.CreateAlignedLoad(memory_type(context_, t), address(load.buffer, t, p),
                                             alignment(load.buffer, t, p));
    module_.mark_access(piece, load.buffer);
    pieces.push_back(piece);
  }
  return to_register(picked(pieces, starts, t.lanes(), stride), t);
}

bool FunctionEmitter::masks_loads(Type t) const {
  if (t.is_bool() || kernel_) return false;
  return module_.target.has_feature(t.bits() >= 32 ? Target::AVX2 : Target::AVX512_Skylake);
}

Value *FunctionEmitter::load_strided_under(const LoadNode &load, const LaneAddress &at,
                                           int64_t stride, Value *mask) {
  const int lanes = load.type.lanes();
  std::vector<int> starts;
  std::vector<Value *> pieces;
  for (int start = 0; start <= (lanes - 1) * stride; start += lanes) {
    std::vector<int> own;
    for (int i = 0; i < lanes; i++) {
      const bool wanted = (start + i) % stride == 0 && (start + i) / stride < lanes;
      own.push_back(wanted ? static_cast<int>((start + i) / stride) : lanes);
    }
    Value *none = llvm::Constant::getNullValue(mask->getType());
    LaneAddress piece{at.base, Polynomial::constant(1)};
    piece.base.add(Polynomial::constant(start));
    starts.push_back(start);
    pieces.push_back(load_dense(load, piece, builder_.CreateShuffleVector(mask, none, own)));
  }
  return picked(pieces, starts, lanes, stride);
}

// Picks from two pieces at a time what they hold; lanes of other pieces stay open.
Value *FunctionEmitter::picked(const std::vector<Value *> &pieces, const std::vector<int> &starts,
                               int lanes, int64_t stride) {
  Value *result = nullptr;
  for (size_t i = 0; i < pieces.size(); i += 2) {
    const bool pair = i + 1 < pieces.size();
    std::vector<int> pick, merge;
    for (int lane = 0; lane < lanes; lane++) {
      const int element = static_cast<int>(lane * stride);
      int from = -1;
      if (element >= starts[i] && element < starts[i] + lanes) {
        from = element - starts[i];
      } else if (pair && element >= starts[i + 1] && element < starts[i + 1] + lanes) {
        from = lanes + element - starts[i + 1];
      }
      pick.push_back(from);
      merge.push_back(from >= 0 ? lanes + lane : lane);
    }
    Value *both = builder_.CreateShuffleVector(pieces[i], pieces[pair ? i + 1 : i], pick);
    result = result ? builder_.CreateShuffleVector(result, both, merge) : both;
  }
  return result;
}

}  // namespace polyhalite
