import { type ConvertibleTrade, labelsOf, type PricedTrade } from "../../book/index.ts";
import {
  accruedInterest,
  closedFormValue,
  covers,
  type ConvertibleMarket,
  type ConvertiblePoint,
} from "../../pde/convertible/index.ts";
import type { Engine } from "../backend.ts";
import { fitDoubts } from "../fit-doubts.ts";
import type { Settings } from "../options.ts";
import { expiryWarnings } from "../unit-warnings.ts";
import type { Estimated } from "./figures.ts";

/**
 * The value and the sensitivities of a convertible today, with error estimates; NaN for a sensitivity that was not
 * requested.
 */
export interface ConvertibleNumbers extends ConvertiblePoint {
  readonly theta: Estimated;
  readonly vega: Estimated;
  readonly rho: Estimated;
  readonly credit: Estimated;
}

interface Priced {
  readonly trade: ConvertibleTrade;
  readonly market: ConvertibleMarket;
  readonly figures: ConvertibleNumbers;
  readonly method: "closed-form" | "fdm";
  readonly warnings: readonly string[];
  readonly settings: Settings;
  readonly engine: Engine;
}

/** Returns the result of a convertible as users see it, without its scenarios. */
export function convertibleResult({ trade, market, figures, method, warnings, settings, engine }: Priced): PricedTrade {
  const { convertible, underlying, credit } = trade;
  const { value, errorEstimate, errors, theta, vega, rho, credit: creditMoved } = figures;
  const accrued = accruedInterest(convertible.coupons, 0, true);
  const ratio = convertible.conversions.find((period) => covers(period, 0, 0))?.ratio;
  const whole = Math.max(0, ...convertible.conversions.map((one) => one.ratio));
  const straight = { ...convertible, conversions: [], calls: [], puts: [] };
  // A hazard rate that depends on the spot leaves the bond without rights no closed form.
  const hasFloor = market.credit.kind !== "hazard" || market.credit.exponent === 0;
  const grid = settings.greeks !== "none";
  return {
    id: trade.id,
    ...labelsOf(trade),
    status: "ok",
    value,
    delta: grid ? finiteOrNull(figures.delta) : null,
    gamma: grid ? finiteOrNull(figures.gamma) : null,
    theta: grid ? finiteOrNull(theta.value) : null,
    vega: finiteOrNull(vega.value),
    rho: finiteOrNull(rho.value),
    errorEstimate,
    ...(settings.sensitivityErrorEstimates && grid
      ? {
          sensitivityErrorEstimates: {
            delta: finiteOrNull(errors.delta),
            gamma: finiteOrNull(errors.gamma),
            theta: finiteOrNull(theta.error),
            vega: finiteOrNull(vega.error),
            rho: finiteOrNull(rho.error),
            creditSensitivity: finiteOrNull(creditMoved.error),
          },
        }
      : {}),
    method,
    precision: "f64",
    // Whatever device was asked for: see `cpuBeside`.
    backend: "cpu",
    warnings: [
      ...fitDoubts(trade),
      ...expiryWarnings(trade.expiry, "rates"),
      ...(credit === undefined ? [`market.credit has no "${underlying.name}": priced without credit risk`] : []),
      ...warnings,
      ...engine.warnings,
    ],
    clean: value - accrued,
    accrued,
    parity: (ratio ?? whole) * underlying.spot,
    ...(hasFloor ? { bondFloor: closedFormValue(straight, market, underlying.spot) } : {}),
    creditSensitivity: finiteOrNull(creditMoved.value),
  };
}

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);
