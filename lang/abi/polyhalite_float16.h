/* float16 numbers, of which C has their bits. */
#ifndef POLYHALITE_FLOAT16_H
#define POLYHALITE_FLOAT16_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number that the bits of an IEEE binary16 stand for. */
float polyhalite_float16_bits_to_float(uint16_t bits);
double polyhalite_float16_bits_to_double(uint16_t bits);

#ifdef __cplusplus
}
#endif
#endif
