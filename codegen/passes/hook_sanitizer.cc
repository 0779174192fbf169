#include "codegen/passes/hook_sanitizer.h"

#include <vector>

#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

Stmt call_runtime(const char *name, const FunctionArgument &buffer, bool with_name) {
  const Expr text = make_string(buffer.name);
  std::vector<Expr> args = {make_intrinsic(Handle(), intrinsic::kBufferPointer, {text})};
  if (with_name) args.push_back(text);
  return make_evaluate(extern_call_node(Int(32), name, std::move(args)));
}

// The views of extern stages' arguments: those of `produced` are what the stage's function writes.
class MarkViews {
 public:
  explicit MarkViews(const Function &f) : function_(f) {}

  Stmt stmt(const Stmt &s, const std::string &produced) {
    const CallNode *call = s->kind == StmtKind::Evaluate ? as_call(s->args[0]) : nullptr;
    if (call && call->kind == CallKind::Extern && call->name == intrinsic::kExternStage) {
      std::vector<Expr> args;
      for (const Expr &a : call->args) args.push_back(marked(a, produced));
      return make_evaluate(extern_call_node(call->type, intrinsic::kExternStage, std::move(args)));
    }
    const std::string &inside = s->kind == StmtKind::Produce ? s->name : produced;
    std::vector<Stmt> body;
    for (const Stmt &b : s->body) body.push_back(stmt(b, inside));
    return with_parts(s, s->args, std::move(body));
  }

 private:
  Expr marked(const Expr &e, const std::string &produced) const {
    const CallNode *view = as_call(e);
    if (!view || view->kind != CallKind::Extern || view->name != intrinsic::kBufferView) return e;
    const std::string &buffer = as_load(view->args[0])->buffer;
    const bool is_result =
        buffer == produced || buffer.compare(0, produced.size() + 1, produced + ".") == 0;
    if (is_result) return extern_call_node(Handle(), intrinsic::kCheckedBuffer, {e});
    // What the caller's inputs hold is the caller's.
    for (const FunctionArgument &a : function_.args) {
      if (a.name == buffer && !a.is_output) return e;
    }
    return extern_call_node(Handle(), intrinsic::kWrittenBuffer, {e});
  }

  const Function &function_;
};

}  // namespace

Function hook_sanitizer(const Function &f, const Target &target) {
  if (!target.has_feature(Target::MSAN) || !f.body.defined()) return f;
  std::vector<Stmt> before, after, all;
  for (const FunctionArgument &a : f.args) {
    if (!a.is_buffer) continue;
    if (a.is_output) {
      after.push_back(call_runtime("polyhalite_msan_annotate_buffer_is_initialized", a, false));
    } else {
      before.push_back(call_runtime("polyhalite_msan_check_argument", a, true));
    }
  }
  // Behind the first asserts, which tell that buffers are there and of which shape.
  const Stmt body = MarkViews(f).stmt(f.body, "");
  const std::vector<Stmt> parts = body->kind == StmtKind::Block ? body->body : std::vector{body};
  size_t i = 0;
  for (; i < parts.size() && parts[i]->kind == StmtKind::Assert; i++) all.push_back(parts[i]);
  all.insert(all.end(), before.begin(), before.end());
  all.insert(all.end(), parts.begin() + static_cast<std::ptrdiff_t>(i), parts.end());
  all.insert(all.end(), after.begin(), after.end());
  Function out = f;
  out.body = make_block(std::move(all));
  return out;
}

}  // namespace polyhalite
