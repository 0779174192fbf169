// Random functions of loop IR at the multi-dimensional level, legal by construction: loops of every
// kind, splits with guards or shifted tiles, boundary clamps and selects, a staged producer,
// updates with reductions, conditions on values.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace polyhalite {

/// Writes text of functions with arguments `in: input T[2]`, `k: int32`, `out: output T[2]`. `in`
/// and `out` may have any box of at least 8 elements a side, `k` any value from 0 to 9.
class RandomIr {
 public:
  RandomIr(uint64_t seed, std::string type) : random_(seed), type_(std::move(type)) {}

  std::string function() {
    text_ = "func f(in: input " + type_ + "[2], k: int32, out: output " + type_ + "[2]) {\n";
    text_ += "assert in.stride.0 == 1 else extern<int32>(fail, 1)\n";
    text_ += "assert out.stride.0 == 1 else extern<int32>(fail, 2)\n";
    staged_ = chance(2);
    if (staged_) stage();
    nest("out", "out.min.0", "out.extent.0", "out.min.1", "out.extent.1", false);
    if (chance(2)) nest("out", "out.min.0", "out.extent.0", "out.min.1", "out.extent.1", true);
    return text_ + "}\n";
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int n) { return below(n) == 0; }
  std::string number(int n) { return std::to_string(below(n)); }
  std::string constant() { return type_ + "(" + number(9) + ")"; }

  // One dimension's loops: what opens, the coordinate, what closes.
  struct Dimension {
    std::string open, at, close, guard;
  };

  Dimension dimension(const std::string &name, const std::string &min, const std::string &extent,
                      bool inner) {
    static const char *const kOuter[] = {"", " parallel"}, *const kInner[] = {"", " vector",
                                                                              " vector",
                                                                              " unrolled"};
    const std::string id = name + std::to_string(nests_);
    if (chance(4)) {
      return {
          "for " + id + " in (" + min + ", " + extent + ")" + kOuter[inner ? 0 : below(2)] + " {\n",
          id, "}\n", ""};
    }
    static const int kFactors[] = {2, 3, 4, 8, 8, 20};
    const int n = kFactors[below(6)];
    const std::string factor = std::to_string(n);
    const std::string inner_kind = n == 20 ? "" : kInner[below(4)];
    Dimension d;
    d.open = "for " + id + "o in (0, (" + extent + " + " + std::to_string(n - 1) + ")/" + factor +
             ")" + kOuter[inner ? 0 : below(2)] + " {\n";
    d.at = id + "o*" + factor + " + " + min + " + " + id + "i";
    if (n <= 8 && chance(2)) {
      d.open += "let " + id + "b = min(" + id + "o*" + factor + " + " + min + ", " + min + " + " +
                extent + " - " + factor + ")\n";
      d.at = id + "b + " + id + "i";
    } else {
      d.guard = d.at + " < " + min + " + " + extent;
    }
    d.open += "for " + id + "i in (0, " + factor + ")" + inner_kind + " {\n";
    d.close = "}\n}\n";
    return d;
  }

  void nest(const std::string &target, const std::string &x_min, const std::string &x_extent,
            const std::string &y_min, const std::string &y_extent, bool update) {
    nests_++;
    const Dimension y = dimension("y", y_min, y_extent, false);
    const Dimension x = dimension("x", x_min, x_extent, true);
    // Shifted tiles compute twice: only what is the same twice may stand there.
    const bool repeats =
        y.open.find("let") != std::string::npos || x.open.find("let") != std::string::npos;
    text_ += y.open + x.open;
    std::string guard = y.guard;
    if (!x.guard.empty()) guard += (guard.empty() ? "" : " && ") + x.guard;
    if (!guard.empty()) text_ += "if " + guard + " {\n";
    body(target, x.at, y.at, update, repeats);
    if (!guard.empty()) text_ += "}\n";
    text_ += x.close + y.close;
  }

  void body(const std::string &target, const std::string &x, const std::string &y, bool update,
            bool repeats) {
    const std::string cell = target + "(" + x + ", " + y + ")";
    const std::string id = std::to_string(nests_);
    if (!update || repeats) {
      if (chance(3)) text_ += "let v" + id + " = " + value(x, y, 2) + "\n";
      if (target == "out" && chance(3)) {
        text_ += "if " + condition(x, y) + " {\n" + cell + " = " + value(x, y, 2) + "\n} else {\n" +
                 cell + " = " + value(x, y, 3) + "\n}\n";
      } else {
        text_ += cell + " = " + value(x, y, 3) + "\n";
      }
      return;
    }
    const bool conditional = chance(3);
    if (conditional) text_ += "if " + condition(x, y) + " {\n";
    if (chance(2)) {
      const bool by_cell = chance(4);
      text_ += "for r" + id + " in (0, " +
               (by_cell     ? "(" + x + " - out.min.0)%4"
                : chance(2) ? "k"
                            : "3") +
               ")" + " {\n";
      text_ += cell + " = " + cell + " + " + value(x + " + r" + id, y, 1) + "\n}\n";
    } else {
      text_ += cell + " = " + cell + "*" + constant() + " + " + value(x, y, 2) + "\n";
    }
    if (conditional) text_ += "}\n";
  }

  void stage() {
    text_ += "allocate t: " + type_ +
             "(out.min.0 - 2, out.extent.0 + 4, out.min.1 - 1, out.extent.1 + 2)\n";
    const bool staged = std::exchange(staged_, false);
    nest("t", "(out.min.0 - 2)", "(out.extent.0 + 4)", "(out.min.1 - 1)", "(out.extent.1 + 2)",
         false);
    staged_ = staged;
  }

  std::string clamped(const std::string &at, const char *d) {
    const std::string min = std::string("in.min.") + d, extent = std::string("in.extent.") + d;
    const std::string word = chance(4) ? "" : "likely";
    return "max(min(" + word + "(" + at + "), " + min + " + " + extent + " - 1), " + min + ")";
  }

  std::string read(const std::string &x, const std::string &y) {
    return "in(" + clamped(x + " + " + std::to_string(below(5) - 2), "0") + ", " +
           clamped(y + " + " + std::to_string(below(3) - 1), "1") + ")";
  }

  std::string condition(const std::string &x, const std::string &y) {
    switch (below(6)) {
      case 0:
        return x + " < k";
      case 1:
        return x + " + " + y + " > k + " + number(20);
      case 2:
        return y + " >= " + number(10) + " && " + x + " >= " + number(9);
      case 3:
        return read(x, y) + " < " + constant();
      case 4:
        return "(" + x + ")%" + std::to_string(2 + below(3)) + " == 0";
      default:
        return "k < " + number(9);
    }
  }

  std::string value(const std::string &x, const std::string &y, int depth) {
    if (depth == 0 || chance(5)) {
      switch (below(staged_ ? 5 : 4)) {
        case 0:
          return constant();
        case 1:
          return type_ + "(" + x + ")";
        case 2:
          return type_ + "((" + y + ")/2 + k)";
        case 4:
          // The reduction's reads may leave the staged box.
          if (x.find(" + r") == std::string::npos) {
            return "t(" + x + " + " + std::to_string(below(5) - 2) + ", " + y + " + " +
                   std::to_string(below(3) - 1) + ")";
          }
          [[fallthrough]];
        default:
          return read(x, y);
      }
    }
    const std::string a = value(x, y, depth - 1), b = value(x, y, depth - 1);
    switch (below(7)) {
      case 0:
        return "(" + a + " - " + b + ")";
      case 1:
        return "min(" + a + ", " + b + ")";
      case 2:
        return "max(" + a + ", " + b + ")";
      case 3:
        return "select(" + condition(x, y) + ", " + a + ", " + b + ")";
      case 4: {
        const std::string beyond =
            x + " < in.min.0 || " + x + " > in.min.0 + in.extent.0 - 1 || " + y + " < in.min.1";
        return "select(" + beyond + ", " + a + ", likely(" + read(x, y) + "))";
      }
      case 5:
        return "(" + a + "*" + constant() + ")";
      default:
        return "(" + a + " + " + b + ")";
    }
  }

  std::mt19937_64 random_;
  std::string type_, text_;
  int nests_ = 0;
  bool staged_ = false;
};

}  // namespace polyhalite
