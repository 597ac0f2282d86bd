/** Volatility that varies in time: term structures, surfaces, formulas of t, events of three days. */
import { type VaryingKind, varyingCase } from "../../../test/pricing/varying-cases.ts";
import { blackPrice, varianceOver, varyingPrice, type VaryingTerms } from "../../../test/support/volatility-in-time.ts";
import type { Random } from "../../properties/random.ts";
import { type Case, exactly, type Family, type Json, type Known, type ReferenceKind } from "../case.ts";
import { backward, paid, right as rightOn } from "../references/backward.ts";
import { incrementsOf, meanOfSum } from "../references/paths.ts";

/** How many shapes of volatility `varyingCase` has. */
const SHAPES = 7;

const SCALE = 100;

function known({ kind, terms }: ReturnType<typeof varyingCase>): Known {
  if (kind === "european") return exactly(blackPrice(terms))();
  if (kind === "bermudan") return { value: onDates(terms), error: 1e-8 * SCALE };
  const { value, error } = varyingPrice(terms, 800);
  return kind === "knock-in" ? { value: blackPrice(terms) - value, error } : { value, error };
}

function onDates(terms: VaryingTerms): number {
  const { right, spot, strike, expiry, rate, dividendYield, exercise = [] } = terms;
  if (exercise === "american") throw new Error("expected exercise on dates");
  const sign = right === "call" ? 1 : -1;
  const intrinsic = (x: number): number => Math.max(sign * (Math.exp(x) - strike), 0);
  const variance = (from: number, to: number): number => varianceOver(terms, from, to);
  const motion = {
    variance,
    drift: (from: number, to: number) => (rate - dividendYield) * (to - from) - 0.5 * variance(from, to),
    discount: (from: number, to: number) => Math.exp(-rate * (to - from)),
  };
  const stages = [...exercise.map((date) => rightOn(date, intrinsic)), paid(expiry, intrinsic, [Math.log(strike)])];
  return backward(Math.log(spot), motion, stages);
}

function caseOf(random: Random, kind: VaryingKind): Case {
  const drawn = varyingCase(random, kind, random.integer(SHAPES));
  const { rate, ...underlying } = drawn.underlying as Json;
  return {
    rates: rate,
    underlyings: { A: underlying },
    trade: { underlying: "A", ...drawn.trade },
    scale: SCALE,
    reference: () => known(drawn),
  };
}

const DRAWS = "ratios of σ to 50, events of three days, 0.2 to 3 years";

const of = (name: string, kind: VaryingKind, reference: ReferenceKind = "own solution"): Family => ({
  name: `volatility varying in time, ${name}`,
  reference,
  draws: DRAWS,
  draw: (random) => caseOf(random, kind),
});

/** An arithmetic or geometric average on dates. */
function average(random: Random): Case {
  const drawn = varyingCase(random, "european", random.integer(SHAPES));
  const { terms } = drawn;
  const { spot, strike, expiry, rate, dividendYield, right } = terms;
  const { rate: _, ...underlying } = drawn.underlying as Json;
  const count = 2 + random.integer(11);
  const dates = Array.from({ length: count }, (_one, k) => (expiry * (k + 1)) / count);
  const sign = right === "call" ? 1 : -1;
  return {
    rates: rate,
    underlyings: { A: underlying },
    trade: { underlying: "A", payoff: right, strike, expiry, average: { kind: "arithmetic", dates } },
    scale: SCALE,
    reference: () => {
      const increments = incrementsOf(dates, rate - dividendYield, (from, to) => varianceOver(terms, from, to));
      const weights = dates.map(() => 1 / count);
      const payoff = (z: number): number => Math.max(sign * (spot * Math.exp(z) - strike), 0);
      const mean = meanOfSum(increments, weights, payoff, [Math.log(strike / spot)]);
      return { value: Math.exp(-rate * expiry) * mean, error: 1e-7 * spot };
    },
  };
}

export const timeFamilies: readonly Family[] = [
  of("European", "european", "closed form"),
  of("knock-outs", "knock-out"),
  of("knock-ins", "knock-in"),
  of("American", "american"),
  of("exercise on dates", "bermudan", "quadrature"),
  { name: "volatility varying in time, averages", most: 300, reference: "quadrature", draws: DRAWS, draw: average },
];
