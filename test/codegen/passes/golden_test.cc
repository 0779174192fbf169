// What each pass makes of small functions, pinned as text.
#include "test/codegen/golden.h"

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
#include "codegen/passes/partition_loops.h"
#include "codegen/passes/pipeline_copies.h"
#include "codegen/passes/place_barriers.h"
#include "codegen/passes/place_copies.h"
#include "codegen/passes/promote_accumulators.h"
#include "codegen/passes/share_storage.h"
#include "codegen/passes/simplify_stmts.h"
#include "codegen/passes/skip_stages.h"
#include "codegen/passes/split_registers.h"
#include "codegen/passes/trim_loops.h"
#include "codegen/passes/trust_callers.h"
#include "codegen/passes/turn_copies.h"
#include "codegen/passes/unroll_loops.h"
#include "codegen/passes/vectorize_loops.h"

namespace polyhalite::golden_test {
namespace {

Function simplified(const Function &f) { return simplify_stmts(f); }

TEST(PassGolden, SimplifyStmts) {
  check_golden("simplify_stmts", IrLevel::MultiDimensional, IrLevel::MultiDimensional, simplified);
}

TEST(PassGolden, FormKernels) {
  check_golden("form_kernels", IrLevel::Lowered, IrLevel::MultiDimensional, form_kernels);
}

TEST(PassGolden, PipelineCopies) {
  check_golden("pipeline_copies", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               pipeline_copies);
}

TEST(PassGolden, FormCollectives) {
  check_golden("form_collectives", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               form_collectives);
}

TEST(PassGolden, SplitRegisters) {
  check_golden("split_registers", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               split_registers);
}

TEST(PassGolden, PlaceBarriers) {
  check_golden("place_barriers", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               place_barriers);
}

TEST(PassGolden, PlaceCopies) {
  check_golden("place_copies", IrLevel::MultiDimensional, IrLevel::MultiDimensional, place_copies);
}

TEST(PassGolden, FlattenStorage) {
  check_golden("flatten_storage", IrLevel::MultiDimensional, IrLevel::Flat, flatten_storage);
}

TEST(PassGolden, SkipStages) {
  check_golden("skip_stages", IrLevel::MultiDimensional, IrLevel::MultiDimensional, skip_stages);
}

TEST(PassGolden, HoistAllocations) {
  check_golden("hoist_allocations", IrLevel::Flat, IrLevel::Flat, hoist_allocations);
}

TEST(PassGolden, HoistCalls) {
  check_golden("hoist_calls", IrLevel::Flat, IrLevel::Flat, hoist_calls);
}

TEST(PassGolden, ShareStorage) {
  check_golden("share_storage", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               share_storage);
}

TEST(PassGolden, VectorizeLoops) {
  check_golden("vectorize_loops", IrLevel::Flat, IrLevel::Emittable,
               [](const Function &f) { return simplified(vectorize_loops(f, Target())); });
}

TEST(PassGolden, TurnCopies) {
  check_golden("turn_copies", IrLevel::Flat, IrLevel::Flat, turn_copies);
}

TEST(PassGolden, DropAtomics) {
  check_golden("drop_atomics", IrLevel::Flat, IrLevel::Flat, drop_atomics);
}

TEST(PassGolden, FormProducts) {
  check_golden("form_products", IrLevel::Flat, IrLevel::Flat, [](const Function &f) {
    const bool on_arm = f.name.starts_with("arm");
    return form_products(f, Target(on_arm ? "arm-64-linux-armv86a"
                                          : "x86-64-linux-avx512_skylake-avx512_zen4-"
                                            "avx512_sapphirerapids"));
  });
}

TEST(PassGolden, PartitionLoops) {
  check_golden("partition_loops", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               [](const Function &f) { return simplified(partition_loops(f)); });
}

TEST(PassGolden, ExpandPhases) {
  check_golden("expand_phases", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               expand_phases);
}

TEST(PassGolden, TrimLoops) {
  check_golden("trim_loops", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               [](const Function &f) { return simplified(trim_loops(f)); });
}

TEST(PassGolden, HoistGuards) {
  check_golden("hoist_guards", IrLevel::MultiDimensional, IrLevel::MultiDimensional, hoist_guards);
}

TEST(PassGolden, CutSelects) {
  check_golden("cut_selects", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               [](const Function &f) { return simplified(cut_selects(f)); });
}

TEST(PassGolden, PromoteAccumulators) {
  check_golden("promote_accumulators", IrLevel::MultiDimensional, IrLevel::MultiDimensional,
               promote_accumulators);
}

TEST(PassGolden, UnrollLoops) {
  check_golden("unroll_loops", IrLevel::MultiDimensional, IrLevel::MultiDimensional, unroll_loops);
}

TEST(PassGolden, UnrollStores) {
  check_golden("unroll_stores", IrLevel::Flat, IrLevel::Emittable,
               [](const Function &f) { return simplified(unroll_loops(f)); });
}

TEST(PassGolden, FenceStreams) {
  check_golden("fence_streams", IrLevel::Emittable, IrLevel::Emittable, [](const Function &f) {
    const Function arm = fence_streams(f, Target("arm-64-linux"));
    EXPECT_TRUE(arm.body.same_as(f.body));
    return fence_streams(f, Target("x86-64-linux"));
  });
}

TEST(PassGolden, TrustCallers) {
  check_golden("trust_callers", IrLevel::Emittable, IrLevel::Emittable, [](const Function &f) {
    const Function checked = trust_callers(f, Target("x86-64-linux"));
    EXPECT_TRUE(checked.body.same_as(f.body));
    return trust_callers(f, Target("x86-64-linux-no_asserts"));
  });
}

}  // namespace
}  // namespace polyhalite::golden_test
