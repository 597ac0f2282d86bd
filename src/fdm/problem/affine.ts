import { SpecError } from "../../errors.ts";

/** A dividend on one date, > 0 years from today: the spot falls by S·proportional + cash; each 0 unless given. */
export interface PaidDividend {
  readonly time: number;
  readonly cash?: number;
  readonly proportional?: number;
}

export interface AffineSpec {
  /** Today's, > 0. */
  readonly spot: number;
  /** Continuously compounded. */
  readonly rate: number;
  /** 0 unless given. */
  readonly dividendYield?: number;
  /** In any order. All of them count, those after expiry, too: leave out what is not to. */
  readonly dividends: readonly PaidDividend[];
}

/**
 * The coordinate in which dividends leave no jumps (Bühler 2010; Egloff 2010, eqs 6–14):
 *
 *   x = (S − D)/(F − D),   S(t, x) = R(t)·(s·x + A(t)),   F − D = s·R(t),   D = R(t)·A(t),
 *
 * with dividends αᵢ + βᵢ·S at τᵢ, the growth R(t) = e^{(r−q)t}·Π_{τᵢ≤t}(1 − βᵢ), what is still to be paid A(t) = Σ_{τᵢ>t} αᵢ/R(τᵢ), and s the
 * spot less all of it. F is the forward, and x a martingale from 1 on, without drift: V_t + XX·V_xx − rV = 0.
 *
 * Formulas are those of `solve`: an axis x, and t. `conditions` has the dates, which the time grid wants as lines.
 */
export interface AffineCoordinate {
  /** s·R(0) = s, by which a derivative in S is one in x. */
  readonly scale: number;
  /** F(t), on a dividend's date after it. */
  forward(t: number): number;
  /** D(t), the worth of the dividends after t, at t. */
  floor(t: number): number;
  /** S(t, x). */
  spotAt(t: number, x: number): number;
  /** x of a spot at t; of a formula of parameters ("K") the formula for it, for ends and points of the axis. */
  coordinateAt(t: number, spot: number): number;
  coordinateAt(t: number, spot: string): string;
  /**
   * A formula in S and t as one in x and t: payoffs, volatilities. On a dividend's date S is the spot after it; it is never below zero.
   */
  inSpot(formula: string): string;
  /** The coefficient xx of a volatility of S, a formula in S and t: ½(σ(t, S)·S/(F − D))², none at S ≤ 0 (Egloff's eq. 11). */
  diffusion(volatility: string): string;
  /** x of S = 0 today, the lowest there is: the spot may fall below what is still to be paid. */
  readonly lowest: number;
  /**
   * The dates inside (0, `expiry`) as a condition, none if there are none: the time grid begins anew there, and a spot that cannot pay a dividend
   * is zero from then on, V = `value`, a formula in t. `early` adds a moment before each, at which a right may be used that is worth less after it.
   */
  dates(expiry: number, value: string, early?: "early"): DatesCondition[];
}

export interface DatesCondition {
  readonly kind: "knock-out";
  readonly below: string;
  readonly value: string;
  readonly at: readonly number[];
}

/** As a part of the life. */
const MOMENT = 1e-6;

interface Dated {
  readonly time: number;
  readonly keep: number;
  /** αᵢ/R(τᵢ). */
  readonly worth: number;
}

/**
 * Verified: test/fdm/affine, against Black's formula on x, the reference cases of Bühler's and of the spot model, and jump conditions.
 * @throws SpecError no number where one belongs; dividends worth as much as the spot, or one that takes all of it
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

/** By date, with what each is worth today, in units of the growth. @throws SpecError */
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
