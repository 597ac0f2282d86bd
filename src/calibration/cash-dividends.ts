/**
 * Quotes of an underlying with cash dividends, converted to quotes of the martingale of which its spot is an affine
 * function.
 */
import { type AffineSpot, type LocalSurface, rowMean, rowVolatility } from "../market/index.ts";
import { logNormalOption } from "../market/models/index.ts";
import { blackDeviation } from "./implied/volatility.ts";

/** An option by what Black's formula takes. */
interface BlackOption {
  readonly time: number;
  readonly forward: number;
  readonly strike: number;
}

/**
 * Returns the Black volatility at which an out-of-the-money option keeps its price when forward and strike are both
 * lowered by `shift`; NaN if there is none. `implied` is its volatility before.
 */
export function volatilityAtShiftedStrike(
  { time, forward, strike }: BlackOption,
  implied: number,
  shift: number,
): number {
  if (shift === 0) return implied;
  const sign = strike >= forward ? 1 : -1;
  const variance = implied * implied * time;
  const price = logNormalOption(sign > 0 ? "call" : "put", strike, Math.log(forward) - 0.5 * variance, variance);
  const quoted = { forward: forward - shift, strike: strike - shift, price, sign };
  return blackDeviation({ quoted }).deviation / Math.sqrt(time);
}

/** The least volatility of the spot: where its cash dividends are all that it is worth it has none. */
const LEAST = 1e-3;
/** Rows on either side of a dividend, years: σ(S, t) jumps where the cash to come does. */
const BESIDE = 1e-7;
/** Spots below those of X, down to where the dividends are paid. */
const BELOW = 6;

/**
 * Returns the local volatility of the spot S = scale·X + cash, given that of the martingale X (`AffineSpot`): σ_S =
 * σ_X·(S − cash)/S.
 */
export function spotSurfaceOf(surface: LocalSurface, affine: AffineSpot): Omit<LocalSurface, "slopes"> {
  const horizon = surface.times[surface.times.length - 1];
  const dividends = affine.times.filter((time) => time < horizon);
  const times = [...surface.times, ...dividends.flatMap((time) => [time - BESIDE, time + BESIDE])]
    .filter((time) => !dividends.some((dividend) => Math.abs(time - dividend) < 0.5 * BESIDE))
    .sort((a, b) => a - b)
    .filter((time, i, all) => time >= 0 && (i === 0 || time > all[i - 1]));
  const { cash } = affine.at(0);
  const own = surface.spots;
  const [first] = own;
  const below = cash > 0 ? Array.from({ length: BELOW }, (_, i) => first * (1 + cash / first) ** (i / BELOW)) : [];
  const spots = [...below, ...own.map((x) => x + cash)];
  const volatility = times.map((time) => {
    const row = rowMean(surface, time, time);
    const now = affine.at(time);
    return spots.map((spot) => {
      const free = spot - now.cash;
      return free > 0 ? Math.max((rowVolatility(surface, row, free / now.scale) * free) / spot, LEAST) : LEAST;
    });
  });
  return { times, spots, volatility };
}
