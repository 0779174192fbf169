#include "codegen/llvm/scope.h"

namespace polyhalite {

bool PointerKey::operator<(const PointerKey &o) const {
  if (buffer != o.buffer) return buffer < o.buffer;
  if (terms.size() != o.terms.size()) return terms.size() < o.terms.size();
  MonomialLess less;
  for (size_t i = 0; i < terms.size(); i++) {
    if (terms[i].second != o.terms[i].second) return terms[i].second < o.terms[i].second;
    if (less(terms[i].first, o.terms[i].first)) return true;
    if (less(o.terms[i].first, terms[i].first)) return false;
  }
  return false;
}

void Scopes::bind(const std::string &name, Binding binding) {
  if (find(name)) scopes_.back().opaque = true;
  scopes_.back().bindings[name] = std::move(binding);
}

void Scopes::bind_outermost(const std::string &name, Binding binding) {
  scopes_.front().bindings[name] = std::move(binding);
}

const Binding *Scopes::find(const std::string &name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto at = scope->bindings.find(name);
    if (at != scope->bindings.end()) return &at->second;
  }
  return nullptr;
}

llvm::Value *Scopes::known(const NodeKey &key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto at = scope->values.find(key);
    if (at != scope->values.end() &&
        (at->second.epoch == KnownValue::kPure || at->second.epoch == epoch_)) {
      return at->second.value;
    }
    if (scope->opaque) break;
  }
  return nullptr;
}

void Scopes::remember(const NodeKey &key, llvm::Value *value, bool reads_memory) {
  scopes_.back().values[key] = {value, reads_memory ? epoch_ : KnownValue::kPure};
}

llvm::Value *Scopes::known_pointer(const PointerKey &key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    auto at = scope->pointers.find(key);
    if (at != scope->pointers.end()) return at->second;
    if (scope->opaque) break;
  }
  return nullptr;
}

void Scopes::remember_pointer(PointerKey key, llvm::Value *value) {
  scopes_.back().pointers[std::move(key)] = value;
}

}  // namespace polyhalite
