// What a compiled kernel and the driver know of each other. Included by both; no other header may be needed.
#pragma once

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };

/** A warp operation's kind; lanes meet when kind, mask and source line agree. */
enum fk_kind : int { fk_shfl_idx, fk_shfl_up, fk_shfl_down, fk_shfl_xor, fk_ballot, fk_syncwarp, fk_reduce_add_s,
  fk_reduce_add_u, fk_reduce_min_s, fk_reduce_min_u, fk_reduce_max_s, fk_reduce_max_u, fk_reduce_and, fk_reduce_or,
  fk_reduce_xor, fk_match_any, fk_match_all };

/** Barriers with a value: what __syncthreads_count, _and and _or return. */
enum fk_vote : int { fk_vote_none, fk_vote_count, fk_vote_and, fk_vote_or };

/** The driver's half, called from kernels. */
struct fk_runtime {
  int (*barrier)(int vote, int predicate, int line);
  unsigned long long (*warp)(int kind, unsigned mask, unsigned long long value, unsigned operand, unsigned width, int line);
  unsigned (*active)();
  void (*trap)(const char* message);
};

struct fk_kernel {
  const char* name;
  void (*thread)(void** arguments);             // one thread, indices already set
  void (*block)(void** arguments, int reverse); // all threads of a block, one after another
  int parameters;
  const unsigned* sizes;                        // bytes of each parameter
  const unsigned char* pointers;                // whether each is a pointer
  int maxThreads;                               // from __launch_bounds__, or 0
};

/** The kernel's half, filled in or read by the driver. `fk_module_info` is the one symbol a module exports. */
struct fk_module {
  const fk_runtime** runtime;
  uint3* threadIdx;
  uint3* blockIdx;
  dim3* blockDim;
  dim3* gridDim;
  void** dynamicShared;
  char* sharedBegin;
  char* sharedEnd;
  const fk_kernel* kernels;
  int count;
};
