// Macros that declare C functions for use in expressions: HalideExtern_2(float, pow2, float, int)
// defines Expr pow2(Expr, Expr). The pure forms promise that equal arguments give equal results.
#pragma once

#include "polyhalite/extern_call.h"

#define HalideExtern_1(rt, name, t1) \
  Halide::Expr name(const Halide::Expr &a1) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1}, {polyhalite::type_of<t1>()}); \
  }
#define HalideExtern_2(rt, name, t1, t2) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>()}); \
  }
#define HalideExtern_3(rt, name, t1, t2, t3) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>()}); \
  }
#define HalideExtern_4(rt, name, t1, t2, t3, t4) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, const Halide::Expr &a4) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(), polyhalite::type_of<t4>()}); \
  }
#define HalideExtern_5(rt, name, t1, t2, t3, t4, t5) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, const Halide::Expr &a4, const Halide::Expr &a5) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(), polyhalite::type_of<t4>(), polyhalite::type_of<t5>()}); \
  }
#define HalideExtern_6(rt, name, t1, t2, t3, t4, t5, t6) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(), polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>()}); \
  }
#define HalideExtern_7(rt, name, t1, t2, t3, t4, t5, t6, t7) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6, const Halide::Expr &a7) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(), polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(), polyhalite::type_of<t7>()}); \
  }
#define HalideExtern_8(rt, name, t1, t2, t3, t4, t5, t6, t7, t8) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6, const Halide::Expr &a7, const Halide::Expr &a8) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7, a8}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(), polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(), polyhalite::type_of<t7>(), polyhalite::type_of<t8>()}); \
  }
#define HalideExtern_9(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6, const Halide::Expr &a7, const Halide::Expr &a8, const Halide::Expr &a9) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7, a8, a9}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(), polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(), polyhalite::type_of<t7>(), polyhalite::type_of<t8>(), polyhalite::type_of<t9>()}); \
  }
#define HalideExtern_10(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10) \
  Halide::Expr name(const Halide::Expr &a1, const Halide::Expr &a2, const Halide::Expr &a3, const Halide::Expr &a4, const Halide::Expr &a5, const Halide::Expr &a6, const Halide::Expr &a7, const Halide::Expr &a8, const Halide::Expr &a9, const Halide::Expr &a10) { \
    return polyhalite::extern_call(polyhalite::type_of<rt>(), #name, {a1, a2, a3, a4, a5, a6, a7, a8, a9, a10}, {polyhalite::type_of<t1>(), polyhalite::type_of<t2>(), polyhalite::type_of<t3>(), polyhalite::type_of<t4>(), polyhalite::type_of<t5>(), polyhalite::type_of<t6>(), polyhalite::type_of<t7>(), polyhalite::type_of<t8>(), polyhalite::type_of<t9>(), polyhalite::type_of<t10>()}); \
  }
#define HalidePureExtern_1(rt, name, t1) HalideExtern_1(rt, name, t1)
#define HalidePureExtern_2(rt, name, t1, t2) HalideExtern_2(rt, name, t1, t2)
#define HalidePureExtern_3(rt, name, t1, t2, t3) HalideExtern_3(rt, name, t1, t2, t3)
#define HalidePureExtern_4(rt, name, t1, t2, t3, t4) HalideExtern_4(rt, name, t1, t2, t3, t4)
#define HalidePureExtern_5(rt, name, t1, t2, t3, t4, t5) HalideExtern_5(rt, name, t1, t2, t3, t4, t5)
#define HalidePureExtern_6(rt, name, t1, t2, t3, t4, t5, t6) HalideExtern_6(rt, name, t1, t2, t3, t4, t5, t6)
#define HalidePureExtern_7(rt, name, t1, t2, t3, t4, t5, t6, t7) HalideExtern_7(rt, name, t1, t2, t3, t4, t5, t6, t7)
#define HalidePureExtern_8(rt, name, t1, t2, t3, t4, t5, t6, t7, t8) HalideExtern_8(rt, name, t1, t2, t3, t4, t5, t6, t7, t8)
#define HalidePureExtern_9(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9) HalideExtern_9(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9)
#define HalidePureExtern_10(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10) HalideExtern_10(rt, name, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10)
