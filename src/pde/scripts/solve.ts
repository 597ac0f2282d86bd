/** Values of scripts backwards, date by date. */
import { type Device, TemporaryBuffers } from "../../device/index.ts";
import { hostRealType, type Precision } from "../../kernel/index.ts";
import { scriptKernels } from "./kernels.ts";
import { carriedOf } from "./layers.ts";
import { type Layers, type Mesh, packDate, type ScriptProblem } from "./problem.ts";
import { walkKernel } from "./walk.ts";

/** The setting of a solution: layers after each date, the resolution, and the device. */
export interface ScriptSolving {
  readonly layers: readonly Layers[];
  readonly mesh: Mesh;
  /** The points of a real state. */
  readonly points: number;
  /** The number of steps of the whole life; each interval has steps as the root of its share, at least a few. */
  readonly steps: number;
  readonly device: Device;
  readonly precision: Precision;
}

/** The value at a spot, discounted to today, and its derivatives by the logarithm of the spot. */
export interface ScriptPoint {
  readonly value: number;
  readonly first: number;
  readonly second: number;
}

/** The least number of steps between dates. */
const MIN_STEPS = 4;
/** The third differences at which nodes are looked at for jumps and kinks, as a part of the largest value. */
const THIRD = { f64: 1e-7, f32x2: 1e-7, f32: 1e-4 } as const;

/** The times from one back to another; steps are short after a date. */
const timesBetween = (from: number, to: number, count: number): readonly number[] =>
  Array.from({ length: count + 1 }, (_, k) => (k === count ? from : to - (to - from) * (k / count) ** 2));

/**
 * Solves problems of one script that differ in their numbers alone, side by side, and reads them at the spots of their
 * mesh, [problem][spot]. Values beyond the layers are huge. `unit` is the size of amounts.
 */
export async function solveScripts(
  problems: readonly ScriptProblem[],
  unit: number,
  { layers, mesh, points, steps, device, precision }: ScriptSolving,
): Promise<readonly (readonly ScriptPoint[])[]> {
  const [{ program, dates, halfVariance }] = problems;
  const count = problems.length;
  const real = hostRealType(precision);
  const { nodes, from, to, spots } = mesh;
  const h = (to - from) / (nodes - 1);
  const kernels = scriptKernels(program);
  const valuesKernel = await device.compile(kernels.values, { precision, vectors: 1 });
  const kinksKernel = await device.compile(kernels.kinks, { precision, vectors: 1 });
  const steppingKernel = await device.compile(walkKernel, { precision, vectors: 1 });
  const life = dates.at(-1)!.time;
  using buffers = new TemporaryBuffers(device);
  let after = buffers.filled(real, new Float64Array(nodes * count));
  const xs = buffers.filled(
    real,
    Float64Array.from({ length: nodes * count }, (_, k) => from + h * Math.floor(k / count)),
  );
  for (let d = dates.length - 1; d >= 0; d--) {
    using own = new TemporaryBuffers(device);
    const carried = d === 0 ? [Float64Array.from(problems[0].running)] : carriedOf(problems[0], layers[d - 1], points);
    const next = layers[d];
    const given = {
      count,
      nodes,
      groups: next.groups.length,
      width: next.names.length,
      points: next.axis === undefined ? 1 : points,
      layers: carried.length,
      names: own.filled("i32", Int32Array.from([...next.names, next.axis?.name ?? 0])),
      data: own.filled(real, packDate(problems, d, mesh, carried, next, points)),
      after,
    };
    if (d === 0) return await readAt(own, given);
    const items = carried.length * count;
    const values = own.empty(real, nodes * items);
    device.launch(valuesKernel, { ...given, xs, out: values }, { items: nodes * items, microsecondsEach: 0.3 });
    const kinks = own.empty(real, 2 * (nodes - 1) * items);
    device.launch(
      kinksKernel,
      { ...given, threshold: THIRD[precision] * unit, given: values, out: kinks },
      { items: (nodes - 1) * items, microsecondsEach: 3 },
    );
    const [start, end] = [dates[d - 1].time, dates[d].time];
    const stepCount = Math.max(MIN_STEPS, Math.ceil(steps * Math.sqrt((end - start) / life)));
    const times = timesBetween(start, end, stepCount);
    const walk = new Float64Array(stepCount * count);
    const local = new Float64Array(halfVariance === undefined ? stepCount * nodes * count : 1);
    for (let s = 0; s < stepCount; s++)
      problems.forEach((one, i) => {
        walk[s * count + i] = one.halfVariance?.(times[s + 1], times[s]) ?? times[s] - times[s + 1];
        if (one.halfVariance !== undefined) return;
        const time = 0.5 * (times[s] + times[s + 1]);
        const growth = one.growth(time);
        for (let j = 0; j < nodes; j++)
          local[(s * nodes + j) * count + i] = 0.5 * one.sigma(Math.exp(from + h * j) * growth, time) ** 2;
      });
    const before = buffers.empty(real, nodes * items);
    device.launch(
      steppingKernel,
      {
        count,
        nodes,
        layers: carried.length,
        steps: stepCount,
        isLocal: halfVariance === undefined ? 1 : 0,
        data: given.data,
        given: values,
        kinks,
        out: before,
        walk: own.filled(real, walk),
        local: own.filled(real, local),
        ratios: own.empty(real, nodes * items),
        start: own.empty(real, nodes * items),
      },
      { items, microsecondsEach: 0.02 * nodes * stepCount },
    );
    after = before;
  }
  throw new Error("a script without dates");

  /** The values of today at each spot, and of four others around it. */
  async function readAt(own: TemporaryBuffers, given: object): Promise<readonly (readonly ScriptPoint[])[]> {
    const around = spots.flatMap((x) => [-2, -1, 0, 1, 2].map((k) => x + k * h));
    const out = own.empty(real, around.length * count);
    const points = Float64Array.from({ length: around.length * count }, (_, k) => around[Math.floor(k / count)]);
    device.launch(valuesKernel, { ...given, xs: own.filled(real, points), out } as never, {
      items: around.length * count,
      microsecondsEach: 0.3,
    });
    const found = await device.read(out);
    return problems.map((_, i) =>
      spots.map((_x, s): ScriptPoint => {
        const [a, b, c, e, f] = [0, 1, 2, 3, 4].map((k) => found[(5 * s + k) * count + i]);
        return {
          value: c,
          first: (a - 8 * b + 8 * e - f) / (12 * h),
          second: (-a + 16 * b - 30 * c + 16 * e - f) / (12 * h * h),
        };
      }),
    );
  }
}
