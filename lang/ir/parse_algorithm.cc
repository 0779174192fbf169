#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/text.h"
#include "lang/ir/unowned.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

void write_element(const Expr &e, uint8_t *at) {
  const Type t = e.type();
  const ImmNode &imm = *as_imm(e);
  if (t.is_float() && t.bits() == 64) {
    std::memcpy(at, &imm.f, sizeof imm.f);
  } else if (t.is_float()) {
    const float f = static_cast<float>(imm.f);
    std::memcpy(at, &f, sizeof f);
  } else {
    const uint64_t bits = t.is_int() ? static_cast<uint64_t>(imm.i) : imm.u;
    std::memcpy(at, &bits, t.bytes());
  }
}

class AlgorithmParser {
 public:
  AlgorithmParser(const std::string &text, const std::string &source) : tokens_(text, source) {}

  Algorithm run() {
    tokens_.expect("algorithm", "first");
    const int64_t version = tokens_.expect_integer("the version of the text");
    if (version != 1) {
      tokens_.fail_behind(
          "version " + std::to_string(version) + " of the algorithm's text is not known",
          "this library reads version 1");
    }
    while (!tokens_.at_end()) {
      if (!tokens_.peek().starts_line) {
        tokens_.fail("expected the end of the line, found " + tokens_.describe_next());
      }
      parse_line();
    }
    if (result_.outputs.empty()) {
      tokens_.fail("the algorithm has no output", "", "end it with 'output NAME'");
    }
    return std::move(result_);
  }

 private:
  void parse_line() {
    const bool named = tokens_.peek(1).kind == Token::Name;
    if (named && tokens_.accept("param")) return parse_scalar();
    if (named && tokens_.accept("image")) return parse_image();
    if (named && tokens_.accept("constant")) return parse_constant();
    if (named && tokens_.accept("output")) return parse_outputs();
    if (named && tokens_.accept("buffer")) return parse_output_buffer();
    if (named && tokens_.accept("requirement")) return parse_requirement();
    if (named && tokens_.accept("estimates")) return parse_estimates();
    parse_definition();
  }

  // -- Declarations

  Type parse_declared_type() {
    tokens_.expect(":", "before the type");
    const Type t = parse_type(tokens_.peek().text);
    if (t.bits() == 0 || t.is_vector()) {
      tokens_.fail("expected a scalar type, found " + tokens_.describe_next());
    }
    tokens_.next();
    return t;
  }

  std::string parse_new_name(const char *what) {
    const std::string name = tokens_.peek().text;
    if (result_.find(name) || find_input(name) || constants_.count(name)) {
      tokens_.fail(in_quotes(name) + " is declared twice");
    }
    return tokens_.expect_name(what);
  }

  Expr parse_typed(Type t, const NameResolver &names) {
    const SourceLocation where = tokens_.where();
    Expr e = ExprParser(tokens_, names).parse();
    if (e.type() != t) {
      user_error(
          "expected a value of type " + t.to_string() + ", found one of " + e.type().to_string(),
          "", "", where);
    }
    return e;
  }

  void parse_scalar() {
    auto p = std::make_shared<ParameterContents>();
    p->name = parse_new_name("the parameter's name");
    p->type = parse_declared_type();
    while (tokens_.accept(",")) {
      if (tokens_.accept("pointee")) {
        parse_pointee(p->type);
        continue;
      }
      Expr *field = tokens_.accept("min")        ? &p->min_value
                    : tokens_.accept("max")      ? &p->max_value
                    : tokens_.accept("estimate") ? &p->estimate
                    : tokens_.accept("default")  ? &p->default_value
                                                 : nullptr;
      if (!field) {
        tokens_.fail("expected pointee, min, max, estimate or default, found " +
                     tokens_.describe_next());
      }
      *field = parse_typed(p->type, names(nullptr));
    }
    result_.inputs.push_back({p});
  }

  // What a pointer points to: "const struct a::b".
  void parse_pointee(Type &t) {
    const Pointee *found = tokens_.peek().kind == Token::String && t.is_handle()
                               ? Pointee::parse(tokens_.peek().text)
                               : nullptr;
    if (!found) {
      tokens_.fail("expected what a handle points to, as in \"const float\", found " +
                   tokens_.describe_next());
    }
    tokens_.next();
    t = Handle(1, found);
  }

  void parse_image() {
    auto p = std::make_shared<ParameterContents>();
    p->name = parse_new_name("the image's name");
    p->is_buffer = true;
    p->type = parse_declared_type();
    tokens_.expect(",", "before the number of dimensions");
    const int64_t dimensions = tokens_.expect_integer("the number of dimensions");
    if (dimensions < 0 || dimensions > 64) {
      tokens_.fail_behind("an image of " + std::to_string(dimensions) + " dimensions");
    }
    p->dimensions = static_cast<int>(dimensions);
    p->dims.resize(p->dimensions);
    result_.inputs.push_back({p});
    parse_image_fields(*p);
    disown_itself(*p);
  }

  void parse_requirement() {
    const SourceLocation where = tokens_.where();
    const Expr e = ExprParser(tokens_, names(nullptr)).parse();
    if (!as_intrinsic(e, intrinsic::kRequire)) {
      user_error("a requirement that is no call of require", "", "write intrinsic<T>(require, ...)",
                 where);
    }
    result_.requirements.push_back(e);
  }

  // What set_estimate says of a Func.
  void parse_estimates() {
    const std::string name = tokens_.peek().text;
    const auto f = std::find_if(result_.funcs.begin(), result_.funcs.end(),
                                [&](const FuncDef &def) { return def.name == name; });
    if (f == result_.funcs.end()) tokens_.fail(in_quotes(name) + " is not defined");
    tokens_.next();
    f->estimates.resize(f->args.size());
    while (tokens_.accept(",")) {
      const std::string word = tokens_.peek().text;
      const size_t dot = word.find('.');
      const int d = dot == std::string::npos ? -1 : std::atoi(word.c_str() + dot + 1);
      const bool is_min = word.substr(0, dot) == "min";
      if (d < 0 || d >= f->dimensions() || (!is_min && word.substr(0, dot) != "extent")) {
        tokens_.fail("expected an estimate of a dimension of " + in_quotes(name) + ", found " +
                         tokens_.describe_next(),
                     "", "name one such as extent.0");
      }
      tokens_.next();
      BoundsEstimate &estimate = f->estimates[static_cast<size_t>(d)];
      Expr &field = is_min ? estimate.min : estimate.extent;
      field = parse_typed(Int(32), names(nullptr));
      if (!as_imm(field)) tokens_.fail_behind("an estimate is no number");
    }
  }

  // Constraints on the buffer of an output.
  void parse_output_buffer() {
    const std::string name = tokens_.peek().text;
    if (std::find(result_.outputs.begin(), result_.outputs.end(), name) == result_.outputs.end()) {
      tokens_.fail(in_quotes(name) + " is no output");
    }
    tokens_.next();
    auto p = std::make_shared<ParameterContents>();
    p->name = name;
    p->is_buffer = p->is_output = true;
    p->type = parse_declared_type();
    tokens_.expect(",", "before the number of dimensions");
    p->dimensions = static_cast<int>(tokens_.expect_integer("the number of dimensions"));
    if (p->dimensions != result_.find(name)->dimensions()) {
      tokens_.fail_behind(in_quotes(name) + " has " +
                          std::to_string(result_.find(name)->dimensions()) + " dimensions");
    }
    p->dims.resize(p->dimensions);
    result_.output_buffers.push_back(p);
    parse_image_fields(*p);
  }

  void parse_image_fields(ParameterContents &parameter) {
    ParameterContents *p = &parameter;
    while (tokens_.accept(",")) {
      if (tokens_.accept("alignment")) {
        p->host_alignment = static_cast<int>(tokens_.expect_integer("the alignment"));
        continue;
      }
      Expr &field = image_field(*p, tokens_.peek().text);
      tokens_.next();
      field = parse_typed(Int(32), names(nullptr));
    }
  }

  // "extent.0"
  Expr &image_field(ParameterContents &p, const std::string &word) {
    const size_t dot = word.find('.');
    const std::string what = word.substr(0, dot);
    const int d = dot == std::string::npos ? -1 : std::atoi(word.c_str() + dot + 1);
    if (d >= 0 && d < p.dimensions) {
      if (what == "min") return p.dims[d].min;
      if (what == "extent") return p.dims[d].extent;
      if (what == "stride") return p.dims[d].stride;
      if (what == "min_estimate") return p.dims[d].min_estimate;
      if (what == "extent_estimate") return p.dims[d].extent_estimate;
    }
    tokens_.fail("expected a field of a dimension of " + in_quotes(p.name) + ", found " +
                     tokens_.describe_next(),
                 "", "name one such as extent.0");
  }

  void parse_constant() {
    auto b = std::make_shared<BufferContents>();
    b->name = parse_new_name("the constant's name");
    const Type t = parse_declared_type();
    if (t.is_float() && t.bits() < 32)
      tokens_.fail_behind("constants of " + t.to_string() + " have no text");
    int64_t count = 1;
    std::vector<polyhalite_dimension_t> dims;
    while (tokens_.accept("(")) {
      polyhalite_dimension_t d{};
      d.min = static_cast<int32_t>(tokens_.expect_integer("the first index"));
      tokens_.expect(",", "after the first index");
      const int64_t extent = tokens_.expect_integer("the extent");
      tokens_.expect(")", "after the extent");
      d.stride = static_cast<int32_t>(count);
      count *= extent;
      if (extent < 0 || count > (1 << 24)) tokens_.fail_behind("a constant of such an extent");
      d.extent = static_cast<int32_t>(extent);
      dims.push_back(d);
    }
    tokens_.expect("=", "before the elements");
    if (tokens_.at("omitted")) {
      tokens_.fail("the text leaves out the elements of " + in_quotes(b->name),
                   "constants of more than 65536 elements print without them");
    }
    b->buf = runtime::Buffer<>(t, nullptr, dims);
    b->buf.allocate();
    tokens_.expect("{", "before the elements");
    for (int64_t i = 0; i < count; i++) {
      if (i > 0) tokens_.expect(",", "between elements");
      const Expr e = parse_typed(t, names(nullptr));
      if (!as_imm(e)) tokens_.fail_behind("an element of a constant is no number");
      write_element(e, b->raw().host + i * t.bytes());
    }
    tokens_.expect("}", ("after " + std::to_string(count) + " elements").c_str());
    constants_[b->name] = b;
  }

  void parse_outputs() {
    do {
      const std::string name = tokens_.peek().text;
      if (!result_.find(name)) tokens_.fail("the output " + in_quotes(name) + " is not defined");
      tokens_.next();
      result_.outputs.push_back(name);
    } while (tokens_.accept(","));
  }

  // -- Definitions

  // instead of 0 if n == 1: ...    in place of f: ...    fail "no such size": ...
  void parse_branch(StageDef &stage) {
    if (tokens_.at("instead") && tokens_.peek(1).text == "of") {
      tokens_.next();
      tokens_.next();
      stage.instead_of = static_cast<int>(tokens_.expect_integer("the number of a definition"));
      tokens_.expect("if", "before a branch's condition");
      stage.when = parse_typed(Bool(), names(nullptr));
      tokens_.expect(":", "after a branch's condition");
    }
    if (tokens_.at("in") && tokens_.peek(1).text == "place") {
      tokens_.next();
      tokens_.next();
      tokens_.expect("of", "after 'in place'");
      stage.in_place = tokens_.expect_name("a Func");
      tokens_.expect(":", "after a Func");
    }
    if (tokens_.at("fail") && tokens_.peek(1).kind == Token::String) {
      tokens_.next();
      stage.fail = tokens_.next().text;
      tokens_.expect(":", "after a message");
    }
  }

  void parse_definition() {
    StageDef stage;
    stage.where = tokens_.where();
    rvars_.clear();
    parse_branch(stage);
    if (tokens_.accept("over")) {
      do {
        ReductionVariable r;
        r.var = tokens_.expect_name("a reduction variable");
        tokens_.expect("(", "before the range of a reduction variable");
        r.min = parse_typed(Int(32), names(nullptr));
        tokens_.expect(",", "after the first index");
        r.extent = parse_typed(Int(32), names(nullptr));
        tokens_.expect(")", "after the extent");
        if (!rvars_.insert(r.var).second) tokens_.fail(in_quotes(r.var) + " is declared twice");
        stage.rvars.push_back(std::move(r));
      } while (tokens_.accept(","));
    }
    // The predicate stands before the Func's name, which says what the pure variables are.
    const bool is_guarded = tokens_.at("where");
    const FuncDef *f = find_defined_ahead();
    if (is_guarded) {
      tokens_.next();
      stage.predicate = parse_typed(Bool(), names(f));
    }
    if (is_guarded || !rvars_.empty()) {
      tokens_.expect(":", "before the definition");
      if (!f) tokens_.fail_behind("an update of something that has no definition yet");
    }
    if (!f && tokens_.peek().kind != Token::Name) {
      tokens_.fail("expected a definition, found " + tokens_.describe_next());
    }
    f ? parse_update(*f, std::move(stage)) : parse_pure(std::move(stage));
  }

  // The Func whose name follows: here, or behind the ':' that ends a domain.
  const FuncDef *find_defined_ahead() const {
    size_t i = 0;
    if (!rvars_.empty() || tokens_.at("where")) {
      while (tokens_.peek(i).kind != Token::End && !is_colon(tokens_.peek(i))) i++;
      i++;
    }
    return tokens_.peek(i).kind == Token::Name ? result_.find(tokens_.peek(i).text) : nullptr;
  }
  static bool is_colon(const Token &t) { return t.kind == Token::Punct && t.text == ":"; }

  void parse_pure(StageDef stage) {
    FuncDef f;
    f.where = stage.where;
    f.name = parse_new_name("the name of a Func");
    tokens_.expect("(", "after the name of a Func");
    if (!tokens_.accept(")")) {
      do {
        const std::string arg = tokens_.expect_name("the name of a variable");
        if (std::find(f.args.begin(), f.args.end(), arg) != f.args.end()) {
          tokens_.fail_behind(in_quotes(arg) + " stands twice among the variables of " +
                              in_quotes(f.name));
        }
        f.args.push_back(arg);
        stage.args.push_back(make_variable(Int(32), VariableKind::Pure, arg));
      } while (tokens_.accept(","));
      tokens_.expect(")", "after the variables");
    }
    stage.values = parse_values(&f);
    for (const Expr &e : stage.values) f.types.push_back(e.type());
    if (stage.instead_of >= 0) tokens_.fail_behind("a first definition is no branch of another");
    f.stages.push_back(std::move(stage));
    result_.funcs.push_back(std::move(f));
  }

  void parse_update(const FuncDef &f, StageDef stage) {
    const int index = result_.index_of(f.name);
    tokens_.next();
    tokens_.expect("(", "after the name of a Func");
    stage.args = ExprParser(tokens_, names(&f)).parse_list(")");
    if (stage.args.size() != f.args.size()) {
      tokens_.fail_behind("an update of " + in_quotes(f.name) + " with " +
                          std::to_string(stage.args.size()) + " indices; it has " +
                          std::to_string(f.args.size()));
    }
    for (const Expr &e : stage.args) {
      if (e.type() != Int(32)) {
        tokens_.fail_behind("an index of " + in_quotes(f.name) + " has type " +
                            e.type().to_string());
      }
    }
    stage.values = parse_values(&f);
    bool same = stage.values.size() == f.types.size();
    for (size_t i = 0; same && i < f.types.size(); i++) {
      same = stage.values[i].type() == f.types[i];
    }
    if (!same)
      tokens_.fail_behind("the values of an update differ in type from the Func's first ones");
    const int known = static_cast<int>(f.stages.size());
    if (stage.instead_of >= known || (stage.instead_of < 0 && f.num_definitions() < known)) {
      tokens_.fail_behind(in_quotes(f.name) + " has " + std::to_string(known) +
                          " definitions here, and branches follow all of them");
    }
    result_.funcs[index].stages.push_back(std::move(stage));
  }

  std::vector<Expr> parse_values(const FuncDef *f) {
    tokens_.expect("=", "before the value");
    ExprParser parser(tokens_, names(f));
    if (tokens_.accept("{")) return parser.parse_list("}");
    return {parser.parse()};
  }

  // -- Names

  // What names mean in a definition of `f`; null: in a declaration.
  NameResolver names(const FuncDef *f) {
    NameResolver r;
    r.variable = [this, f](const std::string &name) { return find_variable(f, name); };
    r.param = [this](const std::string &name) { return find_param(name); };
    r.call = [this](const std::string &name, std::vector<Expr> args, int value_index) {
      return find_call(name, std::move(args), value_index);
    };
    return r;
  }

  std::shared_ptr<ParameterContents> find_input(const std::string &name) const {
    for (const AlgorithmInput &input : result_.inputs) {
      if (input.param->name == name) return input.param;
    }
    return nullptr;
  }

  Expr find_param(const std::string &name) const {
    const std::shared_ptr<ParameterContents> p = find_input(name);
    if (!p || p->is_buffer) return Expr();
    auto n = std::make_shared<VariableNode>(p->type, VariableKind::Param, name);
    n->param = p;
    return Expr(std::move(n));
  }

  Expr find_variable(const FuncDef *f, const std::string &name) const {
    if (rvars_.count(name)) return make_variable(Int(32), VariableKind::Reduction, name);
    if (f && std::find(f->args.begin(), f->args.end(), name) != f->args.end()) {
      return make_variable(Int(32), VariableKind::Pure, name);
    }
    const Expr param = find_param(name);
    return param.defined() ? param : find_field(name);
  }

  // "in.extent.0"
  Expr find_field(const std::string &name) const {
    for (const char *field : {".min.", ".extent.", ".stride."}) {
      const size_t at = name.rfind(field);
      if (at == std::string::npos) continue;
      const std::string buffer = name.substr(0, at);
      const int d = std::atoi(name.c_str() + at + std::strlen(field));
      auto n = std::make_shared<VariableNode>(Int(32), VariableKind::BufferField, name);
      if (const auto p = find_input(buffer); p && p->is_buffer && d < p->dimensions) {
        n->param = p;
        return Expr(std::move(n));
      }
      const auto constant = constants_.find(buffer);
      if (constant != constants_.end() && d < constant->second->dimensions()) {
        n->image = constant->second;
        return Expr(std::move(n));
      }
      // Of an output's buffer.
      if (const FuncDef *f = result_.find(buffer); f && d < f->dimensions()) {
        return Expr(std::move(n));
      }
    }
    return Expr();
  }

  Expr find_call(const std::string &name, std::vector<Expr> args, int value_index) const {
    const FuncDef *f = result_.find(name);
    const std::shared_ptr<ParameterContents> p = find_input(name);
    const auto constant = constants_.find(name);
    int dimensions;
    if (f) {
      dimensions = f->dimensions();
      if (value_index < 0 || value_index >= static_cast<int>(f->types.size())) {
        tokens_.fail_behind(in_quotes(name) + " has no value " + std::to_string(value_index));
      }
    } else if (p && p->is_buffer) {
      dimensions = p->dimensions;
    } else if (constant != constants_.end()) {
      dimensions = constant->second->dimensions();
    } else {
      return Expr();
    }
    if (static_cast<int>(args.size()) != dimensions) {
      tokens_.fail_behind(in_quotes(name) + " has " + std::to_string(dimensions) +
                          " dimensions and is called with " + std::to_string(args.size()));
    }
    for (const Expr &a : args) {
      if (a.type() != Int(32)) {
        tokens_.fail_behind("an index of " + in_quotes(name) + " has type " + a.type().to_string(),
                            "indices are int32");
      }
    }
    if (f) return make_func_call(f->types[value_index], name, std::move(args), value_index);
    const Type t = p ? p->type : constant->second->type();
    auto n = std::make_shared<CallNode>(t, CallKind::Image, name, std::move(args));
    n->param = p;
    if (!p) n->image = constant->second;
    return Expr(std::move(n));
  }

  TokenStream tokens_;
  Algorithm result_;
  std::map<std::string, std::shared_ptr<BufferContents>> constants_;
  std::set<std::string> rvars_;
};

}  // namespace

Algorithm parse_algorithm(const std::string &text, const std::string &name) {
  return AlgorithmParser(text, name).run();
}

}  // namespace polyhalite
