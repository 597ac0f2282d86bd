/** Reference cases of swaps and forwards as books, priced as users price them. */
import { type PricedTrade, readBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import {
  calendarOf,
  dayOf,
  INDICES,
  isoOf,
  scheduleOf,
  tenorOf,
  yearFraction,
} from "../../src/market/conventions/index.ts";
import { priceBook, type PricingOptions } from "../../src/pricing/index.ts";
import type { Params, Solver } from "./case.ts";
import { calendarNames, calendars, convention, countOf } from "./conventions.ts";

type Table = Readonly<Record<string, Params>>;
type Fields = Record<string, unknown>;

/** Returns the results of a book's trades. @throws the error of a trade */
export async function priced(book: object, options: Partial<PricingOptions> = {}): Promise<readonly PricedTrade[]> {
  using device = createCpuDevice({ threads: 1 });
  const { results } = await priceBook(readBook(book), { ...options, device });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** The name of an index in books: EURIBOR6M is EURIBOR-6M. Its conventions must be those of the case. */
function indexName(index: Params): string {
  const name = (index["name"] as string).replace("€STR", "ESTR").replace(/^(EURIBOR)(\d+M)$/, "$1-$2");
  if (!Object.hasOwn(INDICES, name)) throw new Error(`books have no index ${name}`);
  const { dayCount, fixingLag, calendar } = INDICES[name as keyof typeof INDICES];
  const [asked] = calendarNames(index["fixing_calendar"]);
  if (dayCount !== countOf(index["day_count"]) || fixingLag !== (index["fixing_lag"] ?? 0) || calendar !== asked)
    throw new Error(`${name} has other conventions in books`);
  return name;
}

/** The market of a case: its curves by zero rates, with some nodes raised. */
function marketOf(p: Params, raised?: { readonly curve: string; readonly node: number }): Fields {
  const discount = (p["discount_curve"] ?? {}) as Readonly<Record<string, string>>;
  const legs = (p["legs"] ?? [p]) as Params[];
  const projections: Record<string, Record<string, string>> = {};
  const indices: Record<string, string> = {};
  for (const leg of legs) {
    const index = leg["index"] as Params | undefined;
    if (index === undefined) continue;
    const name = indexName(index);
    const { currency } = INDICES[name as keyof typeof INDICES];
    (projections[currency] ??= {})[name] = leg["projection_curve"] as string;
    indices[index["name"] as string] = name;
  }
  const curves = Object.entries((p["curves"] ?? {}) as Table).map(([name, of]) => {
    const zeros = of["zero_rates_continuous"] as number[];
    const nodes = (of["dates"] as string[]).map((date, k) => ({
      date,
      zero: zeros[k] + (raised?.curve === name && raised.node === k ? 1e-4 : 0),
    }));
    return [
      name,
      { zeros: nodes, interpolation: of["interpolation"] === "linear_zero" ? "zero-rate" : "log-discount" },
    ];
  });
  const fixings = Object.entries((p["past_fixings"] ?? {}) as Readonly<Record<string, Record<string, never>[]>>).map(
    ([name, list]) => [indices[name] ?? name, Object.fromEntries(list.map(({ date, rate }) => [date, rate]))],
  );
  return {
    curves: Object.fromEntries(curves),
    rates: Object.fromEntries(
      Object.entries(discount).map(([currency, name]) => [
        currency,
        { discount: name, forward: projections[currency] ?? {} },
      ]),
    ),
    fixings: Object.fromEntries(fixings),
    ...fxOf(p),
  };
}

/** The exchange rates of a case: for the spot date, or for the reference date. */
function fxOf(p: Params): Fields {
  const rates = (p["fx_rates"] ?? {}) as Readonly<Record<string, number>>;
  const today = Object.entries(rates).map(([pair, rate]) => [pair, { rate, date: p["reference_date"] }]);
  const spot = p["base_currency"];
  if (spot !== undefined)
    return {
      fx: { [`${spot as string}${p["quote_currency"] as string}`]: { rate: p["spot_rate"], date: p["spot_date"] } },
    };
  return today.length === 0 ? {} : { fx: Object.fromEntries(today) };
}

/** Prices a trade in the market of a case, and with each node of its curves raised by a basis point. */
async function revalued(p: Params, trades: readonly object[], withNodes = true) {
  const under = (raised?: { readonly curve: string; readonly node: number }) =>
    priced({ asOf: p["reference_date"], market: marketOf(p, raised), trades });
  const now = await under();
  const total = (results: readonly PricedTrade[]): number => results.reduce((sum, { value }) => sum + value, 0);
  const deltas: Record<string, number[]> = {};
  if (withNodes)
    for (const [curve, of] of Object.entries((p["curves"] ?? {}) as Table)) {
      deltas[curve] = [];
      for (const node of (of["dates"] as string[]).keys())
        deltas[curve].push(total(await under({ curve, node })) - total(now));
    }
  return { now, deltas };
}

const EXCHANGE: Readonly<Record<string, string>> = { initial_and_final: "ends" };

/** A leg as books have it. */
function legOf(p: Params): Fields {
  const kind = p["kind"] as string;
  const index = p["index"] as Params | undefined;
  return {
    ...(index === undefined ? { rate: p["rate"] } : { index: indexName(index), spread: p["spread"] ?? 0 }),
    ...(kind.startsWith("overnight") ? { compounding: kind.replace("overnight_", "") } : {}),
    notional: p["notional"],
    currency: p["currency"],
    every: p["tenor"],
    calendar: calendarNames(p["calendar"]),
    dayCount: countOf(p["day_count"]),
    adjust: (p["convention"] as string).replaceAll("_", "-"),
    roll: p["schedule_rule"] ?? "backward",
    stub: String(p["stub"]).startsWith("long") ? "long" : "short",
    endOfMonth: p["end_of_month"] ?? false,
    paymentLag: p["payment_lag"] ?? 0,
    paymentCalendar: calendarNames(p["payment_calendar"] ?? p["calendar"]),
    exchange: EXCHANGE[p["notional_exchange"] as string] ?? p["notional_exchange"] ?? "none",
  };
}

const isReceived = (leg: Params): boolean => leg["direction"] === "receive";

async function swap(p: Params): Promise<Fields> {
  const legs = p["legs"] as Params[];
  const reporting = (p["reporting_currency"] ?? legs[0]["currency"]) as string;
  const period = { start: legs[0]["start_date"], end: legs[0]["end_date"] };
  const sides = { receive: legs.findIndex(isReceived), pay: legs.findIndex((leg) => !isReceived(leg)) };
  const report = ["cashflows"];
  const trade =
    legs.length === 1
      ? { id: "1", quantity: isReceived(legs[0]) ? 1 : -1, note: { ...period, ...legOf(legs[0]) }, report }
      : {
          id: "1",
          swap: { ...period, currency: reporting, receive: legOf(legs[sides.receive]), pay: legOf(legs[sides.pay]) },
          report,
        };
  const wantsNodes = p["include_today"] === undefined;
  const { now, deltas } = await revalued(p, [trade], wantsNodes);
  const [result] = now;
  const sign = legs.length === 1 && !isReceived(legs[0]) ? -1 : 1;
  const places = legs.map((leg) => (legs.length > 1 && !isReceived(leg) ? 1 : 0));
  const known: Fields = {
    npv: sign * result.value,
    leg_npvs: places.map((at) => sign * result.legs![at].value),
    cashflows: places.map((at) =>
      result.cashflows!.filter(({ leg }) => leg === at).map(({ date, amount }) => ({ date, amount })),
    ),
    key_rate_deltas: deltas,
    fair_rate: result.fairRate,
    fair_spread: result.fairSpread,
    annuity: result.annuity,
    bpv: result.annuity && result.annuity * 1e-4,
  };
  for (const currency of new Set(legs.map((leg) => leg["currency"] as string))) {
    if (currency === reporting) continue;
    const other = { ...trade, swap: { ...(trade as { swap: object }).swap, currency } };
    known[`npv_in_${currency}`] = (await revalued(p, [other], false)).now[0].value;
  }
  if (p["solve_for"] !== undefined && places[p["solve_leg"] as number] === 0) return fairAsOther(p, trade, known);
  return known;
}

/** A case that asks for the fair number of the received leg, where both legs are of one kind: the swap turned round. */
async function fairAsOther(p: Params, trade: object, known: Fields): Promise<Fields> {
  const { swap: given } = trade as { swap: { receive: Fields; pay: Fields } };
  if ((given.receive["rate"] === undefined) !== (given.pay["rate"] === undefined)) return known;
  const turned = { ...trade, swap: { ...given, receive: given.pay, pay: given.receive } };
  const [{ fairRate, fairSpread, annuity }] = (await revalued(p, [turned], false)).now;
  return { ...known, fair_rate: fairRate, fair_spread: fairSpread, annuity, bpv: annuity && annuity * 1e-4 };
}

async function forwards(p: Params): Promise<Fields> {
  const [base, quote] = [p["base_currency"] as string, p["quote_currency"] as string];
  const deals = p["deals"] as Record<string, never>[];
  const trade = (delivery: unknown, amount: number, rate: number, id: string) => ({
    id,
    fxForward: { pair: `${base}${quote}`, amount, rate, delivery },
  });
  const trades = deals.map((deal, k) => trade(deal["delivery_date"], deal["base_amount"], deal["rate"], String(k)));
  const { now, deltas } = await revalued(p, trades);
  const spot = p["spot_rate"] as number;
  // A unit of base currency for value today, in quote currency, is that of a bond in it.
  const unit = {
    id: "1",
    swap: {
      start: p["reference_date"],
      end: "1Y",
      currency: quote,
      notional: 1,
      receive: { currency: base, rate: 0, exchange: "final" },
      pay: { currency: quote, rate: 0 },
    },
  };
  const [{ value, legs }] = (await revalued(p, [unit], false)).now;
  const today = value / legs![0].value;
  const total = now.reduce((sum, one) => sum + one.value, 0);
  return {
    spot_for_value_today: today,
    forward_rates: now.map(({ fairRate }) => fairRate),
    forward_points: now.map(({ fairRate }) => fairRate! - spot),
    npv_quote_currency: total,
    npv_base_currency: total / today,
    deal_npvs_quote_currency: now.map((one) => one.value),
    delta_spot: now.reduce((sum, { delta }) => sum + delta!, 0),
    key_rate_deltas_quote_currency: deltas,
  };
}

/** What a case of a zero coupon swap says of its dates, which books do not report. */
function datesOf(p: Params): Fields {
  const { dates } = scheduleOf({
    from: dayOf(p["start_date"] as string),
    to: dayOf(p["end_date"] as string),
    every: tenorOf((p["index"] as Params)["tenor"] as string),
    calendar: calendars(p["calendar"]),
    adjust: convention(p["convention"]),
  });
  const years = yearFraction(countOf(p["fixed_day_count"]), dates[0], dates.at(-1)!);
  return { fixed_year_fraction: years, reset_dates: dates.map(isoOf) };
}

/** A cap or floor, and each of its periods as one of its own. */
async function cap(p: Params): Promise<Fields> {
  const leg = p["leg"] as Params;
  const { every, calendar, adjust, roll, stub, endOfMonth } = legOf(leg);
  const dates = { every, calendar, adjust, roll, stub, endOfMonth };
  const { unadjusted } = scheduleOf({
    from: dayOf(leg["start_date"] as string),
    to: dayOf(leg["end_date"] as string),
    every: tenorOf(leg["tenor"] as string),
    calendar: calendars(leg["calendar"]),
  });
  const right = (p["option_type"] ?? "cap") as string;
  const [sigma, shift] = [p["volatility"] as number, (p["shift"] ?? 0) as number];
  const volatility = p["model"] === "bachelier" ? { normal: sigma } : { displaced: { sigma, shift } };
  const trade = (id: string, start: unknown, end: unknown): Fields => ({
    id,
    strike: p["strike"],
    volatility,
    [right]: { index: indexName(leg["index"] as Params), start, end, notional: leg["notional"], ...dates },
  });
  const left = unadjusted
    .slice(1)
    .map((end, k) => [unadjusted[k], end] as const)
    .filter(([, end]) => end > dayOf(p["reference_date"] as string));
  const trades = [
    trade("all", leg["start_date"], leg["end_date"]),
    ...left.map(([start, end]) => trade(isoOf(start), isoOf(start), isoOf(end))),
  ];
  const [all, ...each] = await priced({ asOf: p["reference_date"], market: marketOf({ ...p, legs: [leg] }), trades });
  return { npv: all.value, optionlets: each.map(({ value }) => value) };
}

/** Solvers by product. */
export const desk: Readonly<Record<string, Solver>> = {
  ...Object.fromEntries(
    [
      "fixed_float_swap",
      "overnight_swap",
      "basis_swap",
      "amortising_swap",
      "floating_rate_note",
      "cross_currency_swap",
      "swap_on_event_date",
    ].map((name) => [name, swap]),
  ),
  cap_mid_life: cap,
  fx_forward: forwards,
  fx_swap: forwards,
  async fra(p) {
    const isPayer = p["direction"] === "pay_fixed";
    const trade = (rate: unknown) => ({
      id: "1",
      fra: {
        index: indexName(p["index"] as Params),
        start: p["start_date"],
        end: p["end_date"],
        rate,
        notional: p["notional"],
        side: isPayer ? "pay" : "receive",
      },
      report: ["cashflows"],
    });
    const { now, deltas } = await revalued(p, [trade(p["strike"])]);
    const [{ value, fairRate, cashflows }] = now;
    return {
      npv: value,
      forward_rate: fairRate,
      fair_rate: fairRate,
      settlement_amount: (value * cashflows![0].amount) / (cashflows![0].amount * cashflows![0].discount),
      fixing_date: isoOf(calendarOf("TARGET").addBusinessDays(dayOf(p["start_date"] as string), -2)),
      key_rate_deltas: deltas,
    };
  },
  async zero_coupon_swap(p) {
    const leg = { zeroCoupon: true, calendar: calendarNames(p["calendar"]), endOfMonth: false };
    const fixed = { ...leg, rate: p["fixed_rate"], dayCount: countOf(p["fixed_day_count"]) };
    const floating = { ...leg, index: indexName(p["index"] as Params) };
    const isPayer = p["direction"] === "pay_fixed";
    const swapOf = {
      start: p["start_date"],
      end: p["end_date"],
      notional: p["notional"],
      ...(isPayer ? { pay: fixed, receive: floating } : { pay: floating, receive: fixed }),
    };
    const { now, deltas } = await revalued(p, [{ id: "1", swap: swapOf, report: ["cashflows"] }]);
    const [{ value, fairRate, cashflows }] = now;
    const amount = (at: number): number => cashflows!.find(({ leg: of }) => of === at)!.amount;
    return {
      npv: value,
      fixed_amount: amount(isPayer ? 1 : 0),
      floating_amount: amount(isPayer ? 0 : 1),
      fair_rate: fairRate,
      ...datesOf(p),
      key_rate_deltas: deltas,
    };
  },
};
