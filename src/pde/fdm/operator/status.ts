import { fn, real, write } from "../../../kernel/index.ts";

/** The index of each field in the status of an instance, an array of 32-bit integers. */
export const STATUS = {
  /** The first fault (`FAULT`), with its node and its row of the program. */
  fault: 0,
  node: 1,
  row: 2,
  limitedRows: 3,
  limitedLow: 4,
  limitedHigh: 5,
  unconverged: 6,
  growth: 7,
  /** The number of a loop in a user's function that did not end (`Gpu.endlessLoop`). */
  endless: 8,
} as const;
/** The number of 32-bit integers in the status of an instance. */
export const STATUS_INTEGERS = 9;

/**
 * The fault bits of an instance's status. Each says that a number is not finite (a coefficient a, b, c or d, a terminal
 * value, the solution, the slope at an end, the value of a pinned node, the payoff of exercise at all times, an input
 * of a condition on a date), is NaN (the barrier of a continuously monitored knock-out), or is negative (a).
 */
export const FAULT = {
  a: 1,
  b: 2,
  c: 4,
  d: 8,
  terminal: 16,
  solution: 64,
  negative: 128,
  slope: 256,
  pinned: 512,
  payoff: 1024,
  event: 2048,
  edge: 4096,
  /** The matrix of second derivatives is not positive semi-definite. */
  indefinite: 8192,
} as const;

/**
 * Returns the earliest fault in the time loop among those that the work items of an instance found. Each item has
 * `each` integers in `words`, whose first three are the fields of the result.
 */
export function firstFault(words: Int32Array, each: number): { fault: number; node: number; row: number } {
  let first = { fault: 0, node: 0, row: 0 };
  for (let at = 0; at < words.length; at += each) {
    const fault = words[at];
    if (fault === 0) continue;
    const node = words[at + 1];
    const row = words[at + 2];
    const isBefore = first.fault === 0 || row < first.row || (row === first.row && node < first.node);
    if (isBefore) first = { fault, node, row };
  }
  return first;
}

/**
 * The status of an instance: its first fault in the order of the time loop (0 for none), with the node and the program
 * row at which it occurred.
 */
export interface Status {
  readonly fault: number;
  readonly node: number;
  readonly row: number;
  /** True where the solution grew so fast that it must be computed again by a single work item. */
  readonly growth: boolean;
  /** The number of a loop in a user's function that did not end; 0 for none. */
  readonly endless: number;
}

/** Tells whether an instance has no solution. */
export const hasFailed = ({ fault, endless }: Status): boolean => fault !== 0 || endless !== 0;

/** Decodes the status of an instance on one axis. */
export function statusOf(words: Int32Array): Status {
  const [fault, node, row] = words;
  return { fault, node, row, growth: words[STATUS.growth] !== 0, endless: words[STATUS.endless] };
}

/**
 * Returns the function that classifies invalid coefficients by `FAULT`: a value that is not finite; a negative
 * coefficient of a second derivative along an axis; or a matrix of second derivatives that is not positive
 * semi-definite, 4·aᵢᵢ·aⱼⱼ < aᵢⱼ², for which the equation is ill posed. Its argument has the coefficients in the order
 * of `coefficientKeys`.
 */
export const coefficientFault = (axes: number, pairs: readonly (readonly [number, number])[]) =>
  fn({
    name: "coefficientFault",
    params: [write(real)],
    env: {
      ...FAULT,
      axes,
      each: Array.from({ length: axes }, (_, k) => k),
      pairs: pairs.map(([j, k], m) => ({ j, k, mixed: 2 * axes + 2 + m })),
    },
    body([c], gpu, env) {
      let fault = 0;
      let seconds = 0.0;
      let firsts = 0.0;
      let largest = 0.0;
      let least = 0.0;
      for (const k of env.each) {
        seconds += c[k];
        firsts += c[env.axes + k];
        largest = Math.max(largest, Math.abs(c[k]));
        least = Math.min(least, c[k]);
      }
      const unit = gpu.precision === "f32" ? 1e-5 : 1e-10;
      let indefinite = false;
      for (const { j, k, mixed } of env.pairs) {
        seconds += c[mixed];
        indefinite = indefinite || c[mixed] * c[mixed] > 4 * (1 + unit) * c[j] * c[k];
      }
      if (!Number.isFinite(seconds)) fault = fault | env.a;
      if (!Number.isFinite(firsts)) fault = fault | env.b;
      if (!Number.isFinite(c[2 * env.axes])) fault = fault | env.c;
      if (!Number.isFinite(c[2 * env.axes + 1])) fault = fault | env.d;
      if (fault === 0) {
        if (least < -unit * largest) fault = env.negative;
        else if (indefinite) fault = env.indefinite;
      }
      return fault;
    },
  });
