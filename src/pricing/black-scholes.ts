import type { Payoff, Scenarios, Trade } from "../book/index.ts";
import { type OneFactorProblem, totalVariance } from "../fdm/index.ts";
import { hostReal, type Precision } from "../kernel/index.ts";
import { integrate, type PiecewiseConstant } from "../market/index.ts";
import { BLACK_SCHOLES_INPUTS, BLACK_SCHOLES_OUTPUTS } from "../models/index.ts";
import type { Engine } from "./backend.ts";
import { type Cases, ladderOf, type ReadCase, type Valuation } from "./plan.ts";
import type { TradeProblems } from "./trade-barriers.ts";

/** Rounding errors of a value, as a part of spot and value. */
const ROUNDING: Readonly<Record<Precision, number>> = { f64: 1e-14, f32x2: 1e-12, f32: 1e-6 };

/** A trade that Black and Scholes' formula prices. */
export interface BlackScholesTrade {
  readonly cases: readonly [OneFactorProblem, ...(OneFactorProblem | undefined)[]];
  readonly payoff: Exclude<Payoff, { kind: "expression" }>;
}

/** European, vanilla or digital, with deterministic volatility, no cash dividends and no barriers; undefined for all else. */
export function blackScholesTrade(trade: Trade, cases: Cases): BlackScholesTrade | undefined {
  const { payoff } = trade;
  const [{ problem }, ...others] = cases;
  if (!cases.every((one) => one === undefined || isPlain(one))) return undefined;
  if (problem.american || payoff.kind === "expression" || problem.diffusion.kind !== "deterministic") return undefined;
  if (problem.dividends.some(({ cash }) => cash > 0) || problem.dividends.some(({ proportional }) => proportional >= 1))
    return undefined;
  if (payoff.kind === "digital" && !(payoff.cash > 0)) return undefined;
  return { cases: [problem, ...others.map((one) => one?.problem)], payoff };
}

function isPlain({ problem: { exerciseTimes, barriers }, notYet }: TradeProblems): boolean {
  return exerciseTimes === undefined && barriers === undefined && notYet === undefined;
}

/** Values them all in one launch: the base case with its derivatives, and a value for every scenario. */
export async function blackScholesValuations(
  trades: readonly BlackScholesTrade[],
  scenarios: Scenarios | undefined,
  engine: Engine,
): Promise<Valuation[]> {
  if (trades.length === 0) return [];
  // Every trade has as many cases, and every case as many spots.
  const perTrade = trades[0].cases.length * trades[0].cases[0].spots.length;
  const items = trades.length * perTrade;
  const input = new Float64Array(items * BLACK_SCHOLES_INPUTS);
  trades.forEach((trade, i) => fill(input, items, i * perTrade, trade));
  const output = await run(engine, input, items);
  return trades.map((trade, i) =>
    valuation(trade, scenarios, engine.precision, (row, item) => output[row * items + i * perTrade + item]),
  );
}

/** Everything in units of the spot, so that f32 has room in any currency. */
function fill(input: Float64Array, items: number, first: number, { cases, payoff }: BlackScholesTrade): void {
  const [base] = cases;
  const unit = base.spots[0];
  const sign = payoff.right === "call" ? 1 : -1;
  const cash = payoff.kind === "digital" ? payoff.cash / unit : 0;
  let item = first;
  for (const one of cases) {
    // A settled trade's values are not read.
    const problem = one ?? base;
    const { spots, expiry, dividendYield } = problem;
    const kept = keptByDividends(problem);
    const rates = integrate(problem.rates, expiry);
    const variance = totalVariance(problem);
    for (const spot of spots) {
      input[item] = (spot / unit) * kept;
      input[items + item] = payoff.strike / unit;
      input[2 * items + item] = rates;
      input[3 * items + item] = dividendYield * expiry;
      input[4 * items + item] = variance;
      input[5 * items + item] = sign;
      input[6 * items + item] = cash;
      item++;
    }
  }
}

function keptByDividends({ dividends }: OneFactorProblem): number {
  return dividends.reduce((kept, { proportional }) => kept * (1 - proportional), 1);
}

async function run(engine: Engine, values: Float64Array, items: number): Promise<Float64Array | Float32Array> {
  const { device, precision } = engine;
  const compiled = await engine.blackScholes();
  const element = hostReal(precision);
  using input = device.createBuffer(element, values.length);
  using output = device.createBuffer(element, items * BLACK_SCHOLES_OUTPUTS);
  device.write(input, values);
  device.launch(compiled, { items, input, output }, { items });
  // Awaited here: `using` frees the buffers when the function returns.
  return await device.read(output);
}

function valuation(
  { cases }: BlackScholesTrade,
  scenarios: Scenarios | undefined,
  precision: Precision,
  output: (row: number, item: number) => number,
): Valuation {
  const [problem] = cases;
  const spot = problem.spots[0];
  const kept = keptByDividends(problem);
  const value = output(0, 0) * spot;
  const delta = output(1, 0) * kept;
  const gamma = (output(2, 0) * kept * kept) / spot;
  const perCase = problem.spots.length;
  const read: ReadCase = (index, column) => {
    const then = cases[index];
    let largest = 0;
    for (let k = 0; k < column.length; k++) {
      // The formula's limit has rounding that the payoff has not.
      column[k] = then?.expiry === 0 ? then.payoff.value(then.spots[k + 1]) : output(0, index * perCase + k + 1) * spot;
      largest = Math.max(largest, Math.abs(column[k]));
    }
    return ROUNDING[precision] * (spot + largest);
  };
  return {
    value,
    delta,
    gamma,
    theta: pdeTheta(problem, value, delta, gamma),
    // w = ∫σ² moves by 2·∫σ per unit of a parallel move of σ, R by T per unit of a move of r.
    vega:
      output(3, 0) * spot * 2 * integrate((problem.diffusion as { sigma: PiecewiseConstant }).sigma, problem.expiry),
    rho: output(4, 0) * spot * problem.expiry,
    errorEstimate: ROUNDING[precision] * (spot + Math.abs(value)),
    method: "black-scholes",
    warnings: [],
    ...(scenarios === undefined ? {} : ladderOf(scenarios, cases, read)),
  };
}

/** ∂V/∂t from the equation itself, V_t = rV − (r − q)S·V_S − ½σ²S²·V_SS, with today's r and σ. */
export function pdeTheta(
  problem: OneFactorProblem,
  value: number,
  delta: number,
  gamma: number,
  sigma = deterministicSigma(problem),
): number {
  const rate = problem.rates.values[0];
  const spot = problem.spots[0];
  return rate * value - (rate - problem.dividendYield) * spot * delta - 0.5 * sigma * sigma * spot * spot * gamma;
}

function deterministicSigma({ diffusion }: OneFactorProblem): number {
  return diffusion.kind === "deterministic" ? diffusion.sigma.values[0] : Number.NaN;
}
