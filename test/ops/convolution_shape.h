// What convolutions in tests are like.
#pragma once

#include <string>
#include <vector>

namespace polyhalite {

struct Shape {
  int channels, results, groups;
  std::vector<int> size, kernel, stride, dilation, before, after;
  int images = 1;

  int spatial() const { return static_cast<int>(size.size()); }
  int result_size(int d) const {
    const auto i = static_cast<size_t>(d);
    return (size[i] + before[i] + after[i] - ((kernel[i] - 1) * dilation[i] + 1)) / stride[i] + 1;
  }
};

inline std::string text(const Shape &s) {
  std::string t = std::to_string(s.channels) + " to " + std::to_string(s.results) + " in " +
                  std::to_string(s.groups) + " groups, image";
  const auto list = [&](const char *name, const std::vector<int> &v) {
    t += name;
    for (int i : v) t += " " + std::to_string(i);
  };
  list("", s.size);
  list(", kernel", s.kernel);
  list(", stride", s.stride);
  list(", dilation", s.dilation);
  list(", padding", s.before);
  list(" and", s.after);
  return t;
}

inline Shape square(int channels, int results, int size, int kernel, int stride = 1,
                    int groups = 1) {
  const int pad = kernel / 2;
  return {channels,         results, groups,     {size, size}, {kernel, kernel},
          {stride, stride}, {1, 1},  {pad, pad}, {pad, pad}};
}

}  // namespace polyhalite
