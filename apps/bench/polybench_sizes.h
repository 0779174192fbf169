// Sizes of PolyBench 4.2's data sets, as its command lines order them.
#pragma once

/// X(program, function of its plain loops, medium sizes, large sizes), sizes in parentheses. Those
/// of gramschmidt are exchanged: the last of more columns than rows have nothing but rounding
/// errors.
#define POLYBENCH_SIZES(X)                                                          \
  X("correlation", correlation, (240, 260), (1200, 1400))                           \
  X("covariance", covariance, (240, 260), (1200, 1400))                             \
  X("gemm", gemm, (200, 220, 240), (1000, 1100, 1200))                              \
  X("gemver", gemver, (400), (2000))                                                \
  X("gesummv", gesummv, (250), (1300))                                              \
  X("symm", symm, (200, 240), (1000, 1200))                                         \
  X("syr2k", syr2k, (200, 240), (1000, 1200))                                       \
  X("syrk", syrk, (200, 240), (1000, 1200))                                         \
  X("trmm", trmm, (200, 240), (1000, 1200))                                         \
  X("2mm", two_products, (180, 190, 210, 220), (800, 900, 1100, 1200))              \
  X("3mm", three_products, (180, 190, 200, 210, 220), (800, 900, 1000, 1100, 1200)) \
  X("atax", atax, (390, 410), (1900, 2100))                                         \
  X("bicg", bicg, (390, 410), (1900, 2100))                                         \
  X("doitgen", doitgen, (50, 40, 60), (150, 140, 160))                              \
  X("mvt", mvt, (400), (2000))                                                      \
  X("cholesky", cholesky, (400), (2000))                                            \
  X("durbin", durbin, (400), (2000))                                                \
  X("gramschmidt", gramschmidt, (240, 200), (1200, 1000))                           \
  X("lu", lu, (400), (2000))                                                        \
  X("ludcmp", ludcmp, (400), (2000))                                                \
  X("trisolv", trisolv, (400), (2000))                                              \
  X("deriche", deriche, (720, 480), (4096, 2160))                                   \
  X("floyd-warshall", floyd_warshall, (500), (2800))                                \
  X("nussinov", nussinov, (500), (2500))                                            \
  X("adi", adi, (100, 200), (500, 1000))                                            \
  X("fdtd-2d", fdtd_2d, (100, 200, 240), (500, 1000, 1200))                         \
  X("heat-3d", heat_3d, (100, 40), (500, 120))                                      \
  X("jacobi-1d", jacobi_1d, (100, 400), (500, 2000))                                \
  X("jacobi-2d", jacobi_2d, (100, 250), (500, 1300))                                \
  X("seidel-2d", seidel_2d, (100, 400), (500, 2000))

/// The sizes without their parentheses.
#define POLYBENCH_EXTENTS(...) __VA_ARGS__
