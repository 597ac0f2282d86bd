import { labelsOf, type KeyRate, type PricedTrade, type RatesTrade } from "../../book/index.ts";
import type { Engine } from "../backend.ts";
import type { Settings } from "../options.ts";
import { bondFigures, spreadOf } from "./bond-figures.ts";
import { KEY_TIMES } from "./key-rates.ts";
import type { RatesMethod, RatesValue } from "./method.ts";
import { RatesMarket } from "./rates-market.ts";

interface Priced {
  readonly trade: RatesTrade;
  readonly value: RatesValue;
  readonly method: RatesMethod;
  readonly settings: Settings;
  readonly engine: Engine;
}

/** The result of a trade on rates, without its scenarios. Delta and gamma mean nothing here, and are null. */
export function ratesResult({ trade, value: found, method, settings, engine }: Priced): PricedTrade {
  const all = settings.greeks === "all";
  const { value, theta, vega, rho, errorEstimate, keyRates, parameters, warnings = [] } = found;
  const spread = adjustedSpread(trade);
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
      ...warnings,
      ...(spread === undefined && trade.marketPrice !== undefined ? [NO_SPREAD] : []),
      ...engine.warnings,
    ],
    ...(trade.product.kind === "bond" ? bondFigures(trade.product.bond, value) : {}),
    ...(spread === undefined ? {} : { optionAdjustedSpread: spread }),
    ...(all && keyRates !== undefined ? { keyRates: keyRates.map((one, k): KeyRate => [KEY_TIMES[k], one]) } : {}),
    ...(all && parameters !== undefined ? { parameters } : {}),
  };
}

const NO_SPREAD =
  "the option-adjusted spread of bonds with calls, puts or negative payments is not computed in this version";

/** The option-adjusted spread of a trade with a market price. */
function adjustedSpread({ product, marketPrice, rates }: RatesTrade): number | undefined {
  if (product.kind !== "bond" || marketPrice === undefined) return undefined;
  if (product.calls.length > 0 || product.puts.length > 0) return undefined;
  return spreadOf(product.bond, marketPrice, new RatesMarket(rates));
}

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);
