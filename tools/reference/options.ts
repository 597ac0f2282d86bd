/** Reference cases of options as books: on currencies, with the foreign rate as yield, and in mid-life. */
import { dayOf, isoOf } from "../../src/market/conventions/index.ts";
import type { Params, Solver } from "./case.ts";
import { priced } from "./desk.ts";

type Fields = Record<string, unknown>;

/** The market of a case, with the underlying S. */
type Market = Fields;

const AS_OF = "2026-11-20";

/** The market of a currency pair: EUR in USD, with the spot for today unless it has a date. */
const onCurrency = (p: Params, date: number | string = AS_OF): Market => ({
  rates: { USD: p["rate_domestic"], EUR: p["rate_foreign"] },
  fx: { EURUSD: { rate: p["spot"], date } },
  underlyings: { S: { fx: "EURUSD", volatility: p["volatility"] } },
});

const onShare = (p: Params): Market => ({
  rates: { X: p["rate"] },
  underlyings: {
    S: {
      spot: p["spot"],
      currency: "X",
      dividends: { yield: p["dividend_yield"] ?? 0 },
      volatility: p["volatility"] ?? 0.2,
    },
  },
});

/** The market of a share in USD that is paid in EUR, with EUR for a dollar as the pair. */
const onForeignShare = (p: Params): Market => ({
  rates: { EUR: p["rate_domestic"], USD: p["rate_of_underlying_currency"] },
  fx: { USDEUR: { rate: p["spot_fx"], date: AS_OF } },
  underlyings: {
    S: {
      spot: p["spot"],
      currency: "USD",
      dividends: { yield: p["dividend_yield"] },
      volatility: p["volatility"],
    },
    USDEUR: { fx: "USDEUR", volatility: p["fx_volatility"] },
  },
  correlations: [["S", "USDEUR", p["correlation"]]],
});

/** Returns the results of options on S. */
const optionsOn = (market: Market, trades: readonly Fields[]) =>
  priced({ asOf: AS_OF, market, trades: trades.map((trade, k) => ({ id: String(k), underlying: "S", ...trade })) });

/** Prices options on S. */
type Values = (on: Market, trades: readonly Fields[]) => Promise<number[]>;

/** A solver whose `allowance` is the largest error estimate of the values that it asks for. */
const estimated =
  (solve: (p: Params, values: Values) => Promise<Fields>): Solver =>
  async (p) => {
    let allowance = 0;
    const fields = await solve(p, async (on, trades) => {
      const results = await optionsOn(on, trades);
      allowance = Math.max(allowance, ...results.map(({ errorEstimate }) => errorEstimate));
      return results.map(({ value }) => value);
    });
    return { ...fields, allowance };
  };

const vanilla = (p: Params, more: Fields = {}): Fields => ({
  payoff: p["option_type"],
  strike: p["strike"],
  expiry: p["maturity"],
  ...more,
});

const isIn = (p: Params): boolean => (p["barrier_type"] as string).endsWith("_in");

/** A barrier; the rebate of one that is breached is paid at once unless the case says otherwise. */
const barrier = (p: Params): Fields => ({
  type: (p["barrier_type"] as string).replace("_", "-and-"),
  level: p["barrier"],
  rebate: p["rebate"] ?? 0,
  rebateAt: isIn(p) || p["rebate_payment_of_out_option"] === "at_expiry" ? "expiry" : "hit",
});

/** The type of a knock-out at a level. */
const outAt = (level: number, spot: number): string => (level > spot ? "up-and-out" : "down-and-out");

/** The currency of what a payoff pays. */
const inCurrency = (p: Params): Fields => (p["payout_currency"] === "foreign" ? { currency: "EUR" } : {});

const both = (p: Params, value: number): Fields => ({
  price_domestic: value,
  price_foreign: value / (p["spot"] as number),
});

/** The day of a history on which a barrier was breached first. */
function breached(p: Params): string | undefined {
  const [isUp, level] = [(p["barrier_type"] as string).startsWith("up"), p["barrier"] as number];
  const byClose = (p["monitoring"] as string).startsWith("close");
  const days = p["history"] as readonly Record<"date" | "low" | "high" | "close", never>[];
  return days.find((day) => {
    const seen: number = byClose ? day.close : isUp ? day.high : day.low;
    return isUp ? seen >= level : seen <= level;
  })?.date;
}

const fixingsOf = (p: Params, kind: "arithmetic" | "geometric"): Fields => {
  const past = p["past_fixings"] as number[];
  const sum = past.reduce((all, one) => all + (kind === "geometric" ? Math.log(one) : one), 0) / past.length;
  const times = p["future_fixing_times"] as number[];
  return {
    payoff: p["option_type"],
    strike: p["strike"],
    expiry: times.at(-1),
    average: { kind, dates: times, past: { count: past.length, mean: kind === "geometric" ? Math.exp(sum) : sum } },
  };
};

const asian = (kind: "arithmetic" | "geometric"): Solver =>
  estimated(async (p, values) => ({ price: (await values(onShare(p), [fixingsOf(p, kind)]))[0] }));

const lookback = (strike: "floating" | "fixed"): Solver =>
  estimated(async (p, values) => {
    const { strike: _, ...terms } = vanilla(p);
    const own = { strike, extremum: p["running_extreme"], monitoring: "continuous" };
    const trade = { ...terms, ...(strike === "fixed" ? { strike: p["strike"] } : {}), lookback: own };
    return { price: (await values(onShare(p), [trade]))[0] };
  });

/** Solvers by product. */
export const options: Readonly<Record<string, Solver>> = {
  async fx_vanilla(p) {
    const [spot, strike] = [p["spot"] as number, p["strike"] as number];
    const [{ value, gamma, vega, theta, fx }] = await optionsOn(onCurrency(p), [vanilla(p)]);
    const notional = p["notional_foreign"] as number;
    return {
      forward: fx!.forward,
      price_domestic: value,
      price_percent_foreign: value / spot,
      price_percent_domestic: value / strike,
      price_foreign_per_domestic: value / (spot * strike),
      premium_domestic: value * notional,
      premium_foreign: fx!.premium["EUR"] * notional,
      delta_spot: fx!.spotDelta,
      gamma,
      vega,
      theta,
      rho_domestic: fx!.rhoDomestic,
      rho_foreign: fx!.rhoForeign,
      delta_forward: fx!.forwardDelta,
      delta_premium_adjusted_spot: fx!.premiumAdjustedSpotDelta,
      delta_premium_adjusted_forward: fx!.premiumAdjustedForwardDelta,
      vanna: fx!.vanna,
      volga: fx!.volga,
    };
  },
  async fx_vanilla_with_delivery(p) {
    const days = (name: string): number => (p[name] as number) / 365;
    const market = onCurrency(p, days("spot_lag_days"));
    const trade = { ...vanilla(p), expiry: days("expiry_days"), payment: days("delivery_days") };
    const [{ value, fx }] = await optionsOn(market, [trade]);
    return {
      forward: fx!.forward,
      npv_domestic: value,
      premium_at_spot_date: fx!.premium["USD"],
      delta_spot_at_spot_date: fx!.spotDelta,
    };
  },
  quanto_option: estimated(async (p, values) => {
    const rate = p["fixed_fx_rate"] as number;
    const quanto = { currency: "EUR", rate };
    const strike = p["strike"] as number;
    const terms = { expiry: p["maturity"], quanto };
    // A forward contract is the formula S − K; what it pays for a strike of 0 is the quanto forward, discounted.
    const [price, contract, forward] = await values(onForeignShare(p), [
      { ...vanilla(p), quanto },
      { ...terms, payoff: { expression: `S - ${strike}` } },
      { ...terms, payoff: { expression: "S" } },
    ]);
    const [plain] = await optionsOn(onForeignShare(p), [{ expiry: p["maturity"], payoff: { expression: "S" } }]);
    const years = p["maturity"] as number;
    const grown = (name: string): number => Math.exp((p[name] as number) * years);
    return {
      price_domestic: price,
      quanto_forward_contract_domestic: contract,
      quanto_forward: (forward / rate) * grown("rate_domestic"),
      forward: plain.value * grown("rate_of_underlying_currency"),
    };
  }),
  async composite_option(p) {
    const trade = { ...vanilla(p), strike: p["strike_domestic"], composite: "EUR" };
    const [{ value, sensitivities }] = await optionsOn(onForeignShare(p), [trade]);
    // The slope by the volatility of the share is vega times (σ_S + ρ·σ_X)/σ.
    const [own, other, rho] = ["volatility", "fx_volatility", "correlation"].map((name) => p[name] as number);
    const vegas = [sensitivities!["S"].vega!, sensitivities!["USDEUR"].vega!];
    const ratio = vegas[0] / vegas[1] / ((own + rho * other) / (other + rho * own));
    return {
      price_domestic: value,
      composite_volatility:
        Math.abs(ratio - 1) < 1e-8 ? Math.sqrt(own * own + other * other + 2 * rho * own * other) : NaN,
    };
  },
  fx_digital: estimated(async (p, values) => {
    const right = p["option_type"] as "call" | "put";
    const payoff = { digital: right, cash: p["payout"], ...inCurrency(p) };
    return both(p, (await values(onCurrency(p), [{ payoff, strike: p["strike"], expiry: p["maturity"] }]))[0]);
  }),
  fx_barrier: estimated(async (p, values) => {
    const [value] = await values(onCurrency(p), [vanilla(p, { barriers: [barrier(p)] })]);
    return { price_domestic: value };
  }),
  fx_one_touch: estimated(async (p, values) => {
    const payoff = { touch: p["barrier"], cash: p["payout"], at: p["payment"], ...inCurrency(p) };
    return both(p, (await values(onCurrency(p), [{ payoff, expiry: p["maturity"] }]))[0]);
  }),
  fx_no_touch: estimated(async (p, values) => {
    const payoff = { noTouch: p["barrier"], cash: p["payout"], ...inCurrency(p) };
    return both(p, (await values(onCurrency(p), [{ payoff, expiry: p["maturity"] }]))[0]);
  }),
  fx_double_no_touch: estimated(async (p, values) => {
    const payoff = { noTouch: [p["lower_barrier"], p["upper_barrier"]], cash: p["payout"], ...inCurrency(p) };
    return both(p, (await values(onCurrency(p), [{ payoff, expiry: p["maturity"] }]))[0]);
  }),
  fx_double_knock_out: estimated(async (p, values) => {
    const barriers = ["lower_barrier", "upper_barrier"].map((name) => ({
      type: outAt(p[name] as number, p["spot"] as number),
      level: p[name],
    }));
    return { price_domestic: (await values(onCurrency(p), [vanilla(p, { barriers })]))[0] };
  }),
  fx_american: estimated(async (p, values) => {
    const trades = [vanilla(p, { exercise: "american" }), vanilla(p)];
    const [american, european] = await values(onCurrency(p), trades);
    return { price_domestic: american, european_price_domestic: european };
  }),
  asian_arithmetic_seasoned: asian("arithmetic"),
  asian_geometric_seasoned: asian("geometric"),
  lookback_floating_seasoned: lookback("floating"),
  lookback_fixed_seasoned: lookback("fixed"),
  barrier_with_history: estimated(async (p, values) => {
    const date = breached(p);
    const state = date === undefined ? "alive" : isIn(p) ? "knocked_in" : "knocked_out";
    const past = date === undefined ? {} : { breached: date };
    const [value] = await values(onShare(p), [vanilla(p, { barriers: [{ ...barrier(p), ...past }] })]);
    return { price: value, event_date: date ?? null, state };
  }),
  barrier_discrete_one_date_left: estimated(async (p, values) => {
    const dates = (p["monitoring_days_left"] as number[]).map((days) => days / 365);
    const [value] = await values(onShare(p), [vanilla(p, { barriers: [{ ...barrier(p), monitoring: dates }] })]);
    return { price: value };
  }),
  forward_start_after_reset: estimated(async (p, values) => {
    const strike = (p["moneyness"] as number) * (p["spot_at_reset"] as number);
    const [price] = await values(onShare(p), [vanilla(p, { strike })]);
    return { strike, price };
  }),
  option_on_expiry_date: estimated(async (p, values) => {
    const [ago, due] = ["expiry_days_ago", "settlement_days_from_now"].map((name) => p[name] as number);
    const date = isoOf(dayOf(AS_OF) - ago);
    const paid = isoOf(dayOf(AS_OF) + due);
    const fixing = p["fixing"] as number | null;
    const strike = p["strike"] as number;
    const side = p["option_type"] === "call" ? ">" : "<";
    const isEqualPaid = p["tie_rule"] === "greater_or_equal" ? "=" : "";
    const payoff =
      p["payoff"] === "digital"
        ? {
            payoff: {
              expression: `S ${side}${isEqualPaid} ${strike} ? ${(p["payout"] ?? 1) as number} : 0`,
              kinks: [strike],
            },
          }
        : { payoff: p["option_type"], strike };
    const trade = { ...payoff, expiry: date, ...(due === 0 ? {} : { payment: paid }) };
    if (fixing !== null && due <= 0) return { value: 0, settlement_amount: null };
    const market = { ...onShare(p), ...(fixing === null ? {} : { fixings: { S: { [date]: fixing } } }) };
    const [value] = await values(market, [trade]);
    const growth = Math.exp(((p["rate"] as number) * due) / 365);
    return { value, settlement_amount: value * growth };
  }),
  async variance_swap_seasoned(p) {
    const closes = p["past_closes"] as number[];
    const [returns, annualisation] = [p["number_of_returns"] as number, p["annualisation"] as number];
    const [rate, sigma] = [p["rate"] as number, p["implied_variance_volatility"] as number];
    const maturity = (p["payment_days"] as number) / 365;
    const last = closes.length - 1;
    const past = closes.slice(1).map((_, k) => isoOf(dayOf(AS_OF) - last + 1 + k));
    const next = Array.from({ length: returns - last }, (_, k) => (k + 1) / annualisation);
    // The case neglects the drift of the logarithm, which this yield takes away.
    const yields = rate - 0.5 * sigma * sigma;
    const market = {
      ...onShare({ rate, spot: closes[last], dividend_yield: yields, volatility: sigma }),
      fixings: { S: Object.fromEntries(past.map((date, k) => [date, closes[k + 1]])) },
    };
    const trade = (fixings: unknown, count: number, strike: number, notional: number): Fields => ({
      script: "varianceSwap",
      initial: closes[0],
      data: { notional, fixings, returns: count, annualisation, strike, maturity },
    });
    const [swap, realised] = await optionsOn(market, [
      trade([...past, ...next], returns, p["strike_volatility"] as number, p["variance_notional"] as number),
      trade(past, last, 0, 1),
    ]);
    const discount = Math.exp(-rate * maturity);
    const per = (p["variance_notional"] as number) * discount;
    return {
      realised_volatility_to_date: Math.sqrt(realised.value / discount),
      expected_variance: swap.value / per + (p["strike_volatility"] as number) ** 2,
      value: swap.value,
      allowance: { expected_variance: swap.errorEstimate / per, value: swap.errorEstimate },
    };
  },
  range_accrual_seasoned: estimated(async (p, values) => {
    // Each day to come pays its part of the coupon between the levels, all of them on the payment day.
    const days = p["future_observation_days"] as number[];
    const [inside, outside] = [p["past_days_in_range"] as number, p["past_days_out_of_range"] as number];
    const each = (p["coupon_amount"] as number) / (inside + outside + days.length);
    const payment = (p["payment_days"] as number) / 365;
    const trade = (level: unknown, day: number): Fields => ({
      payoff: { digital: "call", cash: each },
      strike: level,
      expiry: day / 365,
      payment,
    });
    const low = days.map((day) => trade(p["lower"], day));
    const high = days.map((day) => trade(p["upper"], day));
    const paid = { payoff: { expression: String(each * inside) }, expiry: payment };
    const all = await values(onShare(p), [...low, ...high, paid]);
    const sum = (of: readonly number[]): number => of.reduce((total, one) => total + one, 0);
    const future = sum(all.slice(0, days.length)) - sum(all.slice(days.length, -1));
    const discount = Math.exp(-(p["rate"] as number) * payment);
    return { price: future + all.at(-1)!, expected_future_days: future / discount / each };
  }),
};
