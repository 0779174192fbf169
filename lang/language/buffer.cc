#include "polyhalite/buffer.h"

#include <cstdio>
#include <new>
#include <stdexcept>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/language/call.h"
#include "lang/language/names.h"
#include "polyhalite/backend.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite::detail {

namespace {

constexpr double kAddressSpace = 140737488355328.0;  // 2^47

void check_extent(int extent, size_t dimension) {
  if (extent >= 0) return;
  user_error("a Buffer with extent " + std::to_string(extent) + " in dimension " +
                 std::to_string(dimension),
             "extents count elements", "give extents that are not negative");
}

}  // namespace

std::vector<polyhalite_dimension_t> checked_dimensions(const std::vector<int> &sizes,
                                                       const std::vector<int> &order) {
  for (size_t i = 0; i < sizes.size(); i++) check_extent(sizes[i], i);
  try {
    return runtime::dense_dimensions(sizes, order);
  } catch (const std::invalid_argument &e) {
    user_error(e.what(), "the order lists each dimension once, the innermost in memory first",
               "give a permutation of 0 to " + std::to_string(static_cast<int>(sizes.size()) - 1));
  } catch (const std::length_error &e) {
    user_error(e.what(), "strides are int32", "use smaller extents");
  }
}

BufferContents &defined_contents(BufferContents *b, const Here &here) {
  if (!b) {
    user_error("an undefined Buffer is used", "it has no type, no dimensions and no elements",
               "construct it with its sizes", here.where);
  }
  return *b;
}

void check_coordinates(const BufferContents &b, int count, const int *pos) {
  bool fine = count >= b.dimensions();
  for (int d = b.dimensions(); fine && d < count; d++) fine = pos[d] == 0;
  if (fine) return;
  user_error("Buffer '" + plain_name(b.name) + "' is indexed with " + std::to_string(count) +
                 (count == 1 ? " coordinate" : " coordinates"),
             "it has " + std::to_string(b.dimensions()) +
                 (b.dimensions() == 1 ? " dimension" : " dimensions"),
             "give one coordinate for each dimension");
}

void buffer_misused(const BufferContents &b, const std::string &what) {
  std::string shape;
  for (const polyhalite_dimension_t &d : b.dims()) {
    shape +=
        (shape.empty() ? "" : ", ") + std::to_string(d.extent) + " from " + std::to_string(d.min);
  }
  user_error("Buffer '" + plain_name(b.name) + "': " + what,
             b.dimensions() == 0 ? "it is a scalar" : "its extents are " + shape,
             "stay within its shape");
}

int device_call(const char *method, const Target &target,
                const std::function<int(const polyhalite_device_interface_t *, void *)> &f) {
  if (!target.has_feature(Target::CUDA)) {
    user_error(std::string(method) + "() for target '" + target.to_string() + "'",
               "it has no device that this library makes code for",
               "add the feature cuda, or keep elements on the host");
  }
  const polyhalite_device_interface_t *device = backend().device_interface(DeviceAPI::CUDA);
  backend().device_call([&](void *context) { return f(device, context); });
  return 0;
}

int device_call(const polyhalite_buffer_t &b, const std::function<int(void *)> &f) {
  if (b.device_interface) {
    backend().device_call(f);
  } else {
    return f(nullptr);
  }
  return 0;
}

void check_dimension(const BufferContents &b, int i) {
  if (i >= 0 && i < b.dimensions()) return;
  user_error("dimension " + std::to_string(i) + " of Buffer '" + plain_name(b.name) + "'",
             "it has " + std::to_string(b.dimensions()) + " dimensions, counted from 0",
             "ask for one of them");
}

std::shared_ptr<BufferContents> wrap_buffer(runtime::Buffer<> buf, const std::string &name) {
  for (int d = 0; d < buf.dimensions(); d++) check_extent(buf.extent(d), static_cast<size_t>(d));
  auto b = std::make_shared<BufferContents>();
  b->name = name.empty() ? anonymous_name("b") : clean_name(name);
  b->buf = std::move(buf);
  return b;
}

std::shared_ptr<BufferContents> make_buffer(Type t, const std::vector<int> &sizes,
                                            const std::vector<int> &order,
                                            const std::string &name) {
  auto b = wrap_buffer(runtime::Buffer<>(t.element_of(), nullptr, checked_dimensions(sizes, order)),
                       name);
  // A dense buffer's largest stride is an int32, so that this does not overflow.
  double bytes = t.bytes();
  for (int size : sizes) bytes *= size;
  try {
    if (bytes > kAddressSpace) throw std::bad_alloc();
    b->buf.allocate();
  } catch (const std::bad_alloc &) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", bytes);
    throw RuntimeError({std::string("there is no memory for a Buffer of ") + text + " bytes",
                        "the machine's memory, or what this process may use of it, is smaller",
                        "use smaller extents, or work on parts of the output one by one",
                        {}});
  }
  return b;
}

void set_buffer_name(BufferContents &b, const std::string &name) { b.name = clean_name(name); }

Expr buffer_call(const std::shared_ptr<BufferContents> &b, const std::vector<Expr> &args) {
  if (!b) {
    user_error("an undefined Buffer is called", "it has no elements", "construct it first");
  }
  if (!b->raw().host) {
    user_error("Buffer '" + plain_name(b->name) + "' is called and has no memory",
               "a Buffer in an algorithm is a constant, and its data pointer is null",
               "give it elements, or use an ImageParam and set() it later");
  }
  auto node = std::make_shared<CallNode>(
      b->type(), CallKind::Image, b->name,
      call_arguments(args, b->dimensions(), "Buffer", plain_name(b->name), {}));
  node->image = b;
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

void check_buffer(const BufferContents *b, Type t, int dimensions) {
  if (!b) return;
  if (!t.is_handle() && b->type() != t) {
    user_error("a Buffer of " + b->type().to_string() + " is used as a Buffer of " + t.to_string(),
               "elements are not converted", "use the buffer's own type, " + b->type().to_string());
  }
  if (dimensions >= 0 && b->dimensions() != dimensions) {
    user_error("a Buffer of " + std::to_string(b->dimensions()) + " dimensions is used as one of " +
                   std::to_string(dimensions),
               "the number of dimensions is part of the type",
               "use the same number, or slice the buffer");
  }
}

}  // namespace polyhalite::detail
