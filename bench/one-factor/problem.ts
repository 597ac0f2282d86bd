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
  /** Levels of a double knock-out, monitored all the time. */
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
 * about 1e-10; and for what neither covers a fine mesh, extrapolated in the time step, linearly, and in the nodes'
 * distance, to about 1e-5: twice as many of either moved none of these by more. NaN without QuantLib.
 */
export async function referencePrices(quantLib: QuantLib | undefined, problems: readonly Problem[]): Promise<number[]> {
  const prices: number[] = [];
  for (const problem of problems)
    prices.push(quantLib === undefined ? Number.NaN : await referencePrice(quantLib, problem));
  return prices;
}

const isPlain = ({ dividends, beta }: Problem): boolean => dividends === undefined && beta === undefined;

/** Whether the exercise boundary is a fixed point that QuantLib knows. */
export const hasFixedPoint = (problem: Problem): boolean => problem.exercise === "american" && isPlain(problem);

async function referencePrice(quantLib: QuantLib, problem: Problem): Promise<number> {
  if (isPlain(problem) && problem.exercise !== "bermudan") {
    const engine = hasFixedPoint(problem) ? "qdfp" : "analytic";
    return (await quantLib.price([{ engine, ...problem, repetitions: 0 }]))[0].price;
  }
  const meshes = [
    [800, 800],
    [1600, 800],
    [1600, 1600],
    [1600, 3200],
  ];
  const answers = await quantLib.price(
    meshes.map(([xgrid, tgrid]) => ({ engine: "fd" as const, ...problem, xgrid, tgrid, repetitions: 0 })),
  );
  const [coarseNodes, fineNodes, fewSteps, manySteps] = answers.map(({ price }) => price);
  return 2 * manySteps - fewSteps + (fineNodes - coarseNodes) / 3;
}
