// What names and expression nodes stand for at the point of emission: nested scopes of bindings and
// of values that are already there.
#pragma once

#include <llvm/IR/Value.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/llvm/address.h"

namespace polyhalite {

struct Binding {
  llvm::Value *value = nullptr;  // of the variable's type
  llvm::Value *wide = nullptr;   // Int(32) and Int(64) scalars: the same in 64 bits
  int depth = 0;                 // of the innermost loop that the value depends on
  Expr definition;               // of a Symbol, else null
};

/// A part of an address that is already computed.
struct PointerKey {
  std::string buffer;
  std::vector<std::pair<Monomial, int64_t>> terms;
  bool operator<(const PointerKey &o) const;
};

/// A value emitted for a node; one that reads memory holds until the next write.
struct KnownValue {
  llvm::Value *value = nullptr;
  int64_t epoch = kPure;
  static constexpr int64_t kPure = -1;
};

class Scopes {
 public:
  Scopes() { push(); }
  void push() { scopes_.emplace_back(); }
  void pop() { scopes_.pop_back(); }

  /// Where the name is bound already, values of nodes that use the outer binding are forgotten
  /// until the scope ends.
  void bind(const std::string &name, Binding binding);
  /// In the outermost scope: for names that no scope shadows.
  void bind_outermost(const std::string &name, Binding binding);
  const Binding *find(const std::string &name) const;

  struct NodeKey {
    const ExprNode *node;
    bool strict;
    bool wide;
    bool operator==(const NodeKey &o) const {
      return node == o.node && strict == o.strict && wide == o.wide;
    }
  };
  llvm::Value *known(const NodeKey &key) const;
  void remember(const NodeKey &key, llvm::Value *value, bool reads_memory);
  /// A write: values that read memory are no longer known.
  void memory_changed() { epoch_++; }

  llvm::Value *known_pointer(const PointerKey &key) const;
  void remember_pointer(PointerKey key, llvm::Value *value);

 private:
  struct NodeHash {
    size_t operator()(const NodeKey &k) const {
      return std::hash<const void *>()(k.node) * 4 + (k.strict ? 2 : 0) + (k.wide ? 1 : 0);
    }
  };
  struct Scope {
    bool opaque = false;  // shadows a name: nothing further out may be reused
    std::unordered_map<std::string, Binding> bindings;
    std::unordered_map<NodeKey, KnownValue, NodeHash> values;
    std::map<PointerKey, llvm::Value *> pointers;
  };
  std::vector<Scope> scopes_;
  int64_t epoch_ = 0;
};

}  // namespace polyhalite
