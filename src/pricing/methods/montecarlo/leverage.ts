/** The leverages of stochastic local volatilities, found when trades are priced. */
import { type Leverage, leverageOf, type LeverageRow, varianceParameters } from "../../../calibration/index.ts";
import type { Device } from "../../../device/index.ts";
import { integrate, type LocalSurface, shifted, type StochasticLocal } from "../../../market/index.ts";
import { type Parameter, type PathModel, stochasticLocal } from "../../../montecarlo/index.ts";
import type { RequestSettings } from "../../plan/request.ts";
import { keyOf } from "../../../base/memoize.ts";
import type { Terms } from "../../terms.ts";
import type { Path } from "./acceptance.ts";

/** The steps of a leverage to its horizon, which is a power of two of years: an expiry has one in any book. */
const STEPS = { aYear: 128, least: 32, most: 512 } as const;

/** The leverages that were found, by the surface, then by all that they depend on. */
const found = new WeakMap<LocalSurface, Map<string, Leverage>>();
/** The leverages of terms that are being priced. */
const ofTerms = new WeakMap<Terms, Leverage>();

const volatilityOf = ({ assets: [{ volatility }] }: Terms): StochasticLocal => {
  if (volatility.kind !== "stochasticLocal") throw new Error(`no leverage of ${volatility.kind}`);
  return volatility;
};

/**
 * The problem of a trade's leverage, which is that at the underlying's own spot: a function of spot and time that moves
 * of the spot and of today's date leave as it is. A move of volatilities or of rates gives another one.
 */
function problemOf({ terms }: Pick<Path, "terms">) {
  const { variance, surface, added = 0, start = 0 } = volatilityOf(terms);
  const [{ underlying }] = terms.assets;
  const { rates, spot, dividends } = underlying;
  // Rates of a later day are those of today but for a move, which their last one shows.
  const [now, then] = [rates, terms.rates].map(({ values }) => values[values.length - 1]);
  const curve = then === now ? rates : shifted(rates, then - now);
  const expiry = 2 ** Math.ceil(Math.log2(Math.max(terms.expiry + start, 1 / 64)));
  const steps = Math.min(Math.max(STEPS.aYear * expiry, STEPS.least), STEPS.most);
  return { spot, rates: curve, yield: dividends.yield, variance, surface, added, expiry, steps };
}

/** Tells whether a path follows a stochastic local volatility, which needs a leverage function of time and spot. */
export const hasLeverage = ({ terms }: Pick<Path, "terms">): boolean =>
  terms.assets[0].volatility.kind === "stochasticLocal";

/** Computes the leverage functions of stochastic local volatilities that paths need and that are not cached. */
export async function findLeverages(
  device: Device,
  paths: readonly Path[],
  { precision, signal }: RequestSettings,
): Promise<void> {
  for (const { terms } of paths) {
    const problem = problemOf({ terms });
    const known = found.get(problem.surface) ?? new Map<string, Leverage>();
    found.set(problem.surface, known);
    const key = keyOf([device, precision, problem]);
    const growth = (t: number): number => integrate(problem.rates, t);
    const leverage =
      known.get(key) ?? (await leverageOf(device, { ...problem, growth, precision, ...(signal && { signal }) }));
    known.set(key, leverage);
    ofTerms.set(terms, leverage);
  }
}

/**
 * Returns the stochastic local volatility model of instances whose leverage functions are cached. `ends` has the times
 * at which each instance's steps end.
 */
export function leveragedModel(
  paths: readonly Path[],
  ends: readonly (readonly number[])[],
  common: Readonly<Record<"spot" | "rate" | "yield", Parameter>>,
): PathModel {
  const rows = paths.map((path, i) => {
    const { rowAt } = ofTerms.get(path.terms)!;
    const { start = 0 } = volatilityOf(path.terms);
    return ends[i].map((_, k) => rowAt(start + (k === 0 ? 0 : ends[i][k - 1])));
  });
  const byStep = (of: (row: LeverageRow) => number): Parameter => ({
    byStep: ends[0].map((_, k) => Float64Array.from(rows, (own) => of(own[k]))),
  });
  const own = paths.map(({ terms }) => varianceParameters(volatilityOf(terms).variance));
  const column = (name: "v0" | "kappa" | "theta" | "sigma" | "rho") => Float64Array.from(own, (one) => one[name]);
  return stochasticLocal({
    ...common,
    spot: Float64Array.from(paths, ({ spots }) => spots[0]),
    variance: own[0].variance,
    v0: column("v0"),
    kappa: column("kappa"),
    theta: column("theta"),
    sigma: column("sigma"),
    rho: column("rho"),
    center: byStep(({ center }) => center),
    width: byStep(({ width }) => width),
    leverage: Array.from(rows[0][0].values, (_, j) => byStep(({ values }) => values[j])),
  });
}
