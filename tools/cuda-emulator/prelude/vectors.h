// double2, int4 and the like, with CUDA's alignments. uint3 is in runtime.h.
#define FKEMU_VECTORS(T, S, A2, A4) \
  struct S##1 { T x; }; \
  struct __attribute__((aligned(A2))) S##2 { T x, y; }; \
  struct __attribute__((aligned(A4))) S##4 { T x, y, z, w; }; \
  inline S##2 make_##S##2(T x, T y) { return {x, y}; } \
  inline S##4 make_##S##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define FKEMU_VECTOR3(T, S) struct S##3 { T x, y, z; }; inline S##3 make_##S##3(T x, T y, T z) { return {x, y, z}; }
FKEMU_VECTORS(unsigned int, uint, 8, 16)
FKEMU_VECTORS(int, int, 8, 16) FKEMU_VECTOR3(int, int)
FKEMU_VECTORS(float, float, 8, 16) FKEMU_VECTOR3(float, float)
FKEMU_VECTORS(double, double, 16, 16) FKEMU_VECTOR3(double, double)
FKEMU_VECTORS(long long, longlong, 16, 16) FKEMU_VECTOR3(long long, longlong)
FKEMU_VECTORS(unsigned long long, ulonglong, 16, 16) FKEMU_VECTOR3(unsigned long long, ulonglong)
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
#undef FKEMU_VECTORS
#undef FKEMU_VECTOR3
