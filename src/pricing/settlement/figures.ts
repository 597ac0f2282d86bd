/** The sensitivities of options that are paid later, in another currency or on a pair, from those of methods. */
import type {
  AssetSensitivities,
  ExchangeRate,
  PairSensitivity,
  PricedTrade,
  Trade,
  TradeFigures,
} from "../../book/index.ts";
import { discountFactor, integrate, yieldTo } from "../../market/index.ts";
import {
  assetsOf,
  covariancesOf,
  isDriftKept,
  isEarly,
  isOfOneDate,
  isOnPair,
  type Payment,
  type SettledTrade,
} from "./rule.ts";

/** A result as methods give it, with the option in the form that they priced. */
export interface Priced {
  readonly trade: SettledTrade;
  readonly priced: Trade;
  readonly payment: Payment;
  readonly result: PricedTrade;
  /** The derivative by the drift of an option that may be paid early; undefined where others give it. */
  readonly byDrift: number | undefined;
}

/** A move of volatilities or correlations for slopes of covariances, which are smooth: exact to ten digits. */
const STEP = 1e-5;

const times = (factor: number, value: number | null): number | null => (value === null ? null : factor * value);

/** Returns the result of an option from that of its form for methods. */
export function settledResult({ trade, priced, payment, result, byDrift }: Priced): PricedTrade {
  const { settlement, expiry } = trade;
  const factor = payment.factor(0, 0);
  const value = factor * result.value;
  const { rho, theta } = result;
  const isFixed = settlement.fixings !== undefined;
  // The derivative by the drift at unchanged discounting.
  const drift = isFixed
    ? 0
    : isEarly(trade)
      ? times(factor, byDrift ?? null)
      : rho === null
        ? null
        : factor * (rho + expiry * result.value);
  const late = settlement.payment - (isFixed ? 0 : expiry);
  const onRates = rho === null ? null : isFixed ? -settlement.payment * value : factor * rho - late * value;
  // All curves move together: the drift of a pair stays.
  const onAll =
    isDriftKept(trade) && !isFixed ? (drift === null || onRates === null ? null : onRates - drift) : onRates;
  // What is exercised today does not change with time.
  const isExercised = isEarly(trade) && theta === 0;
  const scaled: PricedTrade = {
    ...result,
    ...scaledSensitivities(result, factor),
    underlying: assetsOf(trade)
      .map(({ underlying: { name } }) => name)
      .join(" + "),
    currency: settlement.currency,
    value,
    errorEstimate: factor * result.errorEstimate + earlyError(trade, payment, value),
    delta: isFixed ? times(0, result.delta) : times(factor, result.delta),
    gamma: isFixed ? times(0, result.gamma) : times(factor, result.gamma),
    vega: isFixed ? times(0, result.vega) : times(factor, result.vega),
    theta: theta === null || isExercised ? theta : (isFixed ? 0 : factor * theta) + payment.growth * value,
    rho: onAll,
  };
  if (isFixed) return withoutFactors(scaled);
  if (settlement.conversion !== undefined) return { ...scaled, ...byFactor(trade, priced, scaled, drift) };
  return isOnPair(trade) ? { ...scaled, ...pairFigures(trade, scaled, onRates, drift) } : scaled;
}

/** The sensitivities to several underlyings and to pairs of them, and the errors of all, times a factor. */
function scaledSensitivities(
  { sensitivities, crossGamma, correlation, sensitivityErrorEstimates: errors }: PricedTrade,
  factor: number,
): Partial<PricedTrade> {
  const pairs = (of: readonly PairSensitivity[]): readonly PairSensitivity[] =>
    of.map(([a, b, value]) => [a, b, factor * value]);
  const byName = (of: NonNullable<PricedTrade["sensitivities"]>): NonNullable<PricedTrade["sensitivities"]> =>
    Object.fromEntries(
      Object.entries(of).map(([name, { delta, gamma, vega }]) => [
        name,
        { delta: times(factor, delta), gamma: times(factor, gamma), vega: times(factor, vega) },
      ]),
    );
  return {
    ...(sensitivities === undefined ? {} : { sensitivities: byName(sensitivities) }),
    ...(crossGamma === undefined ? {} : { crossGamma: pairs(crossGamma) }),
    ...(correlation === undefined ? {} : { correlation: pairs(correlation) }),
    ...(errors === undefined
      ? {}
      : {
          sensitivityErrorEstimates: {
            delta: times(factor, errors.delta),
            gamma: times(factor, errors.gamma),
            // These depend on the drift, too, whose error methods do not say.
            theta: null,
            vega: null,
            rho: null,
          },
        }),
  };
}

/** The error of what may be paid early: relative to the value, or to the rebate where only that is. */
export function earlyError(trade: SettledTrade, payment: Payment, value: number): number {
  const { payoff, exercise, barriers, underlying } = trade;
  const rebate = Math.max(0, ...barriers.map((barrier) => barrier.rebate));
  if (payoff.kind !== "swing")
    return payment.error * (exercise.kind === "european" ? rebate : Math.abs(value) + rebate);
  if (payoff.min === 0) return payment.error * Math.abs(value);
  // Obligations may cost what others gain: at most the strike each, or the spot of their date.
  const forwards = payoff.times.map(
    (time) => underlying.spot * Math.exp(integrate(underlying.rates, time) - yieldTo(underlying.dividends, time)),
  );
  const loss = payoff.right === "call" ? payoff.strike : Math.max(...forwards);
  return payment.error * (Math.abs(value) + 2 * payoff.min * loss);
}

/** Sensitivities by risk factor mean nothing for an option whose spots are fixed. */
function withoutFactors(result: PricedTrade): PricedTrade {
  const { sensitivities: _, crossGamma: __, correlation: ___, ...rest } = result;
  return rest;
}

/** The sensitivities to each underlying and each pair of a converted option. */
function byFactor(trade: SettledTrade, priced: Trade, scaled: PricedTrade, drift: number | null): Partial<PricedTrade> {
  const { settlement, expiry } = trade;
  const assets = assetsOf(trade);
  const engine = assetsOf(priced).map(({ underlying: { name, spot } }) => {
    const { delta, gamma, vega } = scaled.sensitivities?.[name] ?? scaled;
    return { spot, delta, gamma, vega };
  });
  const isComposite = settlement.conversion === "composite";
  const isExact = isOfOneDate(trade) || isFlat(trade, priced);
  // ∂V/∂drift of each underlying.
  const drifts = engine.map(({ spot, delta }) =>
    isComposite ? 0 : engine.length === 1 ? drift : isOfOneDate(trade) ? times(expiry * spot, delta) : null,
  );
  const slopes = chain(trade, priced, engine, drifts, scaled, isExact);
  const rows = settlement.correlations.names;
  const sensitivities: Record<string, AssetSensitivities> = {};
  assets.forEach(({ underlying: { name } }, i) => {
    const rate = isComposite ? (settlement.exchange[i]?.rate ?? 1) : 1;
    const { delta, gamma } = engine[i];
    sensitivities[name] = { delta: times(rate, delta), gamma: times(rate * rate, gamma), vega: slopes.vega(i) };
  });
  const pairs = new Map(
    settlement.exchange.flatMap((rate) => (rate === undefined ? [] : [[rate.pair, rate] as const])),
  );
  for (const [name, rate] of pairs)
    sensitivities[name] = {
      // A quanto on the pair itself depends on its spot as on that of any underlying.
      ...(sensitivities[name] ?? byPair(trade, rate, engine, scaled, isComposite)),
      vega: slopes.vega(rate.row),
    };
  const vegas = Object.values(sensitivities).map(({ vega }) => vega);
  const vega = vegas.some((one) => one === null) ? null : vegas.reduce<number>((sum, one) => sum + one!, 0);
  const isOne = assets.length === 1;
  const own = sensitivities[assets[0].underlying.name];
  return {
    ...(isOne ? { delta: own.delta, gamma: own.gamma } : {}),
    vega,
    sensitivities,
    correlation: rows.flatMap((a, i) =>
      rows.slice(i + 1).flatMap((b, k): PairSensitivity[] => {
        const slope = slopes.correlation(i, i + 1 + k);
        return slope === null || slope === 0 ? [] : [[a, b, slope]];
      }),
    ),
    crossGamma: crossGammas(trade, scaled, isComposite),
  };
}

interface Engine {
  readonly spot: number;
  readonly delta: number | null;
  readonly gamma: number | null;
  readonly vega: number | null;
}

/** Delta and gamma by the spot of a pair: of a composite S·X they are those of the spot S·X times S, by dX/dP. */
function byPair(
  trade: SettledTrade,
  { pair, spot, power }: ExchangeRate,
  engine: readonly Engine[],
  scaled: PricedTrade,
  isComposite: boolean,
): Omit<AssetSensitivities, "vega"> {
  if (!isComposite) return { delta: 0, gamma: 0 };
  const on = engine.filter((_, i) => trade.settlement.exchange[i]?.pair === pair);
  const cross = on.length > 1 || (scaled.crossGamma?.length ?? 0) > 0;
  let [delta, gamma]: [number | null, number | null] = [0, 0];
  for (const { spot: product, delta: one, gamma: two } of on) {
    delta = delta === null || one === null ? null : delta + (power * product * one) / spot;
    const bend = power === 1 ? 0 : 2;
    gamma =
      gamma === null || one === null || two === null
        ? null
        : gamma + (product * product * two + bend * product * one) / (spot * spot);
  }
  return { delta, gamma: cross && on.length > 1 ? null : gamma };
}

function crossGammas(trade: SettledTrade, scaled: PricedTrade, isComposite: boolean): readonly PairSensitivity[] {
  const assets = assetsOf(trade);
  if (assets.length === 1) return [];
  const given = scaled.crossGamma ?? [];
  const rateOf = (i: number): number => (isComposite ? (trade.settlement.exchange[i]?.rate ?? 1) : 1);
  const names = assets.map(({ underlying: { name } }) => name);
  const place = (engineName: string): number =>
    names.findIndex((name) => engineName === name || engineName === `${name} in ${trade.settlement.currency}`);
  return given.map(([a, b, value]): PairSensitivity => {
    const [i, j] = [place(a), place(b)];
    return [names[i], names[j], value * rateOf(i) * rateOf(j)];
  });
}

/** Tells whether all volatilities of a converted option are constant until expiry. */
function isFlat(trade: SettledTrade, priced: Trade): boolean {
  const own = [...assetsOf(trade), ...assetsOf(priced)].map(({ volatility }) => volatility);
  const rates = trade.settlement.exchange.flatMap((rate) => (rate === undefined ? [] : [rate.sigma]));
  const sigmas = [...own.flatMap((one) => (one.kind === "deterministic" ? [one.sigma] : [])), ...rates];
  return sigmas.every(({ times: at }) => at.every((time) => time >= trade.expiry));
}

/** The sensitivities to volatilities and correlations, by way of the covariances that methods see. */
function chain(
  trade: SettledTrade,
  priced: Trade,
  engine: readonly Engine[],
  drifts: readonly (number | null)[],
  scaled: PricedTrade,
  isExact: boolean,
) {
  const { expiry } = trade;
  const base = covariancesOf(trade, () => 0);
  const sigmas = assetsOf(priced).map(({ volatility }) =>
    volatility.kind === "deterministic" ? integrate(volatility.sigma, expiry) : Number.NaN,
  );
  const known = new Map((scaled.correlation ?? []).map(([a, b, value]) => [`${a} ${b}`, value] as const));
  const names = assetsOf(priced).map(({ underlying: { name } }) => name);
  const correlationOf = (matrix: readonly (readonly number[])[], i: number, j: number): number =>
    matrix[i][j] / Math.sqrt(matrix[i][i] * matrix[j][j]);
  const slope = (moved: (by: number) => ReturnType<typeof covariancesOf>, isOneSided: boolean): number | null => {
    if (!isExact || !(expiry > 0)) return null;
    const [near, far] = [moved(STEP), moved(isOneSided ? 2 * STEP : -STEP)];
    const by = (of: (c: typeof base) => number): number =>
      (isOneSided ? 4 * of(near) - of(far) - 3 * of(base) : of(near) - of(far)) / (2 * STEP);
    let sum = 0;
    for (const [i, { vega }] of engine.entries()) {
      const drift = drifts[i];
      const byVariance = by(({ matrix }) => matrix[i][i]);
      const byDrift = by((c) => c.drift[i]);
      if ((vega === null && byVariance !== 0) || (drift === null && byDrift !== 0)) return null;
      // By a parallel move of σ the variance rises by 2·∫σ, the mean drift by its integral over the life.
      if (byVariance !== 0) sum += vega! * (sigmas[i] === 0 ? 1 : byVariance / (2 * sigmas[i]));
      if (byDrift !== 0) sum -= (drift! * byDrift) / expiry;
      for (let j = i + 1; j < engine.length; j++) {
        const byCorrelation = by(({ matrix }) => correlationOf(matrix, i, j));
        if (Math.abs(byCorrelation) < 1e-9) continue;
        const own = known.get(`${names[i]} ${names[j]}`);
        if (own === undefined) return null;
        sum += own * byCorrelation;
      }
    }
    return sum;
  };
  return {
    // A volatility is moved upwards: one of zero cannot fall.
    vega: (row: number) => slope((by) => covariancesOf(trade, (one) => (one === row ? by : 0)), true),
    correlation: (a: number, b: number) =>
      slope(
        (by) =>
          covariancesOf(
            trade,
            () => 0,
            (i, j) => ((i === a && j === b) || (i === b && j === a) ? by : 0),
          ),
        false,
      ),
  };
}

/** The figures of an option on a currency pair: forward, premium and deltas of both conventions. */
function pairFigures(
  trade: SettledTrade,
  { value, delta }: PricedTrade,
  rhoDomestic: number | null,
  drift: number | null,
): TradeFigures {
  const { underlying, settlement, expiry, exercise } = trade;
  const { spot, currency, pair } = underlying;
  const { domestic, foreign, lag, base } = pair!;
  const atSpot = discountFactor(domestic, lag);
  const atDelivery = discountFactor(domestic, settlement.payment);
  const forward =
    (spot * discountFactor(foreign, settlement.payment) * atSpot) / (discountFactor(foreign, lag) * atDelivery);
  const premium = { [currency]: value / atSpot, [base]: value / atSpot / spot };
  const adjusted = times(1, delta) === null ? null : delta! - value / spot;
  const toForward = spot / (forward * atDelivery);
  // The drift lasts from the spot date to delivery; methods know it over the life.
  const length = expiry > 0 ? (settlement.payment - lag) / expiry : 0;
  const byForeign = times(-length, drift);
  const byDomestic = rhoDomestic === null || drift === null ? null : rhoDomestic + (length - 1) * drift;
  return {
    fx: {
      forward,
      premium,
      spotDelta: times(1 / atSpot, delta),
      forwardDelta: exercise.kind === "european" ? times(toForward, delta) : null,
      premiumAdjustedSpotDelta: times(1 / atSpot, adjusted),
      premiumAdjustedForwardDelta: exercise.kind === "european" ? times(toForward, adjusted) : null,
      rhoDomestic: byDomestic,
      rhoForeign: byForeign,
      ...secondOrder(trade, forward, atDelivery),
    },
  };
}

/** The derivatives of vega by spot and volatility of a vanilla option, in closed form. */
function secondOrder(
  { payoff, volatility, barriers, exercise, expiry, underlying: { spot } }: Trade,
  forward: number,
  discount: number,
): { readonly vanna?: number; readonly volga?: number } {
  const isVanilla = payoff.kind === "vanilla" && barriers.length === 0 && exercise.kind === "european" && expiry > 0;
  if (!isVanilla || volatility.kind !== "deterministic") return {};
  const { times: at, values } = volatility.sigma;
  const [sigma] = values;
  if (!(sigma > 0) || at.some((time) => time < expiry)) return {};
  const width = sigma * Math.sqrt(expiry);
  const d1 = Math.log(forward / payoff.strike) / width + width / 2;
  const d2 = d1 - width;
  const density = Math.exp(-0.5 * d1 * d1) / Math.sqrt(2 * Math.PI);
  const scale = discount * forward * density;
  return { vanna: (-scale * d2) / (spot * sigma), volga: (scale * Math.sqrt(expiry) * d1 * d2) / sigma };
}
