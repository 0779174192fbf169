// PolyBench's stencils: adi, fdtd-2d, heat-3d, jacobi-1d, jacobi-2d, seidel-2d. What one step of
// time leaves for the next is one Func; what it does one after the other are values of one more
// reduction variable, the phase.
#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_stencils.h"
#include "apps/polybench/tiles.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

Var x("x"), y("y"), z("z"), p("p");
RVar to("to"), ti("ti"), io("io"), ii("ii"), jo("jo"), ji("ji"), ko("ko"), ki("ki"), wave("wave");

// Planes are filled, and results taken from them, by vectors.
void copy_vectors(const Kernel &kernel, Func planes, const std::vector<Func> &results) {
  if (!kernel.by_hand()) return;
  const int lanes = register_tile().lanes;
  planes.unroll(p).vectorize(x, lanes, TailStrategy::GuardWithIf);
  for (Func f : results) f.vectorize(x, lanes, TailStrategy::GuardWithIf);
}

// Two planes that become each other's neighbourhoods in turn: a step is two phases.
void jacobi_1d(Kernel &k) {
  const Expr steps = k.size(0), n = k.size(1);
  Func a = k.input("a", {1}), b = k.input("b", {1}), u("u"), out("out");
  RDom r(1, n - 2, 0, 2 * steps, "r");
  RVar i = r.x, t = r.y;
  const Expr from = t % 2, to_plane = (t + 1) % 2;
  u(x, p) = select(p == 0, a(x), b(x));
  u(i, to_plane) = Expr(0.33333) * (u(i - 1, from) + u(i, from) + u(i + 1, from));
  out(x) = u(x, 0);
  u.compute_root().bound(p, 0, 2);
  copy_vectors(k, u, {out});
  if (k.scheduled("vectors")) u.update().vectorize(i, register_tile().lanes);
  if (k.scheduled("time tiled")) {
    u.update().skew(i, t, 1).split(t, to, ti, 8).split(i, io, ii, 32).reorder(ii, ti, io, to);
    u.update()
        .vectorize(ii, register_tile().lanes)
        .skew(io, to, wave, 1)
        .reorder(to, wave)
        .parallel(to);
  }
  k.output(out, {1});
}

void jacobi_2d(Kernel &k) {
  const Expr steps = k.size(0), n = k.size(1);
  Func a = k.input("a", {1, 1}), b = k.input("b", {1, 1}), u("u"), out("out");
  RDom r(1, n - 2, 1, n - 2, 0, 2 * steps, "r");
  RVar j = r.x, i = r.y, t = r.z;
  const Expr from = t % 2, to_plane = (t + 1) % 2;
  u(x, y, p) = select(p == 0, a(x, y), b(x, y));
  u(j, i, to_plane) = Expr(0.2) * (u(j, i, from) + u(j - 1, i, from) + u(j + 1, i, from) +
                                   u(j, i + 1, from) + u(j, i - 1, from));
  out(x, y) = u(x, y, 0);
  u.compute_root().bound(p, 0, 2);
  copy_vectors(k, u, {out});
  if (k.scheduled("rows")) u.update().vectorize(j, register_tile().lanes).parallel(i);
  if (k.scheduled("time tiled")) {
    u.update().skew(i, t, 1).split(t, to, ti, 16).split(i, io, ii, 8).reorder(j, ii, ti, io, to);
    u.update()
        .vectorize(j, register_tile().lanes)
        .skew(io, to, wave, 1)
        .reorder(to, wave)
        .parallel(to);
  }
  k.output(out, {1, 1});
}

void heat_3d(Kernel &kernel) {
  const Expr steps = kernel.size(0), n = kernel.size(1);
  Func a = kernel.input("a", {1, 1, 1}), b = kernel.input("b", {1, 1, 1}), u("u"), out("out");
  RDom r(1, n - 2, 1, n - 2, 1, n - 2, 0, 2 * steps, "r");
  RVar k = r[0], j = r[1], i = r[2], t = r[3];
  const Expr from = t % 2, to_plane = (t + 1) % 2;
  u(x, y, z, p) = select(p == 0, a(x, y, z), b(x, y, z));
  const Expr centre = u(k, j, i, from);
  u(k, j, i, to_plane) =
      Expr(0.125) * (u(k, j, i + 1, from) - Expr(2.0) * centre + u(k, j, i - 1, from)) +
      Expr(0.125) * (u(k, j + 1, i, from) - Expr(2.0) * centre + u(k, j - 1, i, from)) +
      Expr(0.125) * (u(k + 1, j, i, from) - Expr(2.0) * centre + u(k - 1, j, i, from)) + centre;
  out(x, y, z) = u(x, y, z, 0);
  u.compute_root().bound(p, 0, 2);
  copy_vectors(kernel, u, {out});
  if (kernel.scheduled("planes")) u.update().vectorize(k, register_tile().lanes).parallel(i);
  if (kernel.scheduled("time tiled")) {
    const int lanes = register_tile().lanes;
    // Several vectors of a row together, since rows are short.
    u.update()
        .skew(i, t, 1)
        .skew(j, t, 1)
        .split(t, to, ti, 8)
        .split(i, io, ii, 8)
        .split(j, jo, ji, 8)
        .split(k, ko, ki, 5 * lanes)
        .reorder(ki, ko, ji, ii, ti, jo, io, to)
        .vectorize(ki, lanes)
        .unroll(ki)
        .skew(io, to, wave, 1)
        .reorder(jo, to, wave)
        .parallel(to);
  }
  kernel.output(out, {1, 1, 1});
}

void seidel_2d(Kernel &k) {
  const Expr steps = k.size(0), n = k.size(1);
  Func a = k.input("a", {1, 1}), u("u");
  RDom r(1, n - 2, 1, n - 2, 0, steps, "r");
  RVar j = r.x, i = r.y, t = r.z;
  u(x, y) = a(x, y);
  u(j, i) = (u(j - 1, i - 1) + u(j, i - 1) + u(j + 1, i - 1) + u(j - 1, i) + u(j, i) + u(j + 1, i) +
             u(j - 1, i + 1) + u(j, i + 1) + u(j + 1, i + 1)) /
            Expr(9.0);
  if (k.scheduled("time tiled")) {
    u.update()
        .split(t, to, ti, 4)
        .skew(i, ti, 1)
        .skew(j, ti, 2)
        .skew(j, i, 1)
        .skew(i, to, 4)
        .split(i, io, ii, 8)
        .reorder(ti, j, ii, io, to)
        .unroll(ti)
        .skew(io, to, wave, 1)
        .reorder(ti, j, ii, to, wave)
        .parallel(to);
  }
  k.output(u, {1, 1});
}

void fdtd_2d(Kernel &k) {
  const Expr steps = k.size(0), nx = k.size(1), ny = k.size(2);
  Func ex0 = k.input("ex", {2, 1}), ey0 = k.input("ey", {2, 1}), hz0 = k.input("hz", {2, 1}),
       fict = k.input("fict", {0});
  enum { kEy, kEx, kHz };
  Func u("u"), ex("ex_out"), ey("ey_out"), hz("hz_out");
  RDom r(0, ny, 0, nx, 0, 3, 0, steps, "r");
  RVar j = r[0], i = r[1], phase = r[2], t = r[3];
  r.where(j >= select(phase == kEx, 1, 0) && j < select(phase == kHz, ny - 1, ny) &&
          i < select(phase == kHz, nx - 1, nx));
  u(x, y, p) = mux(p, {ey0(x, y), ex0(x, y), hz0(x, y)});
  const Expr of_hz = u(j, i, kHz);
  u(j, i, phase) = mux(
      phase,
      {select(i == 0, fict(t), u(j, i, kEy) - Expr(0.5) * (of_hz - u(j, i - 1, kHz))),
       u(j, i, kEx) - Expr(0.5) * (of_hz - u(j - 1, i, kHz)),
       of_hz - Expr(0.7) * (u(j + 1, i, kEx) - u(j, i, kEx) + u(j, i + 1, kEy) - u(j, i, kEy))});
  ex(x, y) = u(x, y, kEx);
  ey(x, y) = u(x, y, kEy);
  hz(x, y) = u(x, y, kHz);
  u.compute_root().bound(p, 0, 3);
  copy_vectors(k, u, {ex, ey, hz});
  if (k.scheduled("rows")) u.update().unroll(phase).vectorize(j, register_tile().lanes).parallel(i);
  if (k.scheduled("time tiled")) {
    u.update()
        .skew(i, phase, 1)
        .skew(i, t, 2)
        .split(t, to, ti, 6)
        .split(i, io, ii, 6)
        .reorder(j, ii, phase, ti, io, to)
        .unroll(phase)
        .vectorize(j, register_tile().lanes)
        .skew(io, to, wave, 1)
        .reorder(to, wave)
        .parallel(to);
  }
  k.output(ey, {2, 1});
  k.output(ex, {2, 1});
  k.output(hz, {2, 1});
}

// Alternating directions: along columns p and q forwards and v backwards, then the same along rows,
// of which u comes.
void adi(Kernel &k) {
  const Expr steps = k.size(0), n = k.size(1);
  Func u0 = k.input("u", {1, 1}), s("s"), out("out");
  const Expr one(1.0), two(2.0), zero(0.0);
  const Expr dx = one / cast<double>(n), dt = one / cast<double>(steps);
  const Expr mul1 = two * dt / (dx * dx), mul2 = one * dt / (dx * dx);
  const Expr a = mul1 / -two, b = one + mul1, c = a, d = mul2 / -two, e = one + mul2, f = d;
  enum { kU, kV, kP, kQ };
  // Lines i, along them j: 0 to n - 2 there, n - 1 to 0 back; the ends of each are at the edge.
  RDom r(1, n - 2, 0, n, 0, 3, 0, 2, 0, steps, "r");
  RVar i = r[0], j = r[1], part = r[2], sweep = r[3], t = r[4];
  r.where(j < select(part == 2, n, n - 1));
  const Expr back = n - 1 - j, before = max(j - 1, 0), behind = min(back + 1, n - 1);
  const Expr first = j == 0, end = j == 0 || j == n - 1;
  s(x, y, p) = select(p == kU, u0(x, y), zero);
  // p and q of lines lie side by side, so that vectors of lines run along together.
  auto of_p = [&](const Expr &by, const Expr &more) { return by * s(i, before, kP) + more; };
  auto p_of = [&](const Expr &by, const Expr &more, const Expr &over) {
    return select(first, zero, -over / of_p(by, more));
  };
  auto q_of = [&](const Expr &around, const Expr &by, const Expr &more) {
    return select(first, one, (around - by * s(i, before, kQ)) / of_p(by, more));
  };
  auto line_of = [&](const Expr &next) {
    return select(end, one, s(i, back, kP) * next + s(i, back, kQ));
  };
  const Expr of_u = -d * s(i - 1, j, kU) + (one + two * d) * s(i, j, kU) - f * s(i + 1, j, kU);
  const Expr of_v = -a * s(j, i - 1, kV) + (one + two * a) * s(j, i, kV) - c * s(j, i + 1, kV);
  const Expr rows = sweep == 1 && part == 2;
  s(select(rows, back, i), select(rows, i, mux(part, {j, j, back})),
    mux(part, {kP, kQ, select(sweep == 0, kV, kU)})) =
      mux(part, {select(sweep == 0, p_of(a, b, c), p_of(d, e, f)),
                 select(sweep == 0, q_of(of_u, a, b), q_of(of_v, d, e)),
                 select(sweep == 0, line_of(s(i, behind, kV)), line_of(s(behind, i, kU)))});
  out(x, y) = s(x, y, kU);
  s.compute_root().bound(p, 0, 4);
  if (k.scheduled("lines")) {
    s.update()
        .split(i, io, ii, 32)
        .reorder(ii, j, part, io, sweep, t)
        .vectorize(ii, register_tile().lanes)
        .unroll(part)
        .unroll(sweep)
        .parallel(io);
  }
  k.output(out, {1, 1});
}

}  // namespace

std::vector<Program> stencil_programs() {
  return {
      {"adi", {"lines"}, {{3, 7}, {4, 23}}, Start::Any, adi, plain::adi},
      {"fdtd-2d",
       {"rows", "time tiled"},
       {{3, 5, 7}, {11, 38, 41}},
       Start::Any,
       fdtd_2d,
       plain::fdtd_2d},
      {"heat-3d", {"planes", "time tiled"}, {{3, 5}, {7, 21}}, Start::Any, heat_3d, plain::heat_3d},
      {"jacobi-1d",
       {"vectors", "time tiled"},
       {{3, 5}, {11, 133}},
       Start::Any,
       jacobi_1d,
       plain::jacobi_1d},
      {"jacobi-2d",
       {"rows", "time tiled"},
       {{3, 5}, {11, 67}},
       Start::Any,
       jacobi_2d,
       plain::jacobi_2d},
      {"seidel-2d", {"time tiled"}, {{3, 5}, {11, 41}}, Start::Any, seidel_2d, plain::seidel_2d},
  };
}

}  // namespace polyhalite_apps
