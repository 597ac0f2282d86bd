/**
 * Quantizers from samples on a device: mini-batches of competitive learning (CLVQ), then Lloyd's iterations. A step of
 * either assigns samples to their nearest points, and adds them up by cell, in integers of 64 bits, so that the sums do
 * not depend on the order of samples.
 */
import { compileExact, type Device, createBufferOf } from "../../../device/index.ts";
import { bool, fn, hostRealType, i32, kernel, type Precision, read, real, u32, write } from "../../../kernel/index.ts";
import { seedWords } from "../../../numerics/random/index.ts";
import type { WorkProgress } from "../../../base/event-loop.ts";
import { nearestByBruteForce } from "../search/brute-force.ts";
import { normalBlocks } from "../tree/walk.ts";

/** Sums are whole numbers of 2⁻²⁰ lengths, squared lengths, and so on. */
const UNIT = 2 ** 20;
/** Sums of a cell besides those of the coordinates: squared distances and their squares. */
const MORE = 2;

/** Adds a number below 2¹¹ to a sum of 64 bits in two's complement: its low word, and then the carry. */
const addWide = fn({
  name: "addWide",
  params: { sums: write(u32), at: i32, value: real },
  env: { UNIT },
  body({ sums, at, value }, gpu, { UNIT }) {
    const whole = gpu.i32(gpu.nearest(value * UNIT));
    const low = gpu.u32(whole);
    const before = gpu.atomicAdd(sums, at, low);
    const carry = gpu.u32((before + low) >>> 0 < low ? 1 : 0);
    gpu.atomicAdd(sums, at + 1, (gpu.u32(whole >> 31) + carry) >>> 0);
  },
});

/**
 * Returns the kernel that assigns samples to their nearest points, with one work item for each sample. Samples are
 * read, [count, d], or are normal numbers generated from their index.
 */
export function assignKernel(dimension: number) {
  const blocks = Math.ceil(dimension / 4);
  return kernel({
    name: "assign",
    params: {
      isNormal: bool,
      seedLow: u32,
      seedHigh: u32,
      firstSample: u32,
      samples: read(real),
      size: i32,
      /** One over the unit of length. */
      inverse: real,
      points: read(real),
      none: read(i32),
      counts: write(u32),
      /** [size, d + 2, 2]: of coordinates, squared distances and their squares, each a low and a high word. */
      sums: write(u32),
    },
    env: { nearest: nearestByBruteForce(dimension), normalBlocks, addWide, D: dimension, BLOCKS: blocks, MORE },
    body(
      { isNormal, seedLow, seedHigh, firstSample, samples, size, inverse, points, none, counts, sums },
      gpu,
      { nearest, normalBlocks, addWide, D, BLOCKS, MORE },
    ) {
      const i = gpu.globalId();
      const query = gpu.privateReal(4 * BLOCKS);
      if (isNormal) {
        const path = gpu.u32((firstSample + gpu.u32(i)) >>> 0);
        const key = { x: seedLow, y: seedHigh };
        normalBlocks({ first: 0, count: BLOCKS, path, layer: 0, key, normals: query, at: 0 });
      } else for (let a = 0; a < D; a++) query[a] = samples[i * D + a];
      const search = { points, size, first: 0, table: none, tableAt: 0, geometry: points, geometryAt: 0 };
      const cell = nearest({ search, query });
      gpu.atomicAdd(counts, cell, 1);
      const at = 2 * cell * (D + MORE);
      let squared = gpu.real(0);
      for (let a = 0; a < D; a++) {
        const apart = (query[a] - points[cell * D + a]) * inverse;
        squared += apart * apart;
        addWide({ sums, at: at + 2 * a, value: apart });
      }
      addWide({ sums, at: at + 2 * D, value: squared });
      addWide({ sums, at: at + 2 * D + 2, value: squared * squared });
    },
  });
}

/** The sums over the samples of each cell. */
export interface CellSums {
  readonly counts: Uint32Array;
  /** The sums Σ (ξ − xᵢ), [size, d]. */
  readonly displacements: Float64Array;
  /** The sums Σ |ξ − xᵢ|², [size]. */
  readonly squares: Float64Array;
  readonly fourths: Float64Array;
}

/** The samples: normal numbers generated on the device, or [count, d] from the host. */
export type Samples =
  | { readonly kind: "normal"; readonly seed: bigint }
  | { readonly kind: "given"; readonly values: Float64Array };

/** An assignment of samples to their nearest points on a device, for any number of points. */
export interface Assignment extends Disposable {
  readonly dimension: number;
  /** Returns the sums over samples first … first + count − 1. */
  sums(points: Float64Array, first: number, count: number): Promise<CellSums>;
}

/** Returns the assignment of samples to points, after compiling its kernel. */
export async function assignmentOf(
  device: Device,
  dimension: number,
  samples: Samples,
  precision: Precision,
): Promise<Assignment> {
  const compiled = await compileExact(device, assignKernel(dimension), precision);
  const element = hostRealType(compiled.precision);
  const isNormal = samples.kind === "normal";
  const values = isNormal ? new Float64Array(1) : samples.values;
  // Displacements are below 6.4 of this unit, or a few for normal numbers, so that squares of squares fit.
  const length = isNormal ? 1 : lengthOf(values, dimension);
  const own = { samples: createBufferOf(device, element, values), none: device.createBuffer("i32", 1) };
  const shared = { ...own, ...seedWords(isNormal ? samples.seed : 0n), isNormal, inverse: 1 / length };
  return {
    dimension,
    async sums(points, firstSample, count) {
      const size = points.length / dimension;
      using pointsBuffer = createBufferOf(device, element, points);
      using counts = device.createBuffer("u32", size);
      using sums = device.createBuffer("u32", 2 * size * (dimension + MORE));
      device.launch(compiled, { ...shared, firstSample, size, points: pointsBuffer, counts, sums }, { items: count });
      const words = await device.read(sums);
      const sum = (i: number, a: number): number => {
        const at = 2 * (i * (dimension + MORE) + a);
        return ((words[at + 1] | 0) * 2 ** 32 + words[at]) / UNIT;
      };
      return {
        counts: await device.read(counts),
        displacements: new Float64Array(size * dimension).map(
          (_, k) => length * sum(Math.floor(k / dimension), k % dimension),
        ),
        squares: new Float64Array(size).map((_, i) => length ** 2 * sum(i, dimension)),
        fourths: new Float64Array(size).map((_, i) => length ** 4 * sum(i, dimension + 1)),
      };
    },
    [Symbol.dispose]() {
      for (const buffer of Object.values(own)) buffer[Symbol.dispose]();
    },
  };
}

/** A power of two of which the diagonal of the samples' bounding box is at most 6.4. */
function lengthOf(values: Float64Array, dimension: number): number {
  let squared = 0;
  for (let a = 0; a < dimension; a++) {
    let [low, high] = [Infinity, -Infinity];
    for (let k = a; k < values.length; k += dimension) {
      low = Math.min(low, values[k]);
      high = Math.max(high, values[k]);
    }
    squared += (high - low) ** 2;
  }
  return squared === 0 ? 1 : 2 ** Math.ceil(Math.log2(Math.sqrt(squared) / 6.4));
}

/** The settings of the search for a quantizer. */
interface LloydSettings {
  readonly assignment: Assignment;
  readonly guess: Float64Array;
  /** The number of batches of competitive learning. */
  readonly batches: number;
  readonly batch: number;
  /** The number of Lloyd's iterations, which all use the same samples. */
  readonly iterations: number;
  readonly samples: number;
  /** The progress of the iterations. */
  readonly work: WorkProgress;
}

/**
 * Returns the points of a quantizer, found by learning from samples: first CLVQ in batches, xᵢ ← xᵢ + γₜ·N/B·Σ (ξ − xᵢ)
 * over the batch's samples of cell i, γₜ = 1/(1 + 8·t/T), no farther than their mean; then Lloyd's iteration, xᵢ ← the
 * mean of its samples. Source: G. Pagès, ESAIM: Proceedings and Surveys 48 (2015) 29–79, sections 3.2 and 3.3.
 */
export async function learnQuantizer(settings: LloydSettings): Promise<Float64Array> {
  const { assignment, guess, batches, batch, iterations, samples, work } = settings;
  work.expect(batches + iterations);
  const { dimension } = assignment;
  const size = guess.length / dimension;
  let points: Float64Array = Float64Array.from(guess);
  const move = ({ counts, displacements }: CellSums, rate: number): void => {
    points = points.map((x, k) => {
      const count = counts[Math.floor(k / dimension)];
      return count === 0 ? x : x + Math.min(rate, 1 / count) * displacements[k];
    });
  };
  for (let t = 0; t < batches; t++) {
    const gain = 1 / (1 + (8 * t) / batches);
    move(await assignment.sums(points, samples + t * batch, batch), (gain * size) / batch);
    await work.done(1);
  }
  for (let t = 0; t < iterations; t++) {
    const found = await assignment.sums(points, 0, samples);
    points = revived(points, found, dimension);
    move(found, Infinity);
    await work.done(1);
  }
  return points;
}

/** A point without samples goes to a neighbour of the point whose cell costs most. */
function revived(points: Float64Array, { counts, squares }: CellSums, dimension: number): Float64Array {
  const costly = Array.from(squares, (_, i) => i).sort((a, b) => squares[b] - squares[a]);
  const next = Float64Array.from(points);
  let taken = 0;
  counts.forEach((count, i) => {
    if (count > 0) return;
    const from = costly[taken++];
    const spread = Math.sqrt(squares[from] / Math.max(counts[from], 1) / dimension);
    const axis = taken % dimension;
    for (let a = 0; a < dimension; a++)
      next[i * dimension + a] = points[from * dimension + a] + (a === axis ? spread : 0);
  });
  return next;
}
