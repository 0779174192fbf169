// Answers of compiled pipelines to bounds queries.
#include "codegen/runtime/internal.h"

extern "C" {

PH_WEAK int polyhalite_answer_query(void *, polyhalite_buffer_t *buffer, int32_t dimension,
                                    uint32_t type, int32_t min, int32_t extent, int32_t stride) {
  if (!buffer->is_bounds_query()) return 0;
  buffer->type =
      polyhalite_type_t(static_cast<polyhalite_type_code_t>(type & 255),
                        static_cast<uint8_t>(type >> 8 & 255), static_cast<uint16_t>(type >> 16));
  // Conditions may leave nothing of a region: its end is then in front of its begin.
  buffer->dim[dimension] = polyhalite_dimension_t(min, extent < 0 ? 0 : extent, stride);
  return 0;
}

PH_WEAK int polyhalite_query_answered(void *) { return 0; }

}  // extern "C"
