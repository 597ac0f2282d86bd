import { labelsOf, type KeyRate, type PricedTrade, type RatesTrade } from "../../book/index.ts";
import { roundingError } from "../../pde/fdm/index.ts";
import type { Engine } from "../backend.ts";
import { fitDoubts } from "../fit-doubts.ts";
import type { Settings } from "../options.ts";
import { expiryWarnings, ratesUnitWarnings } from "../unit-warnings.ts";
import { bondFigures, spreadOf } from "./bond-figures.ts";
import { ACCURACY_MISSED } from "../guard/warnings.ts";
import { KEY_TIMES } from "./key-rates.ts";
import type { RatesMethod, RatesValue } from "./method.ts";
import { RatesMarket } from "./rates-market.ts";

/** The error of a value to aim at where nothing is said, relative to the largest payment. */
const ACCURACY = 1e-5;

/** Returns the largest payment of a trade, to which accuracies and rounding errors are relative. */
export function largestPayment({ product }: RatesTrade): number {
  if (!("bond" in product)) return product.notional;
  return product.bond.flows.reduce((largest, [, amount]) => Math.max(largest, Math.abs(amount)), 0);
}

interface Priced {
  readonly trade: RatesTrade;
  readonly value: RatesValue;
  readonly method: RatesMethod;
  /** The option-adjusted spread of a bond with rights, if it was found. */
  readonly spread: number | undefined;
  readonly settings: Settings;
  readonly engine: Engine;
}

/**
 * Returns the result of a trade on rates as users see it, without its scenarios. Delta and gamma are null, because they
 * have no meaning here.
 */
export function ratesResult({ trade, value: found, method, spread: solved, settings, engine }: Priced): PricedTrade {
  const all = settings.greeks === "all";
  const { value, theta, vega, rho, errorEstimate, keyRates, parameters, warnings = [] } = found;
  const spread = solved ?? spreadWithoutRights(trade);
  const asked = (settings.accuracy ?? ACCURACY) * largestPayment(trade) * (1 + 1e-9);
  return {
    id: trade.id,
    ...labelsOf(trade),
    status: "ok",
    value,
    delta: null,
    gamma: null,
    theta: settings.greeks === "none" ? null : finiteOrNull(theta),
    vega: all ? finiteOrNull(vega) : null,
    rho: all ? finiteOrNull(rho) : null,
    errorEstimate,
    method: method.resultName,
    precision: engine.precision,
    backend: engine.device.backend,
    warnings: [
      ...expiryWarnings(trade.expiry, "rates"),
      ...ratesUnitWarnings(trade),
      ...warnings,
      ...(errorEstimate > asked + roundingOf(settings, engine, value) ? [ACCURACY_MISSED] : []),
      ...fitDoubts(trade),
      ...withoutVolatility(trade),
      ...(spread === undefined && trade.marketPrice !== undefined ? [NO_SPREAD] : []),
      ...engine.warnings,
    ],
    ...(trade.product.kind === "bond" ? bondFigures(trade.product.bond, value) : {}),
    ...(spread === undefined ? {} : { optionAdjustedSpread: spread }),
    ...(all && keyRates !== undefined ? { keyRates: keyRates.map((one, k): KeyRate => [KEY_TIMES[k], one]) } : {}),
    ...(all && parameters !== undefined ? { parameters } : {}),
  };
}

/** A warning about an option whose rates are certain to be the forward rates, so that it has its intrinsic value. */
function withoutVolatility({ product, rates, currency, expiry }: RatesTrade): string[] {
  if (rates.kind !== "curve" || product.kind === "bond" || !(expiry > 0)) return [];
  const mayQuote = product.kind !== "bondOption";
  if (mayQuote && product.quote !== undefined) return [];
  return [
    `the rates of ${currency} are a curve without volatility, so the option has its intrinsic value at the forward ` +
      `rates; give ${mayQuote ? 'the trade a "volatility", or ' : ""}market.rates.${currency} a model, such as hullWhite`,
  ];
}

/** Where nothing is asked for, f32 does what it can. */
const roundingOf = ({ accuracy }: Settings, { precision }: Engine, value: number): number =>
  accuracy === undefined ? roundingError(precision, value, value) : 0;

const NO_SPREAD =
  "no parallel move of the rates, up to 100 % and as far as the model has a value, gives the bond its market price: no " +
  "option-adjusted spread";

/** The option-adjusted spread of a bond without rights that has a market price. */
function spreadWithoutRights({ product, marketPrice, rates }: RatesTrade): number | undefined {
  if (product.kind !== "bond" || marketPrice === undefined) return undefined;
  if (product.calls.length > 0 || product.puts.length > 0) return undefined;
  return spreadOf(product.bond, marketPrice, new RatesMarket(rates));
}

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);
