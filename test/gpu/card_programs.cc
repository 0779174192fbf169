// Programs with kernels on this machine's card, in process: card_programs
//
// Each is computed twice, with its kernels and by the host alone, and the results are compared.
// Prints a line for each; exits with 0 where all are equal up to their tolerance, 1 where not, 77
// where there is no card. `--played`: on a card that is played, at small sizes.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lang/abi/polyhalite_cuda.h"
#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"
#include "test/support/fake_cuda.h"
#include "test/support/half_product.h"
#include "test/support/played_kernels.h"
#include "test/support/register_product.h"

using namespace polyhalite;  // NOLINT: a program of its own

namespace {

struct Program {
  std::string name;
  std::function<Func(bool kernels)> make;  // without kernels: nothing is scheduled
  std::vector<int> extents;
  double tolerance = 0;  // relative to max(1, |expected|)
};

const Var x("x"), y("y"), z("z"), xi("xi"), yi("yi");

template <typename T>
Buffer<T> noise(const std::vector<int> &extents) {
  Buffer<T> b(extents);
  uint32_t state = 1;
  b.for_each_value([&](T &v) {
    state = state * 1664525u + 1013904223u;
    v = T(static_cast<float>(state >> 24) * 0x1p-8f - 0.5f);
  });
  return b;
}

Program blur(int n) {
  return {"blur in tiles of block memory",
          [in = noise<float>({n + 2, n + 2})](bool kernels) {
            Func rows("rows"), f("blur");
            rows(x, y) = in(x, y) + in(x + 1, y) + in(x + 2, y);
            f(x, y) = rows(x, y) + rows(x, y + 1) + rows(x, y + 2);
            if (!kernels) return f;
            f.gpu_tile(x, y, xi, yi, 32, 8, TailStrategy::GuardWithIf);
            rows.compute_at(f, x).gpu_threads(x, y);
            return f;
          },
          {n, n}};
}

Program chain(int n) {
  return {"Funcs between kernels",
          [in = noise<float>({n, n}), n](bool kernels) {
            Func a("a"), b("b"), c("c");
            a(x, y) = in(x, y) * 2.0f;
            b(x, y) = a(x, y) + a(n - 1 - x, y);
            c(x, y) = b(x, y) - b(x, n - 1 - y) * 0.25f;
            if (!kernels) return c;
            a.compute_root().gpu_tile(x, y, xi, yi, 16, 16, TailStrategy::GuardWithIf);
            b.compute_root().gpu_tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf);
            c.gpu_tile(x, y, xi, yi, 32, 4, TailStrategy::GuardWithIf);
            return c;
          },
          {n, n}};
}

Program turns(int n) {
  return {"stages of host and card in turn",
          [in = noise<float>({n, n}), n](bool kernels) {
            Func a("a"), b("b"), c("c"), d("d");
            a(x, y) = in(x, y) + 1.0f;
            b(x, y) = a(n - 1 - x, y) * 2.0f;
            c(x, y) = b(x, n - 1 - y) - 3.0f;
            d(x, y) = c(x, y) + a(x, y);
            if (!kernels) return d;
            a.compute_root();
            b.compute_root().gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
            c.compute_root().vectorize(x, 8, TailStrategy::GuardWithIf);
            d.gpu_tile(x, y, xi, yi, 16, 4, TailStrategy::GuardWithIf);
            return d;
          },
          {n, n}};
}

Program histogram(int n) {
  Buffer<uint8_t> in(n, n);
  uint32_t state = 1;
  in.for_each_value([&](uint8_t &v) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<uint8_t>(state >> 24);
  });
  return {"histogram by atomic updates",
          [in, n](bool kernels) {
            RDom r(0, n, 0, n, "r");
            RVar ri("ri");
            Func f("histogram");
            f(x) = 0;
            f(cast<int>(in(r.x, r.y))) += 1;
            if (!kernels) return f;
            f.gpu_tile(x, xi, 64);
            f.update().atomic().split(r.x, r.x, ri, 16).reorder(ri, r.x, r.y);
            f.update().gpu_blocks(r.x, r.y).gpu_threads(ri);
            return f;
          },
          {256}};
}

Program product(int n) {
  return {"matrix product in registers",
          [a = noise<float>({n, n}), b = noise<float>({n, n}), n](bool kernels) {
            RDom k(0, n, "k");
            Func p("product"), f("out");
            p(x, y) += a(k, y) * b(x, k);
            f(x, y) = p(x, y);
            if (!kernels) return f;
            schedule_in_registers(f, p, k, 32);
            return f;
          },
          {n, n},
          1e-5};
}

Program matrix_units(int n, int k) {
  return {"matrix product on matrix units",
          [a = noise<float16_t>({k, n}), b = noise<float16_t>({n, k}), n, k](bool kernels) {
            ProductTiles tiles;
            if (n < 128) tiles.m = tiles.n = 64, tiles.warp_m = tiles.warp_n = 32;
            HalfProduct p([=](const Expr &i, const Expr &m) { return a(i, m); },
                          [=](const Expr &j, const Expr &i) { return b(j, i); }, k);
            if (kernels) p.schedule(n, n, tiles);
            return p.c;
          },
          {n, n},
          1e-4};
}

// Of a block with as many threads as the output has points: more than one along x, y and z.
Program threads(int n) {
  return {"threads that the launch counts",
          [in = noise<float>({n, 4, 5})](bool kernels) {
            Var w("w");
            Func f("f");
            f(x, y, z) = in(x, y, z) * cast<float>(x + 10 * y + 100 * z);
            if (kernels) f.split(z, w, z, 2, TailStrategy::GuardWithIf).gpu_blocks(w);
            if (kernels) f.gpu_threads(x, y, z);
            return f;
          },
          {n, 4, 5}};
}

Program mathematics(int n) {
  return {"mathematics",
          [in = noise<float>({n, n})](bool kernels) {
            const Expr v = in(x, y);
            Func f("f");
            f(x, y) = exp(v) + sin(v * 4.0f) + log(v + 1.0f) + sqrt(v + 0.5f) + pow(v + 1.0f, v) +
                      atan2(v, 0.25f) + tanh(v) + floor(v * 7.0f) / 3.0f;
            if (kernels) f.gpu_tile(x, y, xi, yi, 16, 8, TailStrategy::GuardWithIf);
            return f;
          },
          {n, n},
          1e-5};
}

Program kept(int n) {
  return {"a memoized Func of a kernel",
          [](bool kernels) {
            Func a("a"), b("b");
            a(x, y) = cast<float>(x * 3 + y);
            b(x, y) = a(x, y) + 1.0f;
            if (!kernels) return b;
            a.compute_root().memoize().gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
            b.gpu_tile(x, y, xi, yi, 8, 8, TailStrategy::GuardWithIf);
            return b;
          },
          {n, n}};
}

/// The largest error; `rounds` more runs are timed.
template <typename T>
double largest_error(const Program &p, const Target &target, FakeCuda *played) {
  Buffer<T> expected(p.extents), found(p.extents);
  p.make(false).realize(expected);
  Func on_card = p.make(true);
  if (played) {
    play_kernels(freeze({on_card.function()}), target, {ParallelOrder::Shuffled, 3, {}}, *played);
  }
  double worst = 0;
  // The second run finds memory, kernels and inputs on the card.
  for (int round = 0; round < 2; round++) {
    found.fill(T(0));
    found.set_host_dirty(false);
    on_card.realize(found, target);
    found.copy_to_host();
    found.device_free();
    for (size_t i = 0; i < found.number_of_elements(); i++) {
      const auto a = static_cast<double>(found.data()[i]);
      const auto b = static_cast<double>(expected.data()[i]);
      const double error = std::abs(a - b) / std::max(1.0, std::abs(b));
      if (!(error <= worst)) worst = error;  // no number is worse than any
    }
  }
  return worst;
}

}  // namespace

int main(int argc, char **argv) {
  const bool is_played = argc == 2 && std::string(argv[1]) == "--played";
  if (argc > 1 && !is_played) {
    std::fprintf(stderr, "usage: card_programs [--played]\n");
    return 2;
  }
  std::optional<FakeCuda> played;
  if (is_played) played.emplace();
  Target target = get_host_target().with_feature(Target::CUDA);
  if (!host_supports_target_device(target)) {
    std::printf("no card here\n");
    return 77;
  }
  const int n = is_played ? 20 : 1000;
  int wrong = 0;
  for (const Program &p :
       {blur(n), chain(n), turns(n), histogram(is_played ? 32 : 1024),
        product(is_played ? 32 : 512), matrix_units(is_played ? 64 : 1024, is_played ? 64 : 512),
        threads(is_played ? 6 : 64), mathematics(n), kept(n)}) {
    std::string said;
    const auto start = std::chrono::steady_clock::now();
    try {
      const bool counts = p.extents.size() == 1;
      const double error = counts ? largest_error<int>(p, target, played ? &*played : nullptr)
                                  : largest_error<float>(p, target, played ? &*played : nullptr);
      const bool good = error <= p.tolerance;
      wrong += !good;
      char text[80];
      std::snprintf(text, sizeof text, "%s, off by %.2g", good ? "right" : "WRONG", error);
      said = text;
    } catch (const Error &e) {
      wrong++;
      said = std::string("WRONG: ") + e.what();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    std::printf("%-34s %s (%.2f s)\n", p.name.c_str(), said.c_str(), taken.count());
    std::fflush(stdout);
  }
  return wrong > 0;
}
