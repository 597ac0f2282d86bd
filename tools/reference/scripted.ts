/** Reference cases of structured products as books: scripts of the library, and scripts of their own. */
import type { Params, Solver } from "./case.ts";
import { priced } from "./desk.ts";

type Fields = Record<string, unknown>;
type Curve = number | { readonly times: readonly number[]; readonly values: readonly number[] };

const NONE = 1e9;

/** The integral of a piecewise constant function to each of its times. */
function integrals({ times, values }: Exclude<Curve, number>, of = (x: number): number => x): readonly number[] {
  let sum = 0;
  return times.map((time, k) => (sum += of(values[k]) * (time - (k === 0 ? 0 : times[k - 1]))));
}

function rateOf(rate: Curve): unknown {
  if (typeof rate === "number") return rate;
  return integrals(rate).map((sum, k) => ({ date: rate.times[k], zero: sum / rate.times[k] }));
}

function volatilityOf(model: Params, asset: Params): unknown {
  switch (model["type"]) {
    case "black_scholes": {
      const sigma = asset["volatility"] as Curve;
      if (typeof sigma === "number") return sigma;
      const sums = integrals(sigma, (x) => x * x);
      return {
        termStructure: sums.map((sum, k) => ({ date: sigma.times[k], volatility: Math.sqrt(sum / sigma.times[k]) })),
      };
    }
    case "heston": {
      const { v0, kappa, theta, xi, rho } = asset;
      return { heston: { v0, kappa, theta, sigma: xi, rho } };
    }
    case "local_volatility": {
      const of = model["local_volatility"] as Readonly<Record<string, any>>;
      return of["form"] === "tanh_skew"
        ? {
            local: `${of["level"]} - ${of["slope"]}*tanh(${of["steepness"]}*log(S/${of["reference"]})) + (${of["time_slope"]})*t`,
          }
        : { local: `${of["a"]}*(S/${of["reference"]})^(${of["beta"] - 1})*exp(-${of["decay"]}*t) + ${of["shift"]}` };
    }
    default:
      throw new Error(`books have no model ${String(model["type"])}`);
  }
}

/** The assets of a case, named A1, A2 … in the market, and their currency X. */
function assetsOf(model: Params): Fields {
  const assets = model["assets"] as readonly Params[];
  const underlyings = assets.map((asset, i) => {
    const dividends = { yield: rateOf(asset["dividend_yield"] as Curve) };
    return [`A${i + 1}`, { spot: asset["spot"], currency: "X", dividends, volatility: volatilityOf(model, asset) }];
  });
  return { rates: { X: rateOf(model["rate"] as Curve) }, underlyings: Object.fromEntries(underlyings) };
}

/** A share in dollars, and the dollar in euros, which is domestic. */
function quantoOf({ assets, rate_domestic, rate_foreign }: any): Fields {
  const [{ spot, dividend_yield, volatility }, rate] = assets;
  return {
    rates: { EUR: rate_domestic, USD: rate_foreign },
    fx: { USDEUR: { rate: rate.spot, date: AS_OF } },
    underlyings: {
      A1: { spot, currency: "USD", dividends: { yield: dividend_yield }, volatility },
      USDEUR: { fx: "USDEUR", volatility: rate.volatility },
    },
  };
}

const AS_OF = "2026-11-20";

/** Prices a trade on the assets of a case. */
async function priceOf(p: Params, trade: Fields): Promise<Fields> {
  const model = p["model"] as Params;
  const isQuanto = model["type"] === "black_scholes_quanto";
  const market = isQuanto ? quantoOf(model) : assetsOf(model);
  const assets = model["assets"] as readonly Params[];
  const names = Object.keys(market["underlyings"] as Fields);
  const correlation = (model["correlation"] ?? []) as readonly (readonly number[])[];
  const correlations = names.flatMap((a, i) => names.slice(i + 1).map((b, k) => [a, b, correlation[i][i + 1 + k]]));
  const own = isQuanto ? { underlying: "A1", currency: "EUR" } : { underlyings: names };
  const book = { asOf: AS_OF, market: { ...market, correlations }, trades: [{ id: "1", ...own, ...trade }] };
  const [result] = await priced(book, { sensitivityErrorEstimates: true });
  const errors = result.sensitivityErrorEstimates!;
  const each = (name: "delta" | "vega", of: typeof errors | typeof result): readonly number[] =>
    names.map((asset) => (of.sensitivities?.[asset] ?? of)[name] as number);
  // The volatility of Heston's model moves by that of its variance today.
  const root = 2 * Math.sqrt((assets[0]["v0"] as number | undefined) ?? 1);
  return {
    price: result.value,
    delta: each("delta", result),
    vega: each("vega", result),
    d_price_d_v0: each("vega", result).map((vega) => vega / root),
    allowance: {
      price: result.errorEstimate,
      delta: Math.max(...each("delta", errors)),
      vega: Math.max(...each("vega", errors)),
      d_price_d_v0: Math.max(...each("vega", errors)) / root,
    },
  };
}

/** A solver that prices the trade of a case's terms. */
const solved =
  (tradeOf: (terms: any, p: Params) => Fields): Solver =>
  (p) =>
    priceOf(p, tradeOf(p["terms"], p));

const later = (dates: readonly number[], lag = 0): readonly number[] => dates.map((date) => date + lag);

function phoenix(terms: any): Fields {
  const dates = terms.observation_dates as readonly number[];
  const tie = terms.autocall_tie === ">" ? ">" : ">=";
  return {
    script: {
      state: { unpaid: "missed", knockedIn: terms.ki_already === true },
      events: [
        { on: "knockInDates", do: "if (worst < knockIn) knockedIn = true" },
        {
          on: "observations",
          do: `
            unpaid += coupons
            if (worst >= couponBarriers) pay(notional * unpaid, { on: payments })
            if (worst >= couponBarriers || memory < 0.5) unpaid = 0
            if (worst ${tie} callBarriers) { pay(notional * (1 + premiums), { on: payments }); stop() }`,
        },
        {
          on: "maturity",
          do: "pay(notional * (knockedIn && worst < putStrike ? worst / putStrike : 1), { on: redemption })",
        },
      ],
    },
    initial: terms.initial_fixings,
    data: {
      notional: terms.notional,
      observations: dates,
      payments: later(dates, terms.payment_lag),
      coupons: terms.coupons,
      couponBarriers: terms.coupon_barriers,
      callBarriers: terms.autocall_barriers,
      premiums: terms.autocall_premium,
      memory: terms.memory ? 1 : 0,
      missed: terms.unpaid_memory ?? 0,
      knockInDates: terms.knock_in_dates,
      knockIn: terms.knock_in_level,
      putStrike: terms.put_strike,
      maturity: dates.at(-1),
      redemption: dates.at(-1)! + (terms.payment_lag ?? 0),
    },
  };
}

/** An autocallable without coupons is the library's. */
function autocallable(terms: any): Fields {
  const isPlain = terms.coupons.every((coupon: number) => coupon === 0) && !(terms.payment_lag > 0);
  if (!isPlain || terms.autocall_tie === ">" || terms.ki_already === true) return phoenix(terms);
  const dates = terms.observation_dates;
  return {
    script: "autocallable",
    initial: terms.initial_fixings,
    data: {
      notional: terms.notional,
      observations: dates,
      barriers: terms.autocall_barriers,
      premiums: terms.autocall_premium,
      knockInDates: terms.knock_in_dates,
      knockIn: terms.knock_in_level,
      putStrike: terms.put_strike,
      maturity: dates.at(-1),
    },
  };
}

/** Swaps of variance and volatility by the library, but for corridors of the fixing at the end of a return. */
function variance(terms: any): Fields {
  const [lower, upper] = terms.corridor ?? [0, NONE];
  const endsInside = terms.corridor_fixing?.startsWith("current") === true;
  const isCorridor = (terms.corridor ?? undefined) !== undefined;
  const isRoot = terms.payoff === "volatility";
  const ofEnds = {
    state: { squares: "past", inside: "counted" },
    events: [
      {
        on: "fixings",
        do: "if (S >= lower && S <= upper) { squares += log(S / last)^2; inside += 1 }; last = S",
      },
      { on: "maturity", do: "pay(notional * (squares * annualisation - strike^2 * inside) / returns)" },
    ],
  };
  return {
    script: endsInside ? ofEnds : isRoot ? "volatilitySwap" : "corridorVarianceSwap",
    initial: terms.last_past_fixing,
    data: {
      notional: terms.notional,
      fixings: terms.fixing_dates,
      maturity: terms.fixing_dates.at(-1),
      strike: terms.strike_volatility,
      annualisation: terms.annualisation,
      returns: terms.total_number_of_returns,
      past: terms.past_sum_of_squared_log_returns ?? 0,
      ...(isRoot
        ? {}
        : {
            counted: isCorridor ? (terms.past_count_in_corridor ?? 0) : (terms.past_number_of_returns ?? 0),
            lower,
            upper,
          }),
    },
  };
}

const sideOf = (direction: string): number => (direction.startsWith(">") ? 1 : -1);

const sign = (terms: any): number => (terms.option_type === "put" ? -1 : 1);

/** An option on the average up to the date of exercise. */
const bermudanAsian = (terms: any, value: string, data: Fields): Fields => ({
  script: {
    state: { sum: "past", count: "number" },
    events: [
      { on: "fixings", do: "sum += S; count += 1" },
      { on: "exercises", do: `exercise(quantity * ${value})` },
    ],
  },
  data: {
    quantity: terms.quantity,
    past: terms.past_sum,
    number: terms.past_number,
    fixings: terms.fixing_dates,
    exercises: terms.exercise_dates,
    ...data,
  },
});

/** A note in euros on a share in dollars, with coupons in dollars, and a redemption in either. */
function multiCurrencyNote(terms: any): Fields {
  const isQuanto = terms.redemption.startsWith("domestic");
  const redemption = "(1 + participation * max(S / S0 - 1, 0))";
  return {
    script: {
      events: [
        { on: "coupons", do: 'if (S >= S0 * level) pay(notional / rate * coupon, { currency: "USD" })' },
        {
          on: "maturity",
          do: isQuanto ? `pay(notional * ${redemption})` : `pay(notional / rate * ${redemption}, { currency: "USD" })`,
        },
      ],
    },
    initial: terms.initial_fixing,
    data: {
      notional: terms.notional_domestic,
      rate: terms.initial_fx,
      coupons: terms.coupon_dates,
      coupon: terms.coupon,
      level: terms.coupon_level,
      participation: terms.participation,
      maturity: terms.maturity,
    },
  };
}

/** Solvers by product. */
export const scriptedCases: Readonly<Record<string, Solver>> = {
  autocallable: solved(autocallable),
  multi_currency_note: solved(multiCurrencyNote),
  worst_of_phoenix: solved(phoenix),
  cliquet: solved((terms) => ({
    script: "cliquet",
    initial: terms.initial_fixing,
    data: {
      notional: terms.notional,
      resets: terms.reset_dates,
      localFloor: terms.local_floor,
      localCap: terms.local_cap,
      globalFloor: terms.global_floor,
      globalCap: terms.global_cap,
      maturity: terms.reset_dates.at(-1),
    },
  })),
  reverse_cliquet: solved((terms) => ({
    script: "reverseCliquet",
    initial: terms.initial_fixing,
    data: {
      notional: terms.notional,
      coupon: terms.start_coupon,
      resets: terms.reset_dates,
      floor: terms.global_floor,
      maturity: terms.reset_dates.at(-1),
    },
  })),
  forward_start: solved((terms) => ({
    script: terms.form.startsWith("absolute")
      ? "forwardStart"
      : { events: [{ on: "maturity", do: "pay(shares * max(sign * (S / S0 - strike), 0))" }] },
    start: terms.strike_date,
    data: { shares: terms.notional, sign: sign(terms), strike: terms.strike_fraction, maturity: terms.maturity },
  })),
  variance_swap: solved(variance),
  volatility_swap: solved((terms) => variance({ ...terms, payoff: "volatility" })),
  corridor_variance_swap: solved(variance),
  napoleon: solved((terms) => ({
    script: "napoleon",
    initial: terms.last_past_fixing,
    data: {
      notional: terms.notional,
      fixings: terms.years.flatMap((year: any) => year.fixing_dates),
      ends: terms.years.map((year: any) => year.fixing_dates.at(-1)),
      floors: terms.years.map((year: any) => year.floor),
      coupons: terms.years.map((year: any) => year.coupon),
    },
  })),
  ratchet_coupons: solved((terms) => ({
    script: {
      state: { coupon: "first" },
      events: [{ on: "fixings", do: "coupon = max(coupon, min(S / last - 1, cap)); pay(notional * coupon); last = S" }],
    },
    initial: terms.last_past_fixing,
    data: { notional: terms.notional, first: terms.first_coupon, cap: terms.cap, fixings: terms.fixing_dates },
  })),
  accumulator: solved((terms, p) => {
    if (terms.settlement !== "each fixing date") throw new Error(`not mapped: settlement ${terms.settlement}`);
    const [{ spot }] = (p["model"] as any).assets;
    return {
      script: "accumulator",
      data: {
        notional: spot,
        shares: terms.shares_per_fixing,
        leverage: terms.leverage_below_strike,
        strike: terms.strike,
        knockOut: terms.knock_out_barrier,
        buysAtKnockOut: terms.purchase_on_knock_out_date ? 1 : 0,
        fixings: terms.fixing_dates,
      },
    };
  }),
  target_redemption_forward: solved((terms) => ({
    script: "targetRedemptionForward",
    data: {
      notional: terms.notional_foreign_per_fixing,
      strike: terms.strike,
      leverage: terms.leverage,
      lossLevel: terms.loss_knock_in ?? terms.strike,
      target: terms.target_gain_per_unit,
      gained: terms.accumulated_gain,
      lastGain: terms.last_payment.startsWith("exact") ? 1 : terms.last_payment.startsWith("full") ? 2 : 0,
      fixings: terms.fixing_dates,
    },
  })),
  range_accrual: solved((terms) => {
    const past = terms.first_period_past_fixings;
    const { periods } = terms;
    const fixings = periods.map((one: any) => one.fixing_dates.length);
    return {
      script: "rangeAccrual",
      data: {
        notional: terms.notional,
        rate: terms.coupon_rate,
        lower: terms.lower,
        upper: terms.upper,
        past: past.inside,
        fixings: periods.flatMap((one: any) => one.fixing_dates),
        payments: periods.map((one: any) => one.payment_date),
        fractions: periods.map((one: any) => one.year_fraction),
        totals: fixings.map((count: number, k: number) => count + (k === 0 ? past.total : 0)),
        maturity: periods.at(-1).payment_date,
      },
    };
  }),
  ladder_option: solved((terms) => {
    const [first, second = first + 1] = terms.rungs as readonly number[];
    return {
      script: "ladder",
      data: {
        shares: terms.quantity,
        strike: terms.strike,
        observations: terms.observation_dates,
        first,
        step: second - first,
        rungs: terms.rungs.length,
        reached: terms.best_rung_already_reached,
        maturity: terms.observation_dates.at(-1),
      },
    };
  }),
  shark_fin: solved((terms) => ({
    script: "sharkFin",
    initial: terms.initial_fixing,
    data: {
      notional: terms.notional,
      protection: terms.protection,
      rebate: terms.rebate,
      participation: terms.participation,
      strike: terms.strike_ratio,
      knockOut: terms.knock_out_ratio,
      observations: terms.observation_dates,
      maturity: terms.observation_dates.at(-1),
    },
  })),
  best_entry_note: solved((terms) => ({
    script: "bestEntry",
    data: {
      notional: terms.notional,
      protection: terms.protection,
      participation: terms.participation,
      cap: terms.cap,
      lowest: terms.minimum_so_far ?? NONE,
      entries: terms.entry_dates,
      maturity: terms.maturity,
    },
  })),
  asian_barrier: solved((terms) => ({
    script: "asianBarrier",
    data: {
      shares: terms.quantity,
      sign: sign(terms),
      strike: terms.strike,
      barrier: terms.barrier,
      side: terms.barrier_type.startsWith("up") ? 1 : -1,
      rebate: terms.rebate_at_maturity,
      past: terms.past_sum,
      count: terms.past_number + terms.fixing_dates.length,
      fixings: terms.fixing_dates,
      maturity: terms.fixing_dates.at(-1),
    },
  })),
  asian_floating_strike: solved((terms) => ({
    script: "averageStrike",
    data: {
      shares: terms.quantity,
      sign: 1,
      multiple: terms.strike_multiplier,
      past: terms.past_sum,
      count: terms.past_number + terms.fixing_dates.length,
      fixings: terms.fixing_dates,
      maturity: terms.fixing_dates.at(-1),
    },
  })),
  bermudan_asian_floating: solved((terms) =>
    bermudanAsian(terms, "max(S - k * sum / count, 0)", { k: terms.strike_multiplier }),
  ),
  bermudan_asian_fixed: solved((terms) =>
    bermudanAsian(terms, "max(sign * (sum / count - strike), 0)", { strike: terms.strike, sign: sign(terms) }),
  ),
  issuer_callable_worst_of: solved((terms) => {
    const atCalls = (list: readonly number[]): readonly number[] => list.filter((_, k) => terms.callable[k]);
    return {
      script: "callableWorstOf",
      initial: terms.initial_fixings,
      data: {
        notional: terms.notional,
        observations: terms.dates,
        coupons: terms.coupons,
        barriers: terms.coupon_barriers,
        calls: atCalls(terms.dates),
        prices: atCalls(terms.call_price),
        knockIn: terms.knock_in_level,
        maturity: terms.dates.at(-1),
      },
    };
  }),
  himalaya: solved((terms) => ({
    script: "himalaya",
    initial: terms.initial_fixings,
    data: {
      notional: terms.notional,
      selections: terms.selection_dates,
      count: terms.selection_dates.length,
      floor: terms.locked_return_floored_at_zero ? 0 : -1,
      strike: terms.strike,
      maturity: terms.selection_dates.at(-1),
    },
  })),
  dual_digital: solved((terms) => ({
    script: "dualDigital",
    data: {
      notional: terms.notional,
      observations: terms.observation_dates,
      count: terms.observation_dates.length,
      levels: { A: terms.levels[0], B: terms.levels[1] },
      sides: { A: sideOf(terms.directions[0]), B: sideOf(terms.directions[1]) },
    },
  })),
  basket_asian: solved((terms) => ({
    script: {
      state: { total: 0 },
      events: [
        { on: "fixings", do: "total += sum(weights * S) / count" },
        { on: "maturity", do: "pay(quantity * max(sign * (total - strike), 0))" },
      ],
    },
    data: {
      quantity: terms.quantity,
      sign: sign(terms),
      strike: terms.strike,
      weights: Object.fromEntries(terms.weights.map((weight: number, i: number) => ["ABCDE"[i], weight])),
      count: terms.fixing_dates.length,
      fixings: terms.fixing_dates,
      maturity: terms.fixing_dates.at(-1),
    },
  })),
};
