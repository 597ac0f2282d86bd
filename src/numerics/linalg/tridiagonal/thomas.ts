import { type Device, firstThatFits } from "../../../device/index.ts";
import { hostRealType, i32, type Kernel, kernel, read, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import {
  bytesPerReal,
  type ChunkMethod,
  type Chunks,
  type TridiagonalBatch,
  systemParams,
  type Layout,
  layoutOf,
  systemBase,
} from "./method.ts";
import { firstZeroPivot, nonFiniteFlag } from "./checks.ts";
import { CODES } from "./status.ts";

interface ThomasVariant {
  readonly layout: Layout;
  readonly shared: boolean;
  readonly chunked: boolean;
  /** The largest number of rows that private arrays hold; 0 where c′ and d′ go to a workspace in memory. */
  readonly capacity: number;
}

/**
 * The kernel of Thomas' algorithm, one system (or chunk of one) a work item:
 *
 *   c′ᵢ = cᵢ/(bᵢ − aᵢc′ᵢ₋₁),   d′ᵢ = (dᵢ − aᵢd′ᵢ₋₁)/(bᵢ − aᵢc′ᵢ₋₁),   xᵢ = d′ᵢ − c′ᵢxᵢ₊₁.
 *
 * Cost per row: 8 flops, one of them a division; 4 words read and 1 written, and c′, d′ written and read once, in
 * private memory while it has room. Stable for diagonally dominant matrices. Source: L. H. Thomas (1949).
 */
const thomasKernel = memoize(({ layout, shared, chunked, capacity }: ThomasVariant): Kernel =>
  kernel({
    name: `thomas-${layout}${shared ? "-shared" : ""}${chunked ? "-chunks" : ""}-${capacity}`,
    params: { rows: i32, stride: i32, batch: i32, chunk: i32, ...systemParams, ends: read(real), work: write(real) },
    env: {
      base: systemBase[layout],
      firstZeroPivot,
      nonFiniteFlag,
      shared,
      chunked,
      ...privateArrayEnvironment(capacity),
      ...CODES,
    },
    body(
      { rows, stride, batch, chunk, lower, diagonal, upper, ends, rhs, work, status },
      gpu,
      { base, firstZeroPivot, nonFiniteFlag, shared, chunked, kept, room, ok, notFinite },
    ) {
      const t = gpu.globalId();
      const c = gpu.privateReal(room);
      const d = gpu.privateReal(room);
      let system = t;
      let first = 0;
      let count = rows;
      if (chunked) {
        const part = (t / batch) | 0;
        system = t - part * batch;
        first = part * chunk;
        count = Math.min(chunk, rows - first);
      }
      const from = base(system, rows, stride) + first * stride;
      const matrix = shared ? first : from;
      const matrixStride = shared ? 1 : stride;
      const items = chunked ? batch * (((rows + chunk - 1) / chunk) | 0) : batch;
      const half = items * (chunked ? chunk : rows);
      // What the chunks beside this one begin and end with, as the reduced system says.
      let before = 0.0;
      let after = 0.0;
      if (chunked) {
        const part = (t / batch) | 0;
        if (first > 0) before = lower[matrix] * ends[(2 * part - 1) * batch + system];
        if (first + count < rows)
          after = upper[matrix + (count - 1) * matrixStride] * ends[(2 * part + 2) * batch + system];
      }
      // f64 is IEEE 754's everywhere: no zero pivot leaves a finite solution, and what it was is found out afterwards.
      const exact = gpu.precision === "f64";
      let code = ok;
      let cLast = 0.0;
      let dLast = 0.0;
      for (let i = 0; i < count; i++) {
        const at = from + i * stride;
        const m = shared ? first + i : at;
        const a = i > 0 ? lower[m] : 0.0;
        const pivot = diagonal[m] - a * cLast;
        if (!exact && pivot === 0 && code === ok) code = first + i;
        const inverse = 1 / pivot;
        let r = rhs[at];
        if (chunked && i === 0) r -= before;
        if (chunked && i === count - 1) r -= after;
        dLast = (r - a * dLast) * inverse;
        cLast = i < count - 1 ? upper[m] * inverse : 0.0;
        if (kept) {
          c[i] = cLast;
          d[i] = dLast;
        } else {
          work[i * items + t] = cLast;
          work[half + i * items + t] = dLast;
        }
      }
      let x = 0.0;
      let check = 0.0;
      for (let i = count - 1; i >= 0; i--) {
        if (kept) x = d[i] - c[i] * x;
        else x = work[half + i * items + t] - work[i * items + t] * x;
        check = nonFiniteFlag(check, x);
        rhs[from + i * stride] = x;
      }
      if (check !== 0) {
        if (exact) code = firstZeroPivot(lower, diagonal, upper, matrix, matrixStride, first, count);
        if (code === ok) code = notFinite;
      }
      status[t] = code === ok ? 0 : code === notFinite ? -1 : code + 1;
    },
  }),
);

/** Private arrays are of few sizes, so that kernels are few. */
const CAPACITIES = [64, 256, 512, 1024];
/** The bytes of private memory that an item may take: beyond that caches lose it, and a workspace is as good. */
const MAX_PRIVATE_BYTES = 16_384;

/**
 * Returns the environment of kernels with private arrays of a capacity: whether the arrays hold the rows (`kept`), and
 * their length (`room`).
 */
export const privateArrayEnvironment = (capacity: number) =>
  ({ kept: capacity > 0, room: Math.max(capacity, 1) }) as const;

/** Returns the capacity of private arrays for a problem's rows; 0 if they do not fit into private memory. */
export function privateCapacity(rows: number, arrays: number, device: Device, problem: TridiagonalBatch): number {
  const bytes = arrays * bytesPerReal(problem.precision);
  const enough = CAPACITIES.filter((size) => size >= rows && size * bytes <= MAX_PRIVATE_BYTES);
  return firstThatFits(device, enough, (size) => ({ privateBytes: size * bytes })) ?? 0;
}

/**
 * Returns the compile option that limits the number of SIMD vectors computed side by side. Each contiguous system is
 * read as four separate streams, and a CPU's prefetchers follow the streams of two vectors, but not of four.
 */
export const vectorsOption = ({ layout }: { readonly layout: Layout }): { readonly vectors?: 2 } =>
  layout === "contiguous" ? { vectors: 2 } : {};

/** Prepares Thomas' algorithm for a problem, or for each of its `chunks`. */
export async function thomas(device: Device, problem: TridiagonalBatch, chunks?: Chunks): Promise<ChunkMethod> {
  const { rows, batch, stride, precision, shared } = problem;
  const { rows: chunk, count } = chunks ?? { rows, count: 1 };
  const capacity = privateCapacity(chunk, 2, device, problem);
  const variant = { layout: layoutOf(problem), shared, chunked: chunks !== undefined, capacity };
  const compiled = await device.compile(thomasKernel(variant), { precision, ...vectorsOption(variant) });
  const work = device.createBuffer(hostRealType(precision), capacity > 0 ? 1 : 2 * chunk * batch * count);
  const size = { items: batch * count };
  return {
    solve: (system, ends = system.upper) =>
      device.launch(compiled, { rows, stride, batch, chunk, ends, work, ...system }, size),
    [Symbol.dispose]: () => work[Symbol.dispose](),
  };
}
