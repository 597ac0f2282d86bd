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

/** Prices a trade on the assets of a case, named A1, A2 … in the market. */
async function priceOf(p: Params, trade: Fields): Promise<Fields> {
  const model = p["model"] as Params;
  const assets = model["assets"] as readonly Params[];
  const names = assets.map((_, i) => `A${i + 1}`);
  const correlation = (model["correlation"] ?? []) as readonly (readonly number[])[];
  const underlyings = assets.map((asset) => {
    if (typeof asset["dividend_yield"] !== "number") throw new Error("books have one dividend yield for all times");
    const { spot, dividend_yield } = asset;
    return { spot, currency: "X", dividends: { yield: dividend_yield }, volatility: volatilityOf(model, asset) };
  });
  const book = {
    asOf: "2026-11-20",
    market: {
      rates: { X: rateOf(model["rate"] as Curve) },
      underlyings: Object.fromEntries(names.map((name, i) => [name, underlyings[i]])),
      correlations: names.flatMap((a, i) => names.slice(i + 1).map((b, k) => [a, b, correlation[i][i + 1 + k]])),
    },
    trades: [{ id: "1", underlyings: names, ...trade }],
  };
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

function variance(terms: any): Fields {
  const [low, high] = terms.corridor ?? [0, NONE];
  const counts = terms.corridor_fixing?.startsWith("current") === true ? "S" : "last";
  const root = terms.payoff === "volatility";
  const realised = "annualisation / returns * total";
  return {
    script: {
      state: { total: "past", inside: "pastInside" },
      events: [
        {
          on: "fixings",
          do: `if (${counts} >= low && ${counts} <= high) { total += log(S / last)^2; inside += 1 }; last = S`,
        },
        {
          on: "maturity",
          do: root
            ? `pay(notional * (sqrt(${realised}) - strike + 0 * inside))`
            : `pay(notional * (${realised} - strike^2 * ${terms.corridor ? "inside / returns" : "(1 + 0 * inside)"}))`,
        },
      ],
    },
    initial: terms.last_past_fixing,
    data: {
      notional: terms.notional,
      fixings: terms.fixing_dates,
      maturity: terms.fixing_dates.at(-1),
      strike: terms.strike_volatility,
      annualisation: terms.annualisation,
      returns: terms.total_number_of_returns,
      past: terms.past_sum_of_squared_log_returns ?? 0,
      pastInside: terms.past_count_in_corridor ?? 0,
      low,
      high,
    },
  };
}

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

/** Solvers by product. */
export const scriptedCases: Readonly<Record<string, Solver>> = {
  autocallable: solved(autocallable),
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
    script: {
      state: { total: "coupon" },
      events: [
        { on: "resets", do: "total += min(S / last - 1, 0); last = S" },
        { on: "maturity", do: "pay(notional * max(total, floor))" },
      ],
    },
    initial: terms.initial_fixing,
    data: {
      notional: terms.notional,
      resets: terms.reset_dates,
      coupon: terms.start_coupon,
      floor: terms.global_floor,
      maturity: terms.reset_dates.at(-1),
    },
  })),
  forward_start: solved((terms) => ({
    script: {
      events: [
        {
          on: "maturity",
          do: terms.form.startsWith("absolute")
            ? "pay(notional * max(sign * (S - k * S0), 0))"
            : "pay(notional * max(sign * (S / S0 - k), 0))",
        },
      ],
    },
    start: terms.strike_date,
    data: { notional: terms.notional, sign: sign(terms), k: terms.strike_fraction, maturity: terms.maturity },
  })),
  variance_swap: solved(variance),
  volatility_swap: solved((terms) => variance({ ...terms, payoff: "volatility" })),
  corridor_variance_swap: solved(variance),
  napoleon: solved((terms) => ({
    script: {
      state: { low: NONE },
      events: [
        { on: "fixings", do: "low = min(low, S / last - 1); last = S" },
        { on: "ends", do: `pay(notional * max(floors, coupons + low)); low = ${NONE}` },
      ],
    },
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
    const totals = fixings.map((count: number, k: number) => count + (k === 0 ? past.total : 0));
    return {
      script: {
        state: { inside: "pastInside" },
        events: [
          { on: "fixings", do: "if (S >= lower && S <= upper) inside += 1" },
          { on: "payments", do: "pay(notional * rate * fractions * inside / totals); inside = 0" },
          { on: "maturity", do: "pay(notional)" },
        ],
      },
      data: {
        notional: terms.notional,
        rate: terms.coupon_rate,
        lower: terms.lower,
        upper: terms.upper,
        pastInside: past.inside,
        fixings: periods.flatMap((one: any) => one.fixing_dates),
        payments: periods.map((one: any) => one.payment_date),
        fractions: periods.map((one: any) => one.year_fraction),
        totals,
        maturity: periods.at(-1).payment_date,
      },
    };
  }),
  ladder_option: solved((terms) => ({
    script: {
      state: { rung: terms.best_rung_already_reached },
      events: [
        {
          on: "observations",
          do: terms.rungs.map((rung: number) => `if (S >= ${rung}) rung = max(rung, ${rung})`).join("\n"),
        },
        { on: "maturity", do: "pay(quantity * max(S - strike, rung - strike, 0))" },
      ],
    },
    data: {
      quantity: terms.quantity,
      strike: terms.strike,
      observations: terms.observation_dates,
      maturity: terms.observation_dates.at(-1),
    },
  })),
  shark_fin: solved((terms) => ({
    script: {
      state: { out: false },
      events: [
        { on: "observations", do: "if (S / S0 >= knockOut) out = true" },
        {
          on: "maturity",
          do: "pay(notional * (protection + (out ? rebate : participation * max(S / S0 - strike, 0))))",
        },
      ],
    },
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
    script: {
      state: { entry: terms.minimum_so_far ?? NONE },
      events: [
        { on: "entries", do: "entry = min(entry, S)" },
        { on: "maturity", do: "pay(notional * (protection + participation * min(max(S / entry - 1, 0), cap)))" },
      ],
    },
    data: {
      notional: terms.notional,
      protection: terms.protection,
      participation: terms.participation,
      cap: terms.cap,
      entries: terms.entry_dates,
      maturity: terms.maturity,
    },
  })),
  asian_barrier: solved((terms) => ({
    script: {
      state: { total: "past", out: false },
      events: [
        {
          on: "fixings",
          do: `total += S; if (S ${terms.barrier_type.startsWith("up") ? ">=" : "<="} barrier) out = true`,
        },
        { on: "maturity", do: "pay(quantity * (out ? rebate : max(sign * (total / count - strike), 0)))" },
      ],
    },
    data: {
      quantity: terms.quantity,
      sign: sign(terms),
      strike: terms.strike,
      barrier: terms.barrier,
      rebate: terms.rebate_at_maturity,
      past: terms.past_sum,
      count: terms.past_number + terms.fixing_dates.length,
      fixings: terms.fixing_dates,
      maturity: terms.fixing_dates.at(-1),
    },
  })),
  asian_floating_strike: solved((terms) => ({
    script: {
      state: { total: "past" },
      events: [
        { on: "fixings", do: "total += S" },
        { on: "maturity", do: "pay(quantity * max(S - k * total / count, 0))" },
      ],
    },
    data: {
      quantity: terms.quantity,
      k: terms.strike_multiplier,
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
    const calls = terms.dates.filter((_: number, k: number) => terms.callable[k]);
    return {
      script: {
        events: [
          { on: "dates", do: "if (worst >= barriers) pay(notional * coupons)" },
          { on: "calls", do: "call(notional * prices)" },
          { on: "maturity", do: "pay(notional * (worst < knockIn ? worst : 1))" },
        ],
      },
      initial: terms.initial_fixings,
      data: {
        notional: terms.notional,
        dates: terms.dates,
        coupons: terms.coupons,
        barriers: terms.coupon_barriers,
        calls,
        prices: terms.call_price.filter((_: number, k: number) => terms.callable[k]),
        knockIn: terms.knock_in_level,
        maturity: terms.dates.at(-1),
      },
    };
  }),
  himalaya: solved((terms) => ({
    script: {
      state: { left: { each: 1 }, locked: 0 },
      events: [
        {
          on: "selections",
          do: `
            let top = -${NONE}
            for (x in S) if (left[x] > 0.5) top = max(top, S[x] / S0[x] - 1)
            let isFound = false
            for (x in S) if (!isFound && left[x] > 0.5 && S[x] / S0[x] - 1 >= top) { left[x] = 0; isFound = true }
            locked += ${terms.locked_return_floored_at_zero ? "max(top, 0)" : "top"}`,
        },
        { on: "maturity", do: "pay(notional * max(locked / count - strike, 0))" },
      ],
    },
    initial: terms.initial_fixings,
    data: {
      notional: terms.notional,
      strike: terms.strike,
      count: terms.selection_dates.length,
      selections: terms.selection_dates,
      maturity: terms.selection_dates.at(-1),
    },
  })),
  dual_digital: solved((terms) => {
    const [a, b] = (terms.directions as string[]).map((one, i) => `S.${"AB"[i]} ${one} levels.${"AB"[i]}`);
    return {
      script: { events: [{ on: "observations", do: `if (${a} && ${b}) pay(notional / count)` }] },
      data: {
        notional: terms.notional,
        count: terms.observation_dates.length,
        levels: { A: terms.levels[0], B: terms.levels[1] },
        observations: terms.observation_dates,
      },
    };
  }),
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
