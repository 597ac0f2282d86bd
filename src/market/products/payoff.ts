/** The spots at which early exercise happens: low ones (puts), high ones (calls), or unknown. */
export type ExerciseSide = "low" | "high" | "unknown";

/** A payoff as a function of the spot, with the properties that a finite difference mesh needs. */
export interface PayoffProfile {
  /** The spots at which the payoff bends or jumps, increasing and > 0. */
  readonly kinks: readonly number[];
  /** The payoff's name in error messages, "payoff" by default. */
  readonly name?: string | undefined;
  /** The spots at which early exercise happens. */
  readonly exerciseSide: ExerciseSide;
  /** True where the payoff jumps at its kinks. */
  readonly jumps: boolean;
  /** True if the payoff is linear below its first kink and above its last one, which a formula need not be. */
  readonly straight: boolean;
  /** The sign φ of a payoff max(φ·(S − kink), 0) with one kink. Devices evaluate such a payoff themselves. */
  readonly vanillaSign?: 1 | -1 | undefined;
  /** Returns the payoff at expiry. At a jump it is the mean of the two sides. */
  value(spot: number): number;
  /** Returns the value of exercise. At a jump it is the better side, because the holder chooses the moment. */
  exercised(spot: number): number;
  /** Returns the mean of `value` over the spots a … b, (1/(b−a))·∫ₐᵇ value(S) dS, for a < b. */
  average(a: number, b: number): number;
}

/** The right of an option's holder: to buy (call) or to sell (put). */
export type Right = "call" | "put";

/** Returns the payoff max(φ·(S − strike), 0), with φ = +1 for a call and −1 for a put. */
export function vanillaPayoff(right: Right, strike: number): PayoffProfile {
  const sign = right === "call" ? 1 : -1;
  const value = (spot: number): number => Math.max(sign * (spot - strike), 0);
  return {
    kinks: [strike],
    exerciseSide: right === "call" ? "high" : "low",
    jumps: false,
    straight: true,
    vanillaSign: sign,
    value,
    exercised: value,
    average(a, b) {
      if (strike <= a || strike >= b) return value(0.5 * (a + b));
      const inside = right === "call" ? b - strike : strike - a;
      return (0.5 * inside * inside) / (b - a);
    },
  };
}

/**
 * Returns the payoff of a digital option: `cash` where φ·(S − strike) > 0, with φ = +1 for a call and −1 for a put, and
 * half of it at the strike. If the holder exercises at the strike, the payoff is `cash`, or 0 if `cash` is negative.
 */
export function digitalPayoff(right: Right, strike: number, cash: number): PayoffProfile {
  const sign = right === "call" ? 1 : -1;
  return {
    kinks: [strike],
    // What is to be paid is put off, and avoided on the other side.
    exerciseSide: cash < 0 ? "unknown" : right === "call" ? "high" : "low",
    jumps: true,
    straight: true,
    value: (spot) => (spot === strike ? 0.5 * cash : sign * (spot - strike) > 0 ? cash : 0),
    exercised: (spot) => (spot === strike ? Math.max(cash, 0) : sign * (spot - strike) > 0 ? cash : 0),
    average(a, b) {
      const above = Math.min(Math.max((b - strike) / (b - a), 0), 1);
      return cash * (right === "call" ? above : 1 - above);
    },
  };
}

/**
 * Returns a payoff given by a function f of the spot. Averages over cells are computed by 4-point Gauss–Legendre
 * quadrature between kinks, which is exact for polynomials of degree 7.
 */
export function functionPayoff(f: (spot: number) => number, kinks: readonly number[], name?: string): PayoffProfile {
  const jumps = kinks.some((kink) => jumpAt(f, kink));
  const exercised = (spot: number): number => {
    const near = kinks.find((kink) => Math.abs(spot - kink) <= 1e-12 * kink);
    return near === undefined ? f(spot) : Math.max(f(spot), f(near * (1 - 1e-9)), f(near * (1 + 1e-9)));
  };
  return {
    kinks,
    name,
    exerciseSide: "unknown",
    jumps,
    straight: isStraightOutside(f, kinks),
    value: f,
    exercised,
    average: (a, b) => integral(f, a, b, kinks) / (b - a),
  };
}

/** Returns a payoff minus a fixed amount of cash. */
export function lessCash(payoff: PayoffProfile, cash: number): PayoffProfile {
  return {
    ...payoff,
    vanillaSign: undefined,
    value: (spot) => payoff.value(spot) - cash,
    exercised: (spot) => payoff.exercised(spot) - cash,
    average: (a, b) => payoff.average(a, b) - cash,
  };
}

/** Multiples of the last and of the first kink, at which a formula is tested for being linear beyond them. */
const FURTHER = [1.05, 1.2, 1.5, 2, 3, 6, 20];
const CLOSER = [0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97];

/** Tells whether f appears to be linear below its first kink and above its last. It is tested at a few prices. */
function isStraightOutside(f: (spot: number) => number, kinks: readonly number[]): boolean {
  if (kinks.length === 0) return false;
  const isLine = (prices: readonly number[]): boolean => {
    const [a, b] = [prices[0], prices[prices.length - 1]];
    const [before, after] = [f(a), f(b)];
    const scale = 1e-10 * (Math.abs(before) + Math.abs(after));
    return prices.every((x) => Math.abs(f(x) - before - ((after - before) * (x - a)) / (b - a)) <= scale);
  };
  const [first, last] = [kinks[0], kinks[kinks.length - 1]];
  return isLine(CLOSER.map((part) => part * first)) && isLine(FURTHER.map((part) => part * last));
}

/**
 * Tells whether f has a jump at a kink. The values on its two sides must differ by more than a steep slope would
 * explain.
 */
function jumpAt(f: (spot: number) => number, kink: number): boolean {
  const sides = (part: number): readonly [number, number] => [f(kink * (1 - part)), f(kink * (1 + part))];
  const [below, above] = sides(1e-9);
  const [further, beyond] = sides(1e-6);
  const jump = Math.abs(above - below);
  return jump > 1e-6 * (Math.abs(above) + Math.abs(below) + 1e-300) && jump > 0.5 * Math.abs(beyond - further);
}

const GAUSS_NODES = [0.3399810435848563, 0.8611363115940526];
const GAUSS_WEIGHTS = [0.6521451548625461, 0.34785484513745385];

function integral(f: (spot: number) => number, a: number, b: number, kinks: readonly number[]): number {
  let sum = 0;
  let from = a;
  for (const to of [...kinks.filter((kink) => kink > a && kink < b), b]) {
    const [centre, half] = [0.5 * (from + to), 0.5 * (to - from)];
    GAUSS_NODES.forEach((node, i) => {
      sum += GAUSS_WEIGHTS[i] * half * (f(centre - half * node) + f(centre + half * node));
    });
    from = to;
  }
  return sum;
}
