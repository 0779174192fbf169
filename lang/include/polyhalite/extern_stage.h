// Extern stages: Funcs whose values a C function of the program computes, a box at a time.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "polyhalite/buffer.h"
#include "polyhalite/choices.h"
#include "polyhalite/expr.h"
#include "polyhalite/operators.h"

namespace polyhalite {

class Func;
class ImageParam;
struct FunctionContents;
struct ParameterContents;
template <typename T>
class Param;

/// What an extern stage's function gets, in order: a Func (as one polyhalite_buffer_t * for each of
/// its values, over the box that the function asked for), an image (its whole buffer) or a scalar
/// that is made of Params and of images' sizes and elements.
class ExternFuncArgument {
 public:
  ExternFuncArgument() = default;
  ExternFuncArgument(const Func &f);        // NOLINT
  ExternFuncArgument(const ImageParam &p);  // NOLINT
  template <typename T, int D>
  ExternFuncArgument(const Buffer<T, D> &b)  // NOLINT
      : buffer_(b) {}
  ExternFuncArgument(const Expr &e) : scalar_(e) {}  // NOLINT
  ExternFuncArgument(int e) : scalar_(e) {}          // NOLINT
  ExternFuncArgument(float e) : scalar_(e) {}        // NOLINT
  template <typename T>
  ExternFuncArgument(const Param<T> &p) : scalar_(Expr(p)) {}  // NOLINT

  bool is_func() const { return func_ != nullptr; }
  bool is_buffer() const { return buffer_.defined(); }
  bool is_image_param() const { return image_ != nullptr; }
  bool is_expr() const { return scalar_.defined(); }
  bool defined() const { return func_ || buffer_.defined() || image_ || scalar_.defined(); }
  const std::shared_ptr<FunctionContents> &func() const { return func_; }
  const Buffer<> &buffer() const { return buffer_; }
  const std::shared_ptr<ParameterContents> &image() const { return image_; }
  const Expr &scalar() const { return scalar_; }

 private:
  std::shared_ptr<FunctionContents> func_;
  Buffer<> buffer_;
  std::shared_ptr<ParameterContents> image_;
  Expr scalar_;
};

}  // namespace polyhalite
