/**
 * The CUDA intrinsics that generated code uses besides C++ itself, by the precision of the kernels that use them.
 * Another compiler, such as an emulator for tests, must supply them. Generated code has no `#include`, no printf and no
 * dynamic memory. With FK_EXACT and FK_NO_PTX defined, it has no inline PTX either.
 */
export const cudaIntrinsics = {
  keywords: [
    "__global__",
    "__device__",
    "__forceinline__",
    "__shared__",
    "__align__",
    "__launch_bounds__",
    "__restrict__",
    "__builtin_assume_aligned",
    "asm",
    "__CUDA_ARCH__",
  ],
  variables: ["threadIdx.x", "blockIdx.x"],
  barriers: ["__syncthreads"],
  /** The conversion of addresses for the PTX that copies to shared memory. */
  addresses: ["__cvta_generic_to_shared"],
  integers: ["__clz", "__popc", "__umulhi"],
  f64: [
    "sqrt",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "copysign",
    "fmod",
    "__double2hiint",
    "__double2loint",
    "__hiloint2double",
    "__double_as_longlong",
    "__longlong_as_double",
    "__double2int_rz",
    "__double2uint_rz",
    "__fma_rn",
  ],
  f32: [
    "sqrtf",
    "fabsf",
    "floorf",
    "ceilf",
    "truncf",
    "rintf",
    "copysignf",
    "fmodf",
    "fminf",
    "fmaxf",
    "__float_as_uint",
    "__uint_as_float",
    "__float2int_rz",
    "__float2uint_rz",
  ],
  /** Atomic functions on int and unsigned, in global and shared memory. */
  atomics: ["atomicAdd", "atomicMin", "atomicMax", "atomicAnd", "atomicOr", "atomicXor", "atomicExch", "atomicCAS"],
  /** Shuffles of int, unsigned, float and double; the mask names every lane of the warp. */
  shuffles: ["__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"],
  /** Reductions of int and unsigned, in full warps, where __CUDA_ARCH__ is 800 or more. */
  reductions: ["__reduce_min_sync", "__reduce_max_sync"],
} as const;
