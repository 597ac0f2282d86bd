// Barriers and warp operations: the driver runs the other fibers until the named lanes have met.
inline void __syncthreads(int line = __builtin_LINE()) { fk_run->barrier(fk_vote_none, 0, line); }
inline int __syncthreads_count(int p, int line = __builtin_LINE()) { return fk_run->barrier(fk_vote_count, p, line); }
inline int __syncthreads_and(int p, int line = __builtin_LINE()) { return fk_run->barrier(fk_vote_and, p, line); }
inline int __syncthreads_or(int p, int line = __builtin_LINE()) { return fk_run->barrier(fk_vote_or, p, line); }
inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
  fk_run->warp(fk_syncwarp, mask, 0, 0, 32, line);
}
inline unsigned __activemask() { return fk_run->active(); }

#define FK_SHUFFLE(T, name, kind, Operand) \
  inline T name(unsigned mask, T value, Operand operand, int width = 32, int line = __builtin_LINE()) { \
    unsigned long long bits = 0; \
    __builtin_memcpy(&bits, &value, sizeof value); \
    bits = fk_run->warp(kind, mask, bits, (unsigned)operand, (unsigned)width, line); \
    __builtin_memcpy(&value, &bits, sizeof value); \
    return value; \
  }
#define FK_SHUFFLES(T) \
  FK_SHUFFLE(T, __shfl_sync, fk_shfl_idx, int) FK_SHUFFLE(T, __shfl_up_sync, fk_shfl_up, unsigned) \
  FK_SHUFFLE(T, __shfl_down_sync, fk_shfl_down, unsigned) FK_SHUFFLE(T, __shfl_xor_sync, fk_shfl_xor, int)
FK_SHUFFLES(int) FK_SHUFFLES(unsigned) FK_SHUFFLES(long) FK_SHUFFLES(unsigned long) FK_SHUFFLES(long long)
FK_SHUFFLES(unsigned long long) FK_SHUFFLES(float) FK_SHUFFLES(double)
#undef FK_SHUFFLES
#undef FK_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, int p, int line = __builtin_LINE()) {
  return (unsigned)fk_run->warp(fk_ballot, mask, p != 0, 0, 32, line);
}
inline int __any_sync(unsigned mask, int p, int line = __builtin_LINE()) { return __ballot_sync(mask, p, line) != 0; }
inline int __all_sync(unsigned mask, int p, int line = __builtin_LINE()) { return __ballot_sync(mask, !p, line) == 0; }
#define FK_REDUCE(T, name, kind) \
  inline T name(unsigned mask, T value, int line = __builtin_LINE()) { \
    return (T)fk_run->warp(kind, mask, (unsigned)value, 0, 32, line); \
  }
FK_REDUCE(int, __reduce_add_sync, fk_reduce_add_s) FK_REDUCE(unsigned, __reduce_add_sync, fk_reduce_add_u)
FK_REDUCE(int, __reduce_min_sync, fk_reduce_min_s) FK_REDUCE(unsigned, __reduce_min_sync, fk_reduce_min_u)
FK_REDUCE(int, __reduce_max_sync, fk_reduce_max_s) FK_REDUCE(unsigned, __reduce_max_sync, fk_reduce_max_u)
FK_REDUCE(unsigned, __reduce_and_sync, fk_reduce_and) FK_REDUCE(unsigned, __reduce_or_sync, fk_reduce_or)
FK_REDUCE(unsigned, __reduce_xor_sync, fk_reduce_xor)
#undef FK_REDUCE
