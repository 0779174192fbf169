#include "lang/ir/lexer.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <set>

#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How far a name reaches from `i`; dots count where a name or a number follows.
size_t name_end(const std::string &s, size_t i) {
  while (i < s.size()) {
    const bool dot = s[i] == '.' && i + 1 < s.size() && continues_name(s[i + 1]);
    if (!continues_name(s[i]) && !dot) break;
    i++;
  }
  return i;
}

class Scanner {
 public:
  Scanner(const std::string &text, const std::string &source) : text_(text), source_(source) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (;;) {
      skip_blank();
      Token t;
      t.line = line_;
      t.starts_line = fresh_line_;
      fresh_line_ = false;
      if (i_ < text_.size()) scan(t);
      tokens.push_back(t);
      if (t.kind == Token::End) return tokens;
    }
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  [[noreturn]] void fail(std::string what, std::string fix) const {
    throw CompileError({std::move(what), "", std::move(fix), {source_, line_}});
  }

  void skip_blank() {
    while (i_ < text_.size()) {
      if (text_[i_] == '\n') {
        line_++;
        fresh_line_ = true;
        i_++;
      } else if (std::isspace(static_cast<unsigned char>(text_[i_]))) {
        i_++;
      } else if (text_[i_] == '/' && at(i_ + 1) == '/') {
        while (i_ < text_.size() && text_[i_] != '\n') i_++;
      } else {
        return;
      }
    }
  }

  void scan(Token &t) {
    const char c = text_[i_];
    if (starts_name(c)) {
      const size_t end = name_end(text_, i_);
      t.kind = Token::Name;
      t.text = text_.substr(i_, end - i_);
      i_ = end;
    } else if (c == '`') {
      const size_t end = text_.find_first_of("`\n", i_ + 1);
      if (end == std::string::npos || text_[end] == '\n') {
        fail("a quoted name does not end on its line", "close it with a backquote");
      }
      t.kind = Token::Name;
      t.quoted = true;
      t.text = text_.substr(i_ + 1, end - i_ - 1);
      i_ = end + 1;
    } else if (c == '"') {
      scan_string(t);
    } else if (is_digit(c)) {
      scan_number(t);
    } else {
      scan_punctuation(t);
    }
  }

  void scan_string(Token &t) {
    t.kind = Token::String;
    for (i_++; at(i_) != '"'; i_++) {
      if (i_ >= text_.size() || text_[i_] == '\n') {
        fail("a string does not end on its line", "close it with '\"'; a line end is \\n inside");
      }
      if (text_[i_] != '\\') {
        t.text += text_[i_];
        continue;
      }
      const char escape = at(++i_);
      if (escape == 'n') {
        t.text += '\n';
      } else if (escape == '"' || escape == '\\') {
        t.text += escape;
      } else if (escape == 'x' && std::isxdigit(static_cast<unsigned char>(at(i_ + 1))) &&
                 std::isxdigit(static_cast<unsigned char>(at(i_ + 2)))) {
        t.text += static_cast<char>(std::stoi(text_.substr(i_ + 1, 2), nullptr, 16));
        i_ += 2;
      } else {
        fail(std::string("unknown escape '\\") + escape + "' in a string",
             "use \\\" \\\\ \\n or \\xHH");
      }
    }
    i_++;
  }

  void scan_number(Token &t) {
    const size_t begin = i_;
    size_t digits_end;
    bool real = false;
    int base = 10;
    if (text_[i_] == '0' && at(i_ + 1) == 'x') {
      base = 16;
      i_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(at(i_)))) i_++;
    } else {
      while (is_digit(at(i_))) i_++;
      if (at(i_) == '.' && is_digit(at(i_ + 1))) {
        real = true;
        for (i_++; is_digit(at(i_));) i_++;
      }
      const size_t sign = at(i_ + 1) == '-' || at(i_ + 1) == '+';
      if (at(i_) == 'e' && is_digit(at(i_ + 1 + sign))) {
        real = true;
        for (i_ += 1 + sign; is_digit(at(i_));) i_++;
      }
    }
    digits_end = i_;
    while (continues_name(at(i_))) i_++;
    const std::string suffix = text_.substr(digits_end, i_ - digits_end);
    t.text = text_.substr(begin, i_ - begin);
    const char *first = text_.data() + begin, *last = text_.data() + digits_end;
    if (real) {
      t.kind = Token::Float;
      t.type = suffix.empty()     ? Float(64)
               : suffix == "f"    ? Float(32)
               : suffix == "f16"  ? Float(16)
               : suffix == "bf16" ? Type(Type::BFloat, 16)
                                  : Type();
      if (t.type.bits() == 32) {
        float value = 0;
        std::from_chars(first, last, value);
        t.real = value;
      } else {
        std::from_chars(first, last, t.real);
      }
    } else {
      t.kind = Token::Int;
      t.type = suffix.empty() ? Int(32) : integer_suffix(suffix);
      if (base == 16) first += 2;
      const auto result = std::from_chars(first, last, t.integer, base);
      if (result.ec != std::errc() || first == last) {
        fail("the number " + t.text + " does not fit 64 bits", "");
      }
    }
    if (t.type.bits() == 0) {
      fail("unknown suffix '" + suffix + "' of the number " + t.text,
           real ? "use f, f16, bf16, or none for float64"
                : "use u or i and a width, such as u8 or i64; none for int32");
    }
  }

  static Type integer_suffix(const std::string &suffix) {
    static const std::set<std::string> kWidths = {"8", "16", "32", "64"};
    if ((suffix[0] != 'u' && suffix[0] != 'i') || !kWidths.count(suffix.substr(1))) return Type();
    const int bits = std::stoi(suffix.substr(1));
    return suffix[0] == 'u' ? UInt(bits) : Int(bits);
  }

  void scan_punctuation(Token &t) {
    static constexpr const char *kLong[] = {"<=", ">=", "==", "!=", "&&", "||", "->"};
    t.kind = Token::Punct;
    for (const char *p : kLong) {
      if (text_.compare(i_, 2, p) == 0) {
        t.text = p;
        i_ += 2;
        return;
      }
    }
    if (!std::strchr("()[]{}<>,:;=+-*/%!.@?&|#", text_[i_])) {
      fail(std::string("unexpected character '") + text_[i_] + "'", "");
    }
    t.text = text_[i_++];
  }

  const std::string &text_;
  const std::string &source_;
  size_t i_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;
};

const std::set<std::string> &expression_words() {
  static const std::set<std::string> kWords = [] {
    std::set<std::string> words = {"true",        "false",      "min",       "max",       "select",
                                   "let",         "ramp",       "broadcast", "param",     "shuffle",
                                   "over",        "where",      "math",      "intrinsic", "extern",
                                   "pure_extern", "reinterpret"};
    for (const char *suffix : {"", "f", "f16", "bf16"}) {
      words.insert(std::string("inf") + suffix);
      words.insert(std::string("nan") + suffix);
    }
    for (const char *name : {intrinsic::kLikely,
                             intrinsic::kAbs,
                             intrinsic::kAbsd,
                             intrinsic::kShiftLeft,
                             intrinsic::kShiftRight,
                             intrinsic::kBitwiseAnd,
                             intrinsic::kBitwiseOr,
                             intrinsic::kBitwiseXor,
                             intrinsic::kBitwiseNot,
                             intrinsic::kStrictFloat,
                             intrinsic::kFma,
                             intrinsic::kLikelyIfInnermost,
                             intrinsic::kPopcount,
                             intrinsic::kCountLeadingZeros,
                             intrinsic::kCountTrailingZeros,
                             intrinsic::kSaturatingAdd,
                             intrinsic::kSaturatingSub,
                             intrinsic::kHalvingAdd,
                             intrinsic::kHalvingSub,
                             intrinsic::kRoundingHalvingAdd,
                             intrinsic::kRoundingShiftLeft,
                             intrinsic::kRoundingShiftRight,
                             intrinsic::kMulShiftRight,
                             intrinsic::kRoundingMulShiftRight,
                             intrinsic::kDivRoundToZero,
                             intrinsic::kModRoundToZero,
                             intrinsic::kPromiseClamped,
                             intrinsic::kStream,
                             intrinsic::kBufferIsNull,
                             intrinsic::kBufferHostIsNull,
                             intrinsic::kBufferDimIsNull,
                             intrinsic::kBufferIsQuery,
                             intrinsic::kBufferDeviceDirty,
                             intrinsic::kBufferType,
                             intrinsic::kBufferDimensions}) {
      words.insert(name);
    }
    for (const char *name : math::kNames) words.insert(name);
    return words;
  }();
  return kWords;
}

}  // namespace

TokenStream::TokenStream(const std::string &text, std::string source)
    : source_(std::move(source)), tokens_(Scanner(text, source_).run()) {}

const Token &TokenStream::peek(size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

Token TokenStream::next() {
  const Token &t = peek();
  if (t.kind != Token::End) position_++;
  return t;
}

bool TokenStream::at(const char *word) const {
  const Token &t = peek();
  return (t.kind == Token::Punct || (t.kind == Token::Name && !t.quoted)) && t.text == word;
}

bool TokenStream::accept(const char *word) {
  if (!at(word)) return false;
  position_++;
  return true;
}

void TokenStream::expect(const char *word, const char *context) {
  if (accept(word)) return;
  fail(std::string("expected '") + word + "' " + context + ", found " + describe_next());
}

std::string TokenStream::expect_name(const char *what) {
  if (peek().kind != Token::Name) {
    fail(std::string("expected ") + what + ", found " + describe_next());
  }
  return next().text;
}

int64_t TokenStream::expect_integer(const char *what) {
  const bool negative = at("-") && peek(1).kind == Token::Int;
  if (negative) position_++;
  if (peek().kind != Token::Int) {
    fail(std::string("expected ") + what + ", found " + describe_next());
  }
  const uint64_t value = next().integer;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

void TokenStream::fail(std::string what, std::string why, std::string fix) const {
  throw CompileError({std::move(what), std::move(why), std::move(fix), where()});
}

void TokenStream::fail_behind(std::string what, std::string why, std::string fix) const {
  const int line = tokens_[position_ == 0 ? 0 : position_ - 1].line;
  throw CompileError({std::move(what), std::move(why), std::move(fix), {source_, line}});
}

std::string TokenStream::describe_next() const {
  const Token &t = peek();
  if (t.kind == Token::End) return "the end of the text";
  if (t.kind == Token::String) return quote_string(t.text);
  return "'" + t.text + "'";
}

bool is_expression_word(const std::string &name) {
  return expression_words().count(name) > 0 || parse_type(name).bits() != 0;
}

std::string quote_name(const std::string &name) {
  const bool plain = !name.empty() && starts_name(name[0]) && name_end(name, 0) == name.size();
  return plain && !is_expression_word(name) ? name : "`" + name + "`";
}

std::string quote_string(const std::string &text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string r = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      r += '\\';
      r += c;
    } else if (c == '\n') {
      r += "\\n";
    } else if (u < 0x20 || u == 0x7f) {
      r += "\\x";
      r += kHex[u >> 4];
      r += kHex[u & 15];
    } else {
      r += c;
    }
  }
  return r + '"';
}

Type parse_type(const std::string &name) {
  struct Prefix {
    const char *text;
    Type::Code code;
  };
  static constexpr Prefix kPrefixes[] = {
      {"int", Type::Int}, {"uint", Type::UInt}, {"float", Type::Float}, {"bfloat", Type::BFloat}};
  auto number = [&](size_t begin, size_t end) {
    int v = 0;
    const auto r = std::from_chars(name.data() + begin, name.data() + end, v);
    return begin < end && r.ec == std::errc() && r.ptr == name.data() + end && v > 0 && v < 65536 &&
                   name[begin] != '0'
               ? v
               : 0;
  };
  size_t end = name.size();
  int lanes = 1;
  const size_t x = name.rfind('x');
  if (x != std::string::npos) {
    lanes = number(x + 1, end);
    if (lanes < 2) return Type();
    end = x;
  }
  const std::string element = name.substr(0, end);
  if (element == "bool") return Bool(lanes);
  if (element == "handle64") return Handle(lanes);
  for (const Prefix &p : kPrefixes) {
    const size_t n = std::strlen(p.text);
    if (element.compare(0, n, p.text) != 0) continue;
    const int bits = number(n, end);
    const bool small = bits == 8 || bits == 16, large = bits == 32 || bits == 64;
    const bool integer = p.code == Type::Int || p.code == Type::UInt;
    if ((integer && (small || large)) || (p.code == Type::Float && (bits == 16 || large)) ||
        (p.code == Type::BFloat && bits == 16)) {
      return Type(p.code, bits, lanes);
    }
  }
  return Type();
}

std::string in_quotes(const std::string &text) { return "'" + text + "'"; }

}  // namespace polyhalite
