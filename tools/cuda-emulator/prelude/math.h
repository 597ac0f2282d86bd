// math.h in both precisions, as glibc rounds it; CUDA's own functions differ in the last bits.
#define FKEMU_MATH1(name) \
  extern "C" double name(double) noexcept; extern "C" float name##f(float) noexcept; \
  inline float name(float x) { return __builtin_##name##f(x); } \
  inline double name(int x) { return __builtin_##name((double)x); }
#define FKEMU_MATH2(name) \
  extern "C" double name(double, double) noexcept; extern "C" float name##f(float, float) noexcept; \
  inline float name(float x, float y) { return __builtin_##name##f(x, y); } \
  inline double name(double x, float y) { return __builtin_##name(x, (double)y); } \
  inline double name(float x, double y) { return __builtin_##name((double)x, y); }
FKEMU_MATH1(sqrt) FKEMU_MATH1(cbrt) FKEMU_MATH1(floor) FKEMU_MATH1(ceil) FKEMU_MATH1(trunc) FKEMU_MATH1(rint) FKEMU_MATH1(nearbyint)
FKEMU_MATH1(round) FKEMU_MATH1(fabs) FKEMU_MATH1(exp) FKEMU_MATH1(exp2) FKEMU_MATH1(expm1) FKEMU_MATH1(log) FKEMU_MATH1(log2) FKEMU_MATH1(log10)
FKEMU_MATH1(log1p) FKEMU_MATH1(sin) FKEMU_MATH1(cos) FKEMU_MATH1(tan) FKEMU_MATH1(asin) FKEMU_MATH1(acos) FKEMU_MATH1(atan) FKEMU_MATH1(sinh)
FKEMU_MATH1(cosh) FKEMU_MATH1(tanh) FKEMU_MATH1(asinh) FKEMU_MATH1(acosh) FKEMU_MATH1(atanh) FKEMU_MATH1(erf) FKEMU_MATH1(erfc) FKEMU_MATH1(tgamma)
FKEMU_MATH1(lgamma) FKEMU_MATH1(logb)
FKEMU_MATH2(fmod) FKEMU_MATH2(remainder) FKEMU_MATH2(copysign) FKEMU_MATH2(fmin) FKEMU_MATH2(fmax) FKEMU_MATH2(pow) FKEMU_MATH2(atan2)
FKEMU_MATH2(hypot) FKEMU_MATH2(fdim) FKEMU_MATH2(nextafter)
#undef FKEMU_MATH1
#undef FKEMU_MATH2
extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
inline float ldexp(float x, int n) { return __builtin_ldexpf(x, n); }
extern "C" double scalbn(double, int) noexcept;
extern "C" float scalbnf(float, int) noexcept;
inline float scalbn(float x, int n) { return __builtin_scalbnf(x, n); }
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
inline float frexp(float x, int* n) { return __builtin_frexpf(x, n); }
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" int ilogb(double) noexcept;
extern "C" int ilogbf(float) noexcept;
inline int ilogb(float x) { return __builtin_ilogbf(x); }
extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
inline float rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double fdivide(double x, double y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }

inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }
inline bool signbit(float x) { return __builtin_signbitf(x); }

#define FKEMU_MINMAX(T) inline T min(T a, T b) { return b < a ? b : a; } inline T max(T a, T b) { return a < b ? b : a; }
FKEMU_MINMAX(int) FKEMU_MINMAX(unsigned) FKEMU_MINMAX(long) FKEMU_MINMAX(unsigned long) FKEMU_MINMAX(long long) FKEMU_MINMAX(unsigned long long)
#undef FKEMU_MINMAX
inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
inline double min(float a, double b) { return __builtin_fmin(a, b); }
inline double min(double a, float b) { return __builtin_fmin(a, b); }
inline double max(float a, double b) { return __builtin_fmax(a, b); }
inline double max(double a, float b) { return __builtin_fmax(a, b); }

// Single roundings that no compiler may contract.
#define FKEMU_ROUNDED(T, name, expression) \
  __attribute__((noinline, optimize("fp-contract=off"))) static T name(T a, T b) { return expression; }
FKEMU_ROUNDED(double, __dadd_rn, a + b) FKEMU_ROUNDED(double, __dsub_rn, a - b) FKEMU_ROUNDED(double, __dmul_rn, a * b)
FKEMU_ROUNDED(float, __fadd_rn, a + b) FKEMU_ROUNDED(float, __fsub_rn, a - b) FKEMU_ROUNDED(float, __fmul_rn, a * b)
#undef FKEMU_ROUNDED
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return __builtin_expf(x); }
inline float __logf(float x) { return __builtin_logf(x); }
inline float __sinf(float x) { return __builtin_sinf(x); }
inline float __cosf(float x) { return __builtin_cosf(x); }
inline float __powf(float x, float y) { return __builtin_powf(x, y); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
