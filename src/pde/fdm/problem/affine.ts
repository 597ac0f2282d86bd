import { SpecError } from "../../../base/errors.ts";

/** A dividend on one date: the spot S falls by S·proportional + cash. @experimental */
export interface PaidDividend {
  /** The time in years from today, > 0. */
  readonly time: number;
  /** An amount; 0 by default. */
  readonly cash?: number;
  /** A fraction of the spot; 0 by default. */
  readonly proportional?: number;
}

/**
 * The settings of `affineDividends`: the spot, constant rates, and dividends whose present value is less than the spot.
 * @experimental
 */
export interface AffineSpec {
  /** The spot today, > 0. */
  readonly spot: number;
  /** The rate per year, continuously compounded. */
  readonly rate: number;
  /** The dividend yield per year, continuously compounded; 0 by default. */
  readonly dividendYield?: number;
  /**
   * The dividends in any order. All of them are subtracted from the forward, including those after expiry, so leave out
   * those that should not be.
   */
  readonly dividends: readonly PaidDividend[];
}

/**
 * The coordinate in which dividends cause no jumps (Bühler 2010; Egloff 2010, eqs 6–14):
 *
 *   x = (S − D)/(F − D),   S(t, x) = R(t)·(s·x + A(t)),   F − D = s·R(t),   D = R(t)·A(t),
 *
 * for dividends αᵢ + βᵢ·S at τᵢ. R(t) = e^{(r−q)t}·Π_{τᵢ≤t}(1 − βᵢ) is the growth of the spot, A(t) = Σ_{τᵢ>t} αᵢ/R(τᵢ)
 * are the dividends still to be paid, and s = S(0) − A(0). F is the forward, and x is a martingale that starts at 1, so
 * its equation has no drift: V_t + XX·V_xx − rV = 0.
 *
 * The methods that take or return text use the formulas of `solve`, with an axis named x and the time t. `dates`
 * returns the dividend dates as a condition, so that the time grid has steps that end there.
 * @experimental
 */
export interface AffineCoordinate {
  /** The scale s·R(0) = s: ∂V/∂S = ∂V/∂x / scale. */
  readonly scale: number;
  /** Returns the forward F(t); on a dividend's date it is the one after the dividend. */
  forward(t: number): number;
  /** Returns D(t), the value at t of the dividends after t. */
  floor(t: number): number;
  /** Returns S(t, x). */
  spotAt(t: number, x: number): number;
  /**
   * Returns the coordinate x of a spot at time t. For a formula of the parameters ("K") it returns the formula of x,
   * for use as an end or a point of the axis.
   */
  coordinateAt(t: number, spot: number): number;
  coordinateAt(t: number, spot: string): string;
  /**
   * Converts a formula in S and t, such as a payoff or a volatility, to one in x and t. On a dividend's date S is the
   * spot after it. S is never below zero in the result.
   */
  inSpot(formula: string): string;
  /**
   * Returns the coefficient xx of the equation, as a formula in x and t, for a volatility of S given as a formula in S
   * and t: ½(σ(t, S)·S/(F − D))², and zero where S ≤ 0 (Egloff's eq. 11).
   */
  diffusion(volatility: string): string;
  /**
   * The coordinate x of S = 0 today, a good lower end of the axis: x below 0 means a spot below the present value of
   * its dividends.
   */
  readonly lowest: number;
  /**
   * Returns the dividend dates inside (0, `expiry`) as a condition of `solve`, in an array that is empty if there are
   * none. The time grid restarts at each of them. A spot too low to pay a dividend is zero from then on, where V is
   * `value`, a formula in t. `early` adds a time just before each date, at which a right may be exercised that is worth
   * less after the dividend.
   */
  dates(expiry: number, value: string, early?: "early"): DatesCondition[];
}

/** A condition of `solve` made by `AffineCoordinate.dates`. @experimental */
export interface DatesCondition {
  readonly kind: "knock-out";
  /** The coordinate x at and below which V is `value`, as a formula. */
  readonly below: string;
  /** The value V where a spot is too low to pay a dividend, as a formula in t. */
  readonly value: string;
  /** The dates in years from today. */
  readonly at: readonly number[];
}

/** A moment, as a part of the life. */
const MOMENT = 1e-6;

interface Dated {
  readonly time: number;
  readonly keep: number;
  /** αᵢ/R(τᵢ). */
  readonly worth: number;
}

/**
 * Returns the affine coordinate of a spot with discrete dividends, for `solve`. docs/pde.md shows a whole problem.
 *
 * Verified: test/pde/fdm/affine, against Black's formula in x, the reference cases of Bühler's model and of the spot
 * model, and jump conditions.
 *
 * @param spec spot, rate, yield (per year) and dividends (times in years).
 * @throws SpecError if a number is missing, if the dividends are worth as much as the spot, or if one takes all of it.
 * @example
 * import { affineDividends } from "feynkac/fdm";
 *
 * const x = affineDividends({ spot: 100, rate: 0.03, dividends: [{ time: 0.5, cash: 2 }] });
 * console.log(x.forward(1).toFixed(4), x.spotAt(0, 1).toFixed(4), x.scale.toFixed(4)); // 101.0152 100.0000 98.0298
 * @experimental
 */
export function affineDividends(spec: AffineSpec): AffineCoordinate {
  const { spot } = spec;
  const carry = spec.rate - (spec.dividendYield ?? 0);
  if (!(spot > 0) || !Number.isFinite(carry))
    throw new SpecError(`spot and rates: got ${spot} and ${carry}, expected a spot above 0 and finite rates`);
  const dated = datedDividends(spec.dividends, carry);
  const paid = dated.reduce((sum, { worth }) => sum + worth, 0);
  const scale = spot - paid;
  if (!(scale > 0))
    throw new SpecError(
      `dividends: worth ${paid} together, as much as the spot, ${spot}; leave out those after expiry, or let the spot jump on their dates`,
    );
  const growth = (t: number): number =>
    dated.reduce((product, { time, keep }) => (time <= t ? product * keep : product), Math.exp(carry * t));
  const owed = (t: number): number => dated.reduce((sum, { time, worth }) => (time > t ? sum + worth : sum), 0);
  const spotAt = (t: number, x: number): number => growth(t) * (scale * x + owed(t));
  function coordinateAt(t: number, price: number): number;
  function coordinateAt(t: number, price: string): string;
  function coordinateAt(t: number, price: number | string): number | string {
    if (typeof price === "number") return (price / growth(t) - owed(t)) / scale;
    return `((${price})/${growth(t)} - ${owed(t)})/${scale}`;
  }
  const inSpot = (text: string): string => text.replaceAll(/(?<![\w.])S(?!\w)/g, `(${spotText(dated, carry, scale)})`);
  return {
    scale,
    forward: (t) => spotAt(t, 1),
    floor: (t) => growth(t) * owed(t),
    spotAt,
    coordinateAt,
    inSpot,
    diffusion: (volatility) => `0.5*((${inSpot(volatility)})*max(x + ${owedText(dated, scale)}, 0))^2`,
    lowest: -owed(0) / scale,
    dates(expiry, value, early) {
      const moments = (time: number): number[] => (early === undefined ? [time] : [time - MOMENT * expiry, time]);
      const at = dated.flatMap(({ time }) => (time < expiry ? moments(time) : [])).filter((time) => time > 0);
      return at.length === 0 ? [] : [{ kind: "knock-out", at, below: `-(${owedText(dated, scale)})`, value }];
    },
  };
}

/** The dividends by date, with what each is worth today, in units of the growth. @throws SpecError */
function datedDividends(dividends: readonly PaidDividend[], carry: number): readonly Dated[] {
  let kept = 1;
  return dividends
    .map(({ time, cash = 0, proportional = 0 }, i) => {
      if (!(time > 0 && time < Infinity && cash >= 0 && cash < Infinity && proportional >= 0 && proportional < 1))
        throw new SpecError(
          `dividends[${i}]: got time ${time}, cash ${cash}, proportional ${proportional}; expected a time above 0, cash from 0 on, and a part from 0 to below 1`,
        );
      return { time, cash, keep: 1 - proportional };
    })
    .sort((a, b) => a.time - b.time)
    .map(({ time, cash, keep }) => {
      kept *= keep;
      return { time, keep, worth: cash / (kept * Math.exp(carry * time)) };
    });
}

/** A(t)/s. */
function owedText(dated: readonly Dated[], scale: number): string {
  const terms = dated.filter(({ worth }) => worth > 0).map(({ time, worth }) => `(t < ${time} ? ${worth / scale} : 0)`);
  return terms.length === 0 ? "0" : terms.join(" + ");
}

function spotText(dated: readonly Dated[], carry: number, scale: number): string {
  const kept = dated
    .filter(({ keep }) => keep < 1)
    .map(({ time, keep }) => `*(t < ${time} ? 1 : ${keep})`)
    .join("");
  return `${scale}*exp(${carry}*t)${kept}*max(x + ${owedText(dated, scale)}, 0)`;
}
