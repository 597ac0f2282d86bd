/** Reference cases of conventions of currency options, computed by `market/fx-smile`. */
import {
  type AtmKind,
  atmStrike,
  type DeltaKind,
  type FxExpiry,
  fxOption,
  type FxRight,
  smilePoints,
  strangleSmile,
  strikeOfDelta,
} from "../../src/market/models/fx-smile.ts";
import type { Params, Solver } from "./case.ts";

const KINDS: readonly DeltaKind[] = ["spot", "forward", "premium-adjusted-spot", "premium-adjusted-forward"];
const nameOf = (kind: string): string => kind.replaceAll("-", "_");
const kindOf = (name: unknown): DeltaKind => (name as string).replaceAll("_", "-") as DeltaKind;

function expiryOf(p: Params): FxExpiry {
  const [spot, years] = [p["spot"] as number, p["maturity"] as number];
  const [rd, rf] = [p["rate_domestic"] as number, p["rate_foreign"] as number];
  const forward = spot * Math.exp((rd - rf) * years);
  return { forward, years, domestic: Math.exp(-rd * years), foreign: Math.exp(-rf * years) };
}

/** Solvers by product. */
export const fx: Readonly<Record<string, Solver>> = {
  fx_strike_from_delta(p) {
    const [at, sigma] = [expiryOf(p), p["volatility"] as number];
    const strikes = (kind: DeltaKind): number[] =>
      (p["deltas"] as number[]).map((delta) => strikeOfDelta(Math.sign(delta) as FxRight, delta, sigma, at, kind));
    const atm = (kind: DeltaKind) =>
      Object.fromEntries(
        (["forward", "delta-neutral-straddle"] as const).map((name) => [
          nameOf(name),
          atmStrike(sigma, at, name, kind),
        ]),
      );
    return {
      strikes: Object.fromEntries(KINDS.map((kind) => [nameOf(kind), strikes(kind)])),
      atm_strikes: Object.fromEntries(KINDS.map((kind) => [nameOf(kind), atm(kind)])),
    };
  },
  fx_smile_strikes_simple(p) {
    const wings = [25, 10].flatMap((delta) =>
      p[`risk_reversal_${delta}`] === undefined
        ? []
        : [
            {
              delta: delta / 100,
              riskReversal: p[`risk_reversal_${delta}`] as number,
              strangle: p[`smile_strangle_${delta}`] as number,
            },
          ],
    );
    const quotes = {
      atm: p["atm_volatility"] as number,
      wings,
      kind: kindOf(p["delta_type"]),
      atmKind: kindOf(p["atm_type"]) as AtmKind,
    };
    const points = smilePoints(quotes, expiryOf(p));
    const names = [
      ...wings.map(({ delta }) => `put_${100 * delta}`).reverse(),
      "atm",
      ...wings.map(({ delta }) => `call_${100 * delta}`),
    ];
    return {
      volatilities: Object.fromEntries(points.map(({ volatility }, k) => [names[k], volatility])),
      strikes: Object.fromEntries(points.map(({ strike }, k) => [names[k], strike])),
    };
  },
  fx_smile_market_strangle(p) {
    const wing = {
      delta: 0.25,
      riskReversal: p["risk_reversal_25"] as number,
      strangle: p["market_strangle_25"] as number,
    };
    const quotes = {
      atm: p["atm_volatility"] as number,
      wings: [wing],
      kind: kindOf(p["delta_type"]),
      atmKind: kindOf(p["atm_type"]) as AtmKind,
    };
    const { points, polynomial, strangle, market } = strangleSmile(quotes, expiryOf(p));
    const [put, atm, call] = points;
    return {
      market_strangle_volatility: market.volatility,
      market_strangle_strikes: { put: market.put, call: market.call },
      market_strangle_price: market.value,
      atm_strike: atm.strike,
      smile_strangle: strangle,
      smile_strikes: { put_25: put.strike, call_25: call.strike },
      smile_volatilities: { put_25: put.volatility, call_25: call.volatility },
      polynomial,
    };
  },
  fx_vanna_volga_vanilla(p) {
    const at = expiryOf(p);
    const sigma = p["reference_volatility"] as number;
    const value = (strike: number, volatility: number): number => fxOption(1, strike, volatility, at);
    const [strikes, volatilities] = [p["pillar_strikes"] as number[], p["pillar_volatilities"] as number[]];
    const strike = p["strike"] as number;
    // The weights of Castagna and Mercurio (2007), in closed form.
    const vega = (k: number): number =>
      Math.sqrt(k) * Math.exp(-(Math.log(at.forward / k) ** 2) / (2 * sigma * sigma * at.years));
    const weights = strikes.map((k, i) => {
      const others = strikes.filter((_, j) => j !== i);
      const share = others.reduce((all, other) => all * (Math.log(strike / other) / Math.log(k / other)), 1);
      return (vega(strike) / vega(k)) * share;
    });
    const call = weights.reduce(
      (sum, w, i) => sum + w * (value(strikes[i], volatilities[i]) - value(strikes[i], sigma)),
      value(strike, sigma),
    );
    let [low, high] = [1e-4, 5];
    for (let step = 0; step < 200; step++) {
      const middle = (low + high) / 2;
      if (value(strike, middle) < call) low = middle;
      else high = middle;
    }
    const right = p["option_type"] === "call" ? 0 : at.domestic * (strike - at.forward);
    return { weights, price: call + right, implied_volatility: (low + high) / 2 };
  },
};
