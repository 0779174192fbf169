// Programs: expressions compiled to steps over registers, each register a row of up to kLanes
// values of one type. A step computes its register from others, for n lanes at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/node.h"
#include "polyhalite/error.h"

namespace polyhalite::interpreter {

inline constexpr int kLanes = 256;

/// A row of values. Lanes without a value are poisoned: they say which step took it from them, and
/// pass that on to whatever uses them, a select that chooses the other branch excepted.
struct Register {
  explicit Register(Type t) : type(t), bytes(new uint8_t[kLanes * 8]()) {}

  template <typename T>
  T *as() {
    return reinterpret_cast<T *>(bytes.get());
  }

  Type type;
  std::unique_ptr<uint8_t[]> bytes;
  bool poisoned = false;        // any lane
  std::vector<int32_t> poison;  // per lane: 0, or 1 + the step that is to blame; empty until needed
};

/// When a step must run again.
enum class Level : uint8_t {
  Once,   // constants and what follows from them
  Chunk,  // depends on the lanes' coordinates
  Point,  // depends on reduction variables, or on what updates write
};

struct Step {
  std::function<void(int n)> run;
  Register *result;
  std::vector<Register *> operands;
  Level level;
  bool is_select = false;
  bool is_logic = false;    // && or ||, which the other operand may decide
  bool decided_by = false;  // false of &&, true of ||
  /// Why a lane of this step is poisoned: what happened, and what would be right.
  std::function<Diagnostic(int lane)> explain;
};

/// Stored values over a box: a Func's, or an image's.
struct Grid {
  std::string name;
  Type type;
  bool is_image = false;
  std::vector<int64_t> min, extent, stride;  // in elements
  uint8_t *host = nullptr;                   // the element at every min
};

/// What names mean while a program is compiled.
struct Bindings {
  /// A variable that changes: its register is filled from outside.
  std::map<std::string, Level> variables;
  /// A parameter or a buffer's field: its value as a constant.
  std::function<Expr(const VariableNode &)> constant;
  /// The grid that a call reads, which lives as long as the program.
  std::function<const Grid *(const CallNode &)> grid;
  /// The Func whose updates are compiled: its values change from point to point.
  std::string self;
};

class Program {
 public:
  explicit Program(Bindings bindings) : bindings_(std::move(bindings)) {}
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Adds the steps for e. Throws CompileError for what an interpreter cannot do.
  Register *compile(const Expr &e);
  /// The row of a variable, to be filled before run(); null where no expression uses it.
  Register *variable(const std::string &name) const;
  /// Runs the steps of this level and above on lanes 0..n-1.
  void run(Level from, int n);
  /// Why lane `lane` of r, which is poisoned, has no value.
  Diagnostic explain(const Register &r, int lane) const;

  // For the files that make steps.
  Level level_of(const Register *r) const { return levels_.at(r); }
  Register *add_register(Type t);
  /// `index` is what mark_poison takes: the number of the step that is added next.
  int next_step() const { return static_cast<int>(steps_.size()); }
  Register *add_step(Register *result, std::vector<Register *> operands,
                     std::function<void(int)> run,
                     std::function<Diagnostic(int)> explain = nullptr);

 private:
  Register *compile_node(const Expr &e);
  Register *compile_leaf(const Expr &e);
  Register *compile_select(const Expr &e, Register *c, Register *a, Register *b);
  Register *compile_load(const CallNode &c, const std::vector<Register *> &args);
  std::string key_of(const Expr &e, const std::vector<Register *> &args) const;
  void pass_poison(Step &s, int n);

  Bindings bindings_;
  std::vector<std::unique_ptr<Register>> registers_;
  std::unordered_map<const Register *, Level> levels_;
  std::map<std::string, Register *> variables_;
  std::unordered_map<const ExprNode *, Register *> memo_;
  std::vector<Expr> keep_;                              // keys of memo_ stay alive
  std::unordered_map<std::string, Register *> by_key_;  // equal nodes share their register
  std::vector<Step> steps_;
};

/// Takes the value from a lane; `step` is the one to blame.
void mark_poison(Register &r, int lane, int step);
/// The value of a lane as text, as expressions print it.
std::string lane_text(Register &r, int lane);

// Steps by operator; each returns the register of the result.
Register *add_binary(Program &p, Op op, Register *a, Register *b);  // arithmetic, && ||
Register *add_comparison(Program &p, Op op, Register *a, Register *b);
Register *add_cast(Program &p, Type t, Register *a);
Register *add_reinterpret(Program &p, Type t, Register *a);
Register *add_intrinsic(Program &p, const CallNode &c, const std::vector<Register *> &args);
Register *add_math(Program &p, const CallNode &c, const std::vector<Register *> &args);
Register *add_extern(Program &p, const CallNode &c, const std::vector<Register *> &args);
Register *add_load(Program &p, const Grid &grid, const std::vector<Register *> &args);

/// A 16-bit float's value, and the bits of the one nearest to a value.
inline float float16_from(Type t, uint16_t bits) {
  return t.is_bfloat() ? detail::bfloat16_value(bits) : detail::float16_value(bits);
}
inline uint16_t float16_to(Type t, float value) {
  return t.is_bfloat() ? detail::bfloat16_bits(value) : detail::float16_bits(value);
}

/// Calls f.template operator()<T>() with the C++ type that holds values of t; false if there is
/// none.
template <typename F>
bool with_type(Type t, F &&f) {
  if (t.is_int()) {
    switch (t.bits()) {
      case 8:
        f.template operator()<int8_t>();
        return true;
      case 16:
        f.template operator()<int16_t>();
        return true;
      case 32:
        f.template operator()<int32_t>();
        return true;
      case 64:
        f.template operator()<int64_t>();
        return true;
      default:
        return false;
    }
  }
  if (t.is_uint()) {
    switch (t.bits()) {
      case 1:
      case 8:
        f.template operator()<uint8_t>();
        return true;
      case 16:
        f.template operator()<uint16_t>();
        return true;
      case 32:
        f.template operator()<uint32_t>();
        return true;
      case 64:
        f.template operator()<uint64_t>();
        return true;
      default:
        return false;
    }
  }
  if (t.is_handle()) {
    f.template operator()<uint64_t>();
    return true;
  }
  // Held as bits: arithmetic on them is done in float32, see lang/ir/widen_float16.h.
  if (t.is_float() && t.bits() == 16) {
    f.template operator()<uint16_t>();
    return true;
  }
  if (t.code() == Type::Float && t.bits() == 32) {
    f.template operator()<float>();
    return true;
  }
  if (t.code() == Type::Float && t.bits() == 64) {
    f.template operator()<double>();
    return true;
  }
  return false;
}

}  // namespace polyhalite::interpreter
