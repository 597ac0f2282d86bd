// Qualifiers and indices. INFINITY, NAN and the fixed-width integers are left out on purpose: NVRTC has none.
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define FK_NO_PTX 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static __attribute__((section("fkemu_shared")))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_assume(condition) ((void)0)

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

uint3 threadIdx, blockIdx;
dim3 blockDim = {1, 1, 1}, gridDim = {1, 1, 1};
constexpr int warpSize = 32;

const fkemu_runtime* fkemu_run;
void* fkemu_dynamic_shared;
// The section must exist, or the linker knows no __start_ and __stop_ symbols.
__attribute__((section("fkemu_shared"), used)) char fkemu_shared_anchor[8];
extern "C" char __start_fkemu_shared[], __stop_fkemu_shared[];

extern "C" int printf(const char*, ...);
inline void __trap() { fkemu_run->trap("__trap()"); __builtin_unreachable(); }
inline void __threadfence() { asm volatile("" ::: "memory"); }
inline void __threadfence_block() { asm volatile("" ::: "memory"); }
inline void __threadfence_system() { asm volatile("" ::: "memory"); }
inline void __nanosleep(unsigned) {}
template <class T> inline T __ldg(const T* p) { return *p; }
template <class T> inline T __ldcg(const T* p) { return *p; }
template <class T> inline T __ldcs(const T* p) { return *p; }
template <class T> inline T __ldca(const T* p) { return *p; }
template <class T> inline void __stcs(T* p, T v) { *p = v; }
template <class T> inline void __stcg(T* p, T v) { *p = v; }
