#include "apps/bench/copies.h"

#include <cstring>
#include <stdexcept>
#include <vector>

#include "apps/bench/interleave.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

using namespace polyhalite;

CopyRates copy_rates(int rounds) {
  constexpr int kBytes = 1 << 28;
  ImageParam in(UInt(8), 1, "in");
  Var x("x");
  auto copy = [&](bool streams) {
    Func f("copy");
    f(x) = in(x);
    f.vectorize(x, 256);
    if (streams) f.stream_stores();
    return f;
  };
  Func ordinary = copy(false), streamed = copy(true);
  Buffer<uint8_t> from(kBytes), to(kBytes);
  for (int i = 0; i < kBytes; i++) from(i) = static_cast<uint8_t>(i * 7 + i / 251);
  in.set(from);
  std::vector<double> library, plain, past;
  for (int i = 0; i < rounds; i++) {
    library.push_back(seconds_of([&] { std::memcpy(to.data(), from.data(), kBytes); }));
    plain.push_back(seconds_of([&] { ordinary.realize(to); }));
    to.fill(0);
    past.push_back(seconds_of([&] { streamed.realize(to); }));
    if (std::memcmp(to.data(), from.data(), kBytes) != 0) {
      throw std::runtime_error("the streamed copy is wrong");
    }
  }
  auto rate = [&](const std::vector<double> &seconds) { return 2.0 * kBytes / median(seconds); };
  return {rate(library), rate(plain), rate(past)};
}

}  // namespace polyhalite_apps
