/** Reference cases of swaps and other linear products, computed by `market/linear`. */
import { forwardRate, type PairQuotes } from "../../src/calibration/curves/quoted.ts";
import { calendarOf, type Day, dayOf, isoOf, tenorOf, yearFraction } from "../../src/market/conventions/index.ts";
import {
  Curve,
  type Fixings,
  floatingOf,
  type Flow,
  type Leg,
  legOf,
  type LegSpec,
  type OvernightRule,
  type RateIndex,
  timeOf,
  Valuation,
} from "../../src/market/linear/index.ts";
import type { Params, Solver } from "./case.ts";
import { calendars, convention, countOf } from "./conventions.ts";

type Table = Readonly<Record<string, Params>>;

/** The curves of a case, by name and by number. */
class Market {
  readonly reference: Day;
  readonly names: readonly string[];
  readonly curves: readonly Curve[];
  readonly #p: Params;

  constructor(p: Params) {
    this.#p = p;
    this.reference = dayOf((p["reference_date"] ?? "2000-01-01") as string);
    const given = (p["curves"] ?? {}) as Table;
    this.names = Object.keys(given);
    this.curves = Object.values(given).map(
      (curve) =>
        new Curve(
          (curve["dates"] as string[]).map((date) => timeOf(dayOf(date), this.reference)),
          curve["zero_rates_continuous"] as number[],
          curve["interpolation"] === "linear_zero" ? "zero-rate" : "log-discount",
        ),
    );
  }

  number(name: unknown): number {
    const at = this.names.indexOf(name as string);
    if (at < 0) throw new Error(`no curve ${String(name)}`);
    return at;
  }

  discount(currency: string): number {
    return this.number((this.#p["discount_curve"] as Params)[currency]);
  }

  index(index: Params, curve: unknown): RateIndex {
    const fixings = (this.#p["past_fixings"] as Readonly<Record<string, Record<string, never>[]>> | undefined)?.[
      index["name"] as string
    ];
    return {
      name: index["name"] as string,
      curve: this.number(curve),
      calendar: calendars(index["fixing_calendar"]),
      dayCount: countOf(index["day_count"]),
      fixingLag: (index["fixing_lag"] as number | undefined) ?? 0,
      fixings: fixingsOf(fixings ?? []),
    };
  }

  value(flows: readonly Flow[]): number {
    return new Valuation(this.curves).value(flows);
  }

  /** The changes of a value when the zero rate of each node is raised by a basis point. */
  keyRates(value: () => number): Record<string, number[]> {
    const before = value();
    return Object.fromEntries(
      this.names.map((name, at) => [
        name,
        Array.from(this.curves[at].zeros, (zero, k, zeros = this.curves[at].zeros) => {
          zeros[k] = zero + 1e-4;
          const change = value() - before;
          zeros[k] = zero;
          return change;
        }),
      ]),
    );
  }
}

const fixingsOf = (list: readonly Record<string, unknown>[]): Fixings =>
  new Map(list.map(({ date, rate }) => [dayOf(date as string), rate as number]));

const EXCHANGE = { none: "none", final: "final", initial_and_final: "ends", all: "all" } as const;

function legSpec(p: Params, market: Market, rate?: number): LegSpec {
  const index = p["index"] as Params | undefined;
  const kind = p["kind"] as string;
  const overnight: OvernightRule = { averaged: kind === "overnight_averaged" };
  return {
    schedule: {
      from: dayOf(p["start_date"] as string),
      to: dayOf(p["end_date"] as string),
      every: tenorOf(p["tenor"] as string),
      calendar: calendars(p["calendar"]),
      adjust: convention(p["convention"]),
      counted: (p["schedule_rule"] as "backward" | undefined) ?? "backward",
      stub: String(p["stub"]).startsWith("long") ? "long" : "short",
      endOfMonth: (p["end_of_month"] as boolean | undefined) ?? false,
    },
    notional: p["notional"] as number | number[],
    dayCount: countOf(p["day_count"]),
    paymentLag: (p["payment_lag"] as number | undefined) ?? 0,
    ...(p["payment_calendar"] === undefined ? {} : { paymentCalendar: calendars(p["payment_calendar"]) }),
    rate: rate ?? ((p["rate"] ?? p["spread"] ?? 0) as number),
    ...(index === undefined ? {} : { index: market.index(index, p["projection_curve"]) }),
    ...(kind.startsWith("overnight") ? { overnight } : {}),
    exchange: EXCHANGE[(p["notional_exchange"] as "none" | undefined) ?? "none"],
    discount: market.discount(p["currency"] as string),
  };
}

const signOf = (p: Params): number => (p["direction"] === "receive" ? 1 : -1);

function pairOf(p: Params, market: Market, base: string, quote: string): PairQuotes {
  const curve = p["discount_curve"] as Params;
  const spotDay = dayOf(p["spot_date"] as string);
  return {
    reference: market.reference,
    // Spot is given as a day.
    calendar: calendarOf("weekends"),
    spotLag: calendarOf("weekends").businessDaysBetween(market.reference, spotDay),
    base: market.number(curve[base]),
    quote: market.number(curve[quote]),
    spot: (p["spot_rate"] ?? p["spot_rate_eurusd"]) as number,
  };
}

/** Solvers by product. */
export const swaps: Readonly<Record<string, Solver>> = {
  cross_currency_swap_mark_to_market(p) {
    const market = new Market(p);
    const pair = pairOf(p, market, "EUR", "USD");
    const projection = p["projection_curves"] as Params;
    const side = (name: string) => {
      const leg = p[name] as Params;
      const index = leg["index"] as Params;
      return { leg, index: market.index(index, projection[index["name"] as string]) };
    };
    const [eur, usd] = [side("eur_leg"), side("usd_leg")];
    const schedule = {
      from: dayOf(p["start_date"] as string),
      to: dayOf(p["end_date"] as string),
      every: tenorOf(p["tenor"] as string),
      calendar: calendars(p["calendar"]),
      adjust: convention(p["convention"]),
    };
    const notional = p["eur_notional"] as number;
    const resets = fixingsOf(
      ((p["past_fx_resets"] ?? []) as Record<string, unknown>[]).map((one) => ({
        date: one["date"],
        rate: one["rate"],
      })),
    );
    const reset = (start: Day) =>
      resets.has(start) ? { scale: resets.get(start)!, factors: [] } : forwardRate(start, pair);
    const common = { schedule, notional, rate: 0 };
    const eurLeg = legOf(
      {
        ...common,
        dayCount: countOf(eur.leg["day_count"]),
        rate: eur.leg["spread"] as number,
        index: eur.index,
        exchange: "ends",
        discount: pair.base,
      },
      market.reference,
    );
    const usdLeg = legOf(
      {
        ...common,
        dayCount: countOf(usd.leg["day_count"]),
        index: usd.index,
        overnight: {},
        reset,
        discount: pair.quote,
      },
      market.reference,
    );
    const today = (): number => market.value([forwardRate(market.reference, pair)]);
    const sign = (leg: Params): number => signOf(leg);
    const values = () =>
      [sign(eur.leg) * market.value(eurLeg.flows), sign(usd.leg) * market.value(usdLeg.flows)] as const;
    const total = (): number => values()[0] * today() + values()[1];
    const annuity = market.value(eurLeg.byRate);
    return {
      npv_usd: total(),
      npv_eur: total() / today(),
      eur_leg_npv_eur: values()[0],
      usd_leg_npv_usd: values()[1],
      fair_spread: (eur.leg["spread"] as number) - total() / today() / (sign(eur.leg) * annuity),
      usd_notionals_of_remaining_periods: usdLeg.dates
        .slice(0, -1)
        .filter((_, k) => usdLeg.dates[k + 1] > market.reference)
        .map((start) => {
          const { scale, factors } = reset(start);
          return notional * market.value([{ scale, factors, fixed: 1, gearing: 0 }]);
        }),
      key_rate_deltas: market.keyRates(total),
    };
  },
  overnight_compounded_rate(p) {
    const calendar = calendars(p["calendar"]);
    const [start, end] = [dayOf(p["start_date"] as string), dayOf(p["end_date"] as string)];
    const mode = p["mode"] as string;
    const observation = mode === "none" ? "plain" : mode === "observation_shift" ? "shift" : (mode as "lookback");
    const index = {
      name: "rate",
      curve: 0,
      calendar,
      dayCount: countOf(p["day_count"]),
      fixings: fixingsOf(p["fixings"] as []),
    };
    const { growth, accrual } = floatingOf(index, { observation, days: p["business_days"] as number }, start, end, end);
    return { rate: (growth.known - 1) / accrual };
  },
  frn_price(p) {
    const market = new Market(p);
    const spec = p["leg"] as Params;
    const settlement = calendars(spec["calendar"]).addBusinessDays(market.reference, p["settlement_lag"] as number);
    const made = (spread?: number) => legOf(legSpec(spec, market, spread), market.reference);
    const leg = made();
    const after = (flows: Leg["flows"]) => flows.filter(({ date }) => date > settlement);
    const discount = Math.exp(
      -market.curves[market.discount(spec["currency"] as string)].logDiscount(timeOf(settlement, market.reference)),
    );
    const per = 100 / (spec["notional"] as number) / discount;
    const dirty = market.value(after(leg.flows)) * per;
    const next = leg.dates.findIndex((date) => date > settlement);
    const [from, to] = [leg.dates[next - 1], leg.dates[next]];
    const coupon = after(leg.flows)[0];
    const count = countOf(spec["day_count"]);
    const share = yearFraction(count, from, settlement) / yearFraction(count, from, to);
    const accrued = (100 * share * new Valuation(market.curves).amount(coupon)) / (spec["notional"] as number);
    const annuity = market.value(after(leg.byRate)) * per - 100 * yearFraction(count, from, settlement);
    return {
      settlement_date: isoOf(settlement),
      dirty_price: dirty,
      accrued,
      clean_price: dirty - accrued,
      npv_reference_date: market.value(leg.flows),
      spread_for_clean_par: (spec["spread"] as number) - (dirty - accrued - 100) / annuity,
    };
  },
  overnight_rate_future(p) {
    const market = new Market(p);
    const index = market.index(p["index"] as Params, p["projection_curve"]);
    const rule: OvernightRule = { averaged: p["averaging"] !== "compounded" };
    const { growth, accrual } = floatingOf(
      index,
      rule,
      dayOf(p["start_date"] as string),
      dayOf(p["end_date"] as string),
      market.reference,
    );
    const rate = new Valuation(market.curves).amount({ scale: 1, factors: [], fixed: 0, gearing: 1, growth }) / accrual;
    return { rate, price: 100 - 100 * rate };
  },
  interpolated_stub_rate(p) {
    const calendar = calendars(p["calendar"]);
    const [start, end] = [dayOf(p["start_date"] as string), dayOf(p["end_date"] as string)];
    const points = (p["fixings"] as Record<string, never>[]).map(({ tenor, rate }) => ({
      day: calendar.advance(start, tenorOf(tenor), "modified-following", true),
      rate: rate as number,
    }));
    const rate = between(
      points.map(({ day, rate }) => [day, rate]),
      end,
    );
    const fraction = yearFraction(countOf(p["day_count"]), start, end);
    return {
      index_maturities: points.map(({ day }) => isoOf(day)),
      rate,
      coupon: (p["notional"] as number) * (rate + (p["spread"] as number)) * fraction,
    };
  },
  fx_broken_date_forward(p) {
    const calendar = calendars(p["calendar"]);
    const spot = dayOf(p["spot_date"] as string);
    const pillars: [Day, number][] = [
      [spot, 0],
      ...(p["points"] as Record<string, never>[]).map(({ tenor, points }): [Day, number] => [
        calendar.advance(spot, tenorOf(tenor), "modified-following", true),
        points,
      ]),
    ];
    const points = between(pillars, dayOf(p["delivery_date"] as string));
    return {
      pillar_dates: pillars.map(([day]) => isoOf(day)),
      forward_points: points,
      forward_rate: (p["spot_rate"] as number) + points,
    };
  },
};

/** Linear in days between the two points around a day. */
function between(points: readonly (readonly [Day, number])[], day: Day): number {
  const right = Math.max(
    1,
    points.findIndex(([at]) => at >= day),
  );
  const [[a, x], [b, y]] = [points[right - 1], points[right]];
  return x + ((y - x) * (day - a)) / (b - a);
}
