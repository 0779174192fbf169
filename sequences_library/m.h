/* A model compiled by Polyhalite. Map m.weights, give m_memory_bytes() bytes
 * of memory (both aligned to 64 bytes), and call m_run(). Tensors are dense, the last
 * dimension innermost. */
#ifndef POLYHALITE_MODEL_m_H
#define POLYHALITE_MODEL_m_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "polyhalite_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

int m_kernel0(struct polyhalite_buffer_t *, struct polyhalite_buffer_t *);
int m_kernel1(struct polyhalite_buffer_t *, struct polyhalite_buffer_t *);
int m_kernel2(struct polyhalite_buffer_t *, struct polyhalite_buffer_t *);
int m_kernel3(struct polyhalite_buffer_t *, struct polyhalite_buffer_t *);
int m_kernel4(struct polyhalite_buffer_t *, struct polyhalite_buffer_t *, struct polyhalite_buffer_t *, struct polyhalite_buffer_t *);

static inline size_t m_memory_bytes(void) { return 256; }
static inline size_t m_weights_bytes(void) { return 0; }

static inline void m_view(struct polyhalite_buffer_t *b, struct polyhalite_dimension_t *d, const void *host,
    int code, int bits, int n, const int32_t *extents) {
  int32_t stride = 1;
  memset((void *)b, 0, sizeof *b);
  for (int i = 0; i < n; i++) {
    d[i].min = 0;
    d[i].extent = extents[i];
    d[i].stride = stride;
    d[i].flags = 0;
    stride *= extents[i];
  }
  b->host = (uint8_t *)host;
  b->dimensions = n;
  b->dim = d;
#ifdef __cplusplus
  b->type = polyhalite_type_t((polyhalite_type_code_t)code, (uint8_t)bits);
#else
  b->type.code = (uint8_t)code;
  b->type.bits = (uint8_t)bits;
  b->type.lanes = 1;
#endif
}

/* 0, or the code of a kernel that failed.
 *   in_x: float32[2, 4]
 *   out_0: float32[2, 3]
 */
static inline int m_run(const void *weights, void *memory, const void *in_x, void *out_0) {
  int result = 0;
  (void)weights;
  (void)memory;
  { /* Transpose 'make_s_Transpose0' */
    static const int32_t e0[] = {4, 2};
    struct polyhalite_dimension_t d0[2];
    struct polyhalite_buffer_t b0;
    m_view(&b0, d0, in_x, 2, 32, 2, e0);
    static const int32_t e1[] = {2, 4};
    struct polyhalite_dimension_t d1[2];
    struct polyhalite_buffer_t b1;
    m_view(&b1, d1, ((uint8_t *)memory + 0), 2, 32, 2, e1);
    result = m_kernel0(&b0, &b1);
    if (result != 0) return result;
  }
  { /* Gather 'make_t_Gather0' */
    static const int32_t e0[] = {1, 2, 4};
    struct polyhalite_dimension_t d0[3];
    struct polyhalite_buffer_t b0;
    m_view(&b0, d0, ((uint8_t *)memory + 0), 2, 32, 3, e0);
    static const int32_t e1[] = {1, 2};
    struct polyhalite_dimension_t d1[2];
    struct polyhalite_buffer_t b1;
    m_view(&b1, d1, ((uint8_t *)memory + 64), 2, 32, 2, e1);
    result = m_kernel1(&b0, &b1);
    if (result != 0) return result;
  }
  { /* Gather 'make_t_Gather2' */
    static const int32_t e0[] = {1, 2, 4};
    struct polyhalite_dimension_t d0[3];
    struct polyhalite_buffer_t b0;
    m_view(&b0, d0, ((uint8_t *)memory + 0), 2, 32, 3, e0);
    static const int32_t e1[] = {1, 2};
    struct polyhalite_dimension_t d1[2];
    struct polyhalite_buffer_t b1;
    m_view(&b1, d1, ((uint8_t *)memory + 128), 2, 32, 2, e1);
    result = m_kernel2(&b0, &b1);
    if (result != 0) return result;
  }
  { /* Gather 'make_t_Gather3' */
    static const int32_t e0[] = {1, 2, 4};
    struct polyhalite_dimension_t d0[3];
    struct polyhalite_buffer_t b0;
    m_view(&b0, d0, ((uint8_t *)memory + 0), 2, 32, 3, e0);
    static const int32_t e1[] = {1, 2};
    struct polyhalite_dimension_t d1[2];
    struct polyhalite_buffer_t b1;
    m_view(&b1, d1, ((uint8_t *)memory + 192), 2, 32, 2, e1);
    result = m_kernel3(&b0, &b1);
    if (result != 0) return result;
  }
  { /* Concat 'make_y_Concat0' */
    static const int32_t e0[] = {1, 2};
    struct polyhalite_dimension_t d0[2];
    struct polyhalite_buffer_t b0;
    m_view(&b0, d0, ((uint8_t *)memory + 64), 2, 32, 2, e0);
    static const int32_t e1[] = {1, 2};
    struct polyhalite_dimension_t d1[2];
    struct polyhalite_buffer_t b1;
    m_view(&b1, d1, ((uint8_t *)memory + 128), 2, 32, 2, e1);
    static const int32_t e2[] = {1, 2};
    struct polyhalite_dimension_t d2[2];
    struct polyhalite_buffer_t b2;
    m_view(&b2, d2, ((uint8_t *)memory + 192), 2, 32, 2, e2);
    static const int32_t e3[] = {3, 2};
    struct polyhalite_dimension_t d3[2];
    struct polyhalite_buffer_t b3;
    m_view(&b3, d3, out_0, 2, 32, 2, e3);
    result = m_kernel4(&b0, &b1, &b2, &b3);
    if (result != 0) return result;
  }
  return result;
}

#ifdef __cplusplus
}
#endif
#endif
