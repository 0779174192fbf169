#include "codegen/oracle/ir_interpreter.h"

#include "codegen/oracle/value.h"
#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

bool is_leaf(Op op) {
  return op == Op::IntImm || op == Op::UIntImm || op == Op::FloatImm || op == Op::Variable;
}

}  // namespace

std::string IrInterpreter::describe_call(const Expr &e) {
  const CallNode *call = as_call(e);
  if (!call) oracle_error("an assertion's error is no call");
  std::string text = call->name + "(";
  for (size_t i = 0; i < call->args.size(); i++) {
    if (i) text += ", ";
    if (call->args[i]->op == Op::StringImm) {
      text += "\"" + as_imm(call->args[i])->s + "\"";
    } else {
      const LaneValues v = evaluate(call->args[i]);
      text += polyhalite::to_text(v.type, v.lanes[0]);
    }
  }
  return text + ")";
}

LaneValues IrInterpreter::evaluate(const Expr &e) {
  Memo memo;
  return evaluate(e, memo);
}

int64_t IrInterpreter::scalar(const Expr &e) {
  const LaneValues v = evaluate(e);
  internal_check(v.lanes.size() == 1, "interpret_ir: a scalar is needed");
  return v.lanes[0].i;
}

LaneValues IrInterpreter::evaluate(const Expr &e, Memo &memo) {
  auto it = memo.find(e.get());
  if (it != memo.end()) return it->second;
  LaneValues v = compute(e, memo);
  v.type = e.type();
  internal_check(v.lanes.size() == static_cast<size_t>(e.type().lanes()),
                 "interpret_ir: wrong number of lanes");
  // Constants and names are found as quickly without.
  if (!is_leaf(e->op)) memo.emplace(e.get(), v);
  return v;
}

LaneValues IrInterpreter::compute(const Expr &e, Memo &memo) {
  switch (e->op) {
    case Op::IntImm:
      return {e.type(), {Lane{.i = as_imm(e)->i}}};
    case Op::UIntImm:
      return {e.type(), {Lane{.u = as_imm(e)->u}}};
    case Op::FloatImm:
      return {e.type(), {Lane{.f = as_imm(e)->f}}};
    case Op::Variable: {
      const std::string &name = as_variable(e)->name;
      auto it = environment_.find(name);
      if (it != environment_.end()) return it->second;
      const auto later = deferred_.find(name);
      if (later == deferred_.end()) oracle_error("nobody binds '" + name + "'");
      return evaluate(later->second, memo);
    }
    case Op::Let: {
      const std::string &name = as_let(e)->name;
      environment_[name] = evaluate(e->args[0], memo);
      Memo inner;  // what uses the name has other values outside
      LaneValues v = evaluate(e->args[1], inner);
      environment_.erase(name);
      return v;
    }
    case Op::Load:
      return load(*as_load(e), memo);
    case Op::Select: {
      const LaneValues condition = evaluate(e->args[0], memo);
      if (condition.lanes.size() > 1) return selected_lanes(e, condition, memo);
      const int chosen = condition.lanes[0].u ? 1 : 2;
      // The other side may be arbitrary, but it is evaluated: its addresses count.
      Memo apart;
      unused_++;
      evaluate(e->args[3 - chosen], apart);
      unused_--;
      return evaluate(e->args[chosen], memo);
    }
    case Op::And:
    case Op::Or:
      if (!e.type().is_bool()) return lane_by_lane(e, memo);
      return e.type().lanes() == 1 ? logical(e, memo) : logical_lanes(e, memo);
    case Op::Ramp: {
      const LaneValues base = evaluate(e->args[0], memo), stride = evaluate(e->args[1], memo);
      const size_t steps = static_cast<size_t>(e.type().lanes()) / base.lanes.size();
      LaneValues v;
      for (size_t i = 0; i < steps; i++) {
        for (size_t l = 0; l < base.lanes.size(); l++) {
          const uint64_t at = base.lanes[l].u + i * stride.lanes[l].u;
          v.lanes.push_back(wrap_lane(e.type().element_of(), Lane{.u = at}));
        }
      }
      return v;
    }
    case Op::Broadcast: {
      const LaneValues part = evaluate(e->args[0], memo);
      LaneValues v;
      while (v.lanes.size() < static_cast<size_t>(e.type().lanes())) {
        v.lanes.insert(v.lanes.end(), part.lanes.begin(), part.lanes.end());
      }
      return v;
    }
    case Op::Shuffle: {
      std::vector<Lane> all;
      for (const Expr &a : e->args) {
        const LaneValues v = evaluate(a, memo);
        all.insert(all.end(), v.lanes.begin(), v.lanes.end());
      }
      LaneValues v;
      for (int i : as_shuffle(e)->indices) v.lanes.push_back(all.at(static_cast<size_t>(i)));
      return v;
    }
    case Op::Call:
      if (as_intrinsic(e, intrinsic::kPrefetch) || as_intrinsic(e, intrinsic::kStreamFence) ||
          as_call(e)->name == intrinsic::kDebugToFile) {
        return {Bool(), {Lane{.i = 0}}};
      }
      if (as_intrinsic(e, intrinsic::kGuarded)) {
        const bool holds = evaluate(e->args[0], memo).lanes[0].i != 0;
        return holds ? evaluate(e->args[1], memo) : LaneValues{e.type(), {Lane{}}};
      }
      if (as_call(e)->kind == CallKind::Func || as_call(e)->kind == CallKind::Image) {
        return read_call(*as_call(e), memo);
      }
      return lane_by_lane(e, memo);
    case Op::StringImm:
      oracle_error("a text is no value");
    default:
      return lane_by_lane(e, memo);
  }
}

LaneValues IrInterpreter::logical(const Expr &e, Memo &memo) {
  const bool deciding = e->op == Op::Or;
  for (int side : {0, 1}) {
    LaneValues decides;
    try {
      decides = evaluate(e->args[side], memo);
    } catch (const UnwrittenRead &) {
      if (side == 0) continue;
      throw;
    }
    if ((decides.lanes[0].u != 0) != deciding) continue;
    Memo apart;
    unused_++;
    evaluate(e->args[1 - side], apart);
    unused_--;
    return decides;
  }
  return lane_by_lane(e, memo);
}

// Lane by lane, where one side decides, the other may be made of nothing: what two contents of
// cells without one tell.
LaneValues IrInterpreter::logical_lanes(const Expr &e, Memo &memo) {
  try {
    return lane_by_lane(e, memo);
  } catch (const UnwrittenRead &) {
    if (nothing_) throw;
  }
  const auto lanes = static_cast<size_t>(e.type().lanes());
  const uint64_t deciding = e->op == Op::Or ? 1 : 0;
  LaneValues sides[2][2];  // by side, and by content
  for (int content : {0, 1}) {
    nothing_ = content;
    Memo apart;
    for (int side : {0, 1}) sides[side][content] = evaluate(e->args[side], apart);
    nothing_.reset();
  }
  LaneValues v;
  for (size_t l = 0; l < lanes; l++) {
    bool known[2], decides[2];
    for (int side : {0, 1}) {
      const uint64_t a = sides[side][0].lanes[l].u != 0, b = sides[side][1].lanes[l].u != 0;
      known[side] = a == b;
      decides[side] = known[side] && a == deciding;
    }
    if (!decides[0] && !decides[1] && !(known[0] && known[1])) return lane_by_lane(e, memo);
    v.lanes.push_back(Lane{.u = decides[0] || decides[1] ? deciding : 1 - deciding});
  }
  return v;
}

// The same of a select whose lanes choose: the side that one does not take may be made of nothing
// there.
LaneValues IrInterpreter::selected_lanes(const Expr &e, const LaneValues &condition, Memo &memo) {
  try {
    return lane_by_lane(e, memo);
  } catch (const UnwrittenRead &) {
    if (nothing_) throw;
  }
  LaneValues sides[2][2];  // by side, and by content
  for (int content : {0, 1}) {
    nothing_ = content;
    Memo apart;
    for (int side : {0, 1}) sides[side][content] = evaluate(e->args[1 + side], apart);
    nothing_.reset();
  }
  const auto lane_at = [](const LaneValues &v, size_t l) {
    return v.lanes.size() == 1 ? v.lanes[0] : v.lanes.at(l);
  };
  LaneValues v;
  for (size_t l = 0; l < condition.lanes.size(); l++) {
    const auto &chosen = sides[condition.lanes[l].u ? 0 : 1];
    const Lane a = lane_at(chosen[0], l), b = lane_at(chosen[1], l);
    if (a.u != b.u) return lane_by_lane(e, memo);
    v.lanes.push_back(a);
  }
  v.type = e.type();
  return v;
}

LaneValues IrInterpreter::read_call(const CallNode &call, Memo &memo) {
  std::vector<int64_t> indices;
  for (const Expr &a : call.args) indices.push_back(evaluate(a, memo).lanes[0].i);
  Memory &m = memory(call.name, call.value_index);
  internal_check(m.dims.size() == indices.size(), "interpret_ir: wrong number of indices");
  return {m.type, {read(call.name, m, element_at(call.name, m, indices))}};
}

LaneValues IrInterpreter::load(const LoadNode &node, Memo &memo) {
  Memory &m = memory(node.buffer);
  const LaneValues index = evaluate(node.args[0], memo);
  const LaneValues mask = node.args.size() > 1 ? evaluate(node.args[1], memo) : LaneValues();
  LaneValues v;
  for (size_t l = 0; l < index.lanes.size(); l++) {
    const bool on = mask.lanes.empty() || mask.lanes[l].u;
    v.lanes.push_back(on ? read(node.buffer, m, index.lanes[l].i) : Lane{.u = 0});
  }
  return v;
}

LaneValues IrInterpreter::lane_by_lane(const Expr &e, Memo &memo) {
  const CallNode *call = as_call(e);
  // Nobody reads the trace: its numbers are all alike.
  if (call && call->name == intrinsic::kTrace) return {call->type, {Lane{.i = 1}}};
  if (call && (is_extern(*call) || call->args.empty() || call->args[0]->op == Op::StringImm)) {
    return fact(*call);
  }
  if (call) {
    if (as_intrinsic(e, intrinsic::kSumMatrixProducts)) return sum_matrix_products(*call, memo);
    if (const Expr meaning = expand_intrinsic(*call); meaning.defined()) {
      kept_.push_back(meaning);  // a key of the memo
      return evaluate(meaning, memo);
    }
    if (call->name == intrinsic::kPrint) return evaluate(call->args[1], memo);
    if (call->name == intrinsic::kRequire) return required(*call, memo);
    if (call->name == intrinsic::kTraceAccess) return evaluate(call->args[0], memo);
  }
  std::vector<LaneValues> args;
  args.reserve(e->args.size());
  for (const Expr &a : e->args) args.push_back(evaluate(a, memo));
  const auto lanes = static_cast<size_t>(e.type().lanes());
  LaneValues v;
  v.lanes.reserve(lanes);
  std::vector<Lane> lane(args.size());
  for (size_t l = 0; l < lanes; l++) {
    for (size_t i = 0; i < args.size(); i++) {
      lane[i] = args[i].lanes.size() == 1 ? args[i].lanes[0] : args[i].lanes.at(l);
    }
    v.lanes.push_back(one_lane(e, lane));
  }
  return v;
}

LaneValues IrInterpreter::sum_matrix_products(const CallNode &call, Memo &memo) {
  const MatrixLanes lanes = matrix_lanes(call);
  const Type t = call.type.element_of();
  LaneValues sums = evaluate(call.args[0], memo);
  auto factors = [&](const Expr &e) {
    std::vector<Lane> wide;
    for (const Lane &l : evaluate(e, memo).lanes) {
      wide.push_back(lane_of_cast(t, e.type().element_of(), l));
    }
    return wide;
  };
  const std::vector<Lane> a = factors(call.args[1]), b = factors(call.args[2]);
  for (int i = 0; i < lanes.m; i++) {
    for (int j = 0; j < lanes.n; j++) {
      Lane &sum = sums.lanes[static_cast<size_t>(i * lanes.n + j)];
      for (int k = 0; k < lanes.k; k++) {
        const Lane x = a[static_cast<size_t>(lanes.of_a(i, k))];
        const Lane y = b[static_cast<size_t>(lanes.of_b(k, j))];
        sum = lane_of_binary(Op::Add, t, sum, lane_of_binary(Op::Mul, t, x, y));
      }
    }
  }
  return sums;
}

LaneValues IrInterpreter::required(const CallNode &call, Memo &memo) {
  for (const Lane &l : evaluate(call.args[0], memo).lanes) {
    if (!l.u) throw RuntimeError({"a requirement does not hold", "", "", {}});
  }
  return evaluate(call.args[1], memo);
}

Lane IrInterpreter::one_lane(const Expr &e, const std::vector<Lane> &args) {
  const Type from = e->args[0].type().element_of();
  switch (e->op) {
    case Op::Cast:
      return lane_of_cast(e.type().element_of(), from, args[0]);
    case Op::Reinterpret: {
      uint8_t bytes[8] = {};
      write_element(from, args[0], bytes);
      return read_element(e.type().element_of(), bytes);
    }
    case Op::Not:
      return Lane{.u = !args[0].u};
    case Op::Select:
      return args[0].u ? args[1] : args[2];
    case Op::Call:
      return lane_of_call(*as_call(e), args);
    default:
      return lane_of_binary(e->op, from, args[0], args[1]);
  }
}

LaneValues IrInterpreter::fact(const CallNode &call) {
  if (call.kind != CallKind::Intrinsic || call.args.empty())
    oracle_error("cannot call '" + call.name + "'");
  const Memory &m = memory(as_imm(call.args[0])->s);
  uint64_t v = 0;
  if (call.name == intrinsic::kBufferType) {
    v = static_cast<uint64_t>(m.type.code()) | static_cast<uint64_t>(m.type.bits()) << 8 | 1 << 16;
  } else if (call.name == intrinsic::kBufferDimensions) {
    v = m.dims.size();
  }
  return {call.type, {Lane{.u = v}}};
}

}  // namespace polyhalite
