/** Closed forms, and tables of errors, for the tests of equations. */
import type { Device } from "../../../../src/device/index.ts";
import { type EntrySolution, type EquationProblem, solve } from "../../../../src/pde/fdm/index.ts";
import { hostGpu } from "../../../../src/kernel/host-gpu.ts";

const { normalCdf } = hostGpu;

/** The market of the tests: S = K = 100, one year. */
export const market = { K: 100, r: 0.05, sigma: 0.2, T: 1 } as const;
const { K, r, sigma, T } = market;
const deviation = sigma * Math.sqrt(T);
const discount = Math.exp(-r * T);
const d1 = (ratio: number): number => (Math.log(ratio) + r * T) / deviation + 0.5 * deviation;

/** Black and Scholes (1973). */
export const call = (S: number): number => S * normalCdf(d1(S / K)) - K * discount * normalCdf(d1(S / K) - deviation);
export const put = (S: number): number => call(S) - S + K * discount;
export const digitalCall = (S: number): number => discount * normalCdf(d1(S / K) - deviation);

/**
 * A down-and-out call with its barrier H below the strike (Reiner & Rubinstein 1991): the call less the reflected one.
 */
export function downAndOutCall(S: number, H: number): number {
  const power = (2 * r) / sigma ** 2;
  const y = d1((H * H) / (S * K));
  const reflected =
    (H / S) ** (power + 1) * S * normalCdf(y) - (H / S) ** (power - 1) * K * discount * normalCdf(y - deviation);
  return call(S) - reflected;
}

export type AnyProblem = EquationProblem<string, string>;

/** Black and Scholes' equation, of which a test gives the rest. */
export const blackScholes = {
  parameters: { K, r, sigma },
  expiry: T,
  equation: ({ S, r, sigma }: Record<string, number>) => ({ SS: 0.5 * sigma * sigma * S * S, S: r * S, V: -r }),
};

/** The axis of `n` intervals on which tests in S are run. */
export const axis = (n: number, more: object = {}): AnyProblem["axes"] => ({
  S: { from: 0, to: "4*K", nodes: n + 1, points: ["K"], ...more },
});

export async function solveOne(problem: AnyProblem, device: Device): Promise<EntrySolution> {
  const { entries } = await solve(problem, { device });
  return entries[0];
}

export interface OrderTable {
  readonly errors: readonly number[];
  /** From the first level to the last. */
  readonly order: number;
}

/** Errors level by level, each twice as fine as the one before; printed. */
export async function orderTable(
  name: string,
  levels: readonly number[],
  error: (level: number) => Promise<number>,
): Promise<OrderTable> {
  const errors: number[] = [];
  for (const level of levels) errors.push(await error(level));
  const orders = errors.slice(1).map((e, i) => Math.log2(errors[i] / e));
  const order = Math.log2(errors[0] / errors[errors.length - 1]) / (errors.length - 1);
  const text = (xs: readonly number[], f: (x: number) => string): string => xs.map(f).join("  ");
  console.log(
    `${name.padEnd(44)} ${text(errors, (e) => e.toExponential(2))}   order ${text(orders, (p) => p.toFixed(2))}, overall ${order.toFixed(2)}`,
  );
  return { errors, order };
}

/** The largest error at some spots. */
export function worst(solution: EntrySolution, exact: (S: number) => number, spots: readonly number[]): number {
  return Math.max(...spots.map((S) => Math.abs(solution.at(S).value - exact(S))));
}
