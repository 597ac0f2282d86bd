/**
 * The one rule by which an option that is paid later, in another currency or on a currency pair becomes one that
 * methods price: drift, volatility and correlations of its underlyings in the measure of the payment's currency.
 *
 *   pair        drift of S = domestic − foreign forward rate, from the spot date to the delivery
 *   quanto      drift of S = r_S − q − ρ·σ_S·σ_X with the exchange rate X in units of the payment for one of S's
 *   composite   S·X in the place of S: drift r − q, and the covariances of ln S + ln X
 *   yield by time   rates less what the yield changes by, and a constant yield
 *
 * Methods discount as they drift, at r′. What is paid at τ for an option that expires at T is therefore multiplied by
 * exp(∫₀ᵀ r′ − ∫₀^τ r) with the forward rates r of the payment's currency. Early exercise and rebates at a breach are
 * discounted at r′ until then: r′ and the yield are moved together such that r′ has the mean of r, and what is left of
 * the difference bounds the error.
 */
import { BookError, SpecError } from "../../base/errors.ts";
import type { ExchangeRate, Settlement, Trade, TradeAsset } from "../../book/index.ts";
import {
  combined,
  constant,
  type ForwardCurve,
  integrate,
  integratedProduct,
  type PiecewiseConstant,
  ratesLessYields,
  shifted,
  shiftedSigma,
  type Underlying,
  valueAt,
} from "../../market/index.ts";

/** An option with a settlement of its own. */
export type SettledTrade = Trade & { readonly settlement: Settlement };

/** Moves of the market that change drift or covariances. */
export interface Moves {
  /** The move of all volatilities, exchange rates included. */
  readonly volatility: number;
  /** The move of all curves. */
  readonly rate: number;
  /** The move of the yield alone. */
  readonly yield: number;
}

/** The market as it is. */
export const UNMOVED: Moves = { volatility: 0, rate: 0, yield: 0 };

/** Returns the underlyings of a trade. */
export const assetsOf = ({ assets, underlying, volatility }: Trade): readonly TradeAsset[] =>
  assets ?? [{ underlying, volatility }];

/** Tells whether an option may be paid before its expiry. */
export const isEarly = ({ exercise, payoff, barriers }: Trade): boolean =>
  exercise.kind !== "european" || payoff.kind === "swing" || barriers.some(isPaidAtHit);

const isPaidAtHit = ({ type, rebate, rebateAt }: Trade["barriers"][number]): boolean =>
  type.endsWith("-out") && rebate > 0 && rebateAt === "hit";

/** Tells whether the payoff depends on the spots at expiry alone. */
export const isOfOneDate = ({ exercise, payoff, barriers }: Trade): boolean =>
  exercise.kind === "european" && barriers.length === 0 && !["average", "lookback", "swing"].includes(payoff.kind);

/** Tells whether an option is on a currency pair, and not converted to a third currency. */
export const isOnPair = ({ underlying, assets, settlement }: SettledTrade): boolean =>
  assets === undefined && underlying.pair !== undefined && settlement.conversion === undefined;

/** Tells whether the drift stays where all curves move together: that of a currency pair is a difference of two. */
export const isDriftKept = ({ underlying, assets }: Pick<Trade, "underlying" | "assets">): boolean =>
  assets === undefined && underlying.pair !== undefined;

/** Tells whether a function is constant until a time. */
const isConstantTo = ({ times, values }: PiecewiseConstant, end: number): boolean =>
  values.every((value, i) => value === values[0] || (times[i - 1] ?? 0) >= end);

/** The volatility of an underlying or a pair that payments in another currency take. */
function sigmaOf({ underlying: { name }, volatility }: TradeAsset): PiecewiseConstant {
  if (volatility.kind === "deterministic") return volatility.sigma;
  throw new SpecError(`the volatility of ${name} depends on its spot, which payments in another currency do not take`);
}

/** The covariances of a conversion: those of the underlyings, and those with the exchange rates that move drifts. */
export interface Covariances {
  /** ∫cov(i, j) dt of the converted underlyings. */
  readonly matrix: readonly (readonly number[])[];
  /** ∫ρ·σ_S·σ_X dt of each underlying of a quanto; 0 of a composite. */
  readonly drift: readonly number[];
}

/**
 * Returns the covariances of an option until expiry. `moved` is added to the volatility of the risk factor with a row
 * among the correlations, and `moveOf` to the correlation of two.
 */
export function covariancesOf(
  trade: SettledTrade,
  moved: (row: number) => number,
  moveOf: (a: number, b: number) => number = () => 0,
): Covariances {
  const { settlement, expiry } = trade;
  const assets = assetsOf(trade);
  const isComposite = settlement.conversion === "composite";
  const { matrix } = settlement.correlations;
  const own = assets.map((asset, i) => ({ row: i, power: 1, sigma: shiftedSigma(sigmaOf(asset), moved(i)) }));
  const rates = assets.map((_, i) => {
    const rate = settlement.exchange[i];
    return rate && { row: rate.row, power: rate.power, sigma: shiftedSigma(rate.sigma, moved(rate.row)) };
  });
  type Factor = (typeof own)[number];
  const between = (a: Factor, b: Factor): number => {
    const rho = a.row === b.row ? 1 : matrix[a.row][b.row] + moveOf(a.row, b.row);
    return a.power * b.power * rho * integratedProduct(a.sigma, b.sigma, expiry);
  };
  const factors = assets.map((_, i) => {
    const rate = rates[i];
    return isComposite && rate !== undefined ? [own[i], rate] : [own[i]];
  });
  const sum = (a: readonly Factor[], b: readonly Factor[]): number =>
    a.reduce((all, one) => b.reduce((part, other) => part + between(one, other), all), 0);
  return {
    matrix: factors.map((a) => factors.map((b) => sum(a, b))),
    drift: assets.map((_, i) => {
      const rate = rates[i];
      return isComposite || rate === undefined ? 0 : between(own[i], rate);
    }),
  };
}

/** Returns the name that a converted underlying has among those of its batch. */
const convertedName = ({ name }: Underlying, { currency }: Settlement): string => `${name} in ${currency}`;

/** Returns the option as methods price it. @throws BookError for volatilities or curves that it does not take */
export function priceable(trade: SettledTrade, moves: Moves): Trade {
  const { settlement: _, ...rest } = trade;
  if (trade.settlement.fixings !== undefined) return fixed(trade, rest);
  const own = trade.assets === undefined ? onOne(trade, moves) : onSeveral(trade, moves);
  return { ...rest, ...own };
}

function fixed({ settlement: { fixings = [] } }: SettledTrade, rest: Trade): Trade {
  const at = (of: Underlying, i: number): Underlying => ({ ...of, spot: fixings[i] });
  const { underlying, assets } = rest;
  return {
    ...rest,
    underlying: at(underlying, 0),
    ...(assets === undefined
      ? {}
      : { assets: assets.map((asset, i) => ({ ...asset, underlying: at(asset.underlying, i) })) }),
  };
}

type OnUnderlyings = Pick<Trade, "underlying" | "volatility" | "assets" | "correlations">;

function onOne(trade: SettledTrade, moves: Moves): OnUnderlyings {
  const { volatility, settlement } = trade;
  const underlying = withConstantYield(trade.underlying);
  const [rate] = settlement.exchange;
  const more = isDriftKept(trade) ? moves.rate : 0;
  if (settlement.conversion === undefined || rate === undefined) {
    // Paid in its own currency.
    const rates = underlying.pair === undefined ? underlying.rates : toDelivery(underlying, trade);
    return { underlying: discounted({ ...underlying, rates }, trade, moves, more), volatility };
  }
  const name = convertedName(underlying, settlement);
  const [own, other] = [sigmaOf(trade), rate.sigma].map((sigma) => shiftedSigma(sigma, moves.volatility));
  const rho = rate.power * settlement.correlations.matrix[0][rate.row];
  if (settlement.conversion === "quanto") {
    const adjusted = combined(own, other, (a, b) => -rho * a * b);
    const rates = combined(underlying.rates, adjusted, (r, by) => r + by);
    return {
      underlying: discounted({ ...underlying, name, rates }, trade, moves, more),
      volatility: { kind: "deterministic", sigma: own },
    };
  }
  const sigma = combined(own, other, (a, b) => Math.sqrt(Math.max(a * a + b * b + 2 * rho * a * b, 0)));
  const rates = ratesLessYields(settlement.discount, trade.underlying.dividends);
  return {
    underlying: discounted({ ...converted(underlying, rate), name, rates }, trade, moves, 0),
    volatility: { kind: "deterministic", sigma },
  };
}

/** An underlying with the same drift whose yield is constant. */
function withConstantYield(underlying: Underlying): Underlying {
  const { rates, dividends } = underlying;
  if (dividends.excess === undefined) return underlying;
  return {
    ...underlying,
    rates: ratesLessYields(rates, dividends),
    dividends: { ...dividends, excess: undefined },
  };
}

/** An underlying at the exchange rate of each day. */
function converted(underlying: Underlying, { rate }: ExchangeRate): Underlying {
  if (underlying.dividends.discrete.some(({ cash }) => cash > 0))
    throw new SpecError(
      `${underlying.name} has cash dividends, whose size in another currency is not known; write them proportional, ` +
        'or pay the trade as a "quanto"',
    );
  return { ...underlying, spot: underlying.spot * rate };
}

/** Returns rates that give the forward rate for the delivery. */
function toDelivery(underlying: Underlying, { settlement, expiry }: SettledTrade): ForwardCurve {
  const { pair, rates, dividends } = underlying;
  if (!(expiry > 0)) return rates;
  const { domestic, foreign, lag } = pair!;
  const over = (curve: ForwardCurve): number => integrate(curve, settlement.payment) - integrate(curve, lag);
  const missing = over(domestic) - over(foreign) - (integrate(rates, expiry) - dividends.yield * expiry);
  const by = missing / expiry;
  return Math.abs(by) < 1e-15 ? rates : { ...rates, ...shifted(rates, by) };
}

/**
 * Moves rates and yield together such that what may be paid early is discounted as in the payment's currency; `more` is
 * the move of that currency's rates which the rates do not have.
 */
function discounted(underlying: Underlying, trade: SettledTrade, moves: Moves, more: number): Underlying {
  const { dividends, rates } = underlying;
  const { expiry, settlement } = trade;
  const isMoved = isEarly(trade) && expiry > 0;
  const mean = isMoved ? (integrate(settlement.discount, expiry) - integrate(rates, expiry)) / expiry + more : 0;
  const by = Math.abs(mean) < 1e-15 ? 0 : mean;
  if (by === 0 && moves.yield === 0) return underlying;
  return {
    ...underlying,
    rates: by === 0 ? rates : { ...rates, ...shifted(rates, by) },
    dividends: { ...dividends, yield: dividends.yield + by + moves.yield },
  };
}

/** Several underlyings share rates: each has its drift by its yield, which is constant. */
function onSeveral(trade: SettledTrade, moves: Moves): OnUnderlyings {
  const { settlement, expiry, correlations } = trade;
  const assets = assetsOf(trade);
  const { discount, conversion } = settlement;
  const life = Math.max(expiry, 1e-9);
  const drifts = assets.map(({ underlying: { rates, dividends } }) =>
    combined(discount, ratesLessYields(conversion === "quanto" ? rates : discount, dividends), (r, own) => r - own),
  );
  const isOfForwards =
    isOfOneDate(trade) && assets.every(({ underlying }) => underlying.dividends.discrete.length === 0);
  if (conversion === undefined) {
    const isFree = isOfForwards && assets.every(({ volatility }) => volatility.kind === "deterministic");
    if (!isFree && !drifts.every((one) => isConstantTo(one, expiry)))
      throw new BookError(
        "",
        "its underlyings have yields by time; several of them with dividends on dates, volatilities that depend on " +
          'their spots, or a payoff of more than the last date take constant yields: write it as a "script"',
      );
    const own = assets.map(({ underlying, volatility }, i): TradeAsset => {
      const { dividends } = underlying;
      const mean = dividends.yield + integrate(drifts[i], life) / life + moves.yield;
      return { underlying: { ...underlying, dividends: { ...dividends, yield: mean, excess: undefined } }, volatility };
    });
    return { underlying: own[0].underlying, volatility: own[0].volatility, assets: own };
  }
  const curves = assets.flatMap((asset, i) => {
    const rate = settlement.exchange[i];
    return [sigmaOf(asset), ...(rate === undefined ? [] : [rate.sigma])];
  });
  if (![...curves, ...drifts].every((one) => isConstantTo(one, expiry)) && !isOfForwards)
    throw new BookError(
      "",
      "paid in another currency, several underlyings with dividends on dates, or whose path counts, need flat " +
        "volatilities and yields, and rates of their currencies that differ by a constant",
    );
  const { matrix, drift } = covariancesOf(trade, () => moves.volatility);
  const moved = assets.map(({ underlying }, i): TradeAsset => {
    const rate = settlement.exchange[i];
    const own = conversion === "composite" && rate !== undefined ? converted(underlying, rate) : underlying;
    const slower = (integrate(drifts[i], life) + drift[i]) / life;
    const dividends = { ...own.dividends, yield: own.dividends.yield + slower + moves.yield, excess: undefined };
    return {
      underlying: {
        ...own,
        name: convertedName(own, settlement),
        currency: settlement.currency,
        rates: discount,
        dividends,
      },
      volatility: { kind: "deterministic", sigma: constant(Math.sqrt(matrix[i][i] / life)) },
    };
  });
  const scaled = matrix.map((row, i) =>
    row.map((value, j) =>
      i === j || matrix[i][i] * matrix[j][j] === 0 ? Number(i === j) : value / Math.sqrt(matrix[i][i] * matrix[j][j]),
    ),
  );
  const names = moved.map(({ underlying: { name } }) => name);
  return {
    underlying: moved[0].underlying,
    volatility: moved[0].volatility,
    assets: moved,
    correlations: { names, matrix: scaled, assumed: correlations?.assumed ?? [] },
  };
}

/** How much more or less an option is worth than methods say. */
export class Payment {
  readonly #trade: SettledTrade;
  readonly #rates: ForwardCurve;
  readonly #isEarly: boolean;
  readonly #isDriftKept: boolean;

  constructor(trade: SettledTrade, priced: Trade) {
    this.#trade = trade;
    this.#rates = priced.underlying.rates;
    this.#isEarly = isEarly(trade);
    this.#isDriftKept = isDriftKept(trade);
  }

  /** Returns the factor of values at a time, in years, with all curves moved by `rate`. */
  factor(years: number, rate: number): number {
    const { settlement, expiry } = this.#trade;
    const { discount, payment, units, fixings } = settlement;
    const from = Math.min(years, payment);
    const owed = integrate(discount, payment) - integrate(discount, from) + rate * (payment - from);
    if (fixings !== undefined) return units * Math.exp(-owed);
    if (this.#isEarly) {
      const late = integrate(discount, payment) - integrate(discount, expiry) + rate * (payment - expiry);
      return units * Math.exp(-late);
    }
    const moved = this.#isDriftKept ? 0 : rate;
    const grown = integrate(this.#rates, expiry) - integrate(this.#rates, years) + moved * (expiry - years);
    return units * Math.exp(grown - owed);
  }

  /** Returns what theta lacks, as a part of the value. */
  get growth(): number {
    const { settlement } = this.#trade;
    if (settlement.fixings !== undefined) return valueAt(settlement.discount, 0);
    return valueAt(settlement.discount, 0) - valueAt(this.#rates, 0);
  }

  /**
   * Returns the largest relative error of early payments, which are discounted at other rates than those of the
   * currency. @throws BookError for a formula that may be exercised early, whose sign is not known
   */
  get error(): number {
    const { settlement, expiry, payoff, exercise } = this.#trade;
    if (!this.#isEarly || settlement.fixings !== undefined) return 0;
    const { discount, payment } = settlement;
    const times = [...discount.times, ...this.#rates.times].filter((time) => time < expiry);
    const late = payment - expiry;
    const lateAt = (t: number): number => integrate(discount, t + late) - integrate(discount, t);
    const offAt = (t: number): number =>
      Math.abs(integrate(this.#rates, t) - integrate(discount, t)) + Math.abs(lateAt(t) - lateAt(expiry));
    const off = Math.max(0, offAt(0), ...times.map(offAt));
    const bound = Math.expm1(off);
    if (bound > 1e-9 && payoff.kind === "expression" && exercise.kind !== "european")
      throw new BookError(
        "",
        "a formula that may be exercised early and is paid at other rates than it drifts: not priced in this version; " +
          "give its currencies flat rates, or write the payoff as a call or put",
      );
    return bound;
  }
}
