/** The index of each field in the status of an instance, an array of 32-bit integers. */
export const STATUS = {
  /** `FAULT`, at which node and in which row of the program; only the first is kept. */
  fault: 0,
  node: 1,
  row: 2,
  cuts: 3,
  cutLow: 4,
  cutHigh: 5,
  unconverged: 6,
  growth: 7,
  /** Number of a loop in a user's function that did not end (`Gpu.endlessLoop`). */
  endless: 8,
} as const;
/** The number of 32-bit integers in the status of an instance. */
export const STATUS_WORDS = 9;

/**
 * The fault bits of an instance's status. Each says that a number is not finite (a coefficient a, b, c or d, a terminal
 * value, the solution, the slope at an end, the value of a pinned node, the payoff of exercise at all times, an input
 * of a condition on a date), is NaN (the barrier of a knock-out at all times), or is negative (a).
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
 * The earliest fault in the time loop among those that the work items of an instance found. Each item has `each`
 * integers in `words`, of which the first three are these fields.
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
