#include <cctype>
#include <map>

#include "lang/ir/expr_text.h"
#include "polyhalite/target.h"
#include "schedule/loop_tree.h"
#include "schedule/schedule_source.h"
#include "schedule/schedule_text.h"
#include "schedule/shorthand.h"

namespace polyhalite {

namespace {

class Parser {
 public:
  Parser(const ScheduleSource &source, const std::string &name)
      : source_(source), tokens_(source.body, name) {}

  std::vector<Directive> run() {
    std::vector<Directive> directives;
    bool block = source_.form == ScheduleForm::Cpp && tokens_.accept("{");
    while (!tokens_.at_end() && !(block && tokens_.at("}"))) {
      if (!declaration()) {
        for (Directive &d : without_shorthand(statement(), directives)) {
          directives.push_back(std::move(d));
          directives.back().order = directives.size();
        }
      }
      if (source_.form == ScheduleForm::Cpp) tokens_.expect(";", "after a statement");
    }
    if (block) {
      tokens_.expect("}", "at the end");
      if (!tokens_.at_end()) tokens_.fail("unexpected " + tokens_.describe_next() + " after '}'");
    }
    return directives;
  }

 private:
  // Var x("x")    x = ph.Var("x")
  bool declaration() {
    if (source_.form == ScheduleForm::Cpp && tokens_.at("Var")) {
      tokens_.next();
      declare(tokens_.expect_name("a handle"));
      return true;
    }
    const bool makes_func = tokens_.peek(2).kind == Token::Name && tokens_.peek(2).text != "ph.Var";
    if (source_.form == ScheduleForm::Python && tokens_.peek(1).text == "=" && !makes_func) {
      std::string handle = tokens_.expect_name("a handle");
      tokens_.expect("=", "after a handle");
      tokens_.expect("ph.Var", "after '='");
      declare(handle);
      return true;
    }
    return false;
  }

  void declare(const std::string &handle) {
    tokens_.expect("(", "after a handle");
    if (tokens_.peek().kind != Token::String)
      tokens_.fail("expected the name of a Var as a string");
    loops_[handle] = tokens_.next().text;
    tokens_.expect(")", "after a name");
  }

  Directive statement() {
    Directive d;
    d.where = tokens_.where();
    // f_in_g = f.in(g)    Func f_in_g = f.in(g)
    // a, b = f.update(0).hoist_invariants()    auto [a, b] = f.update(0).hoist_invariants<2>()
    if (source_.form == ScheduleForm::Cpp && tokens_.at("Func") &&
        tokens_.peek(1).kind == Token::Name) {
      tokens_.next();
    }
    const bool bound =
        source_.form == ScheduleForm::Cpp && tokens_.at("auto") && tokens_.peek(1).text == "[";
    if (bound) {
      tokens_.next();
      tokens_.next();
    }
    const std::string &behind = tokens_.peek(1).text;
    if (tokens_.peek().kind == Token::Name &&
        (bound || (!tokens_.peek(1).quoted && (behind == "=" || behind == ",")))) {
      d.makes = func_name(tokens_.expect_name("a Func"));
      while (tokens_.accept(",")) {
        d.makes_more.push_back(func_name(tokens_.expect_name("a Func")));
      }
      if (bound) tokens_.expect("]", "after new Funcs");
      tokens_.expect("=", "after a new Func");
    }
    std::string word = subject(d);
    d.kind = kind_of(word, d.where);
    // f.specialize(c).split(...): the branch's loops
    while (d.kind == DirectiveKind::Specialize) {
      tokens_.expect("(", "after a directive");
      const Expr condition = factor();
      if (!tokens_.at(")") || tokens_.peek(1).text != ".") {
        d.factors = {condition};
        tokens_.expect(")", "after the arguments");
        return d;
      }
      d.branch.push_back(condition);
      tokens_.expect(")", "after a condition");
      tokens_.expect(".", "after a branch");
      d.kind = kind_of(tokens_.expect_name("a directive"), d.where);
    }
    if (makes_func(d.kind) != !d.makes.empty()) {
      throw CompileError(
          {std::string(directive_name(d.kind)) +
               (d.makes.empty() ? " makes a Func that has no name" : " makes no Func"),
           "", makes_func(d.kind) ? "write NAME = FUNC.DIRECTIVE(...)" : "", d.where});
    }
    if (source_.form == ScheduleForm::Cpp && !d.makes_more.empty() && tokens_.accept("<")) {
      tokens_.expect_integer("the number of new Funcs");
      tokens_.expect(">", "after the number of new Funcs");
    }
    if (!d.makes_more.empty() && d.kind != DirectiveKind::HoistInvariants) {
      throw CompileError({std::string(directive_name(d.kind)) + " makes one Func", "",
                          "name one before '='", d.where});
    }
    tokens_.expect("(", "after a directive");
    arguments(d);
    tokens_.expect(")", "after the arguments");
    return d;
  }

  DirectiveKind kind_of(std::string word, const SourceLocation &where) const {
    if (source_.form == ScheduleForm::Python && (word == "in_" || word == "async_"))
      word.pop_back();
    std::string words;
    for (DirectiveKind k : all_directive_kinds()) {
      if (word == directive_name(k)) return k;
      words += (words.empty() ? "" : ", ") + std::string(directive_name(k));
    }
    throw CompileError({"unknown directive '" + word + "'", "", "directives are: " + words, where});
  }

  // f.split    f.update(0).split    `a b`.split: fills func and stage, returns the word
  std::string subject(Directive &d) {
    std::string word = dotted(d.func, "a directive: FUNC.DIRECTIVE(...)");
    d.func = func_name(d.func);
    if (word != "update") return word;
    d.stage = update_number();
    tokens_.expect(".", "after update(...)");
    return tokens_.expect_name("a directive");
  }

  // NAME.WORD: the lexer takes dots into names, except after a quoted one.
  std::string dotted(std::string &name, const char *what) {
    bool quoted = tokens_.peek().quoted;
    name = tokens_.expect_name(what);
    if (quoted) {
      tokens_.expect(".", "after a Func");
      return tokens_.expect_name("a directive");
    }
    size_t dot = name.rfind('.');
    if (dot == std::string::npos) {
      tokens_.fail("expected " + std::string(what) + " after '" + name + "'");
    }
    std::string word = name.substr(dot + 1);
    name = name.substr(0, dot);
    return word;
  }

  int update_number() {
    tokens_.expect("(", "after update");
    int64_t number = tokens_.at(")") ? 0 : tokens_.expect_integer("the number of an update");
    if (number < 0 || number > 1'000'000) tokens_.fail("updates count from 0");
    tokens_.expect(")", "after the number of an update");
    return static_cast<int>(number) + 1;
  }

  void arguments(Directive &d) {
    switch (d.kind) {
      case DirectiveKind::Split:
        loops(d, 3);
        comma();
        d.factors.push_back(factor());
        if (tokens_.accept(",")) d.tail = tail();
        break;
      case DirectiveKind::Fuse:
        loops(d, 3);
        break;
      case DirectiveKind::Rename:
        loops(d, 2);
        break;
      case DirectiveKind::Skew:
        loops(d, 3);
        comma();
        d.factors.push_back(factor());
        break;
      case DirectiveKind::Reverse:
        loops(d, 1);
        break;
      case DirectiveKind::Reorder:
      case DirectiveKind::ReorderStorage:
        loops(d, 1);
        while (tokens_.accept(",")) loops(d, 1);
        break;
      case DirectiveKind::Parallel:
      case DirectiveKind::Vectorize:
      case DirectiveKind::Unroll:
        loops(d, 1);
        if (!tokens_.accept(",")) break;
        d.factors.push_back(factor());
        if (tokens_.accept(",")) d.tail = tail();
        break;
      case DirectiveKind::Serial:
        loops(d, 1);
        break;
      case DirectiveKind::ComputeAt:
      case DirectiveKind::StoreAt:
      case DirectiveKind::HoistStorage:
        level(d);
        break;
      case DirectiveKind::BoundExtent:
      case DirectiveKind::AlignExtent:
      case DirectiveKind::AlignStorage:
      case DirectiveKind::Pack:
      case DirectiveKind::BoundStorage:
      case DirectiveKind::Shift:
        loops(d, 1);
        comma();
        d.factors.push_back(factor());
        break;
      case DirectiveKind::FoldStorage:
        loops(d, 1);
        comma();
        d.factors.push_back(factor());
        if (tokens_.accept(",")) d.option = option("", {"backward", "forward"});
        if (d.option == "forward") d.option = "";
        break;
      case DirectiveKind::StoreIn:
        d.option = option("MemoryType", {"Auto", "Heap", "Stack", "Register", "GPUShared"});
        break;
      case DirectiveKind::Partition:
        loops(d, 1);
        comma();
        d.option = option("Partition", {"Auto", "Never", "Always"});
        break;
      case DirectiveKind::Prefetch:
        d.target_func = func_name(tokens_.expect_name("a Func or an image"));
        comma();
        loops(d, 2);
        comma();
        d.factors.push_back(factor());
        comma();
        d.option = option("PrefetchBoundStrategy", {"Clamp", "GuardWithIf", "NonFaulting"});
        break;
      case DirectiveKind::AlignBounds:
      case DirectiveKind::Bound:
        loops(d, 1);
        comma();
        d.factors.push_back(factor());
        comma();
        d.factors.push_back(factor());
        break;
      case DirectiveKind::In:
      case DirectiveKind::CloneIn:
        names(d.consumers, "a Func");
        break;
      case DirectiveKind::Fission:
        loops(d, 1);
        if (tokens_.accept(",")) loops(d, 1);
        break;
      case DirectiveKind::Scan:
        loops(d, 2);
        break;
      case DirectiveKind::Rfactor:
        for (skip_brackets(); !tokens_.at(")"); skip_brackets()) {
          if (!d.loops.empty()) comma();
          skip_brackets();
          loops(d, 2);
        }
        break;
      case DirectiveKind::SpecializeFail:
        if (tokens_.peek().kind != Token::String) tokens_.fail("expected a message as a string");
        d.factors.push_back(make_string(tokens_.next().text));
        break;
      case DirectiveKind::Atomic:
        d.factors.push_back(factor());
        if (!is_const(d.factors[0]) || !d.factors[0].type().is_bool()) {
          tokens_.fail_behind("atomic takes true or false");
        }
        break;
      case DirectiveKind::ComputeWith:
        level(d);
        if (tokens_.accept(",")) alignments(d);
        break;
      case DirectiveKind::RingBuffer:
        d.factors.push_back(factor());
        break;
      case DirectiveKind::Memoize:
        if (!tokens_.at(")")) d.factors.push_back(factor());
        break;
      case DirectiveKind::GpuBlocks:
      case DirectiveKind::GpuThreads:
      case DirectiveKind::GpuLanes:
        loops(d, 1);
        while (tokens_.accept(",")) {
          if (device(d)) break;
          loops(d, 1);
        }
        break;
      case DirectiveKind::Tensorize:
        do {
          if (tokens_.peek(0).kind == Token::String) {
            d.option = tokens_.next().text;
            break;
          }
          loops(d, 1);
        } while (tokens_.accept(","));
        if (d.option.empty() || d.loops.size() < 2 || d.loops.size() > 3) {
          tokens_.fail_behind("tensorize takes two or three loops and an instruction");
        }
        break;
      case DirectiveKind::GpuSingleThread:
      case DirectiveKind::CopyToDevice:
        device(d);
        break;
      case DirectiveKind::Hexagon:
      case DirectiveKind::SmeStreaming:
        if (!tokens_.at(")")) loops(d, 1);
        break;
      case DirectiveKind::InPlace:
        d.funcs.push_back(tokens_.expect_name("a Func"));
        break;
      case DirectiveKind::EagerInline:
      case DirectiveKind::StreamLoads:
        names(d.funcs, "a Func or an image");
        break;
      case DirectiveKind::ChangeType:
        d.type = type();
        d.factors.push_back(tokens_.accept(",") ? factor() : make_false());
        if (!is_const(d.factors[0]) || !d.factors[0].type().is_bool()) {
          tokens_.fail_behind("change_type takes a type, and true or false");
        }
        break;
      case DirectiveKind::HoistInvariants:
      case DirectiveKind::StreamStores:
        break;
      case DirectiveKind::CopyToHost:
      case DirectiveKind::ComputeRoot:
      case DirectiveKind::ComputeInline:
      case DirectiveKind::StoreRoot:
      case DirectiveKind::HoistStorageRoot:
      case DirectiveKind::Async:
      case DirectiveKind::AllowRaceConditions:
      case DirectiveKind::Specialize:
      case DirectiveKind::TraceLoads:
      case DirectiveKind::TraceStores:
      case DirectiveKind::TraceRealizations:
      case DirectiveKind::TracePipeline:
      case DirectiveKind::NoProfiling:
        break;
      case DirectiveKind::TraceTag:
      case DirectiveKind::DebugToFile:
        d.factors.push_back(factor());
        if (d.factors[0]->op != Op::StringImm) {
          tokens_.fail_behind(std::string(directive_name(d.kind)) + " takes a text");
        }
        break;
    }
  }

  // {a, b} and [a, b] of the programming languages.
  void skip_brackets() {
    while (tokens_.accept("{") || tokens_.accept("}") || tokens_.accept("[") ||
           tokens_.accept("]")) {
    }
  }

  void names(std::vector<std::string> &list, const char *what) {
    for (skip_brackets(); !tokens_.at(")"); skip_brackets()) {
      if (!list.empty()) comma();
      list.push_back(func_name(tokens_.expect_name(what)));
    }
  }

  // int32    Int(32)    ph.Int(32)
  Type type() {
    const SourceLocation where = tokens_.where();
    std::string word = tokens_.expect_name("a type");
    if (source_.form != ScheduleForm::Text) {
      word = word.substr(word.rfind('.') + 1);
      for (char &c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      tokens_.expect("(", "after the kind of a type");
      word += std::to_string(tokens_.expect_integer("the bits of a type"));
      tokens_.expect(")", "after the bits of a type");
    }
    const Type t = parse_type(word);
    if (t.bits() > 0) return t;
    throw CompileError({"unknown type '" + word + "'", "",
                        "types are int8, uint16, float32 and their like", where});
  }

  // f, x    f.update(0), x    LoopLevel(f, x, 1)
  void level(Directive &d) {
    const char *constructor = source_.form == ScheduleForm::Python ? "ph.LoopLevel" : "LoopLevel";
    if (source_.form != ScheduleForm::Text && tokens_.accept(constructor)) {
      tokens_.expect("(", "after LoopLevel");
      d.target_func = func_name(tokens_.expect_name("a Func"));
      comma();
      loops(d, 1);
      comma();
      d.target_stage = static_cast<int>(tokens_.expect_integer("a stage"));
      tokens_.expect(")", "after a stage");
      return;
    }
    bool quoted = tokens_.peek().quoted;
    std::string name = tokens_.expect_name("a Func");
    if (quoted && tokens_.accept(".")) {
      tokens_.expect("update", "after a Func");
      d.target_stage = update_number();
    } else if (!quoted && tokens_.at("(")) {
      const std::string suffix = ".update";
      if (name.size() <= suffix.size() || name.substr(name.size() - suffix.size()) != suffix) {
        tokens_.fail("expected FUNC.update(K), found '" + name + "('");
      }
      name.resize(name.size() - suffix.size());
      d.target_stage = update_number();
    }
    d.target_func = func_name(name);
    comma();
    loops(d, 1);
  }

  // {x AlignStart, y AlignEnd}    {{x, LoopAlignStrategy::AlignStart}, ...}
  // [(x, ph.LoopAlignStrategy.AlignStart), ...]
  void alignments(Directive &d) {
    const bool text = source_.form == ScheduleForm::Text,
               python = source_.form == ScheduleForm::Python;
    const char *end = python ? "]" : "}";
    tokens_.expect(python ? "[" : "{", "before alignments");
    while (!tokens_.accept(end)) {
      if (!d.aligns.empty()) comma();
      if (!text) tokens_.expect(python ? "(" : "{", "before an alignment");
      loops(d, 1);
      if (!text) comma();
      d.aligns.push_back(alignment());
      if (!text) tokens_.expect(python ? ")" : "}", "after an alignment");
    }
  }

  LoopAlignStrategy alignment() {
    const SourceLocation where = tokens_.where();
    const std::string word = enumerator("LoopAlignStrategy", "an alignment");
    for (LoopAlignStrategy a : {LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd,
                                LoopAlignStrategy::NoAlign, LoopAlignStrategy::Auto}) {
      if (word == align_strategy_name(a)) return a;
    }
    throw CompileError({"unknown alignment '" + word + "'", "",
                        "alignments are: AlignStart, AlignEnd, NoAlign, Auto", where});
  }

  // Stack    MemoryType::Stack    ph.MemoryType.Stack
  std::string enumerator(const std::string &type, const char *what) {
    std::string word = tokens_.expect_name(what);
    if (source_.form == ScheduleForm::Cpp && word == type) {
      tokens_.expect(":", "after a type");
      tokens_.expect(":", "after a type");
      word = tokens_.expect_name(what);
    }
    return source_.form == ScheduleForm::Python ? word.substr(word.rfind('.') + 1) : word;
  }

  void comma() { tokens_.expect(",", "between arguments"); }

  void loops(Directive &d, int count) {
    for (int i = 0; i < count; i++) {
      if (i > 0) comma();
      std::string name = tokens_.expect_name("a loop");
      if (source_.form != ScheduleForm::Text) {
        auto declared = loops_.find(name);
        if (declared == loops_.end()) tokens_.fail("'" + name + "' is no declared Var");
        name = declared->second;
      }
      d.loops.push_back(name);
    }
  }

  TailStrategy tail() {
    const SourceLocation where = tokens_.where();
    const std::string word = enumerator("TailStrategy", "a tail strategy");
    if (word == tail_strategy_name(TailStrategy::Auto)) return TailStrategy::Auto;
    for (TailStrategy t : tail_strategies()) {
      if (word == tail_strategy_name(t)) return t;
    }
    throw CompileError({"unknown tail strategy '" + word + "'", "",
                        "strategies are: Auto, " + tail_strategy_names(), where});
  }

  // An enumerator, or of a fold: backward    false    False
  std::string option(const std::string &type, const std::vector<const char *> &words) {
    const SourceLocation where = tokens_.where();
    std::string word = enumerator(type, "an option");
    if (source_.form != ScheduleForm::Text && type.empty()) {
      word = word == "false" || word == "False" ? "backward" : "forward";
    }
    std::string known;
    for (const char *w : words) {
      if (word == w) return word;
      known += (known.empty() ? "" : ", ") + std::string(w);
    }
    throw CompileError({"unknown option '" + word + "'", "", "options are: " + known, where});
  }

  // DeviceAPI.CUDA    DeviceAPI::CUDA    ph.DeviceAPI.CUDA    or something else, which stays
  bool device(Directive &d) {
    const Token &t = tokens_.peek();
    const std::string prefix =
        source_.form == ScheduleForm::Python ? "ph.DeviceAPI." : "DeviceAPI.";
    const bool cpp = source_.form == ScheduleForm::Cpp && t.text == "DeviceAPI";
    if (t.quoted || (!cpp && t.text.compare(0, prefix.size(), prefix) != 0)) return false;
    const SourceLocation where = tokens_.where();
    std::string word = enumerator("DeviceAPI", "a device");
    word = word.substr(word.rfind('.') + 1);
    std::string words;
    for (DeviceAPI api : all_device_apis) {
      if (word == device_api_name(api)) {
        d.device = api;
        return true;
      }
      words += (words.empty() ? "" : ", ") + std::string(device_api_name(api));
    }
    throw CompileError({"unknown device '" + word + "'", "", "devices are: " + words, where});
  }

  Expr factor() {
    NameResolver names;
    names.variable = names.param = [this](const std::string &name) {
      if (source_.form == ScheduleForm::Python && (name == "True" || name == "False")) {
        return Expr(name == "True");
      }
      for (const char *field : {".min.", ".extent.", ".stride."}) {
        if (name.find(field) != std::string::npos) {
          return make_variable(Int(32), VariableKind::BufferField, name);
        }
      }
      return make_variable(Int(32), VariableKind::Param, name);
    };
    return ExprParser(tokens_, names).parse();
  }

  std::string func_name(const std::string &handle) const {
    auto it = source_.handles.find(handle);
    return it == source_.handles.end() ? handle : it->second;
  }

  const ScheduleSource &source_;
  TokenStream tokens_;
  std::map<std::string, std::string> loops_;  // handle -> name
};

}  // namespace

std::vector<Directive> parse_schedule(const std::string &text, const std::string &name) {
  const ScheduleSource source = read_schedule_lines(text, name);
  return Parser(source, name).run();
}

}  // namespace polyhalite
