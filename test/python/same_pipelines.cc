// Prints the loop IR of pipelines, which test_same_code.py writes again in Python.
#include <polyhalite/polyhalite.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>

using namespace polyhalite;

namespace {

Var x("x"), y("y"), c("c"), xi("xi"), yi("yi");

Func stencil() {
  ImageParam in(UInt(16), 2, "in");
  Func clamped("clamped"), sum("sum"), blur("blur");
  clamped(x, y) =
      cast<uint32_t>(in(clamp(x, 0, in.dim(0).extent() - 1), clamp(y, 0, in.dim(1).extent() - 1)));
  sum(x, y) = clamped(x - 1, y) + clamped(x, y) + clamped(x + 1, y);
  blur(x, y) = cast<uint16_t>((sum(x, y - 1) + sum(x, y) + sum(x, y + 1)) / 9);
  blur.tile(x, y, xi, yi, 64, 16).vectorize(xi, 8).parallel(y);
  sum.compute_at(blur, x).vectorize(x, 8);
  return blur;
}

Func histogram() {
  ImageParam in(UInt(8), 1, "in");
  RDom r(0, in.dim(0).extent(), "r");
  Func counts("counts");
  counts(x) = 0;
  counts(cast<int>(in(r))) += 1;
  counts.vectorize(x, 8);
  return counts;
}

Func tuples() {
  Param<float> gain("gain");
  Func pair("pair"), out("out");
  pair(x, y) = {cast<float>(x) * gain, y};
  pair(x, 0)[1] += 3;
  out(x, y, c) = pair(x, y)[0] + pair(y, x)[1] + c;
  pair.compute_root();
  out.reorder(c, x, y).bound(c, 0, 3).unroll(c);
  return out;
}

Func reductions() {
  ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
  RDom k(0, a.dim(0).extent(), "k");
  Func product("product");
  product(x, y) += a(k, y) * b(x, k);
  product.update().reorder(x, k, y).vectorize(x, 8, TailStrategy::GuardWithIf);
  return product;
}

}  // namespace

int main(int argc, char **argv) {
  const std::map<std::string, std::function<Func()>> pipelines = {{"stencil", stencil},
                                                                  {"histogram", histogram},
                                                                  {"tuples", tuples},
                                                                  {"reductions", reductions}};
  const auto at = pipelines.find(argc == 2 ? argv[1] : "");
  if (at == pipelines.end()) return 2;
  std::fputs(at->second().emit_text(Emit::stmt, {}, Target("x86-64-linux-avx2-fma")).c_str(),
             stdout);
  return 0;
}
