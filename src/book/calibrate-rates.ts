/** Calibration of interest-rate curves and models to market quotes, with reports on the fit. */
import {
  CurveError,
  type CurveSet,
  findCurves,
  fitHullWhite,
  type HullWhiteFit,
  type HullWhiteParameters,
  instrumentInYears,
  type RateInstrument,
  type RateQuote,
} from "../calibration/index.ts";
import { BookError, SpecError } from "../base/errors.ts";
import { runBlocking } from "../base/event-loop.ts";
import { discountFactor, type FitState, type ForwardCurve } from "../market/index.ts";
import { SVENSSON } from "../market/linear/index.ts";
import { forwardCurveOf } from "./named-curves.ts";
import { shownTime, USUAL_MISFIT } from "./fit-doubts.ts";
import { inside, type PathOf } from "./paths.ts";
import type { InstrumentsSpec, InstrumentSpec, RateSpec } from "./schema/index.ts";
import { type AsOf, MAX_YEARS, type TimeSpec, timeText, yearsFrom, yearsText } from "./time.ts";

/** A node of a fitted curve of interest rates. */
export interface CurveNode {
  /** The date as the book writes it, or years. */
  readonly date: number | string;
  /** The time in years from `asOf`. */
  readonly time: number;
  /** The continuously compounded zero rate per year. */
  readonly zero: number;
  /** The discount factor. */
  readonly discount: number;
}

/** The result of fitting one interest rate curve or short rate model to quotes. */
export interface CurveCalibration {
  readonly status: "converged" | "not converged";
  /** The name of the fitted model or interpolation. */
  readonly model: string;
  readonly parameters: Readonly<Record<string, number>>;
  readonly standardErrors?: Readonly<Record<string, number>>;
  /** The root mean square error of rates; for a model, the relative one of prices. */
  readonly rmse: number;
  /** The nodes of the curve. */
  readonly curve: readonly CurveNode[];
  /** The instruments in the order of the book, with the quoted rate or price, the fitted one, and the difference. */
  readonly quotes: readonly {
    readonly end: number | string;
    /** The first fixing of a cap; type and expiry of a swaption; the strike of both. Times are in years. */
    readonly start?: number;
    readonly type?: "payer" | "receiver";
    readonly expiry?: number;
    readonly strike?: number;
    readonly rate?: number;
    readonly price?: number;
    readonly fitted: number;
    readonly error: number;
  }[];
  /** What is doubtful about the fit, which results that depend on it repeat; empty if nothing is. */
  readonly doubts: readonly string[];
}

/**
 * Fits the parameters of Hull and White's model to prices of caps or swaptions. @throws BookError a quote that no
 * parameters can reproduce
 */
export function calibrateHullWhite(
  { of, quotes }: Extract<RateSpec, { readonly kind: "hullWhiteQuotes" }>,
  curve: ForwardCurve,
  pathOf: PathOf,
): { readonly model: HullWhiteParameters; readonly state: FitState; readonly report: CurveCalibration } {
  let fit: HullWhiteFit;
  try {
    fit = runBlocking(() => fitHullWhite(quotes, (time) => discountFactor(curve, time)));
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    throw new BookError(pathOf(), error.message.replace("quotes", of), { cause: error });
  }
  const times = [...new Set(quotes.map((quote) => lastOf(quote)))].sort((a, b) => a - b);
  const doubts = [
    ...(fit.status === "converged" ? [] : [fit.status]),
    ...(fit.message === undefined ? [] : [fit.message]),
    ...(fit.rmse > USUAL_MISFIT.price
      ? [`the prices for a notional of 1 are missed by ${(100 * fit.rmse).toPrecision(2)} % (root mean square)`]
      : []),
  ];
  const report = {
    status: fit.status,
    model: "hull-white",
    doubts,
    parameters: { ...fit.parameters },
    standardErrors: { ...fit.standardErrors },
    rmse: fit.rmse,
    curve: times.map((time) => {
      const discount = discountFactor(curve, time);
      return { date: time, time, zero: -Math.log(discount) / time, discount };
    }),
    quotes: quotes.map((quote, i) => ({
      end: lastOf(quote),
      ...termsOf(quote),
      price: quote.price,
      fitted: fit.quotes[i].fitted,
      error: fit.quotes[i].error,
    })),
  };
  const last = times[times.length - 1];
  const state: FitState = {
    place: pathOf(),
    doubts,
    last: { time: last, written: `end of a quote, ${yearsText(last)}` },
  };
  return { model: fit.parameters, state, report };
}

/** The terms that tell a quoted cap or swaption from others that end with it. */
function termsOf(quote: RateQuote): Pick<CurveCalibration["quotes"][number], "start" | "type" | "expiry" | "strike"> {
  const { strike } = quote;
  return quote.kind === "cap" ? { start: quote.start, strike } : { type: quote.type, expiry: quote.expiry, strike };
}

const lastOf = (quote: RateQuote): number => (quote.kind === "cap" ? quote.maturity : quote.expiry + quote.length);

const DAYS_OF_YEAR = { "Act/365F": 365, "Act/360": 360 } as const;

function instrumentOf(spec: InstrumentSpec, asOf: AsOf, pathOf: PathOf): RateInstrument {
  const timeOf = (time: TimeSpec, field: string): number => {
    const years = yearsFrom(asOf, time);
    if (!(years > 0 && years <= MAX_YEARS))
      throw new BookError(pathOf(field), `expected a time after asOf, up to ${MAX_YEARS} years`);
    return years;
  };
  if (spec.kind === "swap") return { ...spec, end: timeOf(spec.end, "swap") };
  const isPeriod = spec.kind !== "deposit";
  const end = timeOf(spec.end, isPeriod ? "end" : "deposit");
  const start = isPeriod ? timeOf(spec.start, spec.kind) : 0;
  if (!(end > start)) throw new BookError(pathOf("end"), `expected a time after the start, ${start} years`);
  const accrual = ((end - start) * 365) / DAYS_OF_YEAR[spec.dayCount];
  return isPeriod
    ? { kind: "fra", start, end, rate: spec.rate, accrual }
    : { kind: "deposit", end, rate: spec.rate, accrual };
}

/** Beyond this a quoted rate was probably meant in percent, and a future of such a rate quoted by its rate. */
const MAX_RATE = { future: 0.5, other: 1 } as const;

/** Returns a doubt about a quote that was probably given in another unit. */
function doubtsOfUnits({ kind, rate }: InstrumentSpec, pathOf: PathOf): string[] {
  const percent = `${Number((100 * rate).toPrecision(6))} %`;
  if (kind === "future")
    return Math.abs(rate) > MAX_RATE.future
      ? [`${pathOf("price")} is a rate of ${percent}; if that was not meant, write the price, 96.5 for 3.5 %`]
      : [];
  return Math.abs(rate) > MAX_RATE.other
    ? [`${pathOf("rate")} is ${percent}; if that was not meant, write 3.2 % as 0.032, or a futures price as "future"`]
    : [];
}

/** Fits the interest rate curve of a currency to its quotes. @throws BookError a quote that no curve can reproduce */
export function calibrateCurve(
  { fit, interpolation, instruments: specs }: InstrumentsSpec,
  asOf: AsOf,
  pathOf: PathOf,
): { readonly curve: ForwardCurve; readonly report: CurveCalibration } {
  const at = (i: number): PathOf => inside(pathOf, "instruments", i);
  const given = specs.map((instrument, i) => instrumentOf(instrument, asOf, at(i)));
  const instruments = given.map(instrumentInYears);
  const rule = fit === "svensson" ? fit : interpolation === "monotone-convex" ? interpolation : "log-discount";
  let set: CurveSet;
  try {
    set = runBlocking(() => findCurves([], [{ name: "the curve", rule, instruments }]));
  } catch (error) {
    if (!(error instanceof CurveError)) throw error;
    throw new BookError(at(error.instrument)(), error.message, { cause: error });
  }
  const [found] = set.curves;
  const flows = rule === "log-discount" ? [] : instruments.flatMap((one) => [...one.flows, ...one.byQuote]);
  const curve = forwardCurveOf(
    found,
    flows.flatMap(({ factors }) => factors.map(({ time }) => time)),
  );
  const fitted: number[] = [];
  set.orders[0].forEach((i, k) => (fitted[i] = set.fitted[0][k]));
  const rmse = Math.sqrt(given.reduce((sum, { rate }, i) => sum + (fitted[i] - rate) ** 2, 0) / given.length);
  const written = new Map(given.map(({ end }, i) => [end, timeText(asOf, specs[i].end)]));
  const status = set.hasConverged ? "converged" : "not converged";
  const doubts = [
    ...(set.hasConverged ? [] : [status]),
    ...(rmse > USUAL_MISFIT.rate
      ? [`the rates are missed by ${(1e4 * rmse).toPrecision(2)} basis points (root mean square)`]
      : []),
    ...specs.flatMap((instrument, i) => doubtsOfUnits(instrument, at(i))),
  ];
  const last = given.reduce((late, { end }, i) => (end > given[late].end ? i : late), 0);
  const report = {
    status,
    model: fit === "svensson" ? fit : interpolation,
    doubts,
    parameters: rule === "svensson" ? Object.fromEntries(SVENSSON.map((name, i) => [name, found.zeros[i]])) : {},
    rmse,
    curve: [...curve.times, given[last].end]
      .filter((time, i, all) => time <= given[last].end && time !== all[i - 1])
      .map((time) => {
        const zero = found.logDiscount(time) / time;
        return { date: written.get(time) ?? time, time, zero, discount: Math.exp(-zero * time) };
      }),
    quotes: given.map(({ end, rate }, i) => ({
      end: written.get(end) ?? end,
      rate,
      fitted: fitted[i],
      error: fitted[i] - rate,
    })),
  } as const;
  const state: FitState = {
    place: pathOf(),
    doubts,
    last: { time: given[last].end, written: `end of an instrument, ${shownTime(asOf, specs[last].end)}` },
  };
  return { curve: { ...curve, fit: state }, report };
}
