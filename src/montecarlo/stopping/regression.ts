/** Least squares, date by date backwards, on paths that are stored. */
import { bool, fn, i32, kernel, read, real, u32, write } from "../../kernel/index.ts";
import { beginFunction, pathFunction, payoffAtPathEnd } from "../paths/advance.ts";
import { advanceFunction } from "../paths/sample.ts";
import { BLOCK, arrayLength } from "../paths/shape.ts";
import { memoize } from "../../base/memoize.ts";
import { continuationFromBasis, dueFunction, scaledBasis, stoppingKey, type StoppingShape } from "./rule.ts";

/**
 * Returns the number of sums that make up the normal equations: the lower triangle of ΦᵀΦ row by row, Φᵀy, and the
 * number of paths.
 */
export const sumsOf = (functions: number): number => (functions * (functions + 1)) / 2 + functions + 1;

/**
 * Returns the number of reals of a path at a date besides the variables: the payoff of an option; of a product with
 * early rights what stopping adds to what was paid, what was paid, and whose right it is.
 */
export const dueNumbers = ({ product }: Pick<StoppingShape, "product">): 1 | 3 => (product.right === undefined ? 1 : 3);

/** Reads the numbers of `dueNumbers` from records; of an option the holder may stop where the payoff is positive. */
const dueFromRecord = memoize((numbers: 1 | 3) =>
  fn({
    name: "dueFromRecord",
    params: { record: read(real), at: i32, row: i32 },
    env: { RIGHTS: numbers === 3 },
    body({ record, at, row }, gpu, { RIGHTS }) {
      const due = record[at];
      const paid = RIGHTS ? record[at + row] : gpu.real(0);
      const open = due > 0 ? gpu.real(1) : gpu.real(0);
      return { due, paid, side: RIGHTS ? record[at + 2 * row] : open };
    },
  }),
);

function makeRecord(shape: StoppingShape) {
  const { product, basis } = shape;
  return kernel({
    name: "recordPaths",
    params: {
      seedLow: u32,
      seedHigh: u32,
      purpose: u32,
      dates: i32,
      paths: i32,
      instances: i32,
      table: read(real),
      streams: read(u32),
      none: read(real),
      record: write(real),
    },
    env: {
      newPath: pathFunction(shape),
      begin: beginFunction(shape),
      advance: advanceFunction(shape),
      dueAt: dueFunction(shape),
      payoff: payoffAtPathEnd(product.payoff),
      N: dueNumbers(shape),
      variablesOf: basis.variablesOf,
      F: basis.variables,
      SINGLE: shape.single,
      X_ROOM: arrayLength(basis.variables),
    },
    body({ seedLow, seedHigh, purpose, dates, paths, instances, table, streams, none, record }, gpu, env): undefined {
      const item = gpu.globalId();
      const instance = env.SINGLE ? 0 : item % instances;
      const number = env.SINGLE ? item : (item / instances) | 0;
      const path = env.newPath();
      const scores = gpu.privateReal(1);
      const x = gpu.privateReal(env.X_ROOM);
      const row = paths * instances;
      const batch = { table, columns: instances, column: instance };
      const draws = {
        seedLow,
        seedHigh,
        stream: streams[instance],
        purpose,
        path: gpu.u32(number),
        isReflected: false,
        points: none,
        pointAt: 0,
        pointStride: 1,
      };
      env.begin({ batch, path });
      for (let date = 0; date < dates; date++) {
        const end = env.advance({ batch, draws, path, date, isFirst: date === 0, scores, initial: none });
        env.variablesOf({ spots: path.spots, running: path.running, state: path.state, x });
        const at = date * (env.F + env.N) * row + item;
        for (let f = 0; f < env.F; f++) record[at + f * row] = x[f];
        if (env.N === 1) record[at + env.F * row] = end.discount * env.payoff({ path, end });
        else {
          const { due, paid, side } = env.dueAt({ path, time: end.time, discount: end.discount });
          const isLast = date === dates - 1;
          record[at + env.F * row] = isLast ? 0 : due;
          record[at + (env.F + 1) * row] = isLast ? end.discount * env.payoff({ path, end }) : paid;
          record[at + (env.F + 2) * row] = isLast ? 0 : side;
        }
      }
    },
  });
}

/**
 * Returns the kernel that simulates and stores the paths of the regression, with one work item for each path and
 * instance. It writes the variables and the numbers of `dueNumbers` at each date, discounted, [dates, variables +
 * numbers, paths, instances]. On the last date what stopping adds is among what was paid.
 *
 * Memory traffic: each number is written once.
 */
export const recordKernel = memoize(makeRecord, 64, stoppingKey);

/** The number of paths that the scales of variables are taken from. */
const SCALED_PATHS = 1024;

/**
 * Returns the kernel that computes the shift and the scale of each variable, with one work item for each date and
 * instance. If `standardised` is true, they are the mean over paths in the money and the reciprocal standard deviation;
 * otherwise 0 and the reciprocal of the first path's value at the first date.
 */
export const scaleKernel = memoize((variables: number, numbers: 1 | 3, standardised: boolean) =>
  kernel({
    name: "scaleVariables",
    params: { paths: i32, instances: i32, record: read(real), scales: write(real) },
    env: { F: variables, N: numbers, dueFrom: dueFromRecord(numbers), STANDARDISED: standardised, SCALED_PATHS },
    body({ paths, instances, record, scales }, gpu, { F, N, dueFrom, STANDARDISED, SCALED_PATHS }): undefined {
      const item = gpu.globalId();
      const instance = item % instances;
      const date = (item / instances) | 0;
      const count = Math.min(paths, SCALED_PATHS);
      const row = paths * instances;
      const first = date * (F + N) * row + instance;
      for (let f = 0; f < F; f++) {
        let mean = gpu.real(0);
        let squares = gpu.real(0);
        let used = gpu.real(0);
        if (STANDARDISED)
          for (let k = 0; k < count; k++) {
            const at = first + k * instances;
            if (dueFrom({ record, at: at + F * row, row }).side !== 0) {
              used += 1;
              const difference = record[at + f * row] - mean;
              mean += difference / used;
              squares += difference * (record[at + f * row] - mean);
            }
          }
        const deviation = used > 1 ? Math.sqrt(squares / used) : 0;
        const start = Math.abs(record[f * row + instance]);
        const unit = STANDARDISED ? deviation : start;
        const to = 2 * (date * F + f) * instances + instance;
        scales[to] = mean;
        scales[to + instances] = unit > 0 ? 1 / unit : 1;
      }
    },
  }),
);

const makeSweep = ({ product, basis }: StoppingShape) =>
  kernel({
    name: "sweepPaths",
    params: {
      date: i32,
      isLast: bool,
      isFirst: bool,
      blocks: i32,
      instances: i32,
      record: read(real),
      betas: read(real),
      scales: read(real),
      cash: write(real),
      sums: write(real),
    },
    env: {
      scaledBasis: scaledBasis(basis),
      continuedBy: continuationFromBasis(basis),
      dueFrom: dueFromRecord(dueNumbers({ product })),
      F: basis.variables,
      N: dueNumbers({ product }),
      B: basis.count,
      SUMS: sumsOf(basis.count),
      X_ROOM: arrayLength(basis.variables),
      BLOCK,
    },
    body({ date, isLast, isFirst, blocks, instances, record, betas, scales, cash, sums }, gpu, env): undefined {
      const { F, N, B, SUMS } = env;
      const item = gpu.globalId();
      const items = blocks * instances;
      const row = env.BLOCK * items;
      const x = gpu.privateReal(env.X_ROOM);
      const values = gpu.privateReal(B);
      const sum = gpu.privateReal(SUMS);
      const instance = item % instances;
      for (let q = 0; q < SUMS; q++) sum[q] = 0;
      for (let s = 0; s < env.BLOCK; s++) {
        const path = s * items + item;
        const here = date * (F + N) * row + path;
        const { due: now, paid, side } = env.dueFrom({ record, at: here + F * row, row });
        let value = paid + now;
        if (!isLast) {
          value = cash[path];
          const rule = { betas, scales, instances, instance, date };
          for (let f = 0; f < F; f++) x[f] = record[here + f * row];
          env.scaledBasis({ rule, payoff: now, x, values });
          const continued = env.continuedBy({ rule, values });
          if (side !== 0 && side * (now - continued) >= 0) value = paid + now;
        }
        cash[path] = value;
        if (!isFirst) {
          const before = here - (F + N) * row;
          const { due, paid: earlier, side: whose } = env.dueFrom({ record, at: before + F * row, row });
          for (let f = 0; f < F; f++) x[f] = record[before + f * row];
          env.scaledBasis({ rule: { betas, scales, instances, instance, date: date - 1 }, payoff: due, x, values });
          const weight = whose === 0 ? gpu.real(0) : gpu.real(1);
          const later = value - earlier;
          let q = 0;
          for (let j = 0; j < B; j++) {
            const weighted = weight * values[j];
            for (let l = 0; l <= j; l++) {
              sum[q] = sum[q] + weighted * values[l];
              q += 1;
            }
            sum[(B * (B + 1)) / 2 + j] = sum[(B * (B + 1)) / 2 + j] + weighted * later;
          }
          sum[SUMS - 1] = sum[SUMS - 1] + weight;
        }
      }
      for (let q = 0; q < SUMS; q++) sums[q * items + item] = sum[q];
    },
  });

/**
 * Returns the kernel of one date of the backward regression, with one work item for each block of paths and instance.
 * It exercises at `date` where the payoff is not below the continuation value, then sums the normal equations of the
 * previous date. The successive paths of a block are as many paths apart as there are blocks. All values are discounted
 * to time 0.
 *
 * Memory traffic per path: 2·(variables + 1) + 2 words.
 */
export const sweepKernel = memoize(makeSweep, 64, stoppingKey);

/** The number of blocks whose sums one work item of `addKernel` adds. */
export const BLOCKS_ADDED = 32;

/**
 * The kernel that adds the sums of the normal equations over groups of `BLOCKS_ADDED` blocks, with one work item for
 * each sum, group and instance. The result is [sums, groups, instances].
 */
export const addKernel = kernel({
  name: "addSums",
  params: { blocks: i32, groups: i32, instances: i32, sums: read(real), added: write(real) },
  env: { BLOCKS_ADDED },
  body({ blocks, groups, instances, sums, added }, gpu, { BLOCKS_ADDED }): undefined {
    const item = gpu.globalId();
    const instance = item % instances;
    const rest = (item / instances) | 0;
    const group = rest % groups;
    const q = (rest / groups) | 0;
    const first = group * BLOCKS_ADDED;
    const count = Math.min(BLOCKS_ADDED, blocks - first);
    let sum = gpu.real(0);
    for (let k = 0; k < count; k++) sum += sums[(q * blocks + first + k) * instances + instance];
    added[item] = sum;
  },
});

/**
 * Returns the kernel that solves the normal equations of a date, with one work item for each instance, by Cholesky's
 * factorisation of D·ΦᵀΦ·D with D = diag(ΦᵀΦ)^(−½). A function whose pivot is below `TINY` is linearly dependent on
 * earlier ones and gets the coefficient 0.
 *
 * `conditions[date, instance]` is the ratio of the largest to the smallest pivot in use. It is a lower bound of the
 * condition number of D·ΦᵀΦ·D, which is the square of that of Φ·D.
 */
export const solveKernel = memoize((functions: number) =>
  kernel({
    name: "solveNormalEquations",
    params: {
      date: i32,
      groups: i32,
      instances: i32,
      tiny: real,
      added: read(real),
      betas: write(real),
      conditions: write(real),
    },
    env: { B: functions, T: (functions * (functions + 1)) / 2, SUMS: sumsOf(functions) },
    body({ date, groups, instances, tiny, added, betas, conditions }, gpu, { B, T, SUMS }): undefined {
      const instance = gpu.globalId();
      const a = gpu.privateReal(SUMS);
      const scale = gpu.privateReal(B);
      for (let q = 0; q < SUMS; q++) {
        let sum = gpu.real(0);
        for (let g = 0; g < groups; g++) sum += added[(q * groups + g) * instances + instance];
        a[q] = sum;
      }
      for (let j = 0; j < B; j++) {
        const square = a[((((j + 1) * (j + 2)) / 2) | 0) - 1];
        scale[j] = square > 0 ? 1 / Math.sqrt(square) : 0;
      }
      let largest = gpu.real(0);
      let smallest = gpu.real(1);
      for (let i = 0; i < B; i++) {
        const row = ((i * (i + 1)) / 2) | 0;
        for (let j = 0; j <= i; j++) {
          const other = ((j * (j + 1)) / 2) | 0;
          let sum = a[row + j] * scale[i] * scale[j];
          for (let k = 0; k < j; k++) sum -= a[row + k] * a[other + k];
          if (j < i) a[row + j] = a[other + j] > 0 ? sum / a[other + j] : 0;
          else {
            const isUsed = sum > tiny;
            a[row + j] = isUsed ? Math.sqrt(sum) : 0;
            if (isUsed) {
              largest = Math.max(largest, sum);
              smallest = Math.min(smallest, sum);
            }
          }
        }
        let right = a[T + i] * scale[i];
        for (let k = 0; k < i; k++) right -= a[row + k] * a[T + k];
        a[T + i] = a[row + i] > 0 ? right / a[row + i] : 0;
      }
      for (let back = 0; back < B; back++) {
        const i = B - 1 - back;
        let sum = a[T + i];
        for (let k = i + 1; k < B; k++) sum -= a[(((k * (k + 1)) / 2) | 0) + i] * a[T + k];
        const pivot = a[(((i * (i + 1)) / 2) | 0) + i];
        const solved = pivot > 0 ? sum / pivot : 0;
        a[T + i] = solved;
        betas[(date * B + i) * instances + instance] = solved * scale[i];
      }
      conditions[date * instances + instance] = largest > 0 ? largest / smallest : 1;
    },
  }),
);

/**
 * The kernel that computes the moments of the cash that paths receive, with one work item for each block of paths and
 * instance.
 */
export const cashKernel = kernel({
  name: "cashMoments",
  params: { cash: read(real), itemCount: i32, moments: write(real) },
  env: { BLOCK },
  body({ cash, itemCount, moments }, gpu, { BLOCK }): undefined {
    const item = gpu.globalId();
    const first = cash[item];
    let sum = gpu.real(0);
    let squares = gpu.real(0);
    for (let s = 1; s < BLOCK; s++) {
      const difference = cash[s * itemCount + item] - first;
      sum += difference;
      squares += difference * difference;
    }
    moments[item] = first + sum / BLOCK;
    moments[itemCount + item] = Math.max(squares - (sum * sum) / BLOCK, 0);
  },
});
