// Macros that declare C functions for use in expressions: HalideExtern_2(float, pow2, float, int)
// defines Expr pow2(Expr, Expr). The pure forms promise that equal arguments give equal results.
#pragma once

#include "polyhalite/extern_call.h"

// rt name(t1, t2...), called in expressions by CALL of polyhalite/extern_call.h.
#define POLYHALITE_EXTERN_1(CALL, rt, name, t1)                                                   \
  Halide::Expr name(const Halide::Expr &a1) {                                                     \
    return polyhalite::CALL(polyhalite::type_of<rt>(), #name, {a1}, {polyhalite::type_of<t1>()}); \
  }
#define POLYHALITE_EXTERN_2(CALL, rt, name, t1, t2)                                  \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2) {                \
    return polyhalite::CALL(polyhalite::type_of<rt>(), #name, {a1, a2},              \
                            {polyhalite::type_of<t1>(), polyhalite::type_of<t2>()}); \
  }
#define POLYHALITE_EXTERN_3(CALL, rt, name, t1, t2, t3)                                       \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3) { \
    return polyhalite::CALL(                                                                  \
        polyhalite::type_of<rt>(), #name, {a1, a2, a3},                                       \
        {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>()});   \
  }
#define POLYHALITE_EXTERN_4(CALL, rt, name, t1, t2, t3, t4)                                 \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, \
                    const Halide::Expr &a4) {                                               \
    return polyhalite::CALL(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4},             \
                            {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(),          \
                             polyhalite::type_of<t3>(), polyhalite::type_of<t4>()});        \
  }
#define POLYHALITE_EXTERN_5(CALL, rt, name, t1, t2, t3, t4, t5)                             \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, \
                    const Halide::Expr &a4, const Halide::Expr &a5) {                       \
    return polyhalite::CALL(                                                                \
        polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5},                             \
        {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(),   \
         polyhalite::type_of<t4>(), polyhalite::type_of<t5>()});                            \
  }
#define POLYHALITE_EXTERN_6(CALL, rt, name, t1, t2, t3, t4, t5, t6)                           \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3,   \
                    const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6) { \
    return polyhalite::CALL(                                                                  \
        polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6},                           \
        {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(),     \
         polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>()});   \
  }
#define POLYHALITE_EXTERN_7(CALL, rt, name, t1, t2, t3, t4, t5, t6, t7)                     \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, \
                    const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6, \
                    const Halide::Expr &a7) {                                               \
    return polyhalite::CALL(                                                                \
        polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7},                     \
        {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(),   \
         polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(),   \
         polyhalite::type_of<t7>()});                                                       \
  }
#define POLYHALITE_EXTERN_8(CALL, rt, name, t1, t2, t3, t4, t5, t6, t7, t8)                 \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, \
                    const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6, \
                    const Halide::Expr &a7, const Halide::Expr &a8) {                       \
    return polyhalite::CALL(                                                                \
        polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7, a8},                 \
        {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(),   \
         polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(),   \
         polyhalite::type_of<t7>(), polyhalite::type_of<t8>()});                            \
  }
#define POLYHALITE_EXTERN_9(CALL, rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9)               \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3,   \
                    const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6,   \
                    const Halide::Expr &a7, const Halide::Expr &a8, const Halide::Expr &a9) { \
    return polyhalite::CALL(                                                                  \
        polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7, a8, a9},               \
        {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(),     \
         polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(),     \
         polyhalite::type_of<t7>(), polyhalite::type_of<t8>(), polyhalite::type_of<t9>()});   \
  }
#define POLYHALITE_EXTERN_10(CALL, rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10)       \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, \
                    const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6, \
                    const Halide::Expr &a7, const Halide::Expr &a8, const Halide::Expr &a9, \
                    const Halide::Expr &a10) {                                              \
    return polyhalite::CALL(                                                                \
        polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7, a8, a9, a10},        \
        {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(),   \
         polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(),   \
         polyhalite::type_of<t7>(), polyhalite::type_of<t8>(), polyhalite::type_of<t9>(),   \
         polyhalite::type_of<t10>()});                                                      \
  }
#define HalideExtern_1(rt, name, t1) POLYHALITE_EXTERN_1(extern_call, rt, name, t1)
#define HalidePureExtern_1(rt, name, t1) POLYHALITE_EXTERN_1(pure_extern_call, rt, name, t1)
#define HalideExtern_2(rt, name, t1, t2) POLYHALITE_EXTERN_2(extern_call, rt, name, t1, t2)
#define HalidePureExtern_2(rt, name, t1, t2) POLYHALITE_EXTERN_2(pure_extern_call, rt, name, t1, t2)
#define HalideExtern_3(rt, name, t1, t2, t3) POLYHALITE_EXTERN_3(extern_call, rt, name, t1, t2, t3)
#define HalidePureExtern_3(rt, name, t1, t2, t3) \
  POLYHALITE_EXTERN_3(pure_extern_call, rt, name, t1, t2, t3)
#define HalideExtern_4(rt, name, t1, t2, t3, t4) \
  POLYHALITE_EXTERN_4(extern_call, rt, name, t1, t2, t3, t4)
#define HalidePureExtern_4(rt, name, t1, t2, t3, t4) \
  POLYHALITE_EXTERN_4(pure_extern_call, rt, name, t1, t2, t3, t4)
#define HalideExtern_5(rt, name, t1, t2, t3, t4, t5) \
  POLYHALITE_EXTERN_5(extern_call, rt, name, t1, t2, t3, t4, t5)
#define HalidePureExtern_5(rt, name, t1, t2, t3, t4, t5) \
  POLYHALITE_EXTERN_5(pure_extern_call, rt, name, t1, t2, t3, t4, t5)
#define HalideExtern_6(rt, name, t1, t2, t3, t4, t5, t6) \
  POLYHALITE_EXTERN_6(extern_call, rt, name, t1, t2, t3, t4, t5, t6)
#define HalidePureExtern_6(rt, name, t1, t2, t3, t4, t5, t6) \
  POLYHALITE_EXTERN_6(pure_extern_call, rt, name, t1, t2, t3, t4, t5, t6)
#define HalideExtern_7(rt, name, t1, t2, t3, t4, t5, t6, t7) \
  POLYHALITE_EXTERN_7(extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7)
#define HalidePureExtern_7(rt, name, t1, t2, t3, t4, t5, t6, t7) \
  POLYHALITE_EXTERN_7(pure_extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7)
#define HalideExtern_8(rt, name, t1, t2, t3, t4, t5, t6, t7, t8) \
  POLYHALITE_EXTERN_8(extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7, t8)
#define HalidePureExtern_8(rt, name, t1, t2, t3, t4, t5, t6, t7, t8) \
  POLYHALITE_EXTERN_8(pure_extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7, t8)
#define HalideExtern_9(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9) \
  POLYHALITE_EXTERN_9(extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9)
#define HalidePureExtern_9(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9) \
  POLYHALITE_EXTERN_9(pure_extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9)
#define HalideExtern_10(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10) \
  POLYHALITE_EXTERN_10(extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10)
#define HalidePureExtern_10(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10) \
  POLYHALITE_EXTERN_10(pure_extern_call, rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10)
