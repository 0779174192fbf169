#include "test/fuzz/trial_sizes.h"

#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "test/support/dice.h"
#include "test/support/random_extern.h"

namespace polyhalite::test {

int32_t draw_scalar(uint64_t seed) {
  Dice dice(seed + 79);
  const std::vector<int32_t> others = {1, 1, 2, 2, 4, 5, 8, 16, 0, -2};
  return dice.chance(50) ? kScalar : dice.pick(others);
}

std::optional<int64_t> evaluate(const Expr &e, const Environment &env) {
  int64_t v;
  const Expr value = simplify(with_answers(simplify(substitute(env, e))));
  return is_const_int(value, &v) ? std::optional(v) : std::nullopt;
}

Environment environment(const std::vector<Output> &outputs, const Survey &survey, int32_t scalar) {
  Environment env = {{"n", Expr(scalar)}};
  for (const Output &o : outputs) {
    for (size_t d = 0; d < o.box.min.size(); d++) {
      const std::string suffix = "." + std::to_string(d);
      env[o.buffers[0] + ".min" + suffix] = Expr(static_cast<int32_t>(o.box.min[d]));
      env[o.buffers[0] + ".extent" + suffix] = Expr(static_cast<int32_t>(o.box.extent[d]));
    }
  }
  for (const Symbol &s : survey.root_symbols) {
    if (auto v = evaluate(s.value, env)) env[s.name] = Expr(static_cast<int32_t>(*v));
  }
  return env;
}

bool fit_outputs(std::vector<Output> &outputs, const Survey &survey, int32_t scalar) {
  for (int tries = 0; tries < 8; tries++) {
    const Environment env = environment(outputs, survey, scalar);
    bool fits = true;
    for (const Assumption &a : survey.assumptions) {
      if (is_true(simplify(with_answers(simplify(substitute(env, a.condition)))))) continue;
      const auto wanted = evaluate(a.wanted, env);
      const auto output = std::find_if(outputs.begin(), outputs.end(),
                                       [&](const Output &o) { return o.func == a.func; });
      if (!wanted || a.dimension < 0 || output == outputs.end()) return false;
      fits = false;
      int64_t &extent = output->box.extent[static_cast<size_t>(a.dimension)];
      extent = std::max(extent, *wanted);
    }
    for (Output &o : outputs) {
      const Box &need = survey.inputs.at(o.func);
      for (size_t d = 0; d < need.size(); d++) {
        const auto low = evaluate(need[d].min, env), high = evaluate(need[d].max, env);
        if (!low || !high || *high - *low > kMaxExtent) return false;
        int64_t &min = o.box.min[d], &extent = o.box.extent[d];
        const int64_t end = std::max(min + extent, *high + 1);
        const int64_t begin = std::min(min, *low);
        fits &= begin == min && end - begin == extent;
        min = begin;
        extent = end - begin;
      }
    }
    if (fits) return true;
  }
  return false;
}

}  // namespace polyhalite::test
