#include "apps/demo/gpu_product.h"

#include <fstream>
#include <sstream>

#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

using namespace polyhalite;

// Blocks of 64 x 64 by four warps. Steps of 32 are copied into shared memory two steps ahead.
std::string ptx_of_product(const std::string &file) {
  const std::string mma = "mma_m16n8k16_f16_f32";
  Var x("x"), y("y"), xo("xo"), yo("yo"), wx("wx"), wy("wy"), mt("mt"), m("m"), nt("nt"), n("n");
  Var piece("piece"), eight("eight"), lane("lane"), warp("warp"), turn("turn");
  RDom k(0, 1024, "k");
  RVar step("step"), kk("kk"), ki("ki");
  ImageParam left(Float(16), 2, "left"), right(Float(16), 2, "right");
  Func a("a"), b("b"), sum("sum"), product("product");
  a(x, y) = left(x, y);
  b(x, y) = right(x, y);
  sum(x, y) = 0.0f;
  sum(x, y) += cast<float>(a(k, y)) * cast<float>(b(x, k));
  product(x, y) = sum(x, y);

  product.bound(x, 0, 1024).bound(y, 0, 1024);
  product.split(x, xo, x, 64).split(y, yo, y, 64).split(x, wx, x, 32).split(x, nt, n, 8);
  product.split(y, wy, y, 32).split(y, mt, m, 16).reorder(n, m, nt, mt, wx, wy, xo, yo);
  product.gpu_blocks(xo, yo).gpu_threads(wx, wy).unroll(nt).unroll(mt).tensorize(m, n, mma);
  sum.compute_at(product, xo).store_in(MemoryType::Register);
  sum.split(x, wx, x, 32).split(x, nt, n, 8).split(y, wy, y, 32).split(y, mt, m, 16);
  sum.reorder(n, m, nt, mt, wx, wy).gpu_threads(wx, wy).unroll(nt).unroll(mt).tensorize(m, n, mma);
  Stage add = sum.update();
  add.split(x, wx, x, 32).split(x, nt, n, 8).split(y, wy, y, 32).split(y, mt, m, 16);
  add.split(k.x, step, kk, 32).split(kk, kk, ki, 16).reorder(ki, n, m, nt, mt, kk, wx, wy, step);
  add.gpu_threads(wx, wy).unroll(nt).unroll(mt).unroll(kk).tensorize(m, n, ki, mma);
  for (Func f : {a, b}) {
    f.compute_at(sum, step).hoist_storage(product, xo).async().ring_buffer(3);
    f.store_in(MemoryType::GPUShared).align_storage(x, f.name() == a.name() ? 40 : 72);
    f.split(x, piece, eight, 8)
        .vectorize(eight)
        .fuse(piece, y, piece)
        .split(piece, piece, lane, 32);
    f.split(piece, turn, warp, 4).split(warp, wy, wx, 2).reorder(eight, turn, lane, wx, wy);
    f.gpu_threads(lane, wx, wy);
  }
  const Target target("x86-64-linux-cuda-cuda_capability_80");
  product.compile_to({{OutputFileType::ptx, file}}, {left, right}, "product", target);
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace polyhalite_apps
