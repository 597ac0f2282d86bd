import type { QuantLib } from "../peers/quantlib.ts";

/** One option under one-factor dynamics: what both sides price. */
export interface Problem {
  readonly type: "call" | "put";
  readonly exercise: "american" | "european" | "bermudan";
  readonly spot: number;
  readonly strike: number;
  readonly rate: number;
  readonly yield: number;
  readonly vol: number;
  /** Whole days over 365. */
  readonly maturity: number;
  /** Cash dividends; the spot falls by them. */
  readonly dividends?: readonly (readonly [time: number, cash: number])[];
  /** Local volatility vol·(S/spot)^(beta − 1) when given. */
  readonly beta?: number;
  /** When a Bermudan may be exercised before its maturity; whole days over 365. */
  readonly dates?: readonly number[];
  /** Levels of a double knock-out, watched all the time. */
  readonly lower?: number;
  readonly upper?: number;
}

export interface Mesh {
  /** Ours: 4k + 1. */
  readonly nodes: number;
  /** Ours: even. */
  readonly steps: number;
}

export const describeMesh = ({ nodes, steps }: Mesh): string => `${nodes} nodes × ${steps} steps`;

/** The textbook put: 6.09037. */
export const put: Problem = {
  type: "put",
  exercise: "american",
  spot: 100,
  strike: 100,
  rate: 0.05,
  yield: 0,
  vol: 0.2,
  maturity: 1,
};

/** Neighbouring options, so that a batch is not one option many times; the first is the problem itself. */
export function neighbour(problem: Problem, i: number): Problem {
  return { ...problem, strike: problem.strike * (1 + (i % 41) / 400), vol: problem.vol * (1 + (i % 7) / 20) };
}

/**
 * Independent prices by QuantLib's own best: the closed form; the integral equation of Andersen, Lake & Offengenden, to
 * about 1e-10; and for what neither covers a fine mesh, extrapolated in the time step, linearly, and in the nodes' distance, to about 1e-5: twice as many of either moved
 * none of these by more.
 * NaN without QuantLib.
 */
export function referencePrices(quantLib: QuantLib | undefined, problems: readonly Problem[]): number[] {
  return problems.map((problem) => (quantLib === undefined ? Number.NaN : referencePrice(quantLib, problem)));
}

function referencePrice(quantLib: QuantLib, problem: Problem): number {
  if (problem.dividends === undefined && problem.beta === undefined && problem.exercise !== "bermudan") {
    const engine = problem.exercise === "american" ? "qdfp" : "analytic";
    return quantLib.price([{ engine, ...problem }])[0].price;
  }
  const [coarseNodes, fineNodes, fewSteps, manySteps] = quantLib
    .price(
      [
        [800, 800],
        [1600, 800],
        [1600, 1600],
        [1600, 3200],
      ].map(([xgrid, tgrid]) => ({ engine: "fd" as const, ...problem, xgrid, tgrid })),
    )
    .map(({ price }) => price);
  return 2 * manySteps - fewSteps + (fineNodes - coarseNodes) / 3;
}
