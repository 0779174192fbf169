#include "codegen/oracle/memory.h"

#include <algorithm>

#include "polyhalite/error.h"

namespace polyhalite {

void oracle_error(std::string what) { throw InternalError({std::move(what), "", "", {}}); }

int64_t element_at(const std::string &name, const Memory &m, const std::vector<int64_t> &indices) {
  int64_t at = 0;
  for (size_t d = 0; d < indices.size(); d++) {
    const polyhalite_dimension_t &dim = m.dims[d];
    const int64_t offset = indices[d] - dim.min;
    if (offset < 0 || offset >= dim.extent) {
      oracle_error("access of '" + name + "' at " + std::to_string(indices[d]) + " in dimension " +
                   std::to_string(d) + ", which has [" + std::to_string(dim.min) + ", " +
                   std::to_string(int64_t{dim.min} + dim.extent - 1) + "]");
    }
    at += offset * dim.stride;
  }
  return at;
}

Memory external_memory(const std::string &name, Type type, const polyhalite_buffer_t &b) {
  Memory m;
  m.type = type;
  m.data = b.host;
  m.dims.assign(b.dim, b.dim + b.dimensions);
  m.last = 0;
  for (const polyhalite_dimension_t &d : m.dims) {
    const int64_t reach = int64_t{d.extent - 1} * d.stride;
    (reach < 0 ? m.first : m.last) += reach;
    if (d.extent <= 0) {
      m.last = m.first - 1;
      break;
    }
  }
  if (!m.data) oracle_error("buffer '" + name + "' has no memory");
  return m;
}

void to_device(Memory &m) {
  if (m.device_only) return;
  const auto elements = static_cast<size_t>(m.last - m.first + 1);
  const auto size = static_cast<size_t>(m.type.bytes());
  if (!m.device) {
    m.device = std::make_shared<DeviceMemory>();
    m.device->bytes.assign(elements * size, 0xcd);
    m.device->written.assign(elements, false);
  }
  if (!m.device->host_dirty) return;
  std::copy_n(m.data + m.first * m.type.bytes(), elements * size, m.device->bytes.begin());
  m.device->written = m.written ? *m.written : std::vector<bool>(elements, true);
  m.device->host_dirty = false;
}

void to_host(Memory &m) {
  if (!m.device || !m.device->device_dirty) return;
  const int64_t size = m.type.bytes();
  for (int64_t i = m.first; i <= m.last; i++) {
    const auto at = static_cast<size_t>(i - m.first);
    if (!m.device->written[at]) continue;
    std::copy_n(m.device->bytes.begin() + (i - m.first) * size, size, m.data + i * size);
    if (m.written) (*m.written)[at] = true;
  }
  m.device->device_dirty = false;
}

void check_inside(const std::string &name, const Memory &m, int64_t at) {
  if (at < m.first || at > m.last) {
    oracle_error("access of '" + name + "' at element " + std::to_string(at) + ", which has [" +
                 std::to_string(m.first) + ", " + std::to_string(m.last) + "]");
  }
}

}  // namespace polyhalite
