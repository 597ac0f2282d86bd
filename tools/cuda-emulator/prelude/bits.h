// Reinterpretations, saturating conversions and integer intrinsics.
template <class To, class From> inline To fkemu_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To result;
  __builtin_memcpy(&result, &value, sizeof result);
  return result;
}
inline long long __double_as_longlong(double x) { return fkemu_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return fkemu_bits<double>(x); }
inline int __float_as_int(float x) { return fkemu_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return fkemu_bits<unsigned>(x); }
inline float __int_as_float(int x) { return fkemu_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return fkemu_bits<float>(x); }
inline int __double2hiint(double x) { return (int)(fkemu_bits<unsigned long long>(x) >> 32); }
inline int __double2loint(double x) { return (int)(unsigned)fkemu_bits<unsigned long long>(x); }
inline double __hiloint2double(int hi, int lo) {
  return fkemu_bits<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}

// Saturating. NaN becomes 0 from f32 to 32 bits, and the highest bit alone from f64 or to 64 bits, as on an H100.
template <class To, class From> inline To fkemu_saturate(From x, From low, From high, To nan) {
  constexpr To top = (To)-1 < 0 ? (To)(~(1ull << (8 * sizeof(To) - 1))) : (To)-1;
  constexpr To bottom = (To)-1 < 0 ? (To)(1ull << (8 * sizeof(To) - 1)) : (To)0;
  return x != x ? nan : x >= high ? top : x <= low ? bottom : (To)x;
}
#define FKEMU_CONVERT(From, prefix, round, expression, nan) \
  inline int prefix##2int_##round(From x) { return fkemu_saturate<int, From>(expression, -2147483648.0, 2147483648.0, (int)(nan)); } \
  inline unsigned prefix##2uint_##round(From x) { return fkemu_saturate<unsigned, From>(expression, 0.0, 4294967296.0, nan); } \
  inline long long prefix##2ll_##round(From x) { \
    return fkemu_saturate<long long, From>(expression, -0x1p63, 0x1p63, (long long)(1ull << 63)); } \
  inline unsigned long long prefix##2ull_##round(From x) { \
    return fkemu_saturate<unsigned long long, From>(expression, 0.0, 0x1p64, 1ull << 63); }
FKEMU_CONVERT(double, __double, rz, __builtin_trunc(x), 0x80000000u) FKEMU_CONVERT(double, __double, rn, __builtin_rint(x), 0x80000000u)
FKEMU_CONVERT(double, __double, rd, __builtin_floor(x), 0x80000000u) FKEMU_CONVERT(double, __double, ru, __builtin_ceil(x), 0x80000000u)
FKEMU_CONVERT(float, __float, rz, __builtin_truncf(x), 0u) FKEMU_CONVERT(float, __float, rn, __builtin_rintf(x), 0u)
FKEMU_CONVERT(float, __float, rd, __builtin_floorf(x), 0u) FKEMU_CONVERT(float, __float, ru, __builtin_ceilf(x), 0u)
#undef FKEMU_CONVERT
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return (double)x; }
inline double __ull2double_rn(unsigned long long x) { return (double)x; }
inline float __int2float_rn(int x) { return (float)x; }
inline float __uint2float_rn(unsigned x) { return (float)x; }
inline float __ll2float_rn(long long x) { return (float)x; }
inline float __double2float_rn(double x) { return (float)x; }

inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
inline int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
// _l and _r take the shift modulo 32; _lc and _rc clamp it at 32.
inline unsigned fkemu_funnel_left(unsigned lo, unsigned hi, unsigned s) {
  return (unsigned)((((unsigned long long)hi << 32 | lo) << s) >> 32);
}
inline unsigned fkemu_funnel_right(unsigned lo, unsigned hi, unsigned s) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> s);
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { return fkemu_funnel_left(lo, hi, s & 31); }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { return fkemu_funnel_right(lo, hi, s & 31); }
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? lo : fkemu_funnel_left(lo, hi, s); }
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) { return s >= 32 ? hi : fkemu_funnel_right(lo, hi, s); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  unsigned long long bytes = (unsigned long long)b << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) result |= (unsigned)(bytes >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
  return result;
}
inline long long clock64() { return __builtin_ia32_rdtsc(); }
