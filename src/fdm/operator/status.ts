/** The words of an instance's `status`. */
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
/** The number of words of an instance's `status`. */
export const STATUS_WORDS = 9;

/**
 * The fault bits of a status. Values that are not finite: coefficients a, b, c, d, terminal values, the solution, the
 * slope of an end, the value of a pinned node, the exercise payoff at all times, inputs of a condition on a date.
 * Values that are NaN: the edge of a region at all times. A negative value: a.
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
 * The first fault in time that the items of an instance found: `each` words an item, the first three of which are
 * these.
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

/** The first fault in the order of the program, with its node and row; 0 is none. */
export interface Status {
  readonly fault: number;
  readonly node: number;
  readonly row: number;
  readonly growth: boolean;
  readonly endless: number;
}

/** Tells whether an instance has no solution. */
export const hasFailed = ({ fault, endless }: Status): boolean => fault !== 0 || endless !== 0;

/** The status of an instance on one axis. */
export function statusOf(words: Int32Array): Status {
  const [fault, node, row] = words;
  return { fault, node, row, growth: words[STATUS.growth] !== 0, endless: words[STATUS.endless] };
}
