#include "apps/demo/refused_schedule.h"

#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

using namespace polyhalite;

std::string refusal_of_parallel_scan() {
  Var x("x"), y("y");
  ImageParam image(UInt(8), 2, "image");
  Func sums("sums");
  RDom row(1, image.height() - 1, "row");
  sums(x, y) = cast<uint32_t>(image(x, y));
  sums(x, row) += sums(x, row - 1);

  sums.update().parallel(row);
  try {
    sums.compile_jit();
  } catch (const CompileError &error) {
    return error.what();
  }
  return "";
}

}  // namespace polyhalite_apps
