// What a compiled kernel and the driver know of each other. Included by both; no other header may be needed.
#pragma once

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };

/** A warp operation's kind; lanes meet when kind, mask and source line agree. */
enum fkemu_kind : int { fkemu_shfl_idx, fkemu_shfl_up, fkemu_shfl_down, fkemu_shfl_xor, fkemu_ballot, fkemu_syncwarp, fkemu_reduce_add_s,
  fkemu_reduce_add_u, fkemu_reduce_min_s, fkemu_reduce_min_u, fkemu_reduce_max_s, fkemu_reduce_max_u, fkemu_reduce_and, fkemu_reduce_or,
  fkemu_reduce_xor, fkemu_match_any, fkemu_match_all };

/** Barriers with a value: what __syncthreads_count, _and and _or return. */
enum fkemu_vote : int { fkemu_vote_none, fkemu_vote_count, fkemu_vote_and, fkemu_vote_or };

/** The driver's half, called from kernels. */
struct fkemu_runtime {
  int (*barrier)(int vote, int predicate, int line);
  unsigned long long (*warp)(int kind, unsigned mask, unsigned long long value, unsigned operand, unsigned width, int line);
  unsigned (*active)();
  void (*trap)(const char* message);
};

struct fkemu_kernel {
  const char* name;
  void (*thread)(void** arguments);             // one thread, indices already set
  void (*block)(void** arguments, int reverse); // all threads of a block, one after another
  int parameters;
  const unsigned* sizes;                        // bytes of each parameter
  const unsigned char* pointers;                // whether each is a pointer
  int maxThreads;                               // from __launch_bounds__, or 0
};

/** The kernel's half, filled in or read by the driver. `fkemu_module_info` is the one symbol a module exports. */
struct fkemu_module {
  const fkemu_runtime** runtime;
  uint3* threadIdx;
  uint3* blockIdx;
  dim3* blockDim;
  dim3* gridDim;
  void** dynamicShared;
  char* sharedBegin;
  char* sharedEnd;
  const fkemu_kernel* kernels;
  int count;
};
