#include "polyhedral/dataflow/prove.h"

#include <isl/options.h>

#include <set>

#include "polyhedral/dataflow/accesses.h"
#include "polyhedral/dataflow/covered.h"
#include "polyhedral/dataflow/definitions.h"
#include "polyhedral/dataflow/flow_proof.h"
#include "polyhedral/dataflow/races.h"
#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/tasks.h"

namespace polyhalite::dataflow {

namespace {

class Prover {
 public:
  Prover(const Algorithm &algorithm, const Program &program, const ProveOptions &options)
      : options_(options),
        ctx_(isl_ctx_alloc()),
        relations_(ctx_.get(), algorithm, program),
        uses_(relations_) {
    isl_options_set_on_error(ctx_.get(), ISL_ON_ERROR_CONTINUE);
  }

  Finding about(int func) {
    isl_ctx *ctx = ctx_.get();
    Finding f;
    f.func = relations_.algorithm().funcs[func].name;
    isl_ctx_reset_error(ctx);
    isl_ctx_reset_operations(ctx);
    isl_ctx_set_max_operations(ctx, options_.operations);
    try {
      prove_func(func);
    } catch (const Stop &s) {
      f.verdict = s.verdict;
      f.why = s.why;
    }
    if (isl_ctx_last_error(ctx) != isl_error_none) {
      f.verdict = Finding::Undecided;
      f.why = isl_ctx_last_error(ctx) == isl_error_quota
                  ? "isl's quota of " + std::to_string(options_.operations) + " operations ran out"
                  : std::string("isl failed: ") + isl_ctx_last_error_msg(ctx);
    }
    isl_ctx_set_max_operations(ctx, 0);
    return f;
  }

 private:
  void prove_func(int func) {
    Definitions definitions(relations_, func);
    check_images(relations_, func);
    check_addresses(relations_, func);
    const std::vector<Sink> sinks = relations_.sinks_of(func);
    const UnionMap identities = definitions.actual_identities();
    if (!is_covered(relations_, func, sinks)) {
      prove_by_flow(relations_, uses_, definitions, sinks, identities);
    }
    check_races(relations_, func, identities);
    check_tasks(relations_, uses_, func);
  }

  const ProveOptions options_;
  Context ctx_;  // in front of what lives in it
  Relations relations_;
  Uses uses_;
};

}  // namespace

std::vector<Finding> prove(const Algorithm &algorithm, const Program &program,
                           const ProveOptions &options) {
  std::set<int> funcs;
  for (const Statement &s : program.statements) {
    funcs.insert(s.stage.func);
    for (const Read &r : s.reads) {
      if (r.memory >= 0) funcs.insert(algorithm.index_of(r.callee));
    }
  }
  std::vector<Finding> findings;
  Prover prover(algorithm, program, options);
  for (int f : funcs) findings.push_back(prover.about(f));
  return findings;
}

}  // namespace polyhalite::dataflow
