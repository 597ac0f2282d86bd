import { labelsOf, type KeyRate, type PricedTrade, type RatesTrade } from "../../book/index.ts";
import type { Engine } from "../backend.ts";
import type { Settings } from "../options.ts";
import { bondFigures } from "./bond-figures.ts";
import { KEY_TIMES } from "./key-rates.ts";
import type { RatesMethod, RatesValue } from "./method.ts";

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
    warnings: [...warnings, ...engine.warnings],
    ...(trade.product.kind === "bond" ? bondFigures(trade.product.bond, value) : {}),
    ...(all && keyRates !== undefined ? { keyRates: keyRates.map((one, k): KeyRate => [KEY_TIMES[k], one]) } : {}),
    ...(all && parameters !== undefined ? { parameters } : {}),
  };
}

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);
