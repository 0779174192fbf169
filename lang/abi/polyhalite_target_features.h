/* The features of targets: their numbers, which compiled code and its callers exchange, and their
 * names. */
#ifndef POLYHALITE_TARGET_FEATURES_H
#define POLYHALITE_TARGET_FEATURES_H

/* FEATURE(C name, C++ name, word in target strings), in the order of the numbers, which never
 * change: Halide's, then our own. */
#define POLYHALITE_TARGET_FEATURES(FEATURE)                                      \
  FEATURE(jit, JIT, "jit")                                                       \
  FEATURE(debug, Debug, "debug")                                                 \
  FEATURE(enable_backtraces, EnableBacktraces, "enable_backtraces")              \
  FEATURE(no_asserts, NoAsserts, "no_asserts")                                   \
  FEATURE(no_bounds_query, NoBoundsQuery, "no_bounds_query")                     \
  FEATURE(sse41, SSE41, "sse41")                                                 \
  FEATURE(avx, AVX, "avx")                                                       \
  FEATURE(avx2, AVX2, "avx2")                                                    \
  FEATURE(avxvnni, AVXVNNI, "avxvnni")                                           \
  FEATURE(fma, FMA, "fma")                                                       \
  FEATURE(fma4, FMA4, "fma4")                                                    \
  FEATURE(f16c, F16C, "f16c")                                                    \
  FEATURE(armv7s, ARMv7s, "armv7s")                                              \
  FEATURE(no_neon, NoNEON, "no_neon")                                            \
  FEATURE(vsx, VSX, "vsx")                                                       \
  FEATURE(power_arch_2_07, POWER_ARCH_2_07, "power_arch_2_07")                   \
  FEATURE(cuda, CUDA, "cuda")                                                    \
  FEATURE(cuda_capability30, CUDACapability30, "cuda_capability_30")             \
  FEATURE(cuda_capability32, CUDACapability32, "cuda_capability_32")             \
  FEATURE(cuda_capability35, CUDACapability35, "cuda_capability_35")             \
  FEATURE(cuda_capability50, CUDACapability50, "cuda_capability_50")             \
  FEATURE(cuda_capability61, CUDACapability61, "cuda_capability_61")             \
  FEATURE(cuda_capability70, CUDACapability70, "cuda_capability_70")             \
  FEATURE(cuda_capability75, CUDACapability75, "cuda_capability_75")             \
  FEATURE(cuda_capability80, CUDACapability80, "cuda_capability_80")             \
  FEATURE(cuda_capability86, CUDACapability86, "cuda_capability_86")             \
  FEATURE(opencl, OpenCL, "opencl")                                              \
  FEATURE(cl_doubles, CLDoubles, "cl_doubles")                                   \
  FEATURE(cl_atomic64, CLAtomics64, "cl_atomics64")                              \
  FEATURE(user_context, UserContext, "user_context")                             \
  FEATURE(profile, Profile, "profile")                                           \
  FEATURE(no_runtime, NoRuntime, "no_runtime")                                   \
  FEATURE(metal, Metal, "metal")                                                 \
  FEATURE(c_plus_plus_mangling, CPlusPlusMangling, "c_plus_plus_name_mangling")  \
  FEATURE(large_buffers, LargeBuffers, "large_buffers")                          \
  FEATURE(hvx_128, HVX_128, "hvx_128")                                           \
  FEATURE(hvx_v62, HVX_v62, "hvx_v62")                                           \
  FEATURE(fuzz_float_stores, FuzzFloatStores, "fuzz_float_stores")               \
  FEATURE(soft_float_abi, SoftFloatABI, "soft_float_abi")                        \
  FEATURE(msan, MSAN, "msan")                                                    \
  FEATURE(avx512, AVX512, "avx512")                                              \
  FEATURE(avx512_knl, AVX512_KNL, "avx512_knl")                                  \
  FEATURE(avx512_skylake, AVX512_Skylake, "avx512_skylake")                      \
  FEATURE(avx512_cannonlake, AVX512_Cannonlake, "avx512_cannonlake")             \
  FEATURE(avx512_zen4, AVX512_Zen4, "avx512_zen4")                               \
  FEATURE(avx512_zen5, AVX512_Zen5, "avx512_zen5")                               \
  FEATURE(avx512_sapphirerapids, AVX512_SapphireRapids, "avx512_sapphirerapids") \
  FEATURE(trace_loads, TraceLoads, "trace_loads")                                \
  FEATURE(trace_stores, TraceStores, "trace_stores")                             \
  FEATURE(trace_realizations, TraceRealizations, "trace_realizations")           \
  FEATURE(trace_pipeline, TracePipeline, "trace_pipeline")                       \
  FEATURE(hvx_v65, HVX_v65, "hvx_v65")                                           \
  FEATURE(hvx_v66, HVX_v66, "hvx_v66")                                           \
  FEATURE(hvx_v68, HVX_v68, "hvx_v68")                                           \
  FEATURE(cl_half, CLHalf, "cl_half")                                            \
  FEATURE(strict_float, StrictFloat, "strict_float")                             \
  FEATURE(tsan, TSAN, "tsan")                                                    \
  FEATURE(asan, ASAN, "asan")                                                    \
  FEATURE(d3d12compute, D3D12Compute, "d3d12compute")                            \
  FEATURE(check_unsafe_promises, CheckUnsafePromises, "check_unsafe_promises")   \
  FEATURE(hexagon_dma, HexagonDma, "hexagon_dma")                                \
  FEATURE(embed_bitcode, EmbedBitcode, "embed_bitcode")                          \
  FEATURE(enable_llvm_loop_opt, EnableLLVMLoopOpt, "enable_llvm_loop_opt")       \
  FEATURE(wasm_mvponly, WasmMvpOnly, "wasm_mvponly")                             \
  FEATURE(wasm_simd128, WasmSimd128, "wasm_simd128")                             \
  FEATURE(wasm_threads, WasmThreads, "wasm_threads")                             \
  FEATURE(wasm_bulk_memory, WasmBulkMemory, "wasm_bulk_memory")                  \
  FEATURE(webgpu, WebGPU, "webgpu")                                              \
  FEATURE(sve, SVE, "sve")                                                       \
  FEATURE(sve2, SVE2, "sve2")                                                    \
  FEATURE(egl, EGL, "egl")                                                       \
  FEATURE(arm_dot_prod, ARMDotProd, "arm_dot_prod")                              \
  FEATURE(arm_fp16, ARMFp16, "arm_fp16")                                         \
  FEATURE(llvm_large_code_model, LLVMLargeCodeModel, "llvm_large_code_model")    \
  FEATURE(rvv, RVV, "rvv")                                                       \
  FEATURE(armv8a, ARMv8a, "armv8a")                                              \
  FEATURE(armv81a, ARMv81a, "armv81a")                                           \
  FEATURE(armv82a, ARMv82a, "armv82a")                                           \
  FEATURE(armv83a, ARMv83a, "armv83a")                                           \
  FEATURE(armv84a, ARMv84a, "armv84a")                                           \
  FEATURE(armv85a, ARMv85a, "armv85a")                                           \
  FEATURE(armv86a, ARMv86a, "armv86a")                                           \
  FEATURE(armv87a, ARMv87a, "armv87a")                                           \
  FEATURE(armv88a, ARMv88a, "armv88a")                                           \
  FEATURE(armv89a, ARMv89a, "armv89a")                                           \
  FEATURE(sanitizer_coverage, SanitizerCoverage, "sanitizer_coverage")           \
  FEATURE(profile_by_timer, ProfileByTimer, "profile_by_timer")                  \
  FEATURE(spirv, SPIRV, "spirv")                                                 \
  FEATURE(vulkan, Vulkan, "vulkan")                                              \
  FEATURE(vulkan_int8, VulkanInt8, "vk_int8")                                    \
  FEATURE(vulkan_int16, VulkanInt16, "vk_int16")                                 \
  FEATURE(vulkan_int64, VulkanInt64, "vk_int64")                                 \
  FEATURE(vulkan_float16, VulkanFloat16, "vk_float16")                           \
  FEATURE(vulkan_float64, VulkanFloat64, "vk_float64")                           \
  FEATURE(vulkan_version10, VulkanV10, "vk_v10")                                 \
  FEATURE(vulkan_version12, VulkanV12, "vk_v12")                                 \
  FEATURE(vulkan_version13, VulkanV13, "vk_v13")                                 \
  FEATURE(semihosting, Semihosting, "semihosting")                               \
  FEATURE(avx10_1, AVX10_1, "avx10_1")                                           \
  FEATURE(x86_apx, X86APX, "x86apx")                                             \
  FEATURE(simulator, Simulator, "simulator")                                     \
  FEATURE(profile_counts, ProfileCounts, "profile_counts")                       \
  FEATURE(sme2, SME2, "sme2")                                                    \
  FEATURE(sme_svl128, SME_SVL128, "sme_svl128")                                  \
  FEATURE(sme_svl256, SME_SVL256, "sme_svl256")                                  \
  FEATURE(sme_svl512, SME_SVL512, "sme_svl512")                                  \
  FEATURE(sme_svl1024, SME_SVL1024, "sme_svl1024")                               \
  FEATURE(sme_svl2048, SME_SVL2048, "sme_svl2048")                               \
  FEATURE(cuda_capability89, CUDACapability89, "cuda_capability_89")             \
  FEATURE(cuda_capability90, CUDACapability90, "cuda_capability_90")             \
  FEATURE(sm_90a, SM90a, "sm_90a")

typedef enum polyhalite_target_feature_t {
#define POLYHALITE_TARGET_FEATURE(c_name, name, word) polyhalite_target_feature_##c_name,
  POLYHALITE_TARGET_FEATURES(POLYHALITE_TARGET_FEATURE)
#undef POLYHALITE_TARGET_FEATURE
      polyhalite_target_feature_end
} polyhalite_target_feature_t;

#endif
