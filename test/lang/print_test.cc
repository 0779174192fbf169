// The language's values in streams.
#include <gtest/gtest.h>

#include <sstream>

#include "polyhalite/polyhalite.h"

namespace polyhalite::print_test {
namespace {

template <typename T>
std::string shown(const T &value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

TEST(Print, Values) {
  Var x("x");
  EXPECT_EQ(shown(x + 1), "x + 1");
  EXPECT_EQ(shown(Expr()), "(undefined)");
  EXPECT_EQ(shown(Float(32)), "float32");
  EXPECT_EQ(shown(RDom()), "RDom()");
  RDom r(0, 10, 2, 5, "r");
  EXPECT_EQ(shown(r), "RDom(r_x(0, 10), r_y(2, 5))");
  EXPECT_EQ(shown(r.y), "r_y(2, 5)");
  EXPECT_EQ(shown(Target("arm-64-linux")), "arm-64-linux");
}

TEST(Print, Enumerators) {
  EXPECT_EQ(shown(DeviceAPI::D3D12Compute), "D3D12Compute");
  EXPECT_EQ(shown(MemoryType::GPUShared), "GPUShared");
  EXPECT_EQ(shown(Partition::Always), "Always");
  EXPECT_EQ(shown(NameMangling::CPlusPlus), "CPlusPlus");
}

}  // namespace
}  // namespace polyhalite::print_test
