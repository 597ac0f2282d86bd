// One thread runs at a time, so a read, a computation and a write are atomic.
#define FK_ATOMIC(T, name, expression) \
  inline T name(T* p, T v) { T old = *p; *p = (expression); return old; } \
  inline T name##_block(T* p, T v) { return name(p, v); } \
  inline T name##_system(T* p, T v) { return name(p, v); }
#define FK_ATOMICS(T) \
  FK_ATOMIC(T, atomicMin, v < old ? v : old) FK_ATOMIC(T, atomicMax, old < v ? v : old) FK_ATOMIC(T, atomicAnd, old & v) \
  FK_ATOMIC(T, atomicOr, old | v) FK_ATOMIC(T, atomicXor, old ^ v) FK_ATOMIC(T, atomicExch, v)
FK_ATOMICS(int) FK_ATOMICS(unsigned) FK_ATOMICS(unsigned long long) FK_ATOMICS(long long)
FK_ATOMIC(int, atomicAdd, (int)((unsigned)old + (unsigned)v))
FK_ATOMIC(int, atomicSub, (int)((unsigned)old - (unsigned)v))
FK_ATOMIC(unsigned, atomicAdd, old + v)
FK_ATOMIC(unsigned, atomicSub, old - v)
FK_ATOMIC(unsigned, atomicInc, old >= v ? 0u : old + 1)
FK_ATOMIC(unsigned, atomicDec, old == 0 || old > v ? v : old - 1)
FK_ATOMIC(unsigned long long, atomicAdd, old + v)
FK_ATOMIC(float, atomicAdd, old + v)
FK_ATOMIC(double, atomicAdd, old + v)
FK_ATOMIC(float, atomicExch, v)
#undef FK_ATOMIC
#undef FK_ATOMICS
#define FK_CAS(T) inline T atomicCAS(T* p, T compare, T v) { T old = *p; if (old == compare) *p = v; return old; }
FK_CAS(int) FK_CAS(unsigned) FK_CAS(unsigned long long) FK_CAS(unsigned short)
#undef FK_CAS
