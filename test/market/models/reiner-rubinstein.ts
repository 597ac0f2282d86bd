import { bool, fn, real } from "../../../src/kernel/index.ts";

/**
 * A European call or put with one barrier that is watched continuously for its whole life, constant coefficients
 * (Reiner & Rubinstein 1991; the notation A … F is Haug's, 2007, ch. 4.17):
 *
 *   knock-out: what A … D give of the payoff, by reflection at the barrier, and F, the rebate paid when it is hit (or
 *   at expiry);
 *   knock-in: the rest of the payoff, and E, the rebate paid at expiry if it never is.
 *
 * `spot` on the living side of `level`; volatility and expiry > 0; μ² + 2r/σ² ≥ 0, which only very negative rates
 * break. In prices of today. Verified: test/market/models/reiner-rubinstein, against the 40-digit values of
 * test/fixtures/reference/barrier-single.
 */
export const reinerRubinstein = fn({
  name: "reinerRubinstein",
  params: [real, real, real, real, real, real, real, real, bool, bool, bool, bool],
  body([spot, strike, level, rebate, rate, dividendYield, volatility, expiry, call, up, out, atExpiry], gpu) {
    const phi = call ? 1.0 : -1.0;
    const eta = up ? -1.0 : 1.0;
    const deviation = volatility * Math.sqrt(expiry);
    const mu = (rate - dividendYield) / (volatility * volatility) - 0.5;
    const lambda = Math.sqrt(mu * mu + (2 * rate) / (volatility * volatility));
    const logLevel = Math.log(level / spot);
    const shift = (1 + mu) * deviation;
    const x1 = Math.log(spot / strike) / deviation + shift;
    const x2 = -logLevel / deviation + shift;
    const y1 = (2 * logLevel + Math.log(spot / strike)) / deviation + shift;
    const y2 = logLevel / deviation + shift;
    const z = logLevel / deviation + lambda * deviation;
    const reflected = Math.exp(2 * mu * logLevel);
    const reflectedSpot = reflected * (level / spot) * (level / spot);
    const asset = phi * spot * Math.exp(-dividendYield * expiry);
    const discount = Math.exp(-rate * expiry);
    const bond = phi * strike * discount;
    const A = asset * gpu.normalCdf(phi * x1) - bond * gpu.normalCdf(phi * (x1 - deviation));
    const B = asset * gpu.normalCdf(phi * x2) - bond * gpu.normalCdf(phi * (x2 - deviation));
    const C =
      asset * reflectedSpot * gpu.normalCdf(eta * y1) - bond * reflected * gpu.normalCdf(eta * (y1 - deviation));
    const D =
      asset * reflectedSpot * gpu.normalCdf(eta * y2) - bond * reflected * gpu.normalCdf(eta * (y2 - deviation));
    const E =
      rebate * discount * (gpu.normalCdf(eta * (x2 - deviation)) - reflected * gpu.normalCdf(eta * (y2 - deviation)));
    const F =
      rebate *
      (Math.exp((mu + lambda) * logLevel) * gpu.normalCdf(eta * z) +
        Math.exp((mu - lambda) * logLevel) * gpu.normalCdf(eta * (z - 2 * lambda * deviation)));
    // The payoff of the knock-out, by whether the strike is where the trade is alive.
    const alive = up ? strike < level : strike > level;
    const towards = call === up;
    let knockOut = 0.0;
    if (alive && towards) knockOut = A - B + C - D;
    if (alive && !towards) knockOut = A - C;
    if (!alive && !towards) knockOut = B - D;
    const paid = atExpiry ? rebate * discount - E : F;
    return out ? knockOut + paid : A - knockOut + E;
  },
});
