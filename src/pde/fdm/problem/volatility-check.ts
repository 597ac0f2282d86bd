import { SpecError } from "../../../base/errors.ts";

/**
 * The error of a volatility that is negative, infinite or not a number at a spot and a time where the equation needs
 * it.
 *
 * @example
 * import { VolatilityError } from "feynkac/fdm";
 *
 * const { spot, time, code } = new VolatilityError(-0.1, 80, 0.5);
 * console.log(spot, time, code); // 80 0.5 SPEC
 * @experimental
 */
export class VolatilityError extends SpecError {
  /** The invalid volatility, per √year. */
  readonly volatility: number;
  /** The spot at which it was needed. */
  readonly spot: number;
  /** The time at which it was needed, in years from today. */
  readonly time: number;

  constructor(volatility: number, spot: number, time: number) {
    super(
      `volatility ${volatility} at S = ${spot}, t = ${time}; expected a finite number, 0 or above, ` +
        "at every price and time that the mesh reaches",
    );
    this.volatility = volatility;
    this.spot = spot;
    this.time = time;
  }
}

/**
 * Returns the value σ of a volatility formula after checking it. It is checked before a scenario's shift, which may
 * make it negative: shifted values are bounded below by zero. @throws VolatilityError
 */
export function checkedVolatility(sigma: number, spot: number, time: number): number {
  if (sigma >= 0 && sigma < Number.POSITIVE_INFINITY) return sigma;
  throw new VolatilityError(sigma, spot, time);
}
