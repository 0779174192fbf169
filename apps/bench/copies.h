// Copies of memory that no cache holds: memcpy, an ordinary Func, and one that streams.
#pragma once

namespace polyhalite_apps {

struct CopyRates {  // bytes read and written per second, of one thread; medians
  double memcpy = 0, ordinary = 0, streamed = 0;
};

/// Takes turns. Throws where a copy is wrong.
CopyRates copy_rates(int rounds);

}  // namespace polyhalite_apps
