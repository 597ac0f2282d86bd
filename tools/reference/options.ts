/** Reference cases of options as books: on currencies, with the foreign rate as yield, and in mid-life. */
import type { Params, Solver } from "./case.ts";
import { priced } from "./desk.ts";

type Fields = Record<string, unknown>;

/** A trade on a spot of 1 currency with a yield. */
interface OnSpot {
  readonly spot: number;
  readonly rate: number;
  readonly dividendYield: number;
  readonly volatility: number;
}

const onCurrency = (p: Params): OnSpot => ({
  spot: p["spot"] as number,
  rate: p["rate_domestic"] as number,
  dividendYield: p["rate_foreign"] as number,
  volatility: p["volatility"] as number,
});

const onShare = (p: Params): OnSpot => ({
  spot: p["spot"] as number,
  rate: p["rate"] as number,
  dividendYield: (p["dividend_yield"] ?? 0) as number,
  volatility: (p["volatility"] ?? 0) as number,
});

/** Returns the results of options on one spot. */
async function optionsOn({ spot, rate, dividendYield, volatility }: OnSpot, trades: readonly Fields[]) {
  return priced({
    asOf: "2026-11-20",
    market: {
      rates: { X: rate },
      underlyings: { S: { spot, currency: "X", dividends: { yield: dividendYield }, volatility } },
    },
    trades: trades.map((trade, k) => ({ id: String(k), underlying: "S", ...trade })),
  });
}

/** Prices options on one spot. */
type Values = (on: OnSpot, trades: readonly Fields[]) => Promise<number[]>;

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

const both = (p: Params, value: number): Fields => ({
  price_domestic: value,
  price_foreign: value / (p["spot"] as number),
});

/** Events of a history that make a barrier breached, and the day of the first. */
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
    const [{ value, delta, gamma, vega, theta, rho }] = await optionsOn(onCurrency(p), [vanilla(p)]);
    const notional = p["notional_foreign"] as number;
    const years = p["maturity"] as number;
    const growth = Math.exp((p["rate_foreign"] as number) * years);
    return {
      forward: spot * Math.exp(((p["rate_domestic"] as number) - (p["rate_foreign"] as number)) * years),
      price_domestic: value,
      price_percent_foreign: value / spot,
      price_percent_domestic: value / strike,
      price_foreign_per_domestic: value / (spot * strike),
      premium_domestic: value * notional,
      premium_foreign: (value * notional) / spot,
      delta_spot: delta,
      gamma,
      vega,
      theta,
      rho_domestic: rho,
      rho_foreign: -years * spot * delta!,
      delta_forward: delta! * growth,
      delta_premium_adjusted_spot: delta! - value / spot,
      delta_premium_adjusted_forward: (delta! - value / spot) * growth,
    };
  },
  fx_digital: estimated(async (p, values) => {
    const [payout, strike] = [p["payout"] as number, p["strike"] as number];
    const right = p["option_type"] as "call" | "put";
    const digital = { payoff: { digital: right, cash: payout }, strike, expiry: p["maturity"] };
    const [cash, option] = await values(onCurrency(p), [digital, vanilla(p)]);
    // A unit of foreign currency in the money is the strike in cash and an option: S·1 = K·1 ± max(±(S − K), 0).
    const isForeign = p["payout_currency"] === "foreign";
    return both(p, isForeign ? strike * cash + (right === "call" ? 1 : -1) * payout * option : cash);
  }),
  fx_barrier: estimated(async (p, values) => {
    const [value] = await values(onCurrency(p), [vanilla(p, { barriers: [barrier(p)] })]);
    return { price_domestic: value };
  }),
  fx_one_touch: estimated(async (p, values) => {
    const level = p["barrier"] as number;
    if (p["payout_currency"] !== "domestic") throw new Error("books have no payment in foreign currency at a touch");
    const touch = {
      payoff: { expression: "0" },
      expiry: p["maturity"],
      barriers: [
        {
          type: outAt(level, p["spot"] as number),
          level,
          rebate: p["payout"],
          rebateAt: p["payment"] === "hit" ? "hit" : "expiry",
        },
      ],
    };
    return both(p, (await values(onCurrency(p), [touch]))[0]);
  }),
  fx_no_touch: estimated(async (p, values) => {
    const level = p["barrier"] as number;
    const untouched = {
      payoff: { expression: String(p["payout"]) },
      expiry: p["maturity"],
      barriers: [{ type: outAt(level, p["spot"] as number), level }],
    };
    return both(p, (await values(onCurrency(p), [untouched]))[0]);
  }),
  fx_double_no_touch: estimated(async (p, values) => {
    const barriers = ["lower_barrier", "upper_barrier"].map((name) => ({
      type: outAt(p[name] as number, p["spot"] as number),
      level: p[name],
    }));
    const untouched = { payoff: { expression: String(p["payout"]) }, expiry: p["maturity"], barriers };
    return both(p, (await values(onCurrency(p), [untouched]))[0]);
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
    const trade = date === undefined ? vanilla(p, { barriers: [barrier(p)] }) : vanilla(p);
    const [value] = state === "knocked_out" ? [0] : await values(onShare(p), [trade]);
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
    if (p["fixing"] !== null || p["settlement_days_from_now"] !== 0 || p["expiry_days_ago"] !== 0)
      throw new Error("books have no settlement after the expiry");
    const [value] = await values({ ...onShare(p), volatility: 0.2 }, [vanilla(p, { expiry: 0 })]);
    return { value, settlement_amount: value };
  }),
};
