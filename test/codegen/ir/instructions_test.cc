// The table of GPU instructions: fragments hold every element once, and ptxas takes every text.
#include "codegen/ir/instructions.h"

#include <gtest/gtest.h>

#include <set>

#include "test/support/ptxas.h"

namespace polyhalite::instructions_test {
namespace {

constexpr int kLanes = 32;

TEST(Instructions, FragmentsHoldEveryElementOnce) {
  for (const Instruction &i : instructions()) {
    for (const InstructionOperand &o : i.operands) {
      if (o.home != Home::Thread) continue;
      const Fragment &f = o.fragment;
      // Of several matrices, the fragment is that of one.
      const bool several = i.meaning == InstructionMeaning::LoadMatrices;
      const int elements = several ? 2 : f.per_lane;
      std::set<std::pair<int, int>> places;
      for (int lane = 0; lane < kLanes; lane++) {
        for (int e = 0; e < elements; e++) {
          const MatrixPlace p = f.at(lane, e);
          EXPECT_TRUE(p.row >= 0 && p.row < f.rows && p.column >= 0 && p.column < f.columns)
              << i.name << " " << o.name;
          EXPECT_TRUE(places.emplace(p.row, p.column).second) << i.name << " " << o.name;
        }
      }
      EXPECT_EQ(places.size(), static_cast<size_t>(f.rows * f.columns)) << i.name << " " << o.name;
    }
  }
}

// As the manual draws them: group g = lane/4, t = lane % 4.
TEST(Instructions, FragmentsOfTheProduct16x8x16) {
  const Instruction &mma = *find_instruction("mma_m16n8k16_f16_f32");
  const Fragment &d = mma.operands[0].fragment, &a = mma.operands[1].fragment,
                 &b = mma.operands[2].fragment;
  for (int lane = 0; lane < kLanes; lane++) {
    const int g = lane / 4, t = lane % 4;
    for (int e = 0; e < 4; e++) {
      EXPECT_EQ(d.at(lane, e).row, e < 2 ? g : g + 8);
      EXPECT_EQ(d.at(lane, e).column, 2 * t + e % 2);
      EXPECT_EQ(b.at(lane, e).row, 2 * t + e % 2 + (e >= 2 ? 8 : 0));
      EXPECT_EQ(b.at(lane, e).column, g);
    }
    for (int e = 0; e < 8; e++) {
      EXPECT_EQ(a.at(lane, e).row, e / 2 % 2 == 0 ? g : g + 8);
      EXPECT_EQ(a.at(lane, e).column, 2 * t + e % 2 + (e >= 4 ? 8 : 0));
    }
  }
  const MatrixShape shape = matrix_shape(mma);
  EXPECT_EQ(shape.m, 16);
  EXPECT_EQ(shape.n, 8);
  EXPECT_EQ(shape.k, 16);
  EXPECT_EQ(find_instruction("mma_m1n1k1"), nullptr);
}

const char *register_type(const InstructionOperand &o) {
  if (o.home == Home::Device) return "b64";
  return o.home == Home::Thread && o.type == Float(32) ? "f32" : "b32";
}

// An entry that runs the instruction on registers of its own.
std::string entry_with(const Instruction &i, int number) {
  std::string declared, text;
  std::vector<std::string> operands;
  for (size_t k = 0; k < i.operands.size(); k++) {
    const InstructionOperand &o = i.operands[k];
    const std::string name = "%o" + std::to_string(k) + "_";
    const int width = o.type.bits() == 16 ? 2 : 1;
    const int count = o.home == Home::Thread ? o.fragment.per_lane / width : 1;
    declared += std::string("  .reg .") + register_type(o) + " " + name + "<" +
                std::to_string(count) + ">;\n";
    std::string list;
    for (int r = 0; r < count; r++) list += (r ? ", " : "") + name + std::to_string(r);
    operands.push_back(o.home != Home::Thread ? "[" + list + "]"
                       : count > 1            ? "{" + list + "}"
                                              : list);
  }
  for (const char *c = i.ptx; *c; c++) {
    if (*c != '%') {
      text += *c;
    } else if (*++c == 'n') {
      text += std::to_string(number);
    } else {
      text += operands[static_cast<size_t>(*c - '0')];
    }
  }
  return ".entry " + std::string(i.name) + "() {\n" + declared + "  " + text + "\n  ret;\n}\n";
}

TEST(Instructions, AreAssembled) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas in PATH or under /usr/local/cuda*";
  std::string entries;
  for (const Instruction &i : instructions()) entries += entry_with(i, 2);
  for (const char *architecture : {"sm_80", "sm_90a"}) {
    const std::string ptx =
        std::string(".version 8.3\n.target ") + architecture + "\n.address_size 64\n" + entries;
    const Assembled a = assemble(ptx, architecture);
    EXPECT_TRUE(a.is_assembled) << a.log << ptx;
    EXPECT_GE(a.count(kLdgsts), 3) << a.log;
  }
}

}  // namespace
}  // namespace polyhalite::instructions_test
