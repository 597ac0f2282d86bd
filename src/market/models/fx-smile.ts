/**
 * Conventions of currency options: deltas, the strikes that have them, and smiles that are quoted by them (Reiswich and
 * Wystup, *FX volatility smile construction*, 2010). Spot and strikes: domestic for one of foreign currency.
 */
import { SpecError } from "../../base/errors.ts";
import { logNormalOption } from "./log-normal.ts";
import { hostNormalCdf } from "./normal.ts";

/** The delta that a market quotes: of the spot or of the forward, and less the premium where it is paid in foreign. */
export type DeltaKind = "spot" | "forward" | "premium-adjusted-spot" | "premium-adjusted-forward";

/**
 * The definition of the strike at the money: the forward, or the strike at which the deltas of call and put add up to
 * zero.
 */
export type AtmKind = "forward" | "delta-neutral-straddle";

/**
 * The market data that all options of one expiry share: the forward, the years, and the discount factors of both
 * currencies.
 */
export interface FxExpiry {
  readonly forward: number;
  readonly years: number;
  readonly domestic: number;
  readonly foreign: number;
}

/** The right of a currency option: +1 for a call on the foreign currency, −1 for a put. */
export type FxRight = 1 | -1;

const isAdjusted = (kind: DeltaKind): boolean => kind.startsWith("premium");
const ofSpot = (kind: DeltaKind): boolean => kind.endsWith("spot");

/** Returns the delta of a currency option, of the given kind. */
export function fxDelta(right: FxRight, strike: number, sigma: number, at: FxExpiry, kind: DeltaKind): number {
  const width = sigma * Math.sqrt(at.years);
  const d = Math.log(at.forward / strike) / width + (isAdjusted(kind) ? -0.5 : 0.5) * width;
  const adjusted = isAdjusted(kind) ? strike / at.forward : 1;
  return right * (ofSpot(kind) ? at.foreign : 1) * adjusted * hostNormalCdf(right * d);
}

/** Returns the value of an option on one unit of foreign currency, in domestic currency. */
export function fxOption(
  right: FxRight,
  strike: number,
  sigma: number,
  { forward, years, domestic }: FxExpiry,
): number {
  const variance = sigma * sigma * years;
  return domestic * logNormalOption(right === 1 ? "call" : "put", strike, Math.log(forward) - 0.5 * variance, variance);
}

/** Returns the strike at the money. */
export function atmStrike(sigma: number, { forward, years }: FxExpiry, atm: AtmKind, kind: DeltaKind): number {
  if (atm === "forward") return forward;
  return forward * Math.exp(((isAdjusted(kind) ? -1 : 1) * sigma * sigma * years) / 2);
}

/**
 * Returns the strike of an option with a delta. The premium-adjusted delta of a call rises and falls with the strike:
 * of its two strikes the larger one is meant.
 *
 * @throws SpecError for a delta that no strike has
 */
export function strikeOfDelta(right: FxRight, delta: number, sigma: number, at: FxExpiry, kind: DeltaKind): number {
  const width = sigma * Math.sqrt(at.years);
  const target = Math.abs(delta);
  // ln(K/F) from one end, at which |delta| is larger, to the other, at which it is smaller.
  const size = (x: number): number => Math.abs(fxDelta(right, at.forward * Math.exp(x), sigma, at, kind));
  const far = width * (40 + width);
  const start = right === 1 && isAdjusted(kind) ? largestAt(size, -far, far) : right * -far;
  let [inside, outside] = [start, right * far];
  if (!(target > 0 && target < size(inside)))
    throw new SpecError(`delta ${delta}: no strike has it; expected one below ${size(inside)}`);
  for (let step = 0; step < 200 && Math.abs(outside - inside) > 1e-16 * width; step++) {
    const middle = (inside + outside) / 2;
    if (middle === inside || middle === outside) break;
    if (size(middle) > target) inside = middle;
    else outside = middle;
  }
  return at.forward * Math.exp((inside + outside) / 2);
}

/** Returns where a function with one maximum is largest, by golden sections. */
function largestAt(f: (x: number) => number, from: number, to: number): number {
  const golden = (Math.sqrt(5) - 1) / 2;
  let [a, b] = [from, to];
  for (let step = 0; step < 120; step++) {
    const [x, y] = [b - golden * (b - a), a + golden * (b - a)];
    if (f(x) > f(y)) b = y;
    else a = x;
  }
  return (a + b) / 2;
}

/**
 * The quotes of one expiry: the volatility at the money, and the risk reversal (call less put) and the strangle at each
 * quoted delta.
 */
export interface FxQuotes {
  readonly atm: number;
  readonly wings: readonly { readonly delta: number; readonly riskReversal: number; readonly strangle: number }[];
  readonly kind: DeltaKind;
  readonly atmKind: AtmKind;
}

/** A volatility of a smile at its strike. */
export interface FxPoint {
  readonly strike: number;
  readonly volatility: number;
}

/**
 * Returns the points of a smile in the order of strikes: puts, at the money, calls. A quoted strangle is taken as the
 * mean volatility of call and put above that at the money.
 */
export function smilePoints({ atm, wings, kind, atmKind }: FxQuotes, at: FxExpiry): FxPoint[] {
  const point = (right: FxRight, { delta, riskReversal, strangle }: FxQuotes["wings"][number]): FxPoint => {
    const volatility = atm + strangle + (right * riskReversal) / 2;
    return { strike: strikeOfDelta(right, delta, volatility, at, kind), volatility };
  };
  const points = [
    ...wings.map((wing) => point(-1, wing)),
    { strike: atmStrike(atm, at, atmKind, kind), volatility: atm },
    ...wings.map((wing) => point(1, wing)),
  ];
  return points.sort((a, b) => a.strike - b.strike);
}

/** A smile by a market strangle: its points, and the volatility as a polynomial of ln(K/F). */
export interface StrangleSmile {
  readonly points: readonly FxPoint[];
  readonly polynomial: readonly [number, number, number];
  /** The mean volatility of call and put less that at the money. */
  readonly strangle: number;
  readonly market: { readonly volatility: number; readonly put: number; readonly call: number; readonly value: number };
}

/**
 * Returns the smile that reproduces a market strangle. The strangle is quoted as one volatility, which gives the
 * strikes of a call and a put with the quoted delta. On the smile these two options together cost the same as at that
 * one volatility.
 *
 * @throws SpecError where no smile does
 */
export function strangleSmile(quotes: FxQuotes, at: FxExpiry): StrangleSmile {
  const { atm, kind, wings } = quotes;
  const [{ delta, riskReversal, strangle: quoted }] = wings;
  const volatility = atm + quoted;
  const [put, call] = ([-1, 1] as const).map((right) => strikeOfDelta(right, delta, volatility, at, kind));
  const value = fxOption(-1, put, volatility, at) + fxOption(1, call, volatility, at);
  const smile = (strangle: number) => {
    const points = smilePoints({ ...quotes, wings: [{ delta, riskReversal, strangle }] }, at);
    const polynomial = parabola(
      points.map((point) => [Math.log(point.strike / at.forward), point.volatility] as const),
    );
    const sigma = (strike: number): number => {
      const x = Math.log(strike / at.forward);
      return polynomial[0] + x * (polynomial[1] + x * polynomial[2]);
    };
    return { points, polynomial, off: fxOption(-1, put, sigma(put), at) + fxOption(1, call, sigma(call), at) - value };
  };
  let [before, strangle] = [quoted, quoted * 1.05 + 1e-5];
  let [last, now] = [smile(before), smile(strangle)];
  for (let step = 0; step < 60 && now.off !== last.off && Math.abs(now.off) > 1e-16 * value; step++) {
    const next = strangle - (now.off * (strangle - before)) / (now.off - last.off);
    [before, strangle] = [strangle, next];
    [last, now] = [now, smile(strangle)];
  }
  if (!(Math.abs(now.off) < 1e-10 * value))
    throw new SpecError(
      `strangle ${quoted}: no smile through these quotes prices it; look at the risk reversal beside it`,
    );
  const { points, polynomial } = now;
  return { points, polynomial, strangle, market: { volatility, put, call, value } };
}

/** Returns the coefficients of the parabola through three points. */
function parabola(points: readonly (readonly [number, number])[]): [number, number, number] {
  const [[a, u], [b, v], [c, w]] = points;
  const first = (v - u) / (b - a);
  const second = ((w - v) / (c - b) - first) / (c - a);
  return [u - a * first + a * b * second, first - (a + b) * second, second];
}
