import { i32, real, record, write } from "../../../kernel/index.ts";

/** The number of reals at the start of an instance's program, which `program.ts` writes (`rollbackKernel`). */
export const HEADER_REALS = 5;
/** The number of reals in an instance's program for a series of equal time steps. */
export const SERIES_REALS = 13;
/** The number of reals in an instance's program for a date with an event. */
export const EVENT_REALS = 11;

/** The terms in force at one time: the call price and its trigger, the put price, and the conversion ratio. */
export const Terms = record({
  /** Paid for the bond, accrued interest included; `NO_CALL_PRICE` where it cannot be called. */
  call: real,
  trigger: real,
  /** −`NO_CALL_PRICE` where it cannot be put. */
  put: real,
  /** Shares for the bond; 0 where it cannot be converted. */
  ratio: real,
});

/** The arrays of an instance in private memory, with one value for each node. */
export const Memory = record({
  s: write(real),
  /** The rows of the implicit step, without the weight of BDF2: −low·V(before) + diagonal·V − high·V(after). */
  low: write(real),
  diagonal: write(real),
  high: write(real),
  /** The value after default, times the hazard rate and Δt. */
  recovered: write(real),
  /** The value, that of the time step before, and that of the next one. */
  v: write(real),
  vBefore: write(real),
  vNext: write(real),
  /** The cash-only part, likewise. */
  b: write(real),
  bBefore: write(real),
  /** The right-hand sides, then elimination's upper entries and right-hand sides. */
  right: write(real),
  upper: write(real),
  rhs: write(real),
  /** See `LocalCoefficients`. */
  varianceFactor: write(real),
  hazardFactor: write(real),
  /** 0 where the bond is held, 1 where it is converted or put, 2 where it is called. */
  status: write(real),
});

/**
 * The data of one time step: the weights of variable-step BDF2, and the equation's coefficients multiplied by its
 * length.
 */
export const Step = record({
  nodes: i32,
  /** α₀·V − α₁·V(before) − α₂·V(before that): of implicit Euler 1, 1, 0. */
  alpha0: real,
  alpha1: real,
  alpha2: real,
  /** σ²·Δt, (rate − yield)·Δt, rate·Δt, spread·Δt, hazard·Δt. */
  variance: real,
  drift: real,
  discount: real,
  spread: real,
  hazard: real,
  /** The part of the spot that default takes, what the bond recovers, and the ratio of conversion after the jump. */
  jump: real,
  recovery: real,
  ratioAtDefault: real,
});
