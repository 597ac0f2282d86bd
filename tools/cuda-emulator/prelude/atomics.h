// One thread runs at a time, so a read, a computation and a write are atomic.
#define FKEMU_ATOMIC(T, name, expression) \
  inline T name(T* p, T v) { T old = *p; *p = (expression); return old; } \
  inline T name##_block(T* p, T v) { return name(p, v); } \
  inline T name##_system(T* p, T v) { return name(p, v); }
#define FKEMU_ATOMICS(T) \
  FKEMU_ATOMIC(T, atomicMin, v < old ? v : old) FKEMU_ATOMIC(T, atomicMax, old < v ? v : old) FKEMU_ATOMIC(T, atomicAnd, old & v) \
  FKEMU_ATOMIC(T, atomicOr, old | v) FKEMU_ATOMIC(T, atomicXor, old ^ v) FKEMU_ATOMIC(T, atomicExch, v)
FKEMU_ATOMICS(int) FKEMU_ATOMICS(unsigned) FKEMU_ATOMICS(unsigned long long) FKEMU_ATOMICS(long long)
FKEMU_ATOMIC(int, atomicAdd, (int)((unsigned)old + (unsigned)v))
FKEMU_ATOMIC(int, atomicSub, (int)((unsigned)old - (unsigned)v))
FKEMU_ATOMIC(unsigned, atomicAdd, old + v)
FKEMU_ATOMIC(unsigned, atomicSub, old - v)
FKEMU_ATOMIC(unsigned, atomicInc, old >= v ? 0u : old + 1)
FKEMU_ATOMIC(unsigned, atomicDec, old == 0 || old > v ? v : old - 1)
FKEMU_ATOMIC(unsigned long long, atomicAdd, old + v)
FKEMU_ATOMIC(float, atomicAdd, old + v)
FKEMU_ATOMIC(double, atomicAdd, old + v)
FKEMU_ATOMIC(float, atomicExch, v)
#undef FKEMU_ATOMIC
#undef FKEMU_ATOMICS
#define FKEMU_CAS(T) inline T atomicCAS(T* p, T compare, T v) { T old = *p; if (old == compare) *p = v; return old; }
FKEMU_CAS(int) FKEMU_CAS(unsigned) FKEMU_CAS(unsigned long long) FKEMU_CAS(unsigned short)
#undef FKEMU_CAS
