#include "codegen/passes/pass.h"

#include <algorithm>
#include <chrono>

#include "codegen/passes/cut_selects.h"
#include "codegen/passes/drop_atomics.h"
#include "codegen/passes/expand_phases.h"
#include "codegen/passes/fence_streams.h"
#include "codegen/passes/flatten_storage.h"
#include "codegen/passes/form_collectives.h"
#include "codegen/passes/form_kernels.h"
#include "codegen/passes/form_products.h"
#include "codegen/passes/hoist_allocations.h"
#include "codegen/passes/hoist_calls.h"
#include "codegen/passes/hoist_guards.h"
#include "codegen/passes/hook_sanitizer.h"
#include "codegen/passes/partition_loops.h"
#include "codegen/passes/pipeline_copies.h"
#include "codegen/passes/place_barriers.h"
#include "codegen/passes/place_copies.h"
#include "codegen/passes/promote_accumulators.h"
#include "codegen/passes/prove_barriers.h"
#include "codegen/passes/share_storage.h"
#include "codegen/passes/simplify_stmts.h"
#include "codegen/passes/skip_no_ops.h"
#include "codegen/passes/skip_stages.h"
#include "codegen/passes/split_registers.h"
#include "codegen/passes/trim_loops.h"
#include "codegen/passes/trust_callers.h"
#include "codegen/passes/turn_copies.h"
#include "codegen/passes/unroll_loops.h"
#include "codegen/passes/vectorize_loops.h"
#include "codegen/passes/widen_float16.h"
#include "polyhalite/cancellation.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// A pass that does not ask what machine it works for.
template <Function (*kPass)(const Function &)>
Function any_target(const Function &f, const Target &) {
  return kPass(f);
}

void check(const Function &f, IrLevel level, const char *pass) {
  auto wrong = verify(f, level);
  if (!wrong) return;
  wrong->why =
      std::string("found after '") + pass + "'" + (wrong->why.empty() ? "" : ": ") + wrong->why;
  throw InternalError(*wrong);
}

}  // namespace

const std::vector<Pass> &pass_list() {
  static const std::vector<Pass> kPasses = {
      {"form_kernels", IrLevel::MultiDimensional, false, false, any_target<form_kernels>},
      {"pipeline_copies", IrLevel::MultiDimensional, false, false, any_target<pipeline_copies>},
      {"split_registers", IrLevel::MultiDimensional, false, false, any_target<split_registers>},
      {"place_barriers", IrLevel::MultiDimensional, false, false, any_target<place_barriers>},
      {"prove_barriers", IrLevel::MultiDimensional, false, false, any_target<prove_barriers>},
      {"form_collectives", IrLevel::MultiDimensional, false, false, any_target<form_collectives>},
      {"place_copies", IrLevel::MultiDimensional, false, false, any_target<place_copies>},
      {"expand_phases", IrLevel::MultiDimensional, true, true, any_target<expand_phases>},
      {"skip_stages", IrLevel::MultiDimensional, true, false, any_target<skip_stages>},
      {"simplify", IrLevel::MultiDimensional, true, false, any_target<simplify_stmts>},
      {"skip_no_ops", IrLevel::MultiDimensional, true, false, any_target<skip_no_ops>},
      {"hoist_guards", IrLevel::MultiDimensional, true, false, any_target<hoist_guards>},
      {"trim_loops", IrLevel::MultiDimensional, true, false, any_target<trim_loops>},
      {"cut_selects", IrLevel::MultiDimensional, true, false, any_target<cut_selects>},
      {"partition_loops", IrLevel::MultiDimensional, true, false, any_target<partition_loops>},
      {"simplify_cuts", IrLevel::MultiDimensional, true, false, any_target<simplify_stmts>},
      {"promote_accumulators", IrLevel::MultiDimensional, true, false,
       any_target<promote_accumulators>},
      {"share_storage", IrLevel::MultiDimensional, true, false, any_target<share_storage>},
      {"flatten_storage", IrLevel::Flat, false, false, any_target<flatten_storage>},
      {"simplify_flat", IrLevel::Flat, true, false, any_target<simplify_stmts>},
      {"hoist_allocations", IrLevel::Flat, true, false, any_target<hoist_allocations>},
      {"hoist_calls", IrLevel::Flat, true, false, any_target<hoist_calls>},
      {"form_products", IrLevel::Flat, false, true, form_products},
      {"turn_copies", IrLevel::Flat, true, true, any_target<turn_copies>},
      {"vectorize_loops", IrLevel::Flat, false, true, vectorize_loops},
      {"drop_atomics", IrLevel::Flat, true, true, any_target<drop_atomics>},
      {"unroll_loops", IrLevel::Emittable, false, true, any_target<unroll_loops>},
      {"widen_float16", IrLevel::Emittable, false, false, widen_float16},
      {"fence_streams", IrLevel::Emittable, false, true, fence_streams},
      {"hook_sanitizer", IrLevel::Emittable, false, true, hook_sanitizer},
      {"simplify_last", IrLevel::Emittable, true, false, any_target<simplify_stmts>},
      {"trust_callers", IrLevel::Emittable, false, false, trust_callers},
  };
  return kPasses;
}

Function run_passes(Function f, const Target &target, const PassOptions &options,
                    std::vector<PassTime> *times) {
  for (const std::string &name : options.switched_off) {
    const auto pass = std::find_if(pass_list().begin(), pass_list().end(),
                                   [&](const Pass &p) { return name == p.name; });
    if (pass != pass_list().end() && pass->optional) continue;
    std::string known;
    for (const Pass &p : pass_list()) {
      if (p.optional) known += (known.empty() ? "" : ", ") + std::string(p.name);
    }
    user_error("cannot switch off pass '" + name + "'",
               pass == pass_list().end() ? "no pass has this name" : "code cannot do without it",
               "optional passes are " + known);
  }
  if (options.verify) check(f, IrLevel::Lowered, "lower");
  for (const Pass &pass : pass_list()) {
    const auto &off = options.switched_off;
    if (std::find(off.begin(), off.end(), pass.name) != off.end()) continue;
    if (options.scalar && pass.for_machines) continue;
    check_cancelled();
    const auto start = std::chrono::steady_clock::now();
    f = pass.run(f, target);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (times) times->push_back({pass.name, taken.count()});
    if (options.after) options.after(pass.name, f);
    // Loops that are not unrolled are still there.
    const IrLevel level = options.scalar ? std::min(pass.result, IrLevel::Flat) : pass.result;
    if (options.verify) check(f, level, pass.name);
  }
  return f;
}

}  // namespace polyhalite
