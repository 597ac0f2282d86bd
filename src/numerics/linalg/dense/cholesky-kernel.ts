/**
 * A = L·Lᵀ in place, left-looking: column j of L needs the columns before it and is the first to need column j of A.
 */
import { i32, kernel, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";

/**
 * The kernel that factors one matrix per work item: n³/3 flops, every word of the lower triangle read n/3 times, from
 * the cache. `status` receives 0, or the order of the first leading minor that is not positive; the matrix is NaN then.
 */
export const choleskyByItem = kernel({
  name: "choleskyByItem",
  params: { size: i32, start: i32, stride: i32, batchStride: i32, a: write(real), status: write(i32) },
  body({ size, start, stride, batchStride, a, status }, gpu) {
    const matrix = gpu.globalId();
    const origin = start + matrix * batchStride;
    let failed = 0;
    for (let j = 0; j < size; j++) {
      const rowJ = origin + j * stride;
      let pivot = a[rowJ + j];
      for (let p = 0; p < j; p++) {
        const l = a[rowJ + p];
        pivot -= l * l;
      }
      // Not `pivot <= 0`, which NaN is not.
      if (failed === 0 && !(pivot > 0)) failed = j + 1;
      const root = Math.sqrt(pivot);
      a[rowJ + j] = root;
      for (let i = j + 1; i < size; i++) {
        const rowI = origin + i * stride;
        let sum = a[rowI + j];
        for (let p = 0; p < j; p++) sum -= a[rowI + p] * a[rowJ + p];
        a[rowI + j] = sum / root;
        a[rowJ + i] = 0;
      }
    }
    if (failed !== 0) for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) a[origin + i * stride + j] = NaN;
    status[matrix] = failed;
  },
});

/** The variant of the Cholesky kernel with a workgroup for each matrix. */
interface GroupShape {
  readonly groupSize: number;
}

/**
 * The kernel that factors one matrix per workgroup, each item every groupSize-th row. Barriers order its accesses to
 * the buffer.
 */
export const choleskyByGroup = memoize(({ groupSize }: GroupShape) =>
  kernel({
    name: "choleskyByGroup",
    params: { size: i32, start: i32, stride: i32, batchStride: i32, a: write(real), status: write(i32) },
    groupSize,
    *body({ size, start, stride, batchStride, a, status }, gpu) {
      const origin = start + gpu.groupId() * batchStride;
      const first = gpu.localId();
      let failed = 0;
      for (let j = 0; j < size; j++) {
        const rowJ = origin + j * stride;
        for (let i = j + first; i < size; i += gpu.groupSize()) {
          const rowI = origin + i * stride;
          let sum = a[rowI + j];
          for (let p = 0; p < j; p++) sum -= a[rowI + p] * a[rowJ + p];
          a[rowI + j] = sum;
        }
        yield;
        const pivot = a[rowJ + j];
        if (failed === 0 && !(pivot > 0)) failed = j + 1;
        const root = Math.sqrt(pivot);
        yield;
        for (let i = j + first; i < size; i += gpu.groupSize()) {
          a[origin + i * stride + j] = i === j ? root : a[origin + i * stride + j] / root;
          if (i > j) a[rowJ + i] = 0;
        }
        yield;
      }
      if (failed !== 0)
        for (let i = first; i < size; i += gpu.groupSize())
          for (let j = 0; j < size; j++) a[origin + i * stride + j] = NaN;
      if (first === 0) status[gpu.groupId()] = failed;
    },
  }),
);
