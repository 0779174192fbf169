#include "test/fuzz/trial.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "codegen/oracle/interpret_ir.h"
#include "codegen/passes/lower.h"
#include "codegen/passes/pass.h"
#include "codegen/proof/check_loops.h"
#include "lang/interpret/interpret.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/backend.h"
#include "polyhalite/jit_context.h"
#include "polyhedral/judge.h"
#include "polyhedral/oracle/brute_force.h"
#include "schedule/build_tree.h"
#include "schedule/check_kernels.h"
#include "test/fuzz/guarded_buffer.h"
#include "test/fuzz/trace_check.h"
#include "test/fuzz/trial_sizes.h"
#include "test/support/random_extern.h"

namespace polyhalite::test {

namespace {

constexpr int64_t kMaxReferenceElements = 4'000'000;  // of an image of the interpreter
constexpr int64_t kMaxInstances = 60'000;             // enumerated per experiment
constexpr int64_t kMargin = 100;         // around the interpreter's images, and more for
constexpr int64_t kMarginPerPoint = 10;  // each point of the longest extent of an output

constexpr unsigned long kProofOperations = 60'000;  // for each Func: sizes are known

bool concerns_devices(const FrozenPipeline &p) {
  return std::any_of(p.directives.begin(), p.directives.end(),
                     [](const Directive &d) { return concerns_device(d.kind); });
}

/// One buffer for each value of each output.
class OutputBuffers {
 public:
  explicit OutputBuffers(const std::vector<Output> &outputs) {
    for (const Output &o : outputs) {
      for (const Type t : o.types) buffers_.push_back(std::make_unique<GuardedBuffer>(t, o.box));
    }
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

using Images = std::map<std::string, std::unique_ptr<GuardedBuffer>>;

TraceCheck::Rings rings_of(const LoopTree &tree, const Survey &survey) {
  TraceCheck::Rings rings;
  for (size_t f = 0; f < survey.funcs.size(); f++)
    rings[tree.origin_of(tree.algorithm.funcs[f].name)] = survey.funcs[f].fold;
  return rings;
}

class Trial {
 public:
  Trial(const Case &c, DifferentialCounts &counts, Device device = Device::None)
      : seed_(c.seed),
        counts_(counts),
        p_(c.pipeline),
        wanted_(c.verdict),
        device_(device),
        target_(trial_target(c.seed, device)) {}

  void run() {
    LoopTree tree;
    Survey s;
    const std::optional<Judgement> judged = judge_it(tree, s);
    if (!judged) return;
    const Judgement &verdict = *judged;
    if (verdict.legal()) count_windows(s);
    std::vector<Output> outputs;
    for (size_t o = 0; o < p_.boxes.size(); o++) {
      const FuncDef &f = *tree.algorithm.find(tree.algorithm.outputs[o]);
      const OutputBox &box = p_.boxes[o];
      outputs.push_back(
          {f.name,
           {},
           f.types,
           {{box.min.begin(), box.min.end()}, {box.extent.begin(), box.extent.end()}}});
      for (size_t v = 0; v < f.types.size(); v++) {
        outputs.back().buffers.push_back(f.buffer_name(static_cast<int>(v)));
      }
    }
    foreign_ = has_extern_stage(tree.algorithm);
    if (!verdict.legal() && !foreign_) {
      const Stopwatch watch(counts_, "counter-examples");
      enumerate_counter_example(tree, s, *verdict.refusal, outputs);
    }
    const std::vector<Output> drawn = outputs;
    if (!fit_outputs(outputs, s, scalar_)) {
      outputs = drawn;
      scalar_ = kScalar;
      if (!fit_outputs(outputs, s, scalar_)) {
        counts_.not_run++;
        return;
      }
    }
    // What C functions do, only compiled code and the plain interpreter show.
    if (!foreign_) {
      const Stopwatch watch(counts_, "enumeration");
      enumerate(tree, s, verdict, outputs);
    }
    if (too_large_) counts_.not_run++;
    if (verdict.legal() && !too_large_) execute(tree, s, outputs);
  }

  /// None for a structural error.
  std::optional<Judgement> judge_it(LoopTree &tree, Survey &s) {
    counts_.drawn++;
    count_drawn(p_.frozen, false);
    const Stopwatch watch(counts_, "judging");
    try {
      tree = build_tree(p_.frozen.algorithm, p_.frozen.directives);
      // Devices are refused before surveys, unless the target has one.
      if (device_ != Device::None) {
        check_kernels(tree);
      } else if (concerns_devices(p_.frozen)) {
        build_and_judge(p_.frozen.algorithm, p_.frozen.directives);
      }
      s = survey(tree);
    } catch (const CompileError &) {
      counts_.structural++;
      hold("structural");
      return std::nullopt;
    }
    Judgement verdict = judge(tree, s);
    if (verdict.legal()) count_drawn(p_.frozen, true);
    verdict.legal() ? counts_.accepted++ : counts_.refused++;
    if (!verdict.legal()) counts_.refused_by_claim[verdict.refusal->claim]++;
    hold(verdict.legal() ? "accepted" : "refused");
    return verdict;
  }

 private:
  void hold(const std::string &said) {
    if (!wanted_.empty() && wanted_ != said) fail(said + ", and should be " + wanted_);
  }

  void fail(const std::string &what) {
    std::ostringstream os;
    os << "seed " << seed_ << ": " << what;
    counts_.failures.push_back(os.str());
  }

  void count_drawn(const FrozenPipeline &p, bool accepted) {
    std::set<std::string> words;
    for (const Directive &d : p.directives) {
      words.insert(directive_name(d.kind));
      if (d.kind == DirectiveKind::Split) {
        words.insert(std::string("tail ") + tail_strategy_name(d.tail));
      }
    }
    for (const FuncDef &f : p.algorithm.funcs) {
      for (const Type &t : f.types) words.insert("type " + t.to_string());
    }
    for (const std::string &w : words) (accepted ? counts_.accepted_with : counts_.drawn_with)[w]++;
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

  oracle::Enumeration enumerated(const LoopTree &tree, const Survey &s,
                                 const std::vector<Output> &outputs, int32_t scalar) const {
    oracle::Experiment experiment;
    for (const Output &o : outputs) {
      std::vector<oracle::Extent> box;
      for (size_t d = 0; d < o.box.min.size(); d++) {
        box.push_back({o.box.min[d], o.box.extent[d]});
      }
      experiment.buffers[o.func] = experiment.buffers[o.buffers[0]] = box;
    }
    experiment.seed = seed_;
    experiment.params["n"] = scalar;
    return oracle::brute_force(tree, s, experiment, 3, {kMaxInstances});
  }

  /// The judge reasons for all sizes: a refusal is false only if no size tried is broken. Larger
  /// boxes, boxes further below and above, narrow ones for branches.
  void enumerate(const LoopTree &tree, const Survey &s, const Judgement &verdict,
                 const std::vector<Output> &first) {
    struct Change {
      int64_t move = 0, grow = 0, width = 0;  // width: the new extent of dimension 0
    };
    if (shows_its_counter_example_) {
      counts_.enumerated++;
      return;
    }
    bool decided = false;
    for (const Change &change :
         {Change{}, Change{0, 7, 0}, Change{-15, 5, 0}, Change{9, 3, 0}, Change{-4, 7, 1},
          Change{-4, 7, 3}, Change{-4, 7, 4}, Change{2, 3, 7}, Change{-40, 0, 0}}) {
      std::vector<Output> outputs = first;
      for (Output &o : outputs) {
        for (int64_t &m : o.box.min) m += change.move;
        for (int64_t &n : o.box.extent) n += change.grow;
        if (change.width > 0 && !o.box.extent.empty()) o.box.extent[0] = change.width;
      }
      const bool is_first = change.move == 0 && change.grow == 0;
      if (!is_first && (verdict.legal() || !fit_outputs(outputs, s, scalar_))) continue;
      const oracle::Enumeration found = enumerated(tree, s, outputs, scalar_);
      if (!found.unmet.empty()) {
        too_large_ |= is_first;
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

  /// What a refusal says to break at some sizes breaks there. What may be, as data are, need not.
  void enumerate_counter_example(const LoopTree &tree, const Survey &s, const Refusal &refusal,
                                 const std::vector<Output> &first) {
    const std::string text = refusal.diagnostic.to_string();
    if (refusal.proof != Proof::Isl || text.find(" may ") != std::string::npos) return;
    std::vector<Output> outputs = first;
    int32_t scalar = scalar_;
    for (const auto &[name, value] : refusal.parameters) {
      if (name == "n") scalar = static_cast<int32_t>(value);
      for (Output &o : outputs) {
        for (size_t d = 0; d < o.box.min.size(); d++) {
          const std::string dimension = "." + std::to_string(d);
          if (name == o.buffers[0] + ".min" + dimension) o.box.min[d] = value;
          if (name == o.buffers[0] + ".extent" + dimension) o.box.extent[d] = value;
        }
      }
    }
    for (const Output &o : outputs) {
      for (const int64_t n : o.box.extent) {
        if (n < 0 || n > kMaxExtent) return;
      }
    }
    if (!fit_outputs(outputs, s, scalar)) return;
    const oracle::Enumeration found = enumerated(tree, s, outputs, scalar);
    if (!found.unmet.empty()) return;
    counts_.counter_examples++;
    shows_its_counter_example_ = found.violation.has_value();
    if (!shows_its_counter_example_) counts_.unshown_seeds.push_back(seed_);
  }

  /// Of the algorithm where every Func has its whole box, as the interpreter computes it.
  Survey plain_survey() const {
    std::vector<Directive> roots;
    for (const FuncDef &f : p_.frozen.algorithm.funcs) {
      if (!p_.frozen.algorithm.is_output(f.name)) {
        roots.emplace_back();
        roots.back().kind = DirectiveKind::ComputeRoot;
        roots.back().func = f.name;
      }
    }
    return survey(build_tree(p_.frozen.algorithm, roots));
  }

  /// Of an image: what its whole Funcs need, where that is no huge one, and a margin.
  static Extents reference_box(const std::string &image, const Extents &box, int64_t margin,
                               const Survey &plain, const Environment &env) {
    Extents wide = box, whole;
    for (size_t d = 0; d < box.min.size(); d++) {
      wide.min[d] -= margin;
      wide.extent[d] += 2 * margin;
    }
    const auto need = plain.inputs.find(image);
    if (need == plain.inputs.end()) return wide;
    int64_t elements = 1;
    for (size_t d = 0; d < box.min.size(); d++) {
      const auto a = evaluate(need->second[d].min, env), b = evaluate(need->second[d].max, env);
      if (!a || !b) return wide;
      const int64_t low = std::min(wide.min[d], *a);
      const int64_t high = std::max(wide.min[d] + wide.extent[d] - 1, *b);
      whole.min.push_back(low);
      whole.extent.push_back(high - low + 1);
      if (high - low >= kMaxReferenceElements) return wide;
      elements *= high - low + 1;
      if (elements > kMaxReferenceElements) return wide;
    }
    return whole;
  }

  void execute(const LoopTree &tree, const Survey &s, const std::vector<Output> &outputs) {
    const Environment env = environment(outputs, s, scalar_);
    int64_t margin = 0;
    for (const Output &o : outputs) {
      for (int64_t n : o.box.extent) margin = std::max(margin, kMargin + kMarginPerPoint * n);
    }
    const Survey plain = plain_survey();
    const Environment plain_env = environment(outputs, plain, scalar_);
    Images images, margins;
    std::map<std::string, const polyhalite_buffer_t *> for_reference;
    Dice dice(seed_ + 77), beyond(seed_ + 78);
    std::map<std::string, uint64_t> scalars;
    for (const AlgorithmInput &i : p_.frozen.algorithm.inputs) {
      if (!i.param->is_buffer) {
        scalars[i.param->name] = static_cast<uint32_t>(scalar_);
        continue;
      }
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
      // of the image for points that nobody needs, of values that its type has.
      const Extents wide = reference_box(i.param->name, box, margin, plain, plain_env);
      auto &w = margins[i.param->name];
      w = std::make_unique<GuardedBuffer>(i.param->type, wide);
      w->fill(i.param->type, beyond);
      w->copy_from(*b);
      for_reference[i.param->name] = w->raw();
    }
    OutputBuffers expected(outputs), interpreted(outputs), compiled(outputs);
    counts_.executed++;
    try {
      const Stopwatch watch(counts_, "reference");
      interpret(p_.frozen.algorithm, for_reference, scalars, expected.raw());
    } catch (const Error &x) {
      return fail(std::string("reference: ") + x.what());
    }
    counts_.with_extern += foreign_;
    try {
      if (!foreign_ && device_ != Device::Card) {
        run_loops(tree, s, images, scalars, outputs, interpreted, expected);
      }
      constexpr uint64_t kCompileEvery = 20;
      if (counts_.quick && seed_ % kCompileEvery != 0) return;
      run_compiled(tree, s, images, outputs, compiled, expected);
    } catch (const CompileError &x) {
      // A kernel may need too much memory, or what its launch does not know.
      if (device_ == Device::None) return fail(std::string("compile: ") + x.what());
      counts_.executed--;
      counts_.refused_late++;
      return;
    }
    for (auto &[name, b] : images) {
      if (!b->guards_intact()) fail("wrote beyond the ends of " + name);
    }
  }

  // As machine code, kernels on the device.
  void run_compiled(const LoopTree &tree, const Survey &s, Images &images,
                    const std::vector<Output> &outputs, const OutputBuffers &compiled,
                    const OutputBuffers &expected) {
    const Stopwatch watch(counts_, "compiled code");
    try {
      TrialCard card(device_, p_.frozen, target_, interpretation(tree, s));
      const auto code = backend().jit(p_.frozen, target_);
      counts_.compiled++;
      counts_.with_kernels +=
          device_ != Device::None &&
          std::any_of(tree.loops.begin(), tree.loops.end(),
                      [](const LoopInfo &l) { return l.kind == LoopKind::GpuBlock; });
      auto run = [&](const OutputBuffers &out, const char *who) {
        std::vector<void *> args;
        std::vector<polyhalite_buffer_t *> inputs;
        int32_t scalar = scalar_;
        for (const AlgorithmInput &i : p_.frozen.algorithm.inputs) {
          if (i.param->is_buffer) {
            inputs.push_back(images[i.param->name]->raw());
            args.push_back(inputs.back());
          } else {
            args.push_back(&scalar);
          }
        }
        for (polyhalite_buffer_t *b : out.raw()) args.push_back(b);
        std::string message;
        TraceCheck trace(rings_of(tree, s));
        const int code_returned = code->call(args, &message, &trace);
        const std::string on_card = card.finish(inputs, out.raw());
        if (!on_card.empty()) return fail(std::string(who) + " on the card: " + on_card);
        if (code_returned != 0) return fail(std::string(who) + ": " + message);
        if (!trace.problem().empty()) fail(trace.problem());
        counts_.traced += trace.events() > 0;
        check(out, expected, outputs, who);
      };
      run(compiled, "compiled code");
      // What is kept of the first run serves the second.
      if (std::any_of(tree.storage.begin(), tree.storage.end(),
                      [](const FuncStorage &f) { return f.memoized; })) {
        counts_.memoized++;
        OutputBuffers again(outputs);
        run(again, "compiled code, run again");
      }
    } catch (const CompileError &) {
      throw;
    } catch (const Error &x) {
      fail(std::string("compile: ") + x.what());
    }
  }

  InterpretOptions interpretation(const LoopTree &tree, const Survey &s) const {
    InterpretOptions order{ParallelOrder::Shuffled, seed_, {}};
    for (size_t g = 0; g < s.funcs.size(); g++) {
      const FuncDef &def = tree.algorithm.funcs[g];
      for (int v = 0; s.funcs[g].read_beyond && v < static_cast<int>(def.types.size()); v++) {
        // Under the second name where its storage is hoisted and the box is all of it.
        order.may_be_unwritten.insert(def.buffer_name(v));
        order.may_be_unwritten.insert(def.buffer_name(v) + ".memory");
      }
    }
    return order;
  }

  // On the loop IR's interpreter.
  void run_loops(const LoopTree &tree, const Survey &s, Images &images,
                 const std::map<std::string, uint64_t> &scalars, const std::vector<Output> &outputs,
                 OutputBuffers &interpreted, const OutputBuffers &expected) {
    try {
      LowerOptions lowering;
      const auto &list = p_.frozen.directives;
      lowering.profile = std::any_of(list.begin(), list.end(), [](const Directive &d) {
        return d.kind == DirectiveKind::NoProfiling;
      });
      PassOptions options;
      options.verify = true;
      Function f;
      {
        const Stopwatch watch(counts_, "lowering");
        f = lower("f", tree, s, lowering);
      }
      prove(tree, f, s, outputs, images);
      {
        const Stopwatch watch(counts_, "lowering");
        f = run_passes(f, target_, options);
      }
      const Stopwatch watch(counts_, "loop IR");
      IrArguments args;
      for (auto &[name, b] : images) args.buffers[name] = b->raw();
      for (const auto &[name, bits] : scalars) args.scalars[name] = Expr(scalar_);
      size_t next = 0;
      for (const Output &o : outputs) {
        for (const std::string &buffer : o.buffers)
          args.buffers[buffer] = interpreted.raw()[next++];
      }
      interpret_ir(f, args, interpretation(tree, s));
      check(interpreted, expected, outputs, "loop IR");
    } catch (const CompileError &) {
      throw;
    } catch (const Error &x) {
      fail(std::string("loop IR: ") + x.what());
    }
  }

  // The second proof, of what the judge has accepted.
  void prove(const LoopTree &tree, const Function &lowered, const Survey &s,
             const std::vector<Output> &outputs, const Images &images) {
    const Stopwatch watch(counts_, "second proof");
    LoopProofOptions options = proof_options(tree, s);
    options.dataflow.operations = kProofOperations;
    options.sizes = environment(outputs, s, scalar_);
    auto fields = [&](const std::string &buffer, const polyhalite_buffer_t &b) {
      for (int d = 0; d < b.dimensions; d++) {
        const std::string which = "." + std::to_string(d);
        options.sizes[buffer + ".min" + which] = Expr(b.dim[d].min);
        options.sizes[buffer + ".extent" + which] = Expr(b.dim[d].extent);
        options.sizes[buffer + ".stride" + which] = Expr(b.dim[d].stride);
      }
    };
    for (const auto &[name, b] : images) fields(name, *b->raw());
    for (const dataflow::Finding &found : prove_loops(tree.algorithm, lowered, options)) {
      counts_.findings[found.verdict]++;
      if (found.verdict == dataflow::Finding::Undecided) {
        counts_.undecided[found.why.substr(0, found.why.find(':'))]++;
      }
      if (found.verdict == dataflow::Finding::Refused) {
        fail("the second proof says of '" + found.func + "': " + found.why);
      }
    }
  }

  void check(const OutputBuffers &found, const OutputBuffers &expected,
             const std::vector<Output> &outputs, const char *who) {
    size_t next = 0;
    for (const Output &o : outputs) {
      for (size_t v = 0; v < o.types.size(); v++, next++) {
        const std::string &which = o.buffers[v];
        if (!found[next].guards_intact()) {
          fail(std::string(who) + " wrote beyond the ends of the output " + which);
        }
        int64_t at = found[next].difference(expected[next]);
        if (at >= 0 && device_ == Device::Card) {
          // Products and sums fuse there.
          at = found[next].large_difference(expected[next], o.types[v]);
          counts_.rounded += at < 0;
        }
        if (at >= 0) {
          const int bytes = o.types[v].bytes();
          const int64_t element = at / bytes;
          fail(std::string(who) + " differs from the interpreter at element " +
               std::to_string(element) + " of " + which + ": it is " +
               found[next].hexadecimal(element * bytes, bytes) + ", and should be " +
               expected[next].hexadecimal(element * bytes, bytes));
        }
      }
    }
  }

  const uint64_t seed_;
  DifferentialCounts &counts_;
  const RandomPipeline p_;
  const std::string wanted_;  // verdict; empty: any
  const Device device_;
  bool foreign_ = false;  // C functions compute parts of it
  int32_t scalar_ = draw_scalar(seed_);
  bool shows_its_counter_example_ = false;
  bool too_large_ = false;  // to enumerate, and so to interpret
  const Target target_;
};

}  // namespace

Target trial_target(uint64_t seed, Device device) {
  Target target = get_jit_target_from_environment();
  if (device == Device::None) return target;
  target.set_feature(Target::CUDA);
  // Cards of this capability take the text that is theirs, others the portable one.
  if (device == Device::Card && seed % 2 == 1) target.set_feature(Target::SM90a);
  return target;
}

void run_trial(const Case &c, DifferentialCounts &counts, Device device) {
  Trial(c, counts, device).run();
}

void judge_trial(const Case &c, DifferentialCounts &counts) {
  LoopTree tree;
  Survey s;
  Trial(c, counts).judge_it(tree, s);
}

}  // namespace polyhalite::test
