// Barriers and warp operations: the driver runs the other fibers until the named lanes have met.
inline void __syncthreads(int line = __builtin_LINE()) { fkemu_run->barrier(fkemu_vote_none, 0, line); }
inline int __syncthreads_count(int p, int line = __builtin_LINE()) { return fkemu_run->barrier(fkemu_vote_count, p, line); }
inline int __syncthreads_and(int p, int line = __builtin_LINE()) { return fkemu_run->barrier(fkemu_vote_and, p, line); }
inline int __syncthreads_or(int p, int line = __builtin_LINE()) { return fkemu_run->barrier(fkemu_vote_or, p, line); }
inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  fkemu_run->warp(fkemu_syncwarp, mask, 0, 0, 32, line);
}
inline unsigned __activemask() { return fkemu_run->active(); }

#define FKEMU_SHUFFLE(T, name, kind, Operand) \
  inline T name(unsigned mask, T value, Operand operand, int width = 32, int line = __builtin_LINE()) { \
    unsigned long long bits = 0; \
    __builtin_memcpy(&bits, &value, sizeof value); \
    bits = fkemu_run->warp(kind, mask, bits, (unsigned)operand, (unsigned)width, line); \
    __builtin_memcpy(&value, &bits, sizeof value); \
    return value; \
  }
#define FKEMU_SHUFFLES(T) \
  FKEMU_SHUFFLE(T, __shfl_sync, fkemu_shfl_idx, int) FKEMU_SHUFFLE(T, __shfl_up_sync, fkemu_shfl_up, unsigned) \
  FKEMU_SHUFFLE(T, __shfl_down_sync, fkemu_shfl_down, unsigned) FKEMU_SHUFFLE(T, __shfl_xor_sync, fkemu_shfl_xor, int)
FKEMU_SHUFFLES(int) FKEMU_SHUFFLES(unsigned) FKEMU_SHUFFLES(long) FKEMU_SHUFFLES(unsigned long) FKEMU_SHUFFLES(long long)
FKEMU_SHUFFLES(unsigned long long) FKEMU_SHUFFLES(float) FKEMU_SHUFFLES(double)
#undef FKEMU_SHUFFLES
#undef FKEMU_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, int p, int line = __builtin_LINE()) {
  return (unsigned)fkemu_run->warp(fkemu_ballot, mask, p != 0, 0, 32, line);
}
inline int __any_sync(unsigned mask, int p, int line = __builtin_LINE()) { return __ballot_sync(mask, p, line) != 0; }
inline int __all_sync(unsigned mask, int p, int line = __builtin_LINE()) { return __ballot_sync(mask, !p, line) == 0; }
#define FKEMU_REDUCE(T, name, kind) \
  inline T name(unsigned mask, T value, int line = __builtin_LINE()) { \
    return (T)fkemu_run->warp(kind, mask, (unsigned)value, 0, 32, line); \
  }
FKEMU_REDUCE(int, __reduce_add_sync, fkemu_reduce_add_s) FKEMU_REDUCE(unsigned, __reduce_add_sync, fkemu_reduce_add_u)
FKEMU_REDUCE(int, __reduce_min_sync, fkemu_reduce_min_s) FKEMU_REDUCE(unsigned, __reduce_min_sync, fkemu_reduce_min_u)
FKEMU_REDUCE(int, __reduce_max_sync, fkemu_reduce_max_s) FKEMU_REDUCE(unsigned, __reduce_max_sync, fkemu_reduce_max_u)
FKEMU_REDUCE(unsigned, __reduce_and_sync, fkemu_reduce_and) FKEMU_REDUCE(unsigned, __reduce_or_sync, fkemu_reduce_or)
FKEMU_REDUCE(unsigned, __reduce_xor_sync, fkemu_reduce_xor)
#undef FKEMU_REDUCE
