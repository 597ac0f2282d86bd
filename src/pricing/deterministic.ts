import type { Scenarios } from "../book/index.ts";
import { type OneFactorProblem, shiftedProblem } from "../fdm/index.ts";
import { afterDividend, integrate } from "../market/index.ts";
import { type Cases, scenarioValues, type Valuation } from "./plan.ts";

/**
 * Without volatility, or at expiry, the spot follows F(t) = S·exp(∫(r − q)) with its dividends, and
 *
 *   V = e^{−R(T)}·payoff(F(T)),   American: V = max over 0 ≤ t ≤ T of e^{−R(t)}·payoff(F(t)), just before dividends too.
 *
 * Delta, gamma and rho are differences of that, theta is 0 where exercise is optimal at once, vega is 0: the limit σ → 0
 * everywhere but at a forward on a kink. Every case has to be deterministic.
 */
export function deterministicValuation(cases: Cases, scenarios: Scenarios | undefined): Valuation {
  const [problem] = cases;
  const spot = problem.spots[0];
  const at = (s: number): number => deterministicValue(problem, s);
  const value = at(spot);
  const bump = 1e-6 * spot;
  const rateShifted = (rate: number): number =>
    deterministicValue(shiftedProblem(problem, { volatility: 0, rate }), spot);
  return {
    value,
    delta: (at(spot + bump) - at(spot - bump)) / (2 * bump),
    gamma: 0,
    theta: theta(problem, value),
    vega: 0,
    rho: problem.expiry === 0 ? 0 : (rateShifted(1e-6) - rateShifted(-1e-6)) / 2e-6,
    errorEstimate: 1e-13 * (Math.abs(value) + spot),
    method: problem.expiry === 0 ? "payoff" : "deterministic",
    warnings: [],
    ...(scenarios === undefined
      ? {}
      : {
          scenarios: scenarioValues(scenarios, cases, (index, s) =>
            deterministicValue(cases[index] ?? problem, problem.spots[s]),
          ),
        }),
  };
}

/** dV/dt by the PDE without diffusion, V_t = r·V − (r − q)·S·V_S. */
function theta(problem: OneFactorProblem, value: number): number {
  const spot = problem.spots[0];
  if (problem.expiry === 0 || (problem.american && value <= problem.payoff.exercised(spot))) return 0;
  const bump = 1e-6 * spot;
  const delta = (deterministicValue(problem, spot + bump) - deterministicValue(problem, spot - bump)) / (2 * bump);
  const rate = problem.rates.values[0];
  return rate * value - (rate - problem.dividendYield) * spot * delta;
}

/** The value for one spot; `problem` may be shifted, but has no volatility. */
export function deterministicValue(problem: OneFactorProblem, spot: number): number {
  const { expiry, payoff, american, dividends } = problem;
  const dates = [
    0,
    ...problem.rates.times.filter((time) => time < expiry),
    ...dividends.map(({ time }) => time),
    expiry,
  ].sort((a, b) => a - b);
  let best = american ? payoff.exercised(spot) : Number.NEGATIVE_INFINITY;
  let price = spot;
  for (let i = 1; i < dates.length; i++) {
    const [from, to] = [dates[i - 1], dates[i]];
    const forward = (t: number): number =>
      price *
      Math.exp(integrate(problem.rates, t) - integrate(problem.rates, from) - problem.dividendYield * (t - from));
    if (american)
      best = Math.max(
        best,
        largest((t) => Math.exp(-integrate(problem.rates, t)) * payoff.exercised(forward(t)), from, to),
      );
    price = forward(to);
    for (const dividend of dividends) if (dividend.time === to) price = afterDividend(price, dividend);
  }
  const atExpiry =
    Math.exp(-integrate(problem.rates, expiry)) * (american ? payoff.exercised(price) : payoff.value(price));
  return Math.max(best, atExpiry);
}

/** The maximum of f on [a, b]: the best of 33 equidistant points, then golden sections about it. */
function largest(f: (t: number) => number, a: number, b: number): number {
  if (!(b > a)) return f(a);
  const step = (b - a) / 32;
  let [at, best] = [a, f(a)];
  for (let i = 1; i <= 32; i++) {
    const value = f(i === 32 ? b : a + i * step);
    if (value > best) [at, best] = [a + i * step, value];
  }
  let [low, high] = [Math.max(a, at - step), Math.min(b, at + step)];
  const golden = 0.5 * (Math.sqrt(5) - 1);
  for (let i = 0; i < 60; i++) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)];
    if (f(left) > f(right)) high = right;
    else low = left;
  }
  return Math.max(best, f(0.5 * (low + high)));
}
