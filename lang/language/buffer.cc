#include "polyhalite/buffer.h"

#include "lang/ir/buffer_contents.h"
#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/language/call.h"
#include "lang/language/names.h"

namespace polyhalite::detail {

namespace {

std::shared_ptr<BufferContents> describe(Type t, std::vector<polyhalite_dimension_t> dims,
                                         const std::string &name) {
  auto b = std::make_shared<BufferContents>();
  b->name = name.empty() ? anonymous_name("b") : clean_name(name);
  b->dims = std::move(dims);
  b->raw.type = {static_cast<uint8_t>(t.code()), static_cast<uint8_t>(t.bits()), 1};
  b->raw.dimensions = static_cast<int32_t>(b->dims.size());
  b->raw.dim = b->dims.data();
  return b;
}

}  // namespace

std::shared_ptr<BufferContents> make_buffer(Type t, std::vector<polyhalite_dimension_t> dims,
                                            const std::string &name) {
  size_t bytes = static_cast<size_t>(t.bytes());
  for (size_t i = 0; i < dims.size(); i++) {
    if (dims[i].extent < 0) {
      user_error("a Buffer with extent " + std::to_string(dims[i].extent) + " in dimension " +
                     std::to_string(i),
                 "extents count elements", "give extents that are not negative");
    }
    bytes *= static_cast<size_t>(dims[i].extent);
  }
  auto b = describe(t, std::move(dims), name);
  b->owner = allocate_bytes(bytes);
  b->raw.host = static_cast<uint8_t *>(b->owner.get());
  return b;
}

std::shared_ptr<BufferContents> wrap_buffer(Type t, void *host,
                                            std::vector<polyhalite_dimension_t> dims,
                                            std::shared_ptr<void> owner, const std::string &name) {
  auto b = describe(t, std::move(dims), name);
  b->owner = std::move(owner);
  b->raw.host = static_cast<uint8_t *>(host);
  return b;
}

std::shared_ptr<BufferContents> alias_buffer(const BufferContents &b) {
  auto copy = std::make_shared<BufferContents>(b);
  copy->name = anonymous_name("b");
  copy->raw.dim = copy->dims.data();
  return copy;
}

polyhalite_buffer_t *raw_buffer(const BufferContents &b) {
  return const_cast<polyhalite_buffer_t *>(&b.raw);
}

Type buffer_type(const BufferContents &b) { return b.type(); }
const std::string &buffer_name(const BufferContents &b) { return b.name; }
void set_buffer_name(BufferContents &b, const std::string &name) { b.name = clean_name(name); }

Expr buffer_call(const std::shared_ptr<BufferContents> &b, const std::vector<Expr> &args) {
  if (!b) {
    user_error("an undefined Buffer is called", "it has no elements", "construct it first");
  }
  auto node = std::make_shared<CallNode>(
      b->type(), CallKind::Image, b->name,
      call_arguments(args, b->raw.dimensions, "Buffer", plain_name(b->name), {}));
  node->image = b;
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

void check_buffer(const BufferContents *b, Type t, int dimensions) {
  if (!b) return;
  if (!t.is_handle() && b->type() != t) {
    user_error("a Buffer of " + b->type().to_string() + " is used as a Buffer of " + t.to_string(),
               "elements are not converted", "use the buffer's own type, " + b->type().to_string());
  }
  if (dimensions >= 0 && b->raw.dimensions != dimensions) {
    user_error("a Buffer of " + std::to_string(b->raw.dimensions) +
                   " dimensions is used as one of " + std::to_string(dimensions),
               "the number of dimensions is part of the type",
               "use the same number, or slice the buffer");
  }
}

}  // namespace polyhalite::detail
