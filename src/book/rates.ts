/** Converts the interest rates of a currency from the form of the book to curves and models. */
import { BookError } from "../base/errors.ts";
import { formula } from "../kernel/index.ts";
import {
  constant,
  flatCurve,
  type ForwardCurve,
  type HullWhite,
  type PiecewiseConstant,
  type RatesModel,
  zeroCurve,
} from "../market/index.ts";
import { calibrateCurve, calibrateHullWhite, type CurveCalibration } from "./calibrate-rates.ts";
import { show } from "./names.ts";
import {
  curveInputs,
  rememberInputs,
  firstDifference,
  functionInputs,
  type MovableInput,
  stepInputs,
  zeroInputs,
} from "./market-inputs.ts";
import { inside, type PathOf, checkFormula } from "./paths.ts";
import type { InstrumentsSpec, RateSpec } from "./schema/index.ts";
import { type AsOf, timeText } from "./time.ts";
import { increasingYears } from "./volatility.ts";

type CurveSpec = Extract<RateSpec, { readonly kind: "flat" | "zeros" | "instruments" | "named" }>;

/** Returns the curve of a name. @throws BookError for a name that the market does not have */
export type CurveByName = (name: string, pathOf: PathOf) => ForwardCurve;

/** The interest rates of a currency after reading: their model, and the curve for the forwards of underlyings. */
export interface ResolvedRates {
  readonly model: RatesModel;
  /** The curve for the forwards of underlyings; undefined if the model has none. */
  readonly curve: ForwardCurve | undefined;
  /**
   * The Hull–White model for trades on underlyings under a stochastic short rate; undefined if rates are deterministic.
   */
  readonly shortRate: HullWhite | undefined;
  /** The result of fitting the curve or the model, if the book gives quotes. */
  readonly report: CurveCalibration | undefined;
}

/** A curve, with a report on the fit if it was fitted to instruments. */
interface ResolvedCurve {
  readonly curve: ForwardCurve;
  readonly report: CurveCalibration | undefined;
}

/**
 * Converts the rates of a currency from the book's form. @throws BookError dates out of order, lists of different
 * lengths, or parameters that the model does not allow
 */
export function resolveRates(spec: RateSpec, asOf: AsOf, pathOf: PathOf, byName: CurveByName): ResolvedRates {
  const curveOf = (of: CurveSpec, at: PathOf): ResolvedCurve =>
    of.kind === "named"
      ? { curve: byName(of.discount, inside(at, "discount")), report: undefined }
      : resolveCurve(of, asOf, at);
  switch (spec.kind) {
    case "flat":
    case "zeros":
    case "instruments":
    case "named": {
      const { curve, report } = curveOf(spec, pathOf);
      return { model: { kind: "curve", curve }, curve, shortRate: undefined, report };
    }
    case "hullWhite": {
      const { curve, report } = curveOf(spec.curve, inside(pathOf, "hullWhite", "curve"));
      const { meanReversion } = spec;
      const volatility = resolveSigma(spec.volatility, asOf, inside(pathOf, "hullWhite", "volatility"));
      const isZero = volatility.values.every((sigma) => sigma === 0);
      // A rate that does not move at random is its curve.
      const model: RatesModel = { kind: "hullWhite", curve, meanReversion, volatility };
      if (isZero) return { model, curve, shortRate: undefined, report };
      const isConstant = volatility.times.length === 0;
      return isConstant
        ? { model, curve, shortRate: { meanReversion, volatility: volatility.values[0] }, report }
        : { model, curve: undefined, shortRate: undefined, report };
    }
    case "hullWhiteQuotes": {
      const at = inside(pathOf, "hullWhite");
      const { curve } = curveOf(spec.curve, inside(at, "curve"));
      const { model: fitted, state, report } = calibrateHullWhite(spec, curve, at);
      const { meanReversion, volatility } = fitted;
      const model: RatesModel = {
        kind: "hullWhite",
        curve,
        meanReversion,
        volatility: constant(volatility),
        fit: state,
      };
      return { model, curve, shortRate: { ...fitted, fit: state }, report };
    }
    case "vasicek":
      return modelOnly(spec);
    case "cir": {
      const negative = (["r0", "theta"] as const).find((name) => spec[name] < 0);
      if (negative !== undefined)
        throw new BookError(pathOf("cir", negative), `expected a rate ≥ 0, got ${spec[negative]}; ${NEVER_NEGATIVE}`);
      return modelOnly(spec);
    }
    case "g2": {
      const { curve, report } = curveOf(spec.curve, inside(pathOf, "g2", "curve"));
      return modelOnly({ ...spec, curve }, report);
    }
    case "blackKarasinski": {
      const { curve, report } = curveOf(spec.curve, inside(pathOf, "blackKarasinski", "curve"));
      const lowest = Math.min(...curve.values);
      if (!(lowest > 0))
        throw new BookError(
          pathOf("blackKarasinski", "curve"),
          `expected forward rates above 0, got ${show(lowest)}; ${NEVER_NEGATIVE}`,
        );
      return modelOnly({ ...spec, curve }, report);
    }
    case "shortRate": {
      const at = inside(pathOf, "shortRate");
      checkShortRate(spec, at);
      const { curve, report } = curveOf(spec.curve, inside(at, "curve"));
      return modelOnly({ ...spec, curve }, report);
    }
    case "bdt":
      return modelOnly(checkedBdt(spec, inside(pathOf, "bdt")));
    default:
      return spec satisfies never;
  }
}

/**
 * Checks the parameters of a short-rate model. @throws BookError for an invalid formula, a negative volatility, or an
 * `r0` outside its range
 */
function checkShortRate(spec: Extract<RateSpec, { readonly kind: "shortRate" }>, pathOf: PathOf): void {
  const { r0, range } = spec;
  const [low, high] = range;
  if (!(low < r0 && r0 < high))
    throw new BookError(pathOf("range"), `expected [low, high] on both sides of r0, ${show(r0)}; got ${show(range)}`);
  for (const name of ["drift", "volatility"] as const) {
    checkFormula(spec[name], ["r", "t"], pathOf(name));
    for (const r of [low, r0, high]) {
      const value = formula(spec[name], ["r", "t"])(r, 0);
      if (!Number.isFinite(value) || (name === "volatility" && value < 0))
        throw new BookError(
          pathOf(name),
          `expected a ${name === "volatility" ? "number ≥ 0" : "finite number"} on the whole range, got ${value} at ` +
            `r = ${r}; write max(r, 0) where a rate may be negative, or a smaller range`,
        );
    }
  }
}

const NEVER_NEGATIVE = "this model's short rate is never negative: write hullWhite, vasicek or g2";

const modelOnly = (model: RatesModel, report?: CurveCalibration): ResolvedRates => ({
  model,
  curve: undefined,
  shortRate: undefined,
  report,
});

function resolveCurve(spec: Exclude<CurveSpec, { readonly kind: "named" }>, asOf: AsOf, pathOf: PathOf): ResolvedCurve {
  if (spec.kind === "flat") return { curve: flatCurve(spec.rate), report: undefined };
  if (spec.kind === "instruments") {
    const { curve, report } = calibrateCurve(spec, asOf, pathOf);
    rememberInputs(curveInputs, curve, () => instrumentInputs(curve, { spec, quotes: report.quotes, asOf, pathOf }));
    return { curve, report };
  }
  const times = increasingYears(
    spec.nodes.map(({ date }) => date),
    asOf,
    (i) => pathOf(i, "date"),
  );
  const nodes = spec.nodes.map(({ zero }, i) => ({ time: times[i], zero }));
  const curve = zeroCurve(nodes);
  const places = spec.nodes.map(({ date }) => timeText(asOf, date));
  rememberInputs(curveInputs, curve, () => zeroInputs(nodes, places));
  return { curve, report: undefined };
}

/** A move of a rate that tells from when on a curve depends on it. */
const SMALL = 1e-6;

/** The inputs of a curve that is fitted to instruments: their rates, of which all are fitted again. */
function instrumentInputs(
  curve: ForwardCurve,
  { spec, quotes, asOf, pathOf }: Instruments,
): readonly MovableInput<ForwardCurve>[] {
  return spec.instruments.map((instrument, i) => {
    const moved = (by: number): ForwardCurve => {
      const instruments = spec.instruments.with(i, { ...instrument, rate: instrument.rate + by });
      return calibrateCurve({ ...spec, instruments }, asOf, pathOf).curve;
    };
    return { at: quotes[i].end, from: firstDifference(curve, moved(SMALL)), moved };
  });
}

/** The instruments of a curve, and where the book has them. */
interface Instruments {
  readonly spec: InstrumentsSpec;
  readonly quotes: CurveCalibration["quotes"];
  readonly asOf: AsOf;
  readonly pathOf: PathOf;
}

/**
 * Converts the volatility to a piecewise constant function. Each value applies up to its date, and the last value
 * forever.
 */
function resolveSigma(
  spec: Extract<RateSpec, { readonly kind: "hullWhite" }>["volatility"],
  asOf: AsOf,
  pathOf: PathOf,
): PiecewiseConstant {
  if (typeof spec === "number") return constant(spec);
  const times = increasingYears(
    spec.map(({ date }) => date),
    asOf,
    (i) => pathOf(i, "date"),
  );
  const sigma = { times: times.slice(0, -1), values: spec.map(({ volatility }) => volatility) };
  const places = spec.map(({ date }) => timeText(asOf, date));
  rememberInputs(functionInputs, sigma, () => stepInputs(sigma, places));
  return sigma;
}

function checkedBdt(spec: Extract<RateSpec, { readonly kind: "bdt" }>, pathOf: PathOf): RatesModel {
  const { annualYields: yields, yieldVolatilities: volatilities } = spec;
  if (volatilities.length !== yields.length)
    throw new BookError(
      pathOf("yieldVolatilities"),
      `expected ${yields.length} volatilities, one for each annual yield, got ${volatilities.length}`,
    );
  const negative = yields.findIndex((y) => !(y > 0));
  if (negative >= 0)
    throw new BookError(
      pathOf("annualYields", negative),
      `expected a yield above 0, got ${yields[negative]}; ${NEVER_NEGATIVE}`,
    );
  return spec;
}
