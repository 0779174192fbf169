// Padding that selects write, whichever side of them it stands on: vectors of elements are loads
// under a mask, which read nothing outside of the image.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "polyhalite/polyhalite.h"
#include "test/support/guarded_pages.h"

namespace polyhalite::padding_test {
namespace {

using test::GuardedPages;
using Padded = std::function<Expr(const ImageParam &, const Expr &i, const Expr &n)>;

const struct {
  const char *name;
  Padded make;
  bool masks = true;
} kForms[] = {
    {"elements first",
     [](const ImageParam &in, const Expr &i, const Expr &n) {
       return select(i >= 0 && i < n, in(clamp(i, 0, n - 1)), -7.0f);
     }},
    {"padding first",
     [](const ImageParam &in, const Expr &i, const Expr &n) {
       return select(i < 0 || i >= n, -7.0f, in(clamp(i, 0, n - 1)));
     }},
    {"padding first, not inside",
     [](const ImageParam &in, const Expr &i, const Expr &n) {
       return select(!(0 <= i && n > i), -7.0f, likely(in(clamp(i, 0, n - 1)) * 2.0f) * 0.5f);
     }},
    {"both sides",
     [](const ImageParam &in, const Expr &i, const Expr &n) {
       return select(i < 0, -7.0f, select(i < n, in(clamp(i, 0, n - 1)), -7.0f));
     },
     false},
};

TEST(padding, is_written_where_elements_end_at_the_edge_of_memory) {
  GuardedPages<float> page;
  for (const auto &form : kForms) {
    ImageParam in(Float(32), 1, "in");
    Func out("out");
    Var x("x");
    out(x) = form.make(in, x - 5, in.dim(0).extent());
    out.vectorize(x, 8);
    const Callable callable = out.compile_to_callable({in});
    for (const int n : {1, 3, 8, 16, 21}) {
      for (const bool at_end : {false, true}) {
        float *data = at_end ? page.end() - n : page.first();
        for (int i = 0; i < n; i++) data[i] = static_cast<float>(10 + i);
        Buffer<float> image(data, n), result(40);
        ASSERT_EQ(callable(image, result), 0);
        for (int i = 0; i < 40; i++) {
          const int at = i - 5;
          EXPECT_EQ(result(i), at < 0 || at >= n ? -7.0f : static_cast<float>(10 + at))
              << form.name << ", " << n << " elements, at " << i;
        }
      }
    }
  }
}

TEST(padding, is_loads_under_a_mask) {
  for (const auto &form : kForms) {
    if (!form.masks) continue;  // neither condition alone keeps the index inside
    ImageParam in(Float(32), 1, "in");
    Func out("out");
    Var x("x");
    out(x) = form.make(in, x - 5, in.dim(0).extent());
    out.vectorize(x, 8);
    const std::string path = testing::TempDir() + "padding.ll";
    out.compile_to_llvm_assembly(path, {in}, "padded",
                                 Target("x86-64-linux-sse41-avx-avx2-fma-f16c"));
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    std::remove(path.c_str());
    EXPECT_NE(text.find("@llvm.masked.load.v8f32"), std::string::npos) << form.name;
    EXPECT_EQ(text.find("@llvm.masked.gather"), std::string::npos) << form.name;
  }
}

}  // namespace
}  // namespace polyhalite::padding_test
