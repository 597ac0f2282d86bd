/** Systems, oracles and measures for the tests of numerics/linalg/tridiagonal. */
import type { Device, DeviceBuffer } from "../../../src/device/index.ts";
import type { Failure, TridiagonalSpec } from "../../../src/numerics/linalg/tridiagonal/index.ts";
import { TridiagonalSolver } from "../../../src/numerics/linalg/tridiagonal/index.ts";

/** The equations of one system: arrays of as many elements as it has rows; lower[0] and upper[n − 1] are 0. */
export interface Equations {
  readonly lower: Float64Array;
  readonly diagonal: Float64Array;
  readonly upper: Float64Array;
  readonly rhs: Float64Array;
}

/** The C library's generator: X ← 0x5DEECE66D·X + 0xB modulo 2⁴⁸, from (seed << 16) + 0x330E. */
export function drand48(seed: number): () => number {
  let state = (BigInt(seed) << 16n) + 0x330en;
  return () => {
    state = (0x5deece66dn * state + 0xbn) & 0xffffffffffffn;
    return Number(state) / 2 ** 48;
  };
}

/** A multiple of 2⁻¹⁰ in [−1, 1). */
export const dyadic = (uniform: () => number): number => Math.floor((2 * uniform() - 1) * 1024) / 1024;

/** a[1…], b, c[… n − 2] and d from one stream, as the fixtures are made. */
export function drawn(rows: number, seed: number): Equations {
  const next = drand48(seed);
  const draw = (count: number): number[] => Array.from({ length: count }, () => dyadic(next));
  const lower = Float64Array.from([0, ...draw(rows - 1)]);
  const diagonal = Float64Array.from(draw(rows));
  const upper = Float64Array.from([...draw(rows - 1), 0]);
  return { lower, diagonal, upper, rhs: Float64Array.from(draw(rows)) };
}

/** Diagonally dominant: |b| ≥ 3 ≥ |a| + |c| + 1. */
export function dominant(rows: number, seed: number): Equations {
  const equations = drawn(rows, seed);
  return { ...equations, diagonal: equations.diagonal.map((b) => b + (b >= 0 ? 3 : -3)) };
}

/**
 * Gaussian elimination with partial pivoting, in plain JavaScript, as LAPACK's dgtsv: x, and the row of a zero pivot,
 * from 1, or 0.
 */
export function dgtsv({ lower, diagonal, upper, rhs }: Equations): { readonly x: Float64Array; readonly info: number } {
  const n = diagonal.length;
  const [d, du, x] = [diagonal.slice(), upper.slice(), rhs.slice()];
  const du2 = new Float64Array(n);
  for (let i = 0; i < n - 1; i++) {
    const a = lower[i + 1];
    if (Math.abs(d[i]) >= Math.abs(a)) {
      if (d[i] === 0) return { x, info: i + 1 };
      const multiplier = a / d[i];
      d[i + 1] -= multiplier * du[i];
      x[i + 1] -= multiplier * x[i];
      du2[i] = 0;
    } else {
      const multiplier = d[i] / a;
      const next = d[i + 1];
      d[i] = a;
      d[i + 1] = du[i] - multiplier * next;
      if (i < n - 2) {
        du2[i] = du[i + 1];
        du[i + 1] *= -multiplier;
      }
      du[i] = next;
      const kept = x[i];
      x[i] = x[i + 1];
      x[i + 1] = kept - multiplier * x[i + 1];
    }
  }
  if (d[n - 1] === 0) return { x, info: n };
  x[n - 1] /= d[n - 1];
  for (let i = n - 2; i >= 0; i--) x[i] = (x[i] - du[i] * x[i + 1] - (i < n - 2 ? du2[i] * x[i + 2] : 0)) / d[i];
  return { x, info: 0 };
}

/**
 * max_i |Ax − d|_i / (|A||x| + |d|)_i; infinite where x is not finite. `periodic`: lower[0] and upper[n − 1] are the
 * corners.
 */
export function backwardError(
  { lower, diagonal, upper, rhs }: Equations,
  x: ArrayLike<number>,
  periodic = false,
): number {
  const n = rhs.length;
  let worst = 0;
  for (let i = 0; i < n; i++) {
    const before = i > 0 ? x[i - 1] : periodic ? x[n - 1] : 0;
    const after = i < n - 1 ? x[i + 1] : periodic ? x[0] : 0;
    const terms = [lower[i] * before, diagonal[i] * x[i], upper[i] * after];
    const residual = Math.abs(terms[0] + terms[1] + terms[2] - rhs[i]);
    const size = terms.reduce((sum, term) => sum + Math.abs(term), Math.abs(rhs[i]));
    const error = residual === 0 ? 0 : residual / size;
    worst = error <= worst ? worst : Number.isNaN(error) ? Infinity : error;
  }
  return worst;
}

/**
 * ‖Ax − d‖∞ / (‖A‖∞·‖x‖∞): what elimination with partial pivoting keeps small for every matrix, whatever the scale of
 * its rows.
 */
export function normwiseError({ lower, diagonal, upper, rhs }: Equations, x: ArrayLike<number>): number {
  const largest = (values: Iterable<number>): number => Math.max(...Array.from(values, Math.abs));
  const residual = rhs.map((d, i) => lower[i] * (x[i - 1] ?? 0) + diagonal[i] * x[i] + upper[i] * (x[i + 1] ?? 0) - d);
  const sums = diagonal.map((b, i) => Math.abs(lower[i]) + Math.abs(b) + Math.abs(upper[i]));
  return largest(residual) === 0 ? 0 : largest(residual) / (largest(sums) * largest(Array.from(x)));
}

/** Where element i of system s is, by the definition of the spec. */
export const elementAt = ({ rows, stride }: TridiagonalSpec, s: number, i: number): number =>
  Math.floor(s / stride) * rows * stride + (s % stride) + i * stride;

type Name = keyof Equations;

/**
 * A device's buffers for a batch: `given` system by system, in f32 rounded. With one matrix for all, that of the first
 * system.
 */
export class Batch implements Disposable {
  readonly given: readonly Equations[];
  readonly buffers: Readonly<Record<Name, DeviceBuffer<"f64" | "f32">>>;
  readonly #device: Device;
  readonly #spec: TridiagonalSpec;

  constructor(device: Device, spec: TridiagonalSpec, given: readonly Equations[]) {
    this.#device = device;
    this.#spec = spec;
    const round = (values: Float64Array): Float64Array => (spec.precision === "f32" ? values.map(Math.fround) : values);
    const rounded = given.map(({ lower, diagonal, upper, rhs }) => ({
      lower: round(lower),
      diagonal: round(diagonal),
      upper: round(upper),
      rhs: round(rhs),
    }));
    this.given = rounded.map((one) => (spec.matrices === "one" ? { ...rounded[0], rhs: one.rhs } : one));
    const buffer = (name: Name): DeviceBuffer<"f64" | "f32"> => {
      const single = name !== "rhs" && spec.matrices === "one";
      const made = device.createBuffer(
        spec.precision === "f32" ? "f32" : "f64",
        single ? spec.rows : spec.rows * spec.batch,
      );
      device.write(made, single ? this.given[0][name] : this.#packed(name));
      return made;
    };
    this.buffers = { lower: buffer("lower"), diagonal: buffer("diagonal"), upper: buffer("upper"), rhs: buffer("rhs") };
  }

  #packed(name: Name): Float64Array {
    const values = new Float64Array(this.#spec.rows * this.#spec.batch);
    this.given.forEach((one, s) => one[name].forEach((value, i) => (values[elementAt(this.#spec, s, i)] = value)));
    return values;
  }

  /** The right-hand sides as they were given, again. */
  reset(): void {
    this.#device.write(this.buffers.rhs, this.#packed("rhs"));
  }

  /** What stands in the buffer of the right-hand side, system by system. */
  async solutions(): Promise<Float64Array[]> {
    const values = await this.#device.read(this.buffers.rhs);
    const spec = this.#spec;
    return this.given.map((_, s) => Float64Array.from({ length: spec.rows }, (_, i) => values[elementAt(spec, s, i)]));
  }

  async worstBackwardError(): Promise<number> {
    const found = await this.solutions();
    return Math.max(...found.map((x, s) => backwardError(this.given[s], x, this.#spec.periodic)));
  }

  [Symbol.dispose](): void {
    for (const buffer of Object.values(this.buffers)) buffer[Symbol.dispose]();
  }
}

/** Solves a batch once. */
export async function solveBatch(
  device: Device,
  spec: TridiagonalSpec,
  given: readonly Equations[],
): Promise<{ readonly x: readonly Float64Array[]; readonly error: number; readonly failures: readonly Failure[] }> {
  using batch = new Batch(device, spec, given);
  using solver = await TridiagonalSolver.create(device, spec);
  solver.solveInPlace(batch.buffers);
  return { x: await batch.solutions(), error: await batch.worstBackwardError(), failures: await solver.failures() };
}

/** Half the distance from 1 to the next number, and for emulated double what an operation may be off by. */
export const UNIT = { f64: 2 ** -53, f32: 2 ** -24, f32x2: 2 ** -44 } as const;
