#include "autosched/autosched.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>

#include "autosched/analytic_cost.h"
#include "autosched/factor.h"
#include "autosched/recurrences.h"
#include "autosched/report.h"
#include "autosched/search.h"
#include "autosched/write_plan.h"
#include "lang/asking.h"
#include "lang/ir/resolve_target.h"
#include "lang/ir/text.h"
#include "polyhedral/judge.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite::autosched {

namespace {

constexpr int kMostJudged = 24;
constexpr double kNestsShare = 0.3;      // of the budget, for loops of updates before the search
constexpr const char *kVersion = "0.1";  // of the code that schedules become

std::vector<Directive> with(const FrozenPipeline &p, const std::vector<Directive> &more) {
  std::vector<Directive> all = p.directives;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool is_legal(const FrozenPipeline &p, const std::vector<Directive> &more) {
  const Asking asking;
  try {
    int64_t work = 200'000;  // what inlining makes of an algorithm may be too much to compile
    const LoopTree tree = build_tree(p.algorithm, with(p, more), &work);
    return judge(tree, survey(tree)).legal();
  } catch (const CompileError &) {
    return false;
  }
}

// The pipeline in one form: as it is, or with reductions factored.
struct Variant {
  std::vector<Directive> deriving;
  PipelineModel model;
  std::unique_ptr<AnalyticCost> costs;
  SearchResult found;

  std::vector<Directive> directives(const Plan &plan) const {
    std::vector<Directive> all = deriving;
    for (Directive &d : write_plan(model, plan)) all.push_back(std::move(d));
    return all;
  }
};

// A plan that the judge accepts.
struct Legal {
  const Variant *variant = nullptr;
  Found plan;
  std::vector<Directive> directives;
};

class Scheduler {
 public:
  Scheduler(const FrozenPipeline &pipeline, const Target &target, const Options &options,
            const Measure &measure)
      : pipeline_(pipeline),
        target_(target),
        options_(options),
        measure_(measure),
        start_(std::chrono::steady_clock::now()),
        estimates_(find_estimates(pipeline)),
        machine_(machine_for(target, options.parallelism)) {}

  Schedule run() {
    make_variants();
    for (size_t v = 0; v < variants_.size(); v++) {
      Options part = options_;
      part.budget *= static_cast<double>(v + 1) / static_cast<double>(variants_.size());
      const std::function<double()> seconds = [this] { return elapsed(); };
      variants_[v].found = search(variants_[v].model, machine_, part, *variants_[v].costs, seconds);
    }
    int refused = 0;
    const std::vector<Legal> legal = find_legal(&refused);
    std::vector<std::string> notes;
    for (const std::string &a : estimates_.assumed) notes.push_back("assumed: " + a);
    const Legal &chosen = legal[choose(legal, &notes)];
    compare_variants(chosen, &notes);
    SearchResult found;
    for (const Variant &v : variants_) {
      found.considered += v.found.considered;
      found.out_of_time = found.out_of_time || v.found.out_of_time;
    }
    const Variant &v = *chosen.variant;
    const Plan start = template_plan(v.model, machine_);
    const ReportParts parts{v.model,
                            machine_,
                            options_,
                            found,
                            chosen.plan.plan,
                            v.costs->cost(chosen.plan.plan),
                            v.costs->cost(start),
                            refused,
                            notes};
    Schedule result;
    result.directives = recorded_.empty() ? chosen.directives : recorded_;
    result.report = make_report(parts, *v.costs);
    return result;
  }

 private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  void make_variants() {
    add_variant({});
    const std::vector<Directive> deriving = factor_reductions(variants_[0].model, machine_);
    if (deriving.empty()) return;
    try {
      add_variant(deriving);
    } catch (const CompileError &) {
      // What cannot be factored stays whole.
    }
  }

  void add_variant(std::vector<Directive> deriving) {
    Variant v;
    v.model = build_model(pipeline_, deriving, &estimates_);
    v.deriving = std::move(deriving);
    find_nests(&v);
    prove_stages(&v);
    variants_.push_back(std::move(v));
    variants_.back().costs = std::make_unique<AnalyticCost>(variants_.back().model, machine_);
  }

  // The best plans of all variants that the judge accepts: as many as are to be measured, or one.
  std::vector<Legal> find_legal(int *refused) const {
    std::vector<std::pair<const Variant *, const Found *>> plans;
    for (const Variant &v : variants_) {
      for (const Found &f : v.found.plans) plans.emplace_back(&v, &f);
    }
    std::stable_sort(plans.begin(), plans.end(),
                     [](const auto &a, const auto &b) { return a.second->cost < b.second->cost; });
    const size_t wanted = options_.measure > 0 ? static_cast<size_t>(options_.measure) : 1;
    std::vector<Legal> legal;
    int judged = 0;
    for (const auto &[v, found] : plans) {
      if (legal.size() == wanted || judged == kMostJudged) break;
      for (const Plan &p : {found->plan, rolled(found->plan)}) {
        std::vector<Directive> d = v->directives(p);
        judged++;
        if (is_legal(pipeline_, d)) {
          legal.push_back({v, {p, v->costs->cost(p)}, std::move(d)});
          break;
        }
        ++*refused;
      }
    }
    if (!legal.empty()) return legal;
    const Variant &v = variants_[0];
    Legal fallback{&v, {bare_plan(v.model), 0}, {}};
    fallback.directives = v.directives(fallback.plan.plan);
    if (!is_legal(pipeline_, fallback.directives)) {
      // Not even that: it is the user's own part, or what it leaves open has to stay so.
      build_and_judge(pipeline_.algorithm, pipeline_.directives);
      fallback.directives.clear();
    }
    legal.push_back(std::move(fallback));
    return legal;
  }

  void compare_variants(const Legal &chosen, std::vector<std::string> *notes) const {
    if (variants_.size() < 2) return;
    const bool factored = chosen.variant != &variants_[0];
    const Variant &other = variants_[factored ? 0 : 1];
    char text[120];
    std::snprintf(text, sizeof text, "reductions are %s; %s: %.3g of the time",
                  factored ? "factored" : "left whole", factored ? "whole" : "factored",
                  other.found.plans[0].cost / chosen.plan.cost);
    notes->push_back(text);
  }

  // Every Func at root, serial.
  static Plan bare_plan(const PipelineModel &model) {
    Plan plan;
    for (const FuncModel &f : model.funcs) {
      FuncPlan p;
      p.nests.assign(f.stages.size(), Nest());
      if (f.user_inline) p.where = Where::Inline;
      plan.funcs.push_back(std::move(p));
    }
    return plan;
  }

  // Without members that are unrolled whole: boxes may turn out not to be constant.
  static Plan rolled(Plan plan) {
    for (size_t f = 0; f < plan.funcs.size(); f++) {
      FuncPlan p = plan.funcs[f];
      if (p.where != Where::At) continue;
      for (Nest &n : p.nests) {
        if (!n.whole) continue;
        Nest loops;
        loops.lanes = n.lanes;
        n = loops;
      }
      plan.funcs.set(f, std::move(p));
    }
    return plan;
  }

  // Updates whose reduction variables say where they write get their loops here.
  void find_nests(Variant *v) const {
    PipelineModel &model = v->model;
    const Plan bare = bare_plan(model);
    for (size_t f = 0; f < model.funcs.size(); f++) {
      for (size_t s = 1; s < model.funcs[f].stages.size(); s++) {
        StageModel &stage = model.funcs[f].stages[s];
        const AcceptsNest accepts = [&](const FixedNest &nest) {
          if (elapsed() > kNestsShare * options_.budget) return false;
          stage.nest = nest;
          const bool legal = is_legal(pipeline_, v->directives(bare));
          stage.nest.reset();
          return legal;
        };
        stage.nest = find_nest(model, machine_, static_cast<int>(f), static_cast<int>(s), accepts);
      }
    }
  }

  // Vectors and parallel strips of each Func are judged once, with all Funcs at root, so that the
  // search tries no others. Pure definitions need no such proof.
  void prove_stages(Variant *v) const {
    PipelineModel &model = v->model;
    const auto legal = [&](const Plan &p) { return is_legal(pipeline_, v->directives(p)); };
    const Plan bare = bare_plan(model);
    Plan all = bare;
    for (size_t f = 0; f < all.funcs.size(); f++) {
      if (!model.funcs[f].user_inline) {
        all.funcs.set(f, root_plan(model, static_cast<int>(f), machine_));
      }
    }
    if (legal(all)) return;
    for (size_t f = 0; f < all.funcs.size(); f++) {
      FuncModel &func = model.funcs[f];
      if (func.stages.size() == 1 || func.user_inline) continue;
      const auto legal_alone = [&] {
        Plan one = bare;
        one.funcs.set(f, root_plan(model, static_cast<int>(f), machine_));
        return legal(one);
      };
      if (legal_alone()) continue;
      func.no_tiles = true;
      if (legal_alone()) continue;
      func.no_vectors = true;
      func.no_tiles = false;
      if (!legal_alone()) func.no_tiles = true;
    }
  }

  RecordKey record_key() const {
    RecordKey key;
    std::string sizes;
    for (const auto &[name, n] : estimates_.numbers) sizes += " " + name + "=" + std::to_string(n);
    const std::string text =
        to_text(pipeline_.algorithm, INT64_MAX) + to_text(pipeline_.directives) + sizes;
    uint64_t hash = 14695981039346656037ull;  // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    char digits[32];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    key.pipeline = digits + sizes;
    key.machine = target_.to_string() + " threads=" + std::to_string(machine_.cores);
    key.version = kVersion;
    return key;
  }

  Trial trial(const std::vector<Directive> &directives) const {
    Trial t;
    t.pipeline = pipeline_;
    t.pipeline.directives = with(pipeline_, directives);
    for (const AlgorithmInput &i : pipeline_.algorithm.inputs) {
      if (!i.param->is_buffer) continue;
      NumberBox box;
      for (size_t d = 0; d < i.param->dims.size(); d++) {
        const std::string dim = "." + std::to_string(d);
        const int64_t min = estimates_.numbers.at(i.param->name + ".min" + dim);
        box.push_back({min, min + estimates_.numbers.at(i.param->name + ".extent" + dim) - 1});
      }
      t.images[i.param->name] = box;
    }
    for (const std::string &o : pipeline_.algorithm.outputs) {
      t.outputs.push_back(estimates_.outputs.at(o));
    }
    return t;
  }

  // The number of the fastest by measurement or record; the first without either. A schedule of the
  // records that is faster than all takes its place.
  size_t choose(const std::vector<Legal> &legal, std::vector<std::string> *notes) {
    std::unique_ptr<Records> records;
    if (!options_.records.empty()) records = std::make_unique<Records>(options_.records);
    const RecordKey key = record_key();
    std::vector<Record> known;
    if (records) known = records->find(key);
    size_t best = 0;
    double least = 0;
    for (size_t i = 0; options_.measure > 0 && i < legal.size(); i++) {
      const std::string text = to_text(legal[i].directives);
      Measurement m;
      bool found = false;
      for (const Record &r : known) {
        if (r.schedule == text) {
          m = r.measured;
          found = true;
        }
      }
      if (!found) {
        m = measure_(trial(legal[i].directives));
        if (records) records->add(key, {text, m});
      }
      char line[160];
      std::snprintf(line, sizeof line, "plan %zu: estimated %.3g ms, %s %.3g ms +-%.0f%%", i + 1,
                    legal[i].plan.cost / 1e6, found ? "recorded" : "measured", m.seconds * 1e3,
                    50 * m.spread);
      notes->push_back(m.failure.empty() ? line
                                         : "plan " + std::to_string(i + 1) + ": " + m.failure);
      if (m.failure.empty() && (least == 0 || m.seconds < least)) {
        best = i;
        least = m.seconds;
      }
    }
    for (const Record &r : known) {
      if (!r.measured.failure.empty() || (least != 0 && r.measured.seconds >= least)) continue;
      std::vector<Directive> d = parse_schedule(r.schedule, options_.records);
      if (!is_legal(pipeline_, d)) continue;
      recorded_ = std::move(d);
      char line[80];
      std::snprintf(line, sizeof line, "a recorded schedule is taken: %.3g ms",
                    r.measured.seconds * 1e3);
      notes->push_back(line);
      break;
    }
    return best;
  }

  const FrozenPipeline &pipeline_;
  const Target &target_;
  const Options &options_;
  const Measure &measure_;
  const std::chrono::steady_clock::time_point start_;
  Estimates estimates_;
  const Machine machine_;
  std::deque<Variant> variants_;     // each stays where its cost model looks
  std::vector<Directive> recorded_;  // a faster schedule of the records
};

}  // namespace

Schedule schedule(const FrozenPipeline &pipeline, const Target &target, const Options &options,
                  const Measure &measure) {
  const FrozenPipeline resolved = resolve_target(pipeline, target);
  return Scheduler(resolved, target, options, measure).run();
}

}  // namespace polyhalite::autosched
