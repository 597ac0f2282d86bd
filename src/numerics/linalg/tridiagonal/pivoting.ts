import type { Device } from "../../../device/index.ts";
import { hostRealType, i32, type Kernel, kernel, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { firstSingularPivot, nonFiniteFlag } from "./checks.ts";
import { type Method, type TridiagonalBatch, systemParams, type Layout, layoutOf, systemBase } from "./method.ts";
import { CODES } from "./status.ts";
import { privateCapacity, privateArrayEnvironment, vectorsOption } from "./thomas.ts";

interface PivotingVariant {
  readonly layout: Layout;
  readonly shared: boolean;
  readonly capacity: number;
}

/**
 * The kernel of Gaussian elimination with partial pivoting, one system a work item, in the order of LAPACK's dgtsv: of
 * the two rows that hold column i the one with the larger entry becomes row i of U, which so has two upper diagonals. U
 * = (p, q, r).
 *
 * Cost per row: about 14 flops, two of them divisions; 4 words read and 1 written; p, q, r and the right-hand side
 * written and read once, in private memory while it has room. Backward stable for every matrix, except for exponential
 * growth that does not occur in practice. Source: LAPACK 3, dgtsv.
 */
const pivotingKernel = memoize(({ layout, shared, capacity }: PivotingVariant): Kernel =>
  kernel({
    name: `pivoting-${layout}${shared ? "-shared" : ""}-${capacity}`,
    params: { rows: i32, stride: i32, batch: i32, ...systemParams, work: write(real) },
    env: {
      base: systemBase[layout],
      firstSingularPivot,
      nonFiniteFlag,
      shared,
      ...privateArrayEnvironment(capacity),
      ...CODES,
    },
    body(
      { rows, stride, batch, lower, diagonal, upper, rhs, work, status },
      gpu,
      { base, firstSingularPivot, nonFiniteFlag, shared, kept, room, ok, notFinite },
    ) {
      const s = gpu.globalId();
      const ps = gpu.privateReal(room);
      const qs = gpu.privateReal(room);
      const rs = gpu.privateReal(room);
      const fs = gpu.privateReal(room);
      const from = base(s, rows, stride);
      const matrix = shared ? 0 : from;
      const matrixStride = shared ? 1 : stride;
      const size = rows * batch;
      const exact = gpu.precision === "f64"; // see `thomasKernel`
      let code = ok;
      // Row i as it is when its turn comes: p in column i, q in column i + 1, right-hand side f.
      let p = diagonal[matrix];
      let q = rows > 1 ? upper[matrix] : 0.0;
      let f = rhs[from];
      for (let i = 0; i < rows - 1; i++) {
        const at = from + (i + 1) * stride;
        const m = shared ? i + 1 : at;
        const a = lower[m];
        const b = diagonal[m];
        const c = i + 2 < rows ? upper[m] : 0.0;
        const d = rhs[at];
        const swap = Math.abs(a) > Math.abs(p);
        const pivot = swap ? a : p;
        if (!exact && pivot === 0 && code === ok) code = i;
        const multiplier = (swap ? p : a) / pivot;
        const rowQ = swap ? b : q;
        const rowR = swap ? c : 0.0;
        const rowF = swap ? d : f;
        if (kept) {
          ps[i] = pivot;
          qs[i] = rowQ;
          rs[i] = rowR;
          fs[i] = rowF;
        } else {
          work[i * batch + s] = pivot;
          work[size + i * batch + s] = rowQ;
          work[2 * size + i * batch + s] = rowR;
          rhs[from + i * stride] = rowF;
        }
        p = (swap ? q : b) - multiplier * rowQ;
        q = swap ? -multiplier * c : c;
        f = (swap ? f : d) - multiplier * rowF;
      }
      if (!exact && p === 0 && code === ok) code = rows - 1;
      let x = f / p;
      let next = 0.0;
      rhs[from + (rows - 1) * stride] = x;
      let check = nonFiniteFlag(0.0, x);
      for (let i = rows - 2; i >= 0; i--) {
        let value = 0.0;
        if (kept) value = (fs[i] - qs[i] * x - rs[i] * next) / ps[i];
        else {
          const known = work[size + i * batch + s] * x;
          value = (rhs[from + i * stride] - known - work[2 * size + i * batch + s] * next) / work[i * batch + s];
        }
        next = x;
        x = value;
        rhs[from + i * stride] = x;
        check = nonFiniteFlag(check, x);
      }
      if (check !== 0) {
        if (exact) code = firstSingularPivot(lower, diagonal, upper, matrix, matrixStride, rows);
        if (code === ok) code = notFinite;
      }
      status[s] = code === ok ? 0 : code === notFinite ? -1 : code + 1;
    },
  }),
);

/** Prepares Gaussian elimination with partial pivoting for a problem. */
export async function pivoting(device: Device, problem: TridiagonalBatch): Promise<Method> {
  const { rows, batch, stride, precision, shared } = problem;
  const capacity = privateCapacity(rows, 4, device, problem);
  const variant = { layout: layoutOf(problem), shared, capacity };
  const compiled = await device.compile(pivotingKernel(variant), { precision, ...vectorsOption(variant) });
  const work = device.createBuffer(hostRealType(precision), capacity > 0 ? 1 : 3 * rows * batch);
  return {
    solve: (system) => device.launch(compiled, { rows, stride, batch, work, ...system }, { items: batch }),
    [Symbol.dispose]: () => work[Symbol.dispose](),
  };
}
