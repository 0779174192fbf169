#include <algorithm>
#include <cctype>

#include "codegen/c_source/c_writer.h"
#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

CWriter::CWriter(const Function &f, const Filter &filter) : function_(f), filter_(filter) {
  push();
  // Callers may know outputs by other names. A context stands in front.
  const size_t first = filter.arguments.size() - f.args.size();
  for (size_t i = 0; i < f.args.size(); i++) {
    const FunctionArgument &a = f.args[i];
    const std::string parameter = c_identifier(filter.arguments[first + i].name);
    if (a.is_buffer) {
      arguments_[a.name] = parameter + "_buffer";
    } else if (a.type.is_handle()) {
      names_[a.name] = "const_cast<void *>(static_cast<const volatile void *>(" + parameter + "))";
    } else {
      names_[a.name] = parameter;
    }
  }
}

std::string CWriter::write() {
  stmt(function_.body);
  line("return 0;");
  return out_;
}

std::string CWriter::declarations() const {
  std::string text;
  for (const auto &[name, declaration] : declared_) text += "extern \"C\" " + declaration + ";\n";
  return text + (text.empty() ? "" : "\n");
}

std::string CWriter::fresh(const std::string &what) {
  return c_identifier(what) + "_" + std::to_string(count_++);
}

std::string CWriter::keep(const std::string &type, const std::string &text) {
  const std::string name = "t" + std::to_string(count_++);
  line(type + " const " + name + " = " + text + ";");
  return name;
}

std::string CWriter::bind(const std::string &name) {
  const std::string identifier = fresh(name);
  const auto known = names_.find(name);
  scopes_.back().hidden[name] = known == names_.end() ? "" : known->second;
  names_[name] = identifier;
  return identifier;
}

void CWriter::pop() {
  for (const auto &[name, before] : scopes_.back().hidden) {
    if (before.empty()) {
      names_.erase(name);
    } else {
      names_[name] = before;
    }
  }
  scopes_.pop_back();
}

void CWriter::block(const Stmt &s) {
  push();
  stmt(s);
  pop();
}

void CWriter::stmt(const Stmt &s) {
  // What an expression's value was before a statement need not be so behind it.
  const bool binds = s->kind == StmtKind::Let || s->kind == StmtKind::Block;
  if (!binds) push();
  switch (s->kind) {
    case StmtKind::Block:
      for (const Stmt &part : s->body) stmt(part);
      break;
    case StmtKind::For:
      loop(*s);
      break;
    case StmtKind::Let: {
      open("{");
      push();
      const std::string v = value(s->args[0]);
      const std::string type = c_value_type(s->args[0].type());
      const std::string name = bind(s->name);
      line(type + " const " + name + " = " + v + ";");
      stmt(s->body[0]);
      pop();
      close();
      break;
    }
    case StmtKind::Allocate:
      allocate(*s);
      break;
    case StmtKind::Store:
      store(*s);
      break;
    case StmtKind::If:
      open("if (" + value(s->args[0]) + ") {");
      block(s->body[0]);
      if (s->body.size() > 1) {
        close("} else {");
        indent_++;
        block(s->body[1]);
      }
      close();
      break;
    case StmtKind::Assert:
      open("if (!(" + value(s->args[0]) + ")) {");
      line("return " + value(s->args[1]) + ";");
      close();
      break;
    case StmtKind::Evaluate:
      line("(void)(" + value(s->args[0]) + ");");
      break;
    case StmtKind::Produce:
      line("// produces " + s->name);
      stmt(s->body[0]);
      break;
    case StmtKind::Profile:
      stmt(s->body[0]);
      break;
    case StmtKind::Fork:
      fork(*s);
      break;
    case StmtKind::Acquire:
      line("if (int code = polyhalite_semaphore_acquire(&" + names_.at(s->name) +
           ")) return code;");
      break;
    case StmtKind::Release:
      line("polyhalite_semaphore_release(&" + names_.at(s->name) + ");");
      break;
    case StmtKind::Memoize:
      memoize(*s);
      break;
    case StmtKind::Atomic:
      atomic(*s);
      break;
    case StmtKind::Kernel:
    case StmtKind::Barrier:
    case StmtKind::CommitCopies:
    case StmtKind::WaitCopies:
    case StmtKind::Collective:
    case StmtKind::Transfer:
      user_error("there is no C source of a pipeline with kernels",
                 "some stage runs on a GPU, whose code is PTX",
                 "emit an object or ptx, or keep all stages on the host");
    case StmtKind::Provide:
    case StmtKind::Place:
      internal_check(false, "flat loop IR has no boxes");
  }
  if (!binds) pop();
}

void CWriter::closure(const std::string &name, const std::string &counter, const Stmt &body) {
  push();
  const std::string parameter = counter.empty() ? "int" : "int " + bind(counter);
  open("auto " + name + " = [&](" + parameter + ") -> int {");
  stmt(body);
  line("return 0;");
  close("};");
  pop();
}

void CWriter::loop(const StmtNode &s) {
  const std::string first = value(s.args[0]), count = value(s.args[1]);
  if (s.loop_kind == LoopKind::Parallel) {
    const std::string task = fresh("task");
    open("{");
    closure(task, s.name, s.body[0]);
    line("if (int code = polyhalite_do_par_for(ph_context, ph_task<decltype(" + task + ")>, " +
         first + ", " + count + ", ph_closure(" + task + "))) return code;");
    close();
    return;
  }
  push();
  const std::string name = bind(s.name);
  open("for (int32_t " + name + " = " + first + ", " + name + "_left = " + count + "; " + name +
       "_left > 0; " + name + "++, " + name + "_left--) {");
  stmt(s.body[0]);
  close();
  pop();
}

void CWriter::allocate(const StmtNode &s) {
  const std::string type = c_element_type(s.type);
  int64_t elements = 0;
  const bool on_stack = s.home == Home::Stack && is_const_int(s.args[0], &elements);
  const std::string count = on_stack ? "" : value(s.args[0]);
  open("{");
  push();
  const std::string name = bind(s.name);
  if (on_stack) {
    line("alignas(64) " + type + " " + name + "[" + std::to_string(std::max<int64_t>(elements, 1)) +
         "];");
  } else {
    line("const int64_t " + name + "_bytes = ph_bytes(" + count + ", " +
         std::to_string(s.type.bytes()) + ");");
    line("const Memory " + name + "_memory(ph_context, " + name + "_bytes);");
    line("if (!" + name + "_memory.pointer) return polyhalite_error_out_of_memory(ph_context, " +
         c_string(function_.name) + ", " + c_string(s.name) + ", " + name + "_bytes);");
    line(type + " *const " + name + " = static_cast<" + type + " *>(" + name + "_memory.pointer);");
  }
  stmt(s.body[0]);
  pop();
  close();
}

void CWriter::store(const StmtNode &s) {
  const Type t = s.args[1].type();
  std::string v = value(s.args[1]);
  if (t.is_handle()) v = "reinterpret_cast<uintptr_t>(" + v + ")";
  const bool masked = s.args.size() > 2 && !is_true(s.args[2]);
  const std::string mask = masked ? "if (" + value(s.args[2]) + ") " : "";
  line(mask + element(s.name, t, s.args[0]) + " = " + v + ";");
}

std::string CWriter::elements(const std::string &buffer, Type t, bool is_const) {
  const std::string type = (is_const ? "const " : "") + c_element_type(t);
  const auto argument = arguments_.find(buffer);
  if (argument != arguments_.end()) return "((" + type + " *)" + argument->second + "->host)";
  const auto own = names_.find(buffer);
  if (own != names_.end()) return own->second;
  return "((" + type + " *)" + c_identifier(buffer) + "_data)";
}

std::string CWriter::element(const std::string &buffer, Type t, const Expr &index) {
  const std::string at = value(index);
  return elements(buffer, t.element_of(), false) + "[" + at + "]";
}

void CWriter::fork(const StmtNode &s) {
  open("{");
  push();
  std::string list;
  std::vector<std::string> counts;
  for (const Expr &e : s.args) counts.push_back(value(e));
  for (size_t i = 0; i < s.semaphores.size(); i++) {
    const std::string name = bind(s.semaphores[i]);
    line("polyhalite_semaphore_t " + name + ";");
    line("polyhalite_semaphore_init(&" + name + ", " + counts[i] + ");");
    list += (i ? ", &" : "&") + name;
  }
  const std::string both = fresh("tasks"), first = fresh("producer"), second = fresh("consumer");
  closure(first, "", s.body[0]);
  closure(second, "", s.body[1]);
  line("auto " + both + " = [&](int which) -> int { return which == 0 ? " + first +
       "(0) : " + second + "(1); };");
  const std::string task = "ph_task<decltype(" + both + ")>";
  line("polyhalite_semaphore_t *const " + both + "_wait[] = {" + (list.empty() ? "nullptr" : list) +
       "};");
  line("if (int code = polyhalite_do_fork(ph_context, " + task + ", " + task + ", ph_closure(" +
       both + "), " + both + "_wait, " + std::to_string(s.semaphores.size()) + ")) return code;");
  pop();
  close();
}

void CWriter::memoize(const StmtNode &s) {
  const size_t count = s.buffers.size(), first = count + (s.evicts ? 1 : 0);
  open("{");
  push();
  const std::string key = fresh("key"),
                    bytes = std::to_string(8 * (s.args.size() - first) + s.name.size());
  line("uint8_t " + key + "[" + bytes + "];");
  for (size_t i = first; i < s.args.size(); i++) {
    line("ph_put(" + key + " + " + std::to_string(8 * (i - first)) + ", ph_bits(" +
         value(s.args[i]) + "));");
  }
  line("std::memcpy(" + key + " + " + std::to_string(8 * (s.args.size() - first)) + ", " +
       c_string(s.name) + ", " + std::to_string(s.name.size()) + ");");
  std::string blocks, sizes;
  for (size_t i = 0; i < count; i++) {
    blocks += (i ? ", " : "") + std::string("(uint8_t *)") + names_.at(s.buffers[i]);
    sizes += (i ? ", int64_t(" : "int64_t(") + value(s.args[i]) + ")";
  }
  line("uint8_t *const " + key + "_blocks[] = {" + blocks + "};");
  line("const int64_t " + key + "_sizes[] = {" + sizes + "};");
  const std::string entry = "ph_context, " + key + ", " + bytes + ", " + std::to_string(count) +
                            ", " + key + "_blocks, " + key + "_sizes";
  open("if (polyhalite_memoization_cache_lookup(" + entry + ") != 0) {");
  block(s.body[0]);
  line("polyhalite_memoization_cache_store(" + entry + ", " + (s.evicts ? "1" : "0") + ", " +
       (s.evicts ? "ph_bits(" + value(s.args[count]) + ")" : "0") + ");");
  close();
  pop();
  close();
}

// Any cell of the update will do for the lock: all iterations that meet in one meet in all.
void CWriter::atomic(const StmtNode &s) {
  const StmtNode *first = nullptr;
  std::set<std::string> inside;
  for_each_stmt(s.body[0], [&](const Stmt &b) {
    if (b->kind == StmtKind::Let || b->kind == StmtKind::For) inside.insert(b->name);
    if (b->kind == StmtKind::Store && !first) first = b.get();
  });
  if (!first) return stmt(s.body[0]);
  bool known = true;
  for (const std::string &name : inside) known = known && !uses_variable(first->args[0], name);
  const Type t = first->args[1].type();
  const std::string cell =
      keep("const void *",
           known ? "&" + element(first->name, t, first->args[0]) : elements(first->name, t, false));
  line("polyhalite_atomic_begin(" + cell + ");");
  block(s.body[0]);
  line("polyhalite_atomic_end(" + cell + ");");
}

}  // namespace polyhalite
