#include "codegen/passes/interleaved_stores.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

class InterleavedStores {
 public:
  InterleavedStores(const Stmt &loop, int64_t n) : loop_(loop), n_(n) {}

  // Undefined where the loop is of no such form.
  Stmt operator()() {
    Stmt body = loop_->body[0];
    for (; body->kind == StmtKind::Let; body = body->body[0]) {
      lets_.emplace_back(body->name, body->args[0]);
    }
    stores_ = body->kind == StmtKind::Block ? body->body : std::vector<Stmt>{body};
    std::set<std::string> stored;
    for (const Stmt &s : stores_) {
      if (s->kind != StmtKind::Store || s->args.size() > 2) return Stmt();
      stored.insert(s->name);
    }
    // One more store to a buffer could be to the cells of another iteration.
    if (stored.size() != stores_.size()) return Stmt();
    for (const auto &let : lets_) {
      if (reads(let.second, stored)) return Stmt();
    }
    int64_t m = 0;
    for (const Stmt &s : stores_) {
      const int64_t own = together(s->args[0]);
      if (own == 0 || (m > 0 && own != m) || reads(s->args[1], stored)) return Stmt();
      m = own;
    }
    std::vector<Stmt> all;
    for (int64_t i = 0; i < n_; i += m) all.push_back(stores_of(i, m));
    return make_block(std::move(all));
  }

 private:
  static bool reads(const Expr &e, const std::set<std::string> &buffers) {
    bool found = false;
    for_each_node(e, [&](const Expr &x) {
      const LoadNode *load = as_load(x);
      const CallNode *call = as_call(x);
      found |= (load && buffers.count(load->buffer)) || (call && call->kind == CallKind::Extern);
    });
    return found;
  }

  Expr at(const Expr &e, int64_t i) const {
    const Expr counter = simplify(make_binary(Op::Add, loop_->args[0], make_int(Int(32), i)));
    return simplify(substitute(loop_->name, counter, e));
  }

  // How many vectors at such an index are turned at once: all that fill the stride, or a power of
  // two of them. 0 where they do not lie between one another.
  int64_t together(const Expr &index) const {
    constexpr int64_t kMostThatFill = 8, kMost = 16, kLeast = 4;
    int64_t stride, gap;
    if (n_ < 2 || index->op != Op::Ramp || !index->args[0].type().is_scalar() ||
        !is_const_int(index->args[1], &stride) || stride < n_) {
      return 0;
    }
    for (const auto &let : lets_) {
      if (uses_variable(index, let.first)) return 0;
    }
    const Expr &first = index->args[0];
    const Expr next = simplify(make_binary(Op::Sub, at(first, 1), at(first, 0)));
    if (!is_const_int(next, &gap) || gap != 1) return 0;
    if (n_ == stride && n_ <= kMostThatFill) return n_;
    for (int64_t m = kMost; m >= kLeast; m /= 2) {
      if (n_ % m == 0) return m;
    }
    return 0;
  }

  // What m iterations from i on store.
  Stmt stores_of(int64_t i, int64_t m) const {
    Lets lets;
    std::vector<std::vector<Expr>> values(stores_.size());
    for (int64_t k = i; k < i + m; k++) {
      std::vector<std::pair<std::string, Expr>> own;
      const auto with_own = [&](Expr e) {
        for (const auto &[name, symbol] : own) e = substitute(name, symbol, e);
        return at(e, k);
      };
      for (const auto &[name, value] : lets_) {
        lets.emplace_back(name + ".of." + std::to_string(k), with_own(value));
        own.emplace_back(name,
                         make_variable(value.type(), VariableKind::Symbol, lets.back().first));
      }
      for (size_t s = 0; s < stores_.size(); s++) {
        values[s].push_back(with_own(stores_[s]->args[1]));
      }
    }
    std::vector<Stmt> all;
    for (size_t s = 0; s < stores_.size(); s++) {
      const Expr &index = stores_[s]->args[0], &stride = index->args[1];
      int64_t step = 0;
      is_const_int(stride, &step);
      const Expr first = at(index->args[0], i), one = make_one(first.type());
      const int lanes = index.type().lanes(), rows = static_cast<int>(m);
      std::vector<int> order;
      for (int lane = 0; lane < lanes; lane++) {
        for (int row = 0; row < rows; row++) order.push_back(row * lanes + lane);
      }
      const Expr cells =
          step == m ? make_ramp(first, one, rows * lanes)
                    : make_ramp(make_ramp(first, one, rows), make_broadcast(stride, rows), lanes);
      const Expr turned(std::make_shared<const ShuffleNode>(values[s], std::move(order)));
      all.push_back(written_as(stores_[s], make_store(stores_[s]->name, cells, turned)));
    }
    return make_let_stmts(lets, make_block(std::move(all)));
  }

  const Stmt loop_;
  const int64_t n_;
  Lets lets_;
  std::vector<Stmt> stores_;
};

}  // namespace

Stmt interleaved_stores(const Stmt &loop, int64_t n) { return InterleavedStores(loop, n)(); }

}  // namespace polyhalite
