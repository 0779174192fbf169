// The parser of loop IR's printed form; the grammar stands in text.h.
#include <cstring>
#include <map>

#include "codegen/ir/text.h"
#include "lang/ir/expr_text.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

class FunctionParser {
 public:
  FunctionParser(const std::string &text, const std::string &source)
      : tokens_(text, source), exprs_(tokens_, resolver()) {}

  Function parse() {
    tokens_.expect("func", "at the start of a function");
    function_.name = tokens_.expect_name("the function's name");
    tokens_.expect("(", "after the function's name");
    while (!tokens_.accept(")")) {
      if (!function_.args.empty()) tokens_.expect(",", "between arguments");
      parse_argument();
    }
    tokens_.expect("{", "before the function's body");
    while (tokens_.accept("constant")) parse_constant();
    function_.body = parse_rest_of_block();
    if (!tokens_.at_end()) {
      tokens_.fail("expected the end of the text after the function, found " +
                   tokens_.describe_next());
    }
    return std::move(function_);
  }

 private:
  NameResolver resolver() {
    NameResolver names;
    names.variable = [this](const std::string &name) -> Expr {
      auto it = variables_.find(name);
      if (it != variables_.end()) return it->second;
      return field(name);
    };
    names.param = [this](const std::string &name) -> Expr {
      auto it = variables_.find(name);
      return it == variables_.end() ? Expr() : it->second;
    };
    names.call = [this](const std::string &name, std::vector<Expr> args, int value_index) -> Expr {
      for (const auto &c : function_.constants) {
        if (c->name == name) return image_call(c->type(), name, std::move(args), c);
      }
      for (const FunctionArgument &a : function_.args) {
        if (a.name == name && a.is_buffer && !a.is_output) {
          return image_call(a.type, name, std::move(args), nullptr);
        }
      }
      auto it = buffers_.find(name);
      if (it == buffers_.end()) it = buffers_.find(name + "." + std::to_string(value_index));
      if (it == buffers_.end()) return Expr();
      return make_func_call(it->second, name, std::move(args), value_index);
    };
    names.buffer = [this](const std::string &name) {
      auto it = buffers_.find(name);
      return it == buffers_.end() ? Type() : it->second;
    };
    return names;
  }

  static Expr image_call(Type t, const std::string &name, std::vector<Expr> args,
                         std::shared_ptr<BufferContents> image) {
    auto n = std::make_shared<CallNode>(t, CallKind::Image, name, std::move(args));
    n->image = std::move(image);
    return Expr(std::shared_ptr<const ExprNode>(std::move(n)));
  }

  // "NAME.min.D" and its like, of a buffer argument; else undefined.
  Expr field(const std::string &name) const {
    for (const FunctionArgument &a : function_.args) {
      if (!a.is_buffer) continue;
      for (const char *what : {".min.", ".extent.", ".stride."}) {
        for (int d = 0; d < a.dimensions; d++) {
          if (name == a.name + what + std::to_string(d)) {
            return make_variable(Int(32), VariableKind::BufferField, name);
          }
        }
      }
    }
    return Expr();
  }

  Type parse_type_name() {
    const std::string word = tokens_.expect_name("a type");
    const Type t = parse_type(word);
    if (t.bits() == 0) tokens_.fail("'" + word + "' is no type");
    return t;
  }

  void parse_argument() {
    FunctionArgument a;
    a.name = tokens_.expect_name("an argument's name");
    tokens_.expect(":", "after the argument's name");
    a.is_output = tokens_.accept("output");
    a.is_buffer = a.is_output || tokens_.accept("input");
    a.type = parse_type_name();
    if (a.is_buffer) {
      tokens_.expect("[", "before the number of dimensions");
      a.dimensions = static_cast<int>(tokens_.expect_integer("the number of dimensions"));
      tokens_.expect("]", "after the number of dimensions");
      buffers_[a.name] = a.type;
    } else {
      variables_[a.name] = make_variable(a.type, VariableKind::Param, a.name);
    }
    function_.args.push_back(std::move(a));
  }

  void parse_constant() {
    auto c = std::make_shared<BufferContents>();
    c->name = tokens_.expect_name("the constant's name");
    tokens_.expect(":", "after the constant's name");
    const Type t = parse_type_name();
    tokens_.expect("[", "before the constant's dimensions");
    std::vector<polyhalite_dimension_t> dims;
    size_t elements = 1;
    while (!tokens_.accept("]")) {
      if (!dims.empty()) tokens_.expect(",", "between dimensions");
      polyhalite_dimension_t d{};
      tokens_.expect("(", "before a dimension");
      d.min = static_cast<int32_t>(tokens_.expect_integer("the dimension's min"));
      tokens_.expect(",", "after the dimension's min");
      d.extent = static_cast<int32_t>(tokens_.expect_integer("the dimension's extent"));
      tokens_.expect(",", "after the dimension's extent");
      d.stride = static_cast<int32_t>(tokens_.expect_integer("the dimension's stride"));
      tokens_.expect(")", "after a dimension");
      if (d.extent < 0 || d.stride < 0)
        tokens_.fail("a constant's extents and strides are not negative");
      elements *= static_cast<size_t>(d.extent);
      dims.push_back(d);
    }
    c->buf = runtime::Buffer<>(t, nullptr, dims);
    c->buf.allocate();
    std::memset(c->buf.raw_buffer()->begin(), 0, c->buf.size_in_bytes());
    tokens_.expect("=", "before the constant's values");
    tokens_.expect("{", "before the constant's values");
    std::vector<int32_t> at(dims.size(), 0);
    for (size_t i = 0; i < elements; i++) {
      if (i) tokens_.expect(",", "between the constant's values");
      const Expr value = exprs_.parse();
      if (value.type() != t || !is_const(value)) {
        tokens_.fail("a value of constant '" + c->name + "' is no constant " + t.to_string());
      }
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); d++) offset += int64_t{at[d]} * dims[d].stride;
      write_element(value, c->raw().host + offset * t.bytes());
      for (size_t d = 0; d < at.size() && ++at[d] == dims[d].extent; d++) at[d] = 0;
    }
    tokens_.expect("}", "after the constant's values");
    buffers_[c->name] = t;
    function_.constants.push_back(std::move(c));
  }

  static void write_element(const Expr &value, uint8_t *p) {
    int64_t i = 0;
    double f = 0;
    if (is_const_int(value, &i)) {
      std::memcpy(p, &i, static_cast<size_t>(value.type().bytes()));
    } else if (is_const_float(value, &f) && value.type().bits() == 32) {
      const float single = static_cast<float>(f);
      std::memcpy(p, &single, 4);
    } else {
      std::memcpy(p, &f, 8);
    }
  }

  Stmt parse_block(const char *context) {
    tokens_.expect("{", context);
    return parse_rest_of_block();
  }

  // Statements up to and with the closing brace. A let, an allocation or a place takes what follows
  // it.
  Stmt parse_rest_of_block() {
    std::vector<Stmt> stmts;
    while (!tokens_.accept("}")) {
      if (tokens_.accept("let")) {
        stmts.push_back(parse_let());
        return make_block(std::move(stmts));
      }
      if (tokens_.accept("allocate")) {
        stmts.push_back(parse_allocate());
        return make_block(std::move(stmts));
      }
      if (tokens_.accept("place")) {
        stmts.push_back(parse_place());
        return make_block(std::move(stmts));
      }
      stmts.push_back(parse_stmt());
    }
    return make_block(std::move(stmts));
  }

  // Binds `name` while `parse_body` runs.
  template <typename Map, typename Value, typename Body>
  Stmt in_scope(Map &map, const std::string &name, Value value, Body parse_body) {
    const auto outer = map.find(name);
    std::optional<Value> hidden;
    if (outer != map.end()) hidden = outer->second;
    map[name] = std::move(value);
    Stmt body = parse_body();
    if (hidden) {
      map[name] = *hidden;
    } else {
      map.erase(name);
    }
    return body;
  }

  Stmt parse_let() {
    const std::string name = tokens_.expect_name("the symbol's name");
    tokens_.expect("=", "after the symbol's name");
    const Expr value = exprs_.parse();
    Stmt body = in_scope(variables_, name, make_variable(value.type(), VariableKind::Symbol, name),
                         [&] { return parse_rest_of_block(); });
    return make_let_stmt(name, value, body);
  }

  Stmt parse_allocate() {
    const std::string name = tokens_.expect_name("the allocation's name");
    tokens_.expect(":", "after the allocation's name");
    const Type t = parse_type_name();
    std::vector<Expr> args;
    if (tokens_.accept("[")) {
      args.push_back(exprs_.parse());
      tokens_.expect("]", "after the number of elements");
    } else {
      tokens_.expect("(", "before the allocation's box");
      args = exprs_.parse_list(")");
    }
    std::vector<int> order = parse_order(args.size() / 2);
    Home home = Home::Auto;
    for (const Home h : {Home::Heap, Home::Stack, Home::Shared, Home::Mirrored, Home::Device,
                         Home::Block, Home::Thread}) {
      if (tokens_.accept(home_name(h))) home = h;
    }
    const bool is_ring = tokens_.accept("ring");
    const int ring = is_ring ? static_cast<int>(tokens_.expect_integer("the size of the ring")) : 0;
    Stmt body = in_scope(buffers_, name, t, [&] { return parse_rest_of_block(); });
    const Stmt out = make_allocate(name, t, std::move(args), home, body, std::move(order));
    return is_ring ? with_ring(out, ring) : out;
  }

  std::vector<int> parse_order(size_t dimensions) {
    std::vector<int> order;
    if (!tokens_.accept("order")) return order;
    for (size_t d = 0; d < dimensions; d++) {
      order.push_back(static_cast<int>(tokens_.expect_integer("the number of a dimension")));
    }
    return order;
  }

  Stmt parse_place() {
    const std::string name = tokens_.expect_name("the box's name");
    tokens_.expect(":", "after the box's name");
    const Type t = parse_type_name();
    tokens_.expect("(", "before the box");
    std::vector<Expr> box = exprs_.parse_list(")");
    std::vector<int> order = parse_order(box.size() / 2);
    tokens_.expect("in", "after the box");
    const std::string inside = tokens_.expect_name("an allocation");
    tokens_.expect("at", "after the allocation");
    const Expr at = exprs_.parse();
    Stmt body = in_scope(buffers_, name, t, [&] { return parse_rest_of_block(); });
    return make_place(name, t, std::move(box), inside, at, body, std::move(order));
  }

  Stmt parse_stmt() {
    if (tokens_.accept("{")) return parse_rest_of_block();
    if (tokens_.accept("for")) return parse_for();
    if (tokens_.accept("if")) {
      const Expr condition = exprs_.parse();
      Stmt then_case = parse_block("after the condition");
      Stmt else_case;
      if (tokens_.accept("else")) else_case = parse_block("after 'else'");
      return make_if(condition, then_case, else_case);
    }
    if (tokens_.accept("assert")) {
      const Expr condition = exprs_.parse();
      tokens_.expect("else", "after the asserted condition");
      return make_assert(condition, exprs_.parse());
    }
    if (tokens_.accept("evaluate")) return make_evaluate(exprs_.parse());
    if (tokens_.accept("fork")) return parse_fork();
    if (tokens_.accept("acquire")) return make_acquire(tokens_.expect_name("a semaphore"));
    if (tokens_.accept("release")) return make_release(tokens_.expect_name("a semaphore"));
    if (tokens_.at("memoize") && tokens_.peek(1).kind == Token::String) return parse_memoize();
    if (tokens_.at("atomic") && (tokens_.peek(1).text == "{" || tokens_.peek(1).text == "lanes")) {
      tokens_.next();
      const bool lanes_only = tokens_.accept("lanes");
      return make_atomic(parse_block("after 'atomic'"), lanes_only);
    }
    if (tokens_.at("profile") && tokens_.peek(1).text == "{") {
      tokens_.next();
      return make_profile(parse_block("after 'profile'"));
    }
    if (tokens_.accept("produce")) {
      const std::string name = tokens_.expect_name("the produced Func's name");
      return make_produce(name, parse_block("after the produced Func's name"));
    }
    if (tokens_.accept("kernel")) return parse_kernel();
    if (tokens_.accept("barrier")) return make_barrier();
    if (tokens_.accept("commit_copies")) return make_commit_copies();
    if (tokens_.accept("wait_copies")) {
      return make_wait_copies(
          static_cast<int>(tokens_.expect_integer("how many groups may go on")));
    }
    if (tokens_.accept("collective")) return parse_collective();
    for (const Transfer t :
         {Transfer::ToDevice, Transfer::ToHost, Transfer::DeviceDirty, Transfer::HostDirty}) {
      if (tokens_.accept(transfer_name(t)))
        return make_transfer(t, tokens_.expect_name("a buffer"));
    }
    if (tokens_.accept("stream")) return with_streams(parse_write(), true);
    if (tokens_.accept("async")) return with_async(parse_write());
    return parse_write();
  }

  // f[i if mask] = v    f(i) = v    f(i) = {v, w}
  Stmt parse_write() {
    const std::string name = tokens_.expect_name("a statement");
    if (tokens_.accept("[")) {
      const Expr index = exprs_.parse();
      Expr mask;
      if (tokens_.accept("if")) mask = exprs_.parse();
      tokens_.expect("]", "after the index");
      tokens_.expect("=", "after the stored element");
      return make_store(name, index, exprs_.parse(), mask);
    }
    tokens_.expect("(", "or '[' after the name of what is written");
    std::vector<Expr> indices = exprs_.parse_list(")");
    tokens_.expect("=", "after the provided element");
    if (tokens_.accept("{")) return make_provide(name, std::move(indices), exprs_.parse_list("}"));
    return make_provide(name, std::move(indices), {exprs_.parse()});
  }

  Stmt parse_memoize() {
    tokens_.next();
    const std::string name = tokens_.next().text;
    tokens_.expect("of", "after the name");
    std::vector<std::string> buffers;
    std::vector<Expr> sizes;
    do {
      buffers.push_back(tokens_.expect_name("a buffer"));
      if (!tokens_.accept("[")) continue;
      sizes.push_back(exprs_.parse());
      tokens_.expect("]", "after the size");
    } while (tokens_.accept(","));
    Expr eviction;
    if (tokens_.accept("evict")) eviction = exprs_.parse();
    tokens_.expect("by", "before what the values depend on");
    tokens_.expect("(", "before what the values depend on");
    std::vector<Expr> key = exprs_.parse_list(")");
    return make_memoize(name, std::move(buffers), std::move(sizes), eviction, std::move(key),
                        parse_block("before what is kept"));
  }

  Stmt parse_fork() {
    const std::string func = tokens_.expect_name("the produced Func's name");
    std::vector<std::string> semaphores;
    std::vector<Expr> counts;
    tokens_.expect("(", "before the fork's semaphores");
    while (!tokens_.accept(")")) {
      if (!semaphores.empty()) tokens_.expect(",", "between semaphores");
      semaphores.push_back(tokens_.expect_name("a semaphore"));
      tokens_.expect("=", "before the semaphore's count");
      counts.push_back(exprs_.parse());
    }
    Stmt producer = parse_block("before the producer");
    tokens_.expect("and", "before the consumer");
    return make_fork_stmt(func, std::move(semaphores), std::move(counts), producer,
                          parse_block("before the consumer"));
  }

  Stmt parse_kernel() {
    const std::string name = tokens_.expect_name("the kernel's name");
    tokens_.expect("threads", "after the kernel's name");
    tokens_.expect("(", "before the numbers of threads");
    std::vector<Expr> threads = exprs_.parse_list(")");
    if (threads.size() != 3) tokens_.fail("a kernel's threads are (x, y, z)");
    return make_kernel(name, std::move(threads), parse_block("before the kernel's loops"));
  }

  Stmt parse_collective() {
    const std::string instruction = tokens_.expect_name("an instruction");
    std::vector<std::string> buffers;
    std::vector<Expr> elements;
    tokens_.expect("(", "before the operands");
    while (!tokens_.accept(")")) {
      if (!buffers.empty()) tokens_.expect(",", "between operands");
      buffers.push_back(tokens_.expect_name("a buffer"));
      tokens_.expect("[", "before the operand's first element");
      elements.push_back(exprs_.parse());
      tokens_.expect("]", "after the operand's first element");
    }
    return make_collective(instruction, std::move(buffers), std::move(elements));
  }

  Stmt parse_for() {
    const std::string name = tokens_.expect_name("the loop's name");
    tokens_.expect("in", "after the loop's name");
    tokens_.expect("(", "before the loop's range");
    const std::vector<Expr> range = exprs_.parse_list(")");
    if (range.size() != 2) tokens_.fail("a loop's range is (min, extent)");
    LoopKind kind = LoopKind::Serial;
    for (LoopKind k : {LoopKind::Parallel, LoopKind::Vector, LoopKind::Unrolled, LoopKind::GpuBlock,
                       LoopKind::GpuThread, LoopKind::GpuLane}) {
      if (tokens_.accept(loop_kind_name(k))) kind = k;
    }
    Partition partition = Partition::Auto;
    if (tokens_.accept("partition")) {
      const std::string word = tokens_.expect_name("Never or Always");
      partition = word == "Never" ? Partition::Never : Partition::Always;
      if (word != partition_name(partition)) tokens_.fail_behind("expected Never or Always");
    }
    std::string instruction;
    if (tokens_.accept("tensor")) instruction = tokens_.expect_name("an instruction");
    Stmt body = in_scope(variables_, name, make_variable(Int(32), VariableKind::Loop, name),
                         [&] { return parse_block("before the loop's body"); });
    const Stmt loop = make_for(name, range[0], range[1], kind, body, partition);
    return instruction.empty() ? loop : with_instruction(loop, instruction);
  }

  TokenStream tokens_;
  std::map<std::string, Expr> variables_;
  std::map<std::string, Type> buffers_;
  Function function_;
  ExprParser exprs_;
};

}  // namespace

Function parse_function(const std::string &text, const std::string &name) {
  return FunctionParser(text, name).parse();
}

}  // namespace polyhalite
