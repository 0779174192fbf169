#include "test/fuzz/differential.h"

#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "autosched/autosched.h"
#include "codegen/oracle/interpret_ir.h"
#include "codegen/passes/lower.h"
#include "codegen/passes/pass.h"
#include "lang/interpret/interpret.h"
#include "lang/ir/visit.h"
#include "lang/ir/widen_float16.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/backend.h"
#include "polyhalite/jit_context.h"
#include "polyhedral/judge.h"
#include "polyhedral/oracle/brute_force.h"
#include "schedule/build_tree.h"
#include "schedule/check_kernels.h"
#include "schedule/schedule_text.h"
#include "test/fuzz/trace_check.h"
#include "test/support/random_kernels.h"
#include "test/support/random_pipeline.h"

namespace polyhalite::test {

namespace {

constexpr int64_t kMaxExtent = 400;        // larger boxes come from degenerate indices; not run
constexpr int64_t kMaxInstances = 60'000;  // enumerated per experiment
constexpr int64_t kMargin = 120;           // around the interpreter's images
constexpr int kGuardBytes = 64;            // around every buffer, checked afterwards

struct Extents {
  std::vector<int64_t> min, extent;
};

/// A dense buffer with guard bytes on both sides.
class GuardedBuffer {
 public:
  GuardedBuffer(Type t, const Extents &e) : dims_(e.min.size()) {
    int64_t stride = 1;
    for (size_t d = 0; d < dims_.size(); d++) {
      dims_[d] = {static_cast<int32_t>(e.min[d]), static_cast<int32_t>(e.extent[d]),
                  static_cast<int32_t>(stride), 0};
      stride *= e.extent[d];
    }
    payload_ = stride * t.bytes();
    bytes_.assign(payload_ + 2 * kGuardBytes, 0xa5);
    raw_.type = t;
    raw_.dimensions = static_cast<int32_t>(dims_.size());
    raw_.dim = dims_.data();
    raw_.host = bytes_.data() + kGuardBytes;
  }
  GuardedBuffer(const GuardedBuffer &) = delete;

  void fill(Type t, Dice &dice) {
    const int64_t n = payload_ / t.bytes();
    for (int64_t i = 0; i < n; i++) {
      const int v = dice.between(t.is_uint() || t.is_float() ? 0 : -60, 60);
      uint8_t *p = raw_.host + i * t.bytes();
      if (t == Float(32)) {
        const float f = static_cast<float>(v) / 4;
        std::memcpy(p, &f, 4);
      } else if (is_float16(t)) {
        const auto f = static_cast<float>(v) / 4;
        const uint16_t bits = t.is_bfloat() ? detail::bfloat16_bits(f) : detail::float16_bits(f);
        std::memcpy(p, &bits, 2);
      } else if (t == Float(64)) {
        const double f = v / 8.0;
        std::memcpy(p, &f, 8);
      } else {
        const int64_t wide = v;
        std::memcpy(p, &wide, t.bytes());
      }
    }
  }

  /// Takes the elements that both have from `o`, a smaller box of the same type.
  void copy_from(const GuardedBuffer &o) {
    const int64_t bytes = o.payload_ / std::max<int64_t>(o.elements(), 1);
    for (int64_t i = 0; i < o.elements(); i++) {
      int64_t rest = i, offset = 0;
      for (size_t d = 0; d < dims_.size(); d++) {
        const int64_t at = o.dims_[d].min + rest % o.dims_[d].extent;
        rest /= o.dims_[d].extent;
        offset += (at - dims_[d].min) * dims_[d].stride;
      }
      std::memcpy(raw_.host + offset * bytes, o.raw_.host + i * bytes, bytes);
    }
  }

  polyhalite_buffer_t *raw() { return &raw_; }
  bool guards_intact() const {
    for (int i = 0; i < kGuardBytes; i++) {
      if (bytes_[i] != 0xa5 || bytes_[bytes_.size() - 1 - i] != 0xa5) return false;
    }
    return true;
  }
  /// Byte offset of the first difference, or -1.
  int64_t difference(const GuardedBuffer &o) const {
    for (int64_t i = 0; i < payload_; i++) {
      if (raw_.host[i] != o.raw_.host[i]) return i;
    }
    return -1;
  }

 private:
  int64_t elements() const {
    int64_t n = 1;
    for (const auto &d : dims_) n *= d.extent;
    return n;
  }

  polyhalite_buffer_t raw_{};
  std::vector<polyhalite_dimension_t> dims_;
  std::vector<uint8_t> bytes_;
  int64_t payload_ = 0;
};

/// One buffer for each value of the output.
class OutputBuffers {
 public:
  OutputBuffers(const std::vector<Type> &types, const Extents &e) {
    for (const Type t : types) buffers_.push_back(std::make_unique<GuardedBuffer>(t, e));
  }
  const GuardedBuffer &operator[](size_t v) const { return *buffers_[v]; }
  std::vector<polyhalite_buffer_t *> raw() const {
    std::vector<polyhalite_buffer_t *> all;
    for (const auto &b : buffers_) all.push_back(b->raw());
    return all;
  }

 private:
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
};

using Environment = std::map<std::string, Expr>;

std::optional<int64_t> evaluate(const Expr &e, const Environment &env) {
  int64_t v;
  return is_const_int(simplify(substitute(env, e)), &v) ? std::optional(v) : std::nullopt;
}

Environment environment(const std::string &buffer, const Extents &e, const Survey &survey) {
  Environment env;
  for (size_t d = 0; d < e.min.size(); d++) {
    const std::string suffix = "." + std::to_string(d);
    env[buffer + ".min" + suffix] = Expr(static_cast<int32_t>(e.min[d]));
    env[buffer + ".extent" + suffix] = Expr(static_cast<int32_t>(e.extent[d]));
  }
  for (const Symbol &s : survey.root_symbols) {
    if (auto v = evaluate(s.value, env)) env[s.name] = Expr(static_cast<int32_t>(*v));
  }
  return env;
}

/// Grows the output until the entry checks hold; false where they cannot or the boxes are too
/// large.
bool fit_output(const std::string &output, const std::string &buffer, Extents &e,
                const Survey &survey) {
  for (int tries = 0; tries < 8; tries++) {
    const Environment env = environment(buffer, e, survey);
    bool fits = true;
    for (const Assumption &a : survey.assumptions) {
      if (is_true(simplify(substitute(env, a.condition)))) continue;
      const auto wanted = evaluate(a.wanted, env);
      if (!wanted || a.dimension < 0) return false;
      fits = false;
      e.extent[a.dimension] = std::max(e.extent[a.dimension], *wanted);
    }
    const Box &need = survey.inputs.at(output);
    for (size_t d = 0; d < need.size(); d++) {
      const auto low = evaluate(need[d].min, env), high = evaluate(need[d].max, env);
      if (!low || !high || *high - *low > kMaxExtent) return false;
      const int64_t end = std::max(e.min[d] + e.extent[d], *high + 1);
      const int64_t begin = std::min(e.min[d], *low);
      fits &= begin == e.min[d] && end - begin == e.extent[d];
      e.min[d] = begin;
      e.extent[d] = end - begin;
    }
    if (fits) return true;
  }
  return false;
}

class Trial {
 public:
  /// `kernels`: for a device too, whose part runs on the CPU.
  Trial(uint64_t seed, DifferentialCounts &counts, RandomPipeline p, bool kernels = false)
      : seed_(seed), counts_(counts), p_(std::move(p)), kernels_(kernels) {
    if (kernels) target_.set_feature(Target::CUDA);
  }

  void run() {
    counts_.drawn++;
    LoopTree tree;
    Survey s;
    try {
      tree = build_tree(p_.frozen.algorithm, p_.frozen.directives);
      check_kernels(tree);
      s = survey(tree);
    } catch (const CompileError &) {
      counts_.structural++;
      return;
    }
    const Judgement verdict = judge(tree, s);
    verdict.legal() ? counts_.accepted++ : counts_.refused++;
    if (!verdict.legal()) counts_.refused_by_claim[verdict.refusal->claim]++;
    if (verdict.legal()) count_windows(s);
    output_ = tree.algorithm.outputs[0];
    const FuncDef &output = *tree.algorithm.find(output_);
    first_buffer_ = output.buffer_name(0);
    types_ = output.types;
    Extents e;
    for (int m : p_.output_min) e.min.push_back(m);
    for (int n : p_.output_extent) e.extent.push_back(n);
    if (!fit_output(output_, first_buffer_, e, s)) {
      counts_.not_run++;
      return;
    }
    enumerate(tree, s, verdict, e);
    if (too_large_) counts_.not_run++;
    if (verdict.legal() && !too_large_) execute(tree, s, e);
  }

 private:
  void fail(const std::string &what) {
    std::ostringstream os;
    os << "seed " << seed_ << ": " << what;
    counts_.failures.push_back(os.str());
  }

  void count_windows(const Survey &s) {
    bool slides = false, folds = false;
    for (const FuncSurvey &f : s.funcs) {
      for (size_t d = 0; d < f.needed.size(); d++) {
        slides |= f.slides[d].has_value();
        folds |= f.fold[d] > 0;
      }
    }
    counts_.sliding += slides;
    counts_.folded += folds;
  }

  /// The judge reasons for all sizes: a refusal is false only if no size tried is broken.
  void enumerate(const LoopTree &tree, const Survey &s, const Judgement &verdict,
                 const Extents &first) {
    bool decided = false;
    for (const int64_t grow : {0, 7}) {
      Extents e = first;
      for (int64_t &n : e.extent) n += grow;
      if (grow > 0 && (verdict.legal() || !fit_output(output_, first_buffer_, e, s))) continue;
      oracle::Experiment experiment;
      auto &box = experiment.buffers[output_];
      for (size_t d = 0; d < e.min.size(); d++) box.push_back({e.min[d], e.extent[d]});
      experiment.buffers[first_buffer_] = box;
      experiment.seed = seed_;
      const oracle::Enumeration found =
          oracle::brute_force(tree, s, experiment, 3, {kMaxInstances});
      if (!found.unmet.empty()) {
        too_large_ = true;
        continue;
      }
      decided = true;
      if (!found.violation) continue;
      counts_.enumerated++;
      if (verdict.legal()) fail("accepted, but " + found.violation->text);
      return;
    }
    if (!decided) return;
    counts_.enumerated++;
    if (verdict.legal()) return;
    counts_.false_refusals++;
    counts_.false_by_claim[verdict.refusal->claim]++;
    counts_.false_refusal_seeds.push_back(seed_);
  }

  void execute(const LoopTree &tree, const Survey &s, const Extents &e) {
    const Environment env = environment(first_buffer_, e, s);
    std::map<std::string, std::unique_ptr<GuardedBuffer>> images, margins;
    std::map<std::string, const polyhalite_buffer_t *> for_reference;
    Dice dice(seed_ + 77);
    for (const AlgorithmInput &i : p_.frozen.algorithm.inputs) {
      Extents box;
      auto need = s.inputs.find(i.param->name);
      for (int d = 0; d < i.param->dimensions; d++) {
        int64_t low = 0, high = 0;
        if (need != s.inputs.end()) {
          const auto a = evaluate(need->second[d].min, env), b = evaluate(need->second[d].max, env);
          if (!a || !b || *b - *a > kMaxExtent) {
            counts_.not_run++;
            return;
          }
          low = *a, high = *b;
        }
        box.min.push_back(low);
        box.extent.push_back(std::max<int64_t>(high - low + 1, 0));
      }
      auto &b = images[i.param->name];
      b = std::make_unique<GuardedBuffer>(i.param->type, box);
      b->fill(i.param->type, dice);
      // The interpreter computes whole boxes of Funcs that the schedule may inline, and reads more
      // of the image for points that nobody needs.
      Extents wide = box;
      for (size_t d = 0; d < wide.min.size(); d++) {
        wide.min[d] -= kMargin;
        wide.extent[d] += 2 * kMargin;
      }
      auto &w = margins[i.param->name];
      w = std::make_unique<GuardedBuffer>(i.param->type, wide);
      w->copy_from(*b);
      for_reference[i.param->name] = w->raw();
    }
    OutputBuffers expected(types_, e), interpreted(types_, e), compiled(types_, e);
    counts_.executed++;
    try {
      interpret(p_.frozen.algorithm, for_reference, {}, expected.raw());
    } catch (const Error &x) {
      return fail(std::string("reference: ") + x.what());
    }
    try {
      Function f = lower("f", tree, s);
      PassOptions options;
      options.verify = true;
      f = run_passes(f, target_, options);
      IrArguments args;
      for (auto &[name, b] : images) args.buffers[name] = b->raw();
      const FuncDef &output = *tree.algorithm.find(output_);
      for (size_t v = 0; v < types_.size(); v++) {
        args.buffers[output.buffer_name(static_cast<int>(v))] = interpreted.raw()[v];
      }
      InterpretOptions order{ParallelOrder::Shuffled, seed_, {}};
      for (size_t g = 0; g < s.funcs.size(); g++) {
        const FuncDef &def = tree.algorithm.funcs[g];
        for (int v = 0; s.funcs[g].read_beyond && v < static_cast<int>(def.types.size()); v++) {
          order.may_be_unwritten.insert(def.buffer_name(v));
        }
      }
      interpret_ir(f, args, order);
      check(interpreted, expected, "loop IR");
    } catch (const CompileError &x) {
      // A kernel may need too much memory, or what its launch does not know.
      if (!kernels_) fail(std::string("loop IR: ") + x.what());
      counts_.structural++;
    } catch (const Error &x) {
      fail(std::string("loop IR: ") + x.what());
    }
    if (kernels_) return;
    try {
      const auto code = backend().jit(p_.frozen, target_);
      auto run = [&](OutputBuffers &out, const char *who) {
        std::vector<void *> args;
        for (const AlgorithmInput &i : p_.frozen.algorithm.inputs) {
          args.push_back(images[i.param->name]->raw());
        }
        for (polyhalite_buffer_t *b : out.raw()) args.push_back(b);
        std::string message;
        TraceCheck trace;
        if (code->call(args, &message, &trace) != 0) return fail(std::string(who) + ": " + message);
        if (!trace.problem().empty()) fail(trace.problem());
        counts_.traced += trace.events() > 0;
        check(out, expected, who);
      };
      run(compiled, "compiled code");
      // What is kept of the first run serves the second.
      if (std::any_of(tree.storage.begin(), tree.storage.end(),
                      [](const FuncStorage &f) { return f.memoized; })) {
        counts_.memoized++;
        OutputBuffers again(types_, e);
        run(again, "compiled code, run again");
      }
    } catch (const Error &x) {
      fail(std::string("compile: ") + x.what());
    }
    for (auto &[name, b] : images) {
      if (!b->guards_intact()) fail("wrote beyond the ends of " + name);
    }
  }

  void check(const OutputBuffers &found, const OutputBuffers &expected, const char *who) {
    for (size_t v = 0; v < types_.size(); v++) {
      const std::string which = types_.size() == 1 ? "" : " of value " + std::to_string(v);
      if (!found[v].guards_intact()) {
        fail(std::string(who) + " wrote beyond the ends of the output" + which);
      }
      const int64_t at = found[v].difference(expected[v]);
      if (at >= 0) {
        fail(std::string(who) + " differs from the interpreter at element " +
             std::to_string(at / types_[v].bytes()) + which);
      }
    }
  }

  const uint64_t seed_;
  DifferentialCounts &counts_;
  RandomPipeline p_;
  std::string output_, first_buffer_;
  std::vector<Type> types_;  // of the output's values
  bool too_large_ = false;   // to enumerate, and so to interpret
  Target target_ = get_jit_target_from_environment();
  const bool kernels_;
};

}  // namespace

void differential(uint64_t seed, DifferentialCounts &counts) {
  try {
    Trial(seed, counts, random_pipeline(seed)).run();
  } catch (const std::exception &e) {
    counts.failures.push_back("seed " + std::to_string(seed) + ": " + e.what());
  }
}

namespace {

RandomPipeline random_kernel_pipeline(uint64_t seed) {
  RandomPipeline p = random_pipeline(seed);
  Dice dice(seed + 31);
  p.frozen.directives = random_kernels(dice, p.frozen.algorithm);
  for (int &n : p.output_extent) n += dice.between(0, 9);
  return p;
}

}  // namespace

void with_random_kernels(uint64_t seed, DifferentialCounts &counts) {
  try {
    Trial(seed, counts, random_kernel_pipeline(seed), true).run();
  } catch (const std::exception &e) {
    counts.failures.push_back("seed " + std::to_string(seed) + ": " + e.what());
  }
}

void auto_scheduled(uint64_t seed, DifferentialCounts &counts) {
  RandomPipeline p = random_pipeline(seed);
  Dice dice(seed + 99);
  if (dice.chance(75)) p.frozen.directives.clear();
  for (int &n : p.output_extent) n += dice.between(0, p.output_extent.size() > 2 ? 8 : 40);
  auto fail = [&](const std::string &what) {
    counts.failures.push_back("seed " + std::to_string(seed) + ": " + what);
  };
  const bool users = !p.frozen.directives.empty();
  try {
    FrozenPipeline estimated = p.frozen;
    const FuncDef &output = *p.frozen.algorithm.find(p.frozen.algorithm.outputs[0]);
    auto size = std::make_shared<ParameterContents>();
    size->name = output.buffer_name(0);
    size->is_buffer = size->is_output = true;
    for (size_t d = 0; d < p.output_min.size(); d++) {
      ParameterContents::DimConstraint c;
      c.min_estimate = Expr(p.output_min[d]);
      c.extent_estimate = Expr(p.output_extent[d]);
      size->dims.push_back(c);
    }
    estimated.algorithm.output_buffers.push_back(size);
    autosched::Options options;
    options.parallelism = dice.between(1, 8);
    options.beam = 4;
    options.seed = seed;
    const autosched::Schedule s =
        autosched::schedule(estimated, get_jit_target_from_environment(), options, {});
    p.frozen.directives.insert(p.frozen.directives.end(), s.directives.begin(), s.directives.end());
    const int accepted = counts.accepted;
    Trial(seed, counts, p).run();
    if (counts.accepted == accepted)
      fail("the schedule is refused:\n" + to_text(p.frozen.directives));
  } catch (const CompileError &e) {
    // The random directives alone may be refused.
    counts.drawn++;
    counts.structural++;
    if (!users) fail(e.what());
  } catch (const std::exception &e) {
    fail(e.what());
  }
}

void judge_both_ways(uint64_t seed, DifferentialCounts &counts) {
  counts.drawn++;
  const RandomPipeline p = random_pipeline(seed);
  auto fail = [&](const std::string &what) {
    counts.failures.push_back("seed " + std::to_string(seed) + ": " + what);
  };
  LoopTree tree;
  Survey s;
  try {
    tree = build_tree(p.frozen.algorithm, p.frozen.directives);
    s = survey(tree);
  } catch (const CompileError &) {
    counts.structural++;
    return;
  }
  const Judgement structural = judge(tree, s);
  structural.legal() ? counts.accepted++ : counts.refused++;
  if (!structural.legal()) counts.refused_by_claim[structural.refusal->claim]++;
  JudgeOptions options;
  options.exact = true;
  options.isl_operations = 200'000;
  const Judgement exact = judge(tree, s, options);
  counts.judged_exactly++;
  if (exact.legal() && structural.legal()) return;
  if (exact.legal()) return fail("refused, but the exact judge accepts");
  const Refusal &refusal = *exact.refusal;
  if (refusal.proof == Proof::Undecided) {
    counts.exactly_unknown++;
  } else if (structural.legal()) {
    fail("accepted, but the exact judge says: " + refusal.diagnostic.to_string());
  } else if (refusal.claim != structural.refusal->claim) {
    fail("refused for (" + std::string(1, structural.refusal->claim) +
         "), but the exact judge says: " + refusal.diagnostic.to_string());
  }
}

std::string describe(uint64_t seed, bool kernels) {
  const RandomPipeline p = kernels ? random_kernel_pipeline(seed) : random_pipeline(seed);
  std::ostringstream os;
  os << to_text(p.frozen.algorithm) << "\n" << to_text(p.frozen.directives) << "\n";
  for (size_t d = 0; d < p.output_min.size(); d++) {
    os << "output dimension " << d << ": min " << p.output_min[d] << ", extent "
       << p.output_extent[d] << "\n";
  }
  try {
    const LoopTree tree = build_tree(p.frozen.algorithm, p.frozen.directives);
    os << "\n" << to_text(tree) << "\n" << to_text(tree, survey(tree));
  } catch (const CompileError &e) {
    os << "\n" << e.what() << "\n";
  }
  return os.str();
}

std::string report(const DifferentialCounts &c) {
  std::ostringstream os;
  const int judged = c.accepted + c.refused;
  os << c.drawn << " drawn: " << c.structural << " structural errors, " << c.accepted
     << " accepted, " << c.refused << " refused";
  for (const auto &[claim, n] : c.refused_by_claim) os << " (" << claim << ") " << n;
  os << "\nacceptance rate " << (judged ? 100.0 * c.accepted / judged : 0) << "% of " << judged
     << " judged; " << c.sliding << " with sliding windows, " << c.folded << " with rings\n"
     << c.enumerated << " verdicts held against enumeration: " << c.false_refusals
     << " false refusals";
  for (const auto &[claim, n] : c.false_by_claim) os << " (" << claim << ") " << n;
  os << "\n"
     << c.judged_exactly << " judged exactly too, " << c.exactly_unknown << " not decided then\n"
     << c.executed << " run against the interpreter, " << c.memoized << " memoized, " << c.traced
     << " traced, " << c.not_run << " not run (boxes too large or checks that no size meets)\n"
     << c.failures.size() << " failures\n";
  for (const std::string &f : c.failures) os << "  " << f << "\n";
  return os.str();
}

}  // namespace polyhalite::test
