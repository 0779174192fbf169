// The codes with which compiled functions say what their caller did wrong.
#include <gtest/gtest.h>

#include "lang/abi/polyhalite_errors.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::error_codes_test {
namespace {

void ignore(JITUserContext *, const char *) {}

class ErrorCodes : public testing::Test {
 protected:
  ErrorCodes() { f_(x_) = in_(x_) + 1; }

  int code(int size, int n) {
    f_.jit_handlers().custom_error = ignore;
    Callable call = f_.compile_to_callable({in_, n_});
    Buffer<int32_t, 1> in(100), out(size);
    in.fill(3);
    return call(in, n, out);
  }

  ImageParam in_{Int(32), 1, "in"};
  Param<int> n_{"n"};
  Var x_{"x"}, xo_{"xo"}, xi_{"xi"};
  Func f_{"f"};
};

TEST_F(ErrorCodes, BoundsThatArePromisedAndTooSmall) {
  f_.bound(x_, 0, n_);
  EXPECT_EQ(code(20, 20), 0);
  EXPECT_EQ(code(20, 19), polyhalite_error_code_explicit_bounds_too_small);
}

TEST_F(ErrorCodes, OutputsThatATileDoesNotFit) {
  f_.split(x_, xo_, xi_, 32);
  EXPECT_EQ(code(32, 0), 0);
  EXPECT_EQ(code(31, 0), polyhalite_error_code_access_out_of_bounds);
}

TEST_F(ErrorCodes, FactorsThatAreNotPositive) {
  f_.split(x_, xo_, xi_, n_, TailStrategy::GuardWithIf);
  EXPECT_EQ(code(20, 7), 0);
  EXPECT_EQ(code(20, 0), polyhalite_error_code_split_factor_not_positive);
}

TEST_F(ErrorCodes, StorageThatIsTooSmall) {
  Func g("g");
  g(x_) = f_(x_) + f_(x_ + 1);
  f_.compute_root().bound_storage(x_, n_);
  g.jit_handlers().custom_error = ignore;
  Callable call = g.compile_to_callable({in_, n_});
  Buffer<int32_t, 1> in(100), out(20);
  in.fill(3);
  EXPECT_EQ(call(in, 21, out), 0);
  EXPECT_EQ(call(in, 20, out), polyhalite_error_code_storage_bound_too_small);
}

TEST_F(ErrorCodes, RingsThatDoNotHoldWhatTheSizesAskFor) {
  Func g("g");
  Var y("y");
  g(x_, y) = f_(x_) + f_(x_ + 1) + y;
  f_.store_root().compute_at(g, y).fold_storage(x_, 16);
  g.jit_handlers().custom_error = ignore;
  Callable call = g.compile_to_callable({in_, n_});
  Buffer<int32_t, 1> in(100);
  Buffer<int32_t, 2> fits(15, 3), wide(16, 3);
  in.fill(3);
  EXPECT_EQ(call(in, 0, fits), 0);
  EXPECT_EQ(fits(14, 2), fits(0, 0) + 2);
  EXPECT_EQ(call(in, 0, wide), polyhalite_error_code_fold_factor_too_small);
}

TEST_F(ErrorCodes, StridesBeyondWhatABufferMayHave) {
  set_default_buffer_limit(INT32_MAX);
  in_.dim(0).set_stride(Expr());
  f_.jit_handlers().custom_error = ignore;
  Callable call = f_.compile_to_callable({in_, n_});
  set_default_buffer_limit({});
  Buffer<int32_t, 1> in(100), out(20);
  in.fill(3);
  EXPECT_EQ(call(in, 0, out), 0);
  in.raw_buffer()->dim[0].stride = 0x7fffffff;
  EXPECT_EQ(call(in, 0, out), polyhalite_error_code_buffer_allocation_too_large);
  in.raw_buffer()->dim[0].stride = 1;
}

}  // namespace
}  // namespace polyhalite::error_codes_test
