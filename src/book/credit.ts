/** The credit of the issuers of convertible bonds: by spreads, hazard rates, or a curve of survival probabilities. */
import { BookError } from "../base/errors.ts";
import type { ForwardCurve, PiecewiseConstant, Underlying } from "../market/index.ts";
import type { Credit } from "../pde/convertible/index.ts";
import { curveIndexOf } from "./curves.ts";
import { creditInputs, inputsWithin, type MovableInput, rememberInputs, stepInputs } from "./market-inputs.ts";
import { curveUntilLast, namedCurveInputs, type NamedCurves } from "./named-curves.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { MarketSpec } from "./schema/index.ts";
import { type AsOf, timeText } from "./time.ts";
import { increasingYears } from "./volatility.ts";

/**
 * Converts the credit of issuers. @throws BookError for an underlying or a curve that does not exist; dates that are
 * not increasing
 */
export function resolveCredit(
  spec: MarketSpec,
  underlyings: ReadonlyMap<string, Underlying>,
  named: NamedCurves | undefined,
  asOf: AsOf,
  pathOf: PathOf,
): Map<string, Credit> {
  const credit = new Map<string, Credit>();
  for (const [name, one] of spec.credit ?? []) {
    const at = inside(pathOf, "credit", name);
    if (spec.underlyings?.has(name) !== true) {
      const known = didYouMean(name, spec.underlyings?.keys() ?? []);
      throw new BookError(at(), `unknown underlying ${quote(name)}${known}`);
    }
    const { hazard, inputs, recovery: given = 0 } = hazardOf(one, named, asOf, pathOf, at);
    const made = (by: ForwardCurve): Credit => {
      if (one.kind === "spread") return { kind: "spread", spread: by };
      const { recovery = given, jump, exponent = 0, reference = underlyings.get(name)?.spot ?? 1 } = one;
      return { kind: "hazard", hazard: by, recovery, jump, exponent, reference };
    };
    const own = made(hazard);
    credit.set(name, own);
    if (inputs !== undefined) rememberInputs(creditInputs, own, () => inputsWithin(inputs(), made));
  }
  return credit;
}

/** A spread or hazard rate by time, its inputs where it has several, and the recovery that belongs to it. */
interface HazardByTime {
  readonly hazard: ForwardCurve;
  readonly inputs: (() => readonly MovableInput<PiecewiseConstant>[]) | undefined;
  readonly recovery?: number;
}

function hazardOf(
  one: NonNullable<ReturnType<NonNullable<MarketSpec["credit"]>["get"]>>,
  named: NamedCurves | undefined,
  asOf: AsOf,
  pathOf: PathOf,
  at: PathOf,
): HazardByTime {
  if (one.kind === "curve") {
    const number = curveIndexOf(one.curve, named?.names ?? [], at("curve"));
    const recovery = named!.recoveries[number];
    if (recovery === undefined)
      throw new BookError(at("curve"), `${quote(one.curve)} has discount factors, expected a curve with "recovery"`);
    const hazard = curveUntilLast(named!, number, pathOf("curves", one.curve));
    return { hazard, inputs: () => namedCurveInputs(named!, number), recovery };
  }
  const { dates, values } = one.kind === "spread" ? one.spread : one.hazard;
  const times = increasingYears(dates, asOf, (i) => at(one.kind, i, "date"));
  const hazard = { times: times.slice(0, -1), values };
  const places = dates.map((date) => timeText(asOf, date));
  return { hazard, inputs: dates.length === 0 ? undefined : () => stepInputs(hazard, places) };
}
