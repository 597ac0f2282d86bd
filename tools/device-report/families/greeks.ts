/**
 * Greeks of the European reference cases against their published values, and trades with formulas against the CPU in
 * f64.
 */
import { FORMULA_TOLERANCE, formulas } from "../../../test/pricing/formula-trades.ts";
import { GREEKS, type GreekError, greekErrors } from "../../../test/pricing/greek-errors.ts";
import { results } from "../../../test/pricing/reference.ts";
import type { ComparedMethod } from "../../../test/pricing/reference-errors.ts";
import { type Check, type Family, type Group, once, type Target, type Verdict } from "../check.ts";
import { compiledAs } from "../compiled-as.ts";

/** In f32, shifts of vega and rho leave too few digits for a tolerance that would say anything. */
export const greeks: Family = (target) =>
  target.precision === "f32" ? [] : [groupOf(target, "auto"), groupOf(target, "fdm")];

function groupOf(target: Target, method: ComparedMethod): Group {
  const { precision } = target;
  const errors = once(() => greekErrors(compiledAs(target), { precision, method }));
  const checks = GREEKS.map((name): Check => ({
    name,
    run: async () => verdictOf((await errors()).filter((one) => one.name === name)),
  }));
  return { family: `Greeks, ${method}`, unit: "of the tolerance", checks };
}

function verdictOf(errors: readonly GreekError[]): Verdict {
  const share = ({ error, allowed }: GreekError): number => (Number.isNaN(error) ? Infinity : error / allowed);
  const worst = errors.reduce((a, b) => (share(b) > share(a) ? b : a));
  const failure = `${worst.id}: ${worst.value}, expected ${worst.expected} ± ${worst.allowed}`;
  return { error: share(worst), failure: share(worst) <= 1 ? undefined : failure };
}

export const formulasOf: Family = (target, { cpu }) => {
  const { device, precision } = target;
  if (device === cpu && precision === "f64") return [];
  const price = (on: Target["device"], as: Target["precision"]) =>
    results(formulas, { device: on, precision: as, greeks: "none" });
  const got = once(() => price(compiledAs(target), precision));
  const expected = once(() => price(cpu, "f64"));
  const checks = formulas.map(({ volatility, payoff }, i): Check => ({
    name: "expression" in volatility ? `σ = ${volatility.expression}` : "expression" in payoff ? payoff.expression : "",
    async run() {
      const [one, other] = [(await got())[i], (await expected())[i]];
      if (one.status === "error" || other.status === "error") throw new Error(JSON.stringify([one, other]));
      const error = Math.abs(one.value - other.value);
      const failure = `${one.value}, on the CPU ${other.value}`;
      return { error, failure: error <= FORMULA_TOLERANCE[precision] ? undefined : failure };
    },
  }));
  return [{ family: "formulas, against the CPU", unit: "of a spot of 100", checks }];
};
