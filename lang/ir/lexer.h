// Tokens of the text forms (expressions, algorithms, schedules, loop IR) and a cursor over them.
//
//   name     letter or _, then letters, digits, _ $ and dots ("blur_y.s0.yo"); any other name
//   stands
//            in backquotes, as does one that is a word of the grammar
//   integer  3 (int32), 3u8, 3i64, 0xff
//   float    2.0 (float64), 1.5f (float32), 1.5f16, 1.5bf16
//   string   "text" with \" \\ \n \xHH
//   // runs to the end of the line
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/type.h"

namespace polyhalite {

struct Token {
  enum Kind : uint8_t { End, Name, Int, Float, String, Punct } kind = End;
  std::string text;          // of names, strings (unescaped) and punctuation; numbers as written
  bool quoted = false;       // a name in backquotes
  bool starts_line = false;  // the first token of its line
  int line = 1;
  Type type;  // of a number
  uint64_t integer = 0;
  double real = 0;
};

/// A cursor over the tokens of a text. Errors are CompileErrors at SOURCE:LINE.
class TokenStream {
 public:
  TokenStream(const std::string &text, std::string source);

  const Token &peek(size_t ahead = 0) const;
  Token next();
  bool at_end() const { return peek().kind == Token::End; }
  /// Is the next token this punctuation, or this word without backquotes?
  bool at(const char *word) const;
  bool accept(const char *word);
  /// Skips `word`, or fails with "expected 'word' CONTEXT": context reads "after the arguments".
  void expect(const char *word, const char *context);
  /// `what` reads "a loop name".
  std::string expect_name(const char *what);
  int64_t expect_integer(const char *what);
  /// The next token's place.
  SourceLocation where() const { return {source_, peek().line}; }
  [[noreturn]] void fail(std::string what, std::string why = "", std::string fix = "") const;
  /// As fail(), at the token that was read last.
  [[noreturn]] void fail_behind(std::string what, std::string why = "", std::string fix = "") const;
  /// "',' " as messages show the next token.
  std::string describe_next() const;

 private:
  std::string source_;
  std::vector<Token> tokens_;  // the last one is End
  size_t position_ = 0;
};

/// `name`, in backquotes where the lexer or the grammar would read it as something else.
std::string quote_name(const std::string &name);
/// "text" with escapes.
std::string quote_string(const std::string &text);
/// 'text', as messages name a word.
std::string in_quotes(const std::string &text);
/// A word with a meaning of its own in expressions: types, operators, intrinsics, math functions.
bool is_expression_word(const std::string &name);
/// The type that "uint8x16" names; bits() is 0 where it names none.
Type parse_type(const std::string &name);

}  // namespace polyhalite
