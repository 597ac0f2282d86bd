/** Kernels for the emulator's tests, written by hand as one would for nvcc. */

export const plainKernels = `
extern "C" __global__ void __launch_bounds__(128)
saxpy(const double* __restrict__ x, double* __restrict__ y, double a, unsigned int n) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void histogram(const int* values, unsigned int* bins, int n, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[values[i] % count], 1u);
}

extern "C" __global__ void contracted(const double* in, double* out) { out[0] = in[0] * in[0] - in[1]; }

extern "C" __global__ void indices(int* out) {
  const int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[b * blockDim.x * blockDim.y * blockDim.z + t] = b * 1000 + t;
}

extern "C" __global__ void beyond(double* out, int at) { out[at] = 1.0; }

extern "C" __global__ void has_planted_fault(double* out) { out[0] = 1.0; }

extern "C" __global__ void largeLocal(int* out, int n) {
  double local[60000];
  for (int i = 0; i < n; i++) local[i] = i;
  double sum = 0;
  for (int i = n - 1; i >= 0; i--) sum += local[i];
  out[threadIdx.x] = (int)sum;
}

extern "C" __global__ void divide(int* out, int a, int b) { out[0] = a / b; }

extern "C" __global__ void bits(const double* x, int* out) {
  const double v = x[threadIdx.x];
  int* o = out + 16 * threadIdx.x;
  o[0] = __double2int_rz(v);
  o[1] = (int)__double2uint_rz(v);
  o[2] = __float2int_rz((float)v);
  o[3] = (int)__float2uint_rz((float)v);
  o[4] = __double2hiint(v);
  o[5] = __double2loint(v);
  o[6] = __hiloint2double(o[4], o[5]) == v;
  o[7] = __clz(o[4]);
  o[8] = __popc((unsigned)o[4]);
  o[9] = __ffs(o[4]);
  o[10] = (int)__brev((unsigned)o[4]);
  o[11] = (int)__umulhi((unsigned)o[4], 0x80000001u);
  o[12] = __mulhi(o[4], 0x40000001);
  o[13] = (int)__funnelshift_l((unsigned)o[4], 0x12345678u, 36);
  o[14] = (int)__funnelshift_r((unsigned)o[4], 0x12345678u, 36);
  o[15] = __longlong_as_double(__double_as_longlong(v)) == v;
}
`;

export const cooperativeKernels = `
extern __shared__ double dynamicSums[];

extern "C" __global__ void __launch_bounds__(256) blockSum(const double* x, double* out, int n) {
  __shared__ double sums[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = i < n ? x[i] : 0.0;
  __syncthreads();
  for (unsigned int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void dynamicReverse(double* x) {
  dynamicSums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = dynamicSums[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void readsUninitialised(double* out) {
  __shared__ double never[4];
  __syncthreads();
  out[threadIdx.x] = never[threadIdx.x];
}

// Inclusive scan of each warp; 48 threads make one warp and a half.
extern "C" __global__ void warpScan(const int* x, int* out) {
  const int lane = threadIdx.x & 31;
  const unsigned int mask = threadIdx.x < 32 ? 0xffffffffu : 0x0000ffffu;
  int sum = x[threadIdx.x];
  for (int delta = 1; delta < 32; delta *= 2) {
    const int other = __shfl_up_sync(mask, sum, delta);
    if (lane >= delta) sum += other;
  }
  out[threadIdx.x] = sum;
}

// One row of 9 values a thread, for each width.
extern "C" __global__ void shuffles(int* out) {
  const unsigned int all = 0xffffffffu;
  for (int k = 0; k < 6; k++) {
    const int width = 1 << k;
    int* o = out + (k * 32 + threadIdx.x) * 9;
    const int v = 100 + threadIdx.x;
    o[0] = __shfl_sync(all, v, 5, width);
    o[1] = __shfl_sync(all, v, threadIdx.x + 3, width);
    o[2] = __shfl_up_sync(all, v, 3, width);
    o[3] = __shfl_down_sync(all, v, 3, width);
    o[4] = __shfl_xor_sync(all, v, 5, width);
    o[5] = (int)__shfl_xor_sync(all, (double)v, 1, width);
    o[6] = (int)__ballot_sync(all, threadIdx.x % 3 == 0);
    o[7] = __any_sync(all, threadIdx.x == 7) + 2 * __all_sync(all, threadIdx.x < 31);
    o[8] = __reduce_add_sync(all, v);
  }
}

// Half of each warp leaves; the rest go on shuffling among themselves.
extern "C" __global__ void partialMask(int* out) {
  if (threadIdx.x & 1) return;
  out[threadIdx.x] = __shfl_xor_sync(0x55555555u, (int)threadIdx.x, 2);
  __syncthreads();
  out[threadIdx.x + 1] = __syncthreads_count(threadIdx.x < 8);
}

extern "C" __global__ void divergentBarrier(int* out) {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
  }
}

extern "C" __global__ void twoBarriers(int* out) {
  if (threadIdx.x < 16)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = 1;
}

// A missing barrier: right only when threads happen to run in descending order.
extern "C" __global__ void races(int* out) {
  __shared__ int next[65];
  next[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) next[64] = 64;
  out[threadIdx.x] = next[threadIdx.x + 1];
  __syncthreads();
}
`;
