#include "autosched/autosched.h"

#include <chrono>
#include <cstdio>
#include <list>
#include <memory>

#include "autosched/analytic_cost.h"
#include "autosched/report.h"
#include "autosched/search.h"
#include "autosched/write_plan.h"
#include "lang/ir/resolve_target.h"
#include "lang/ir/text.h"
#include "polyhedral/judge.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite::autosched {

namespace {

constexpr int kMostJudged = 24;
constexpr const char *kVersion = "0.1";  // of the code that schedules become

std::vector<Directive> with(const FrozenPipeline &p, const std::vector<Directive> &more) {
  std::vector<Directive> all = p.directives;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool is_legal(const FrozenPipeline &p, const std::vector<Directive> &more) {
  try {
    int64_t work = 200'000;  // what inlining makes of an algorithm may be too much to compile
    const LoopTree tree = build_tree(p.algorithm, with(p, more), &work);
    return judge(tree, survey(tree)).legal();
  } catch (const CompileError &) {
    return false;
  }
}

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
        model_(build_model(pipeline, &estimates_)),
        machine_(machine_for(target, options.parallelism)) {}

  Schedule run() {
    prove_stages();
    AnalyticCost costs(model_, machine_);
    const std::function<double()> seconds = [this] { return elapsed(); };
    SearchResult found = search(model_, machine_, options_, costs, seconds);
    const Plan start = template_plan(model_, machine_);
    ReportParts parts{model_, machine_, options_, found, found.plans[0].plan,
                      0,      0,        0,        {}};
    for (const std::string &a : estimates_.assumed) parts.notes.push_back("assumed: " + a);

    std::vector<std::pair<const Found *, std::vector<Directive>>> legal;
    const size_t wanted = options_.measure > 0 ? static_cast<size_t>(options_.measure) : 1;
    std::list<Found> taken;
    int judged = 0;
    for (const Found &f : found.plans) {
      if (legal.size() == wanted || judged == kMostJudged) break;
      for (const Plan &p : {f.plan, rolled(f.plan)}) {
        std::vector<Directive> d = write_plan(model_, p);
        judged++;
        if (is_legal(pipeline_, d)) {
          taken.push_back({p, costs.cost(p)});
          legal.emplace_back(&taken.back(), std::move(d));
          break;
        }
        parts.refused++;
      }
    }
    const Found fallback{bare_plan(), 0};
    if (legal.empty()) {
      std::vector<Directive> d = write_plan(model_, fallback.plan);
      if (!is_legal(pipeline_, d)) {
        // Not even that: it is the user's own part, or what it leaves open has to stay so.
        build_and_judge(pipeline_.algorithm, pipeline_.directives);
        d.clear();
      }
      legal.emplace_back(&fallback, std::move(d));
    }
    const size_t chosen = choose(legal, &parts.notes);
    Schedule result;
    result.directives = legal[chosen].second;
    const ReportParts final_parts{model_,
                                  machine_,
                                  options_,
                                  found,
                                  legal[chosen].first->plan,
                                  costs.cost(legal[chosen].first->plan),
                                  costs.cost(start),
                                  parts.refused,
                                  parts.notes};
    result.report = make_report(final_parts, costs);
    if (!recorded_.empty()) result.directives = recorded_;
    return result;
  }

 private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  // Every Func at root, serial.
  Plan bare_plan() const {
    Plan plan;
    for (const FuncModel &f : model_.funcs) {
      FuncPlan p;
      p.nests.assign(f.stages.size(), Nest());
      if (f.user_inline) p.where = Where::Inline;
      plan.funcs.push_back(std::move(p));
    }
    return plan;
  }

  // Without members that are unrolled whole: boxes may turn out not to be constant.
  static Plan rolled(Plan plan) {
    for (FuncPlan &p : plan.funcs) {
      for (Nest &n : p.nests) {
        if (p.where != Where::At || !n.whole) continue;
        Nest loops;
        loops.lanes = n.lanes;
        n = loops;
      }
    }
    return plan;
  }

  // Vectors and parallel strips of each Func are judged once, with all Funcs at root, so that the
  // search tries no others. Pure definitions need no such proof.
  void prove_stages() {
    const Plan bare = bare_plan();
    Plan all = bare;
    for (size_t f = 0; f < all.funcs.size(); f++) {
      if (!model_.funcs[f].user_inline) all.funcs[f] = root_plan(model_, static_cast<int>(f), machine_);
    }
    if (is_legal(pipeline_, write_plan(model_, all))) return;
    for (size_t f = 0; f < all.funcs.size(); f++) {
      FuncModel &func = model_.funcs[f];
      if (func.stages.size() == 1 || func.user_inline) continue;
      const auto legal_alone = [&] {
        Plan one = bare;
        one.funcs[f] = root_plan(model_, static_cast<int>(f), machine_);
        return is_legal(pipeline_, write_plan(model_, one));
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
    const std::string text = to_text(pipeline_.algorithm, INT64_MAX) +
                             to_text(pipeline_.directives) + sizes;
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
  size_t choose(const std::vector<std::pair<const Found *, std::vector<Directive>>> &legal,
                std::vector<std::string> *notes) {
    std::unique_ptr<Records> records;
    if (!options_.records.empty()) records = std::make_unique<Records>(options_.records);
    const RecordKey key = record_key();
    std::vector<Record> known;
    if (records) known = records->find(key);
    size_t best = 0;
    double least = 0;
    for (size_t i = 0; options_.measure > 0 && i < legal.size(); i++) {
      const std::string text = to_text(legal[i].second);
      Measurement m;
      bool found = false;
      for (const Record &r : known) {
        if (r.schedule == text) {
          m = r.measured;
          found = true;
        }
      }
      if (!found) {
        m = measure_(trial(legal[i].second));
        if (records) records->add(key, {text, m});
      }
      char line[160];
      std::snprintf(line, sizeof line, "plan %zu: estimated %.3g ms, %s %.3g ms +-%.0f%%", i + 1,
                    legal[i].first->cost / 1e6, found ? "recorded" : "measured", m.seconds * 1e3,
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
  PipelineModel model_;
  const Machine machine_;
  std::vector<Directive> recorded_;  // a faster schedule of the records
};

}  // namespace

Schedule schedule(const FrozenPipeline &pipeline, const Target &target, const Options &options,
                  const Measure &measure) {
  const FrozenPipeline resolved = resolve_target(pipeline, target);
  return Scheduler(resolved, target, options, measure).run();
}

}  // namespace polyhalite::autosched
