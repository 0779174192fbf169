// Product of two matrices: output(x, y) = sum over k of a(k, y) * b(x, k), x the column.
#include "Halide.h"

using namespace Halide;

namespace {

class Matmul : public Generator<Matmul> {
 public:
  Input<Buffer<float, 2>> a{"a"};
  Input<Buffer<float, 2>> b{"b"};
  Output<Buffer<float, 2>> output{"output"};
  /// none: only what is required; naive: every stage in full, one after the other; auto: an
  /// auto-scheduler does it; good: register tiles over packed strips.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};
  /// Columns of a, rows of b.
  GeneratorParam<int> depth{"depth", 1024};

  void generate() {
    RDom k(0, depth, "k");
    packed(x, y) = b(x, y);
    product(x, y) += a(k, y) * packed(x, k);
    output(x, y) = product(x, y);

    const std::string name = schedule_name;
    if (name == "naive") {
      packed.compute_root();
      product.compute_root();
    } else if (name == "auto") {
      a.set_estimates({{0, 1024}, {0, 1024}});
      b.set_estimates({{0, 1024}, {0, 1024}});
      output.set_estimates({{0, 1024}, {0, 1024}});
    } else if (name == "good") {
      // Per task a strip of b, 16 columns (64 KiB): row after row without gaps, it stays in the
      // second-level cache. Per 6 rows of the output, 6 x 16 sums stay in 12 vector registers.
      const int lanes = natural_vector_size<float>();
      Var xi{"xi"}, yi{"yi"};
      output.tile(x, y, xi, yi, 2 * lanes, 6)
          .reorder(xi, yi, y, x)
          .vectorize(xi, lanes)
          .unroll(xi)
          .unroll(yi)
          .parallel(x);
      packed.compute_at(output, x).vectorize(x, lanes).unroll(x);
      product.compute_at(output, y).vectorize(x, lanes).unroll(x).unroll(y);
      product.update().reorder(x, y, k).vectorize(x, lanes).unroll(x).unroll(y);
    }
  }

 private:
  Var x{"x"}, y{"y"};
  Func packed{"packed"}, product{"product"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Matmul, matmul)
