#include "codegen/ir/text.h"

#include <cstring>
#include <set>
#include <sstream>

#include "lang/ir/expr_text.h"
#include "lang/ir/lexer.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

constexpr int64_t kPrintedElements = 1024;

// Names that would begin another statement stand in backquotes.
std::string name_text(const std::string &name) {
  static const std::set<std::string> kWords = {
      "for",       "allocate", "assert",     "else",           "evaluate",     "produce",
      "constant",  "place",    "fork",       "acquire",        "release",      "stream",
      "kernel",    "barrier",  "collective", "copy_to_device", "copy_to_host", "device_dirty",
      "host_dirty"};
  return kWords.count(name) ? "`" + name + "`" : quote_name(name);
}

class Printer {
 public:
  explicit Printer(std::ostream &os) : os_(os) {}

  void print_function(const Function &f) {
    os_ << "func " << name_text(f.name) << "(";
    for (size_t i = 0; i < f.args.size(); i++) {
      const FunctionArgument &a = f.args[i];
      os_ << (i ? ", " : "") << name_text(a.name) << ": ";
      if (a.is_buffer) os_ << (a.is_output ? "output " : "input ");
      os_ << a.type.to_string();
      if (a.is_buffer) os_ << "[" << a.dimensions << "]";
    }
    os_ << ") {\n";
    indent_++;
    for (const auto &c : f.constants) print_constant(*c);
    if (f.body.defined()) print_body(f.body);
    indent_--;
    os_ << "}\n";
  }

  // The statements of a block, or the one statement, a line each.
  void print_body(const Stmt &s) {
    if (s->kind != StmtKind::Block) return print(s);
    for (size_t i = 0; i < s->body.size(); i++) {
      const Stmt &b = s->body[i];
      const bool opens_scope =
          b->kind == StmtKind::Let || b->kind == StmtKind::Allocate || b->kind == StmtKind::Place;
      if (opens_scope && i + 1 < s->body.size()) {
        line() << "{\n";
        close(b, "}\n");
      } else {
        print(b);
      }
    }
  }

 private:
  std::ostream &line() { return os_ << std::string(2 * indent_, ' '); }

  // Prints what stands in an opened block, and its end.
  void close(const Stmt &body, const char *end) {
    indent_++;
    print_body(body);
    indent_--;
    line() << end;
  }

  void list(const std::vector<Expr> &exprs, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++) {
      if (i > begin) os_ << ", ";
      print_expr(os_, exprs[i]);
    }
  }

  static const char *manner(const Stmt &write) {
    return write->is_async ? "async " : write->streams ? "stream " : "";
  }

  void order(const Stmt &box) {
    if (!box->order.empty()) os_ << " order";
    for (int d : box->order) os_ << " " << d;
  }

  void print(const Stmt &s) {
    switch (s->kind) {
      case StmtKind::Block:
        return print_body(s);
      case StmtKind::For:
        line() << "for " << name_text(s->name) << " in (";
        list(s->args, 0, 2);
        os_ << ")";
        if (s->loop_kind != LoopKind::Serial) os_ << " " << loop_kind_name(s->loop_kind);
        if (s->partition != Partition::Auto) os_ << " partition " << partition_name(s->partition);
        if (!s->instruction.empty()) os_ << " tensor " << name_text(s->instruction);
        os_ << " {\n";
        return close(s->body[0], "}\n");
      case StmtKind::Let:
        line() << "let " << name_text(s->name) << " = ";
        print_expr(os_, s->args[0]);
        os_ << "\n";
        return print_body(s->body[0]);
      case StmtKind::Allocate: {
        const bool flat = s->args.size() == 1;
        line() << "allocate " << name_text(s->name) << ": " << s->type.to_string()
               << (flat ? "[" : "(");
        list(s->args, 0, s->args.size());
        os_ << (flat ? "]" : ")");
        order(s);
        if (s->home != Home::Auto) os_ << " " << home_name(s->home);
        if (s->ring > 0) os_ << " ring " << s->ring;
        os_ << "\n";
        return print_body(s->body[0]);
      }
      case StmtKind::Place:
        line() << "place " << name_text(s->name) << ": " << s->type.to_string() << "(";
        list(s->args, 0, s->args.size() - 1);
        os_ << ")";
        order(s);
        os_ << " in " << name_text(s->inside) << " at ";
        print_expr(os_, s->args.back());
        os_ << "\n";
        return print_body(s->body[0]);
      case StmtKind::Provide: {
        const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
        line() << manner(s) << name_text(s->name) << "(";
        list(s->args, 0, dims);
        os_ << (s->value_count == 1 ? ") = " : ") = {");
        list(s->args, dims, s->args.size());
        os_ << (s->value_count == 1 ? "\n" : "}\n");
        return;
      }
      case StmtKind::Store:
        line() << manner(s) << name_text(s->name) << "[";
        print_expr(os_, s->args[0]);
        if (s->args.size() > 2) {
          os_ << " if ";
          print_expr(os_, s->args[2]);
        }
        os_ << "] = ";
        print_expr(os_, s->args[1]);
        os_ << "\n";
        return;
      case StmtKind::If:
        line() << "if ";
        print_expr(os_, s->args[0]);
        os_ << " {\n";
        if (s->body.size() == 1) return close(s->body[0], "}\n");
        close(s->body[0], "} else {\n");
        return close(s->body[1], "}\n");
      case StmtKind::Assert:
        line() << "assert ";
        print_expr(os_, s->args[0]);
        os_ << " else ";
        print_expr(os_, s->args[1]);
        os_ << "\n";
        return;
      case StmtKind::Evaluate:
        line() << "evaluate ";
        print_expr(os_, s->args[0]);
        os_ << "\n";
        return;
      case StmtKind::Fork:
        line() << "fork " << name_text(s->name) << " (";
        for (size_t i = 0; i < s->semaphores.size(); i++) {
          os_ << (i ? ", " : "") << name_text(s->semaphores[i]) << " = ";
          print_expr(os_, s->args[i]);
        }
        os_ << ") {\n";
        close(s->body[0], "} and {\n");
        return close(s->body[1], "}\n");
      case StmtKind::Acquire:
        line() << "acquire " << name_text(s->name) << "\n";
        return;
      case StmtKind::Release:
        line() << "release " << name_text(s->name) << "\n";
        return;
      case StmtKind::Memoize: {
        // The sizes stand at the flat level only.
        const size_t buffers = s->buffers.size();
        const bool flat = s->is_sized;
        line() << "memoize " << quote_string(s->name) << " of ";
        for (size_t i = 0; i < buffers; i++) {
          os_ << (i ? ", " : "") << name_text(s->buffers[i]);
          if (!flat) continue;
          os_ << "[";
          print_expr(os_, s->args[i]);
          os_ << "]";
        }
        size_t next = flat ? buffers : 0;
        if (s->evicts) {
          os_ << " evict ";
          print_expr(os_, s->args[next++]);
        }
        os_ << " by (";
        list(s->args, next, s->args.size());
        os_ << ") {\n";
        return close(s->body[0], "}\n");
      }
      case StmtKind::Atomic:
        line() << (s->lanes_only ? "atomic lanes {\n" : "atomic {\n");
        return close(s->body[0], "}\n");
      case StmtKind::Profile:
        line() << "profile {\n";
        return close(s->body[0], "}\n");
      case StmtKind::Kernel:
        line() << "kernel " << name_text(s->name) << " threads (";
        list(s->args, 0, s->args.size());
        os_ << ") {\n";
        return close(s->body[0], "}\n");
      case StmtKind::Barrier:
        line() << "barrier\n";
        return;
      case StmtKind::CommitCopies:
        line() << "commit_copies\n";
        return;
      case StmtKind::WaitCopies:
        line() << "wait_copies ";
        print_expr(os_, s->args[0]);
        os_ << "\n";
        return;
      case StmtKind::Collective:
        line() << "collective " << name_text(s->name) << " (";
        for (size_t i = 0; i < s->buffers.size(); i++) {
          os_ << (i ? ", " : "") << name_text(s->buffers[i]) << "[";
          print_expr(os_, s->args[i]);
          os_ << "]";
        }
        os_ << ")\n";
        return;
      case StmtKind::Transfer:
        line() << transfer_name(s->transfer) << " " << name_text(s->name) << "\n";
        return;
      case StmtKind::Produce:
        line() << "produce " << name_text(s->name) << " {\n";
        return close(s->body[0], "}\n");
    }
  }

  void print_constant(const BufferContents &c) {
    line() << "constant " << name_text(c.name) << ": " << c.type().to_string() << "[";
    const std::vector<polyhalite_dimension_t> dims = c.dims();
    int64_t elements = 1;
    for (size_t d = 0; d < dims.size(); d++) {
      const polyhalite_dimension_t &dim = dims[d];
      os_ << (d ? ", (" : "(") << dim.min << ", " << dim.extent << ", " << dim.stride << ")";
      elements *= dim.extent;
    }
    os_ << "] = {";
    if (elements > kPrintedElements) {
      os_ << "...";
    } else {
      std::vector<int32_t> at(dims.size(), 0);
      for (int64_t i = 0; i < elements; i++) {
        if (i) os_ << ", ";
        print_expr(os_, element(c, at.data()));
        for (size_t d = 0; d < at.size() && ++at[d] == dims[d].extent; d++) at[d] = 0;
      }
    }
    os_ << "}\n";
  }

  static Expr element(const BufferContents &c, const int32_t *indices) {
    const Type t = c.type();
    int64_t offset = 0;
    for (int d = 0; d < c.dimensions(); d++) offset += int64_t{indices[d]} * c.buf.stride(d);
    const uint8_t *p = c.raw().host + offset * t.bytes();
    if (t == Float(32)) {
      float v;
      std::memcpy(&v, p, 4);
      return make_float(t, v);
    }
    if (t == Float(64)) {
      double v;
      std::memcpy(&v, p, 8);
      return make_float(t, v);
    }
    uint64_t v = 0;
    std::memcpy(&v, p, static_cast<size_t>(t.bytes()));
    return make_int(t, static_cast<int64_t>(v));  // wraps to the type's width
  }

  std::ostream &os_;
  int indent_ = 0;
};

}  // namespace

std::string to_text(const Function &f) {
  std::ostringstream os;
  Printer(os).print_function(f);
  return os.str();
}

std::string to_text(const Stmt &s) {
  std::ostringstream os;
  Printer(os).print_body(s);
  return os.str();
}

}  // namespace polyhalite
