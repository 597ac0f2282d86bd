/** Reference cases of curves, computed by `calibration/curves`. */
import type { CurveToFind } from "../../src/calibration/curves/curve-set.ts";
import { findCurves } from "../../src/calibration/curves/find.ts";
import {
  basisSwap,
  type DatedInstrument,
  forwardPoints,
  forwardRate,
  type PairQuotes,
  parSwap,
  simpleRate,
  type SwapQuotes,
} from "../../src/calibration/curves/quoted.ts";
import { type Day, dayOf, isoOf, tenorOf, yearFraction } from "../../src/market/conventions/index.ts";
import { type Curve, timeOf, Valuation } from "../../src/market/linear/index.ts";
import type { Params, Solver } from "./case.ts";
import { calendars, countOf } from "./conventions.ts";

type Quotes = readonly Record<string, unknown>[];

const rule = (p: Params) => (p["interpolation"] === "linear_zero" ? "zero-rate" : "log-discount");
const months = (tenor: string): number => tenorOf(tenor).count;

/** A curve whose instruments have their days. */
type Wanted = Omit<CurveToFind, "instruments"> & { readonly instruments: readonly DatedInstrument[] };

/** An overnight curve, which is found as the number `at` among all. */
function overnightCurve(p: Params, at: number, bumped = -1, bump = 0): Wanted {
  const c = p["conventions"] as Record<string, never>;
  const calendar = calendars([c["calendar"]]);
  const quotes: SwapQuotes = {
    reference: dayOf(p["reference_date"] as string),
    calendar,
    spotLag: c["spot_lag"],
    endOfMonth: c["end_of_month"],
    index: { name: c["index"], curve: at, calendar, dayCount: countOf(c["day_count"]) },
    overnight: true,
    discount: at,
    paymentLag: c["payment_lag"],
    fixedMonths: c["fixed_payment_months"],
    fixedDayCount: countOf(c["day_count"]),
    floatingMonths: c["fixed_payment_months"],
  };
  const instruments = (p["instruments"] as Quotes).map(({ tenor, rate }, k) =>
    parSwap(`${tenor as string} OIS`, (rate as number) + (k === bumped ? bump : 0), tenorOf(tenor as string), quotes),
  );
  return { name: c["index"], rule: rule(p), instruments };
}

/** A projection curve of a term index, found as the number `at`, discounted on curve 0. */
function termCurve(p: Params, instruments: Quotes, c: Record<string, never>, at: number): Wanted {
  const calendar = calendars([c["calendar"]]);
  const fixed = (c["swap_fixed_leg"] ?? { payment_months: 12, day_count: "30/360 Bond Basis" }) as Record<
    string,
    never
  >;
  const quotes: SwapQuotes = {
    reference: dayOf(p["reference_date"] as string),
    calendar,
    spotLag: c["spot_lag"],
    endOfMonth: c["end_of_month_index"],
    index: { name: c["index"], curve: at, calendar, dayCount: countOf(c["day_count"]) },
    overnight: false,
    discount: 0,
    fixedMonths: fixed["payment_months"],
    fixedDayCount: countOf(fixed["day_count"]),
    floatingMonths: months(c["tenor"]),
  };
  const made = instruments.map(({ type, tenor, rate, months_to_start }): DatedInstrument => {
    if (type === "swap") return parSwap(`${tenor as string} swap`, rate as number, tenorOf(tenor as string), quotes);
    const length = tenorOf(type === "deposit" ? (tenor as string) : c["tenor"]);
    return simpleRate(type as string, rate as number, length, quotes, (months_to_start as number | undefined) ?? 0);
  });
  return { name: c["index"], rule: rule(p), instruments: made };
}

function described(curve: Curve, { instruments }: Wanted, p: Params, reference: Day): Record<string, unknown> {
  const discount = (day: Day): number => Math.exp(-curve.logDiscount(timeOf(day, reference)));
  const probes = ((p["probe_dates"] ?? []) as string[]).map(dayOf);
  const periods = (p["forward_periods"] ?? []) as Record<string, string>[];
  return {
    pillar_dates: instruments.map(({ pillar }) => isoOf(reference + Math.round(365 * pillar))),
    discount_factors: instruments.map(({ pillar }) => Math.exp(-curve.logDiscount(pillar))),
    zero_rates_continuous: [...curve.zeros],
    probe_discount_factors: probes.map(discount),
    forward_rates: periods.map((period) => {
      const [start, end] = [dayOf(period["start"]), dayOf(period["end"])];
      return (discount(start) / discount(end) - 1) / yearFraction(countOf(period["day_count"]), start, end);
    }),
    instrument_start_dates: instruments.map(({ start }) => isoOf(start)),
    instrument_end_dates: instruments.map(({ end }) => isoOf(end)),
  };
}

function impliedByExchange(p: Params, quoteCurve: Params, more: (pair: PairQuotes, known: Curve[]) => Wanted) {
  const reference = dayOf(p["reference_date"] as string);
  const known = findCurves([], [overnightCurve(quoteCurve, 0)]).curves.slice();
  const pair: PairQuotes = {
    reference,
    calendar: calendars(p["calendar"]),
    spotLag: p["spot_lag"] as number,
    endOfMonth: (p["end_of_month"] as boolean | undefined) ?? false,
    spot: p["spot_rate"] as number,
    ...(p["known_currency_is_base"] === true ? { base: 0, quote: 1 } : { base: 1, quote: 0 }),
  };
  const wanted = more(pair, known);
  const { curves } = findCurves(known, [wanted]);
  const probes = (p["probe_dates"] as string[]).map(dayOf);
  const last = known.length;
  const numbered = { ...pair, ...(pair.base === 1 ? { base: last } : { quote: last }) };
  return {
    spot_date: isoOf(pair.calendar.addBusinessDays(reference, pair.spotLag)),
    ...described(curves[last], wanted, p, reference),
    forward_fx_at_probes: probes.map((day) => new Valuation(curves).value([forwardRate(day, numbered)])),
  };
}

/** Solvers by product. */
export const curves: Readonly<Record<string, Solver>> = {
  ois_curve_bootstrap(p) {
    const reference = dayOf(p["reference_date"] as string);
    const wanted = overnightCurve(p, 0);
    return described(findCurves([], [wanted]).curves[0], wanted, p, reference);
  },
  dual_curve_bootstrap(p) {
    const reference = dayOf(p["reference_date"] as string);
    const discount = overnightCurve(p["discount_curve"] as Params, 0);
    const term = termCurve(p, p["instruments"] as Quotes, p["conventions"] as Record<string, never>, 1);
    // Both at once.
    return described(findCurves([], [discount, term]).curves[1], term, p, reference);
  },
  quote_bump_of_bootstrap(p) {
    const reference = dayOf(p["reference_date"] as string);
    const found = (bumped: number, bump: number): Curve =>
      findCurves([], [overnightCurve(p, 0, bumped, bump)]).curves[0];
    const plain = found(-1, 0);
    const at = (curve: Curve): number[] =>
      (p["probe_dates"] as string[]).map((date) => Math.exp(-curve.logDiscount(timeOf(dayOf(date), reference))));
    const before = at(plain);
    return {
      discount_factor_changes: (p["bumped_instruments"] as number[]).map((k) =>
        at(found(k, p["bump"] as number)).map((value, j) => value - before[j]),
      ),
    };
  },
  fx_implied_curve: (p) =>
    impliedByExchange(p, p["known_curve"] as Params, (pair) => ({
      name: "implied",
      rule: rule(p),
      instruments: (p["instruments"] as Quotes).map(({ tenor, forward_points }) =>
        forwardPoints(tenor as string, forward_points as number, tenorOf(tenor as string), pair),
      ),
    })),
  cross_currency_basis_bootstrap: (p) =>
    impliedByExchange(p, p["usd_curve"] as Params, (pair, known) => {
      const overnight = overnightCurve(p["eur_overnight_curve"] as Params, 0);
      const conventions = {
        index: "EURIBOR",
        tenor: "3M",
        calendar: "TARGET",
        spot_lag: 2,
        day_count: "Act/360",
        end_of_month_index: true,
      } as unknown as Record<string, never>;
      const term = termCurve(p, p["eur_3m_curve_instruments"] as Quotes, conventions, 1);
      known.push(...findCurves([], [overnight, term]).curves);
      const numbered = { ...pair, base: 3 };
      const swaps: SwapQuotes = {
        ...pair,
        index: { name: "EURIBOR-3M", curve: 2, calendar: pair.calendar, dayCount: "Act/360" },
        overnight: false,
        discount: 3,
        fixedMonths: 12,
        fixedDayCount: "30/360",
        floatingMonths: 3,
      };
      return {
        name: "implied",
        rule: rule(p),
        instruments: (p["instruments"] as Quotes).map(({ type, tenor, forward_points, basis_on_eur_leg }) =>
          type === "fx_swap"
            ? forwardPoints(tenor as string, forward_points as number, tenorOf(tenor as string), numbered)
            : basisSwap(tenor as string, basis_on_eur_leg as number, tenorOf(tenor as string), swaps),
        ),
      };
    }),
};
