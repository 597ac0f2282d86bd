/** Curves from quotes: bootstrapping, and the fit of Nelson, Siegel and Svensson. */
import { SpecError } from "../../base/errors.ts";
import type { ZeroRate } from "../../market/index.ts";
import { fairRate, flowsOf, type LogDiscount, type RateInstrument, valueOf } from "./instruments.ts";
import { type CurveInterpolation, linear, monotoneConvex } from "./interpolate.ts";
import { fitSvensson } from "./svensson.ts";

/** The specification of a discount curve: the quoted instruments, and how to interpolate between them. */
export interface CurveSpec {
  readonly instruments: readonly RateInstrument[];
  readonly interpolation: CurveInterpolation;
  readonly fit: "bootstrap" | "svensson";
}

/** A fitted discount curve, and the quality of its fit. */
export interface CurveFit {
  readonly status: "converged" | "not converged";
  readonly model: CurveInterpolation | "svensson";
  /** The parameters of Svensson's curve by name; empty for an interpolated curve. */
  readonly parameters: Readonly<Record<string, number>>;
  /**
   * Zero rates at nodes that represent the curve: with linear interpolation of z·t they price the quotes as the curve
   * does.
   */
  readonly nodes: readonly ZeroRate[];
  /** The times in years at which the quoted instruments end, in increasing order. */
  readonly pillars: readonly number[];
  /** The fair rate of each quoted instrument on the curve. */
  readonly fitted: readonly number[];
  /** The root mean square difference between fitted and quoted rates. */
  readonly rmse: number;
}

/** The error of a quoted rate that no curve can reproduce, alone or together with the others. */
export class InstrumentError extends SpecError {
  readonly index: number;

  constructor(index: number, message: string) {
    super(message);
    this.index = index;
  }
}

/**
 * Fits a discount curve to quoted rates. @throws InstrumentError for an instrument that ends where another does, or
 * whose rate no curve can reproduce
 */
export function fitCurve(spec: CurveSpec): CurveFit {
  const { instruments, interpolation, fit } = spec;
  const order = instruments.map((_, i) => i).sort((a, b) => instruments[a].end - instruments[b].end);
  const sorted = order.map((i) => instruments[i]);
  const pillars = sorted.map(({ end }) => end);
  const { logDiscount, ...found } =
    fit === "svensson" ? fitSvensson(sorted) : bootstrap(sorted, pillars, order, interpolation);
  const smooth = fit === "svensson" || interpolation === "monotone-convex";
  const nodes = nodeTimes(sorted, pillars, smooth).map((time) => ({ time, zero: logDiscount(time) / time }));
  const fitted = instruments.map((instrument) => fairRate(instrument, logDiscount));
  const squares = fitted.map((rate, i) => (rate - instruments[i].rate) ** 2);
  const rmse = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / fitted.length);
  return { ...found, nodes, pillars, fitted, rmse };
}

/** Nodes of a smooth curve between two of its pillars. */
const BETWEEN = 8;

/** The times of the nodes: the pillars; of a smooth curve every cash flow, too, and more between them. */
function nodeTimes(sorted: readonly RateInstrument[], pillars: readonly number[], smooth: boolean): number[] {
  if (!smooth) return [...pillars];
  const flows = sorted.flatMap((instrument) => flowsOf(instrument).map(({ time }) => time));
  const between = pillars.flatMap((end, i) => {
    const start = i > 0 ? pillars[i - 1] : 0;
    return Array.from({ length: BETWEEN }, (_, k) => start + ((end - start) * (k + 1)) / BETWEEN);
  });
  const all = [...pillars, ...flows, ...between].filter((time) => time > 0).sort((a, b) => a - b);
  return all.filter((time, i) => i === 0 || time - all[i - 1] > 1e-9);
}

type Found = Pick<CurveFit, "status" | "model" | "parameters"> & { readonly logDiscount: LogDiscount };

/** Sweeps over all quotes; curves whose forwards depend on their neighbours take some of them. */
const SWEEPS = 60;

/** Node by node, each by the quote that ends there; once more as long as later nodes have changed earlier quotes. */
function bootstrap(
  sorted: readonly RateInstrument[],
  pillars: readonly number[],
  order: readonly number[],
  interpolation: CurveInterpolation,
): Found {
  pillars.forEach((time, i) => {
    if (i > 0 && !(time - pillars[i - 1] > 1e-9))
      throw new InstrumentError(
        order[i],
        `another quote ends at ${time} years, too; leave one of them out, or use "fit": "svensson"`,
      );
  });
  const curve = interpolation === "monotone-convex" ? monotoneConvex : linear;
  const flows = sorted.map(flowsOf);
  const values = pillars.map((time, i) => sorted[i].rate * time);
  // The first pass sees no later node.
  sorted.forEach((_, i) => {
    const times = pillars.slice(0, i + 1);
    values[i] = nodeValue(values, i, order, (trial) => valueOf(flows[i], linear(times, trial.slice(0, i + 1))));
  });
  let change = interpolation === "monotone-convex" ? 1 : 0;
  for (let sweep = 0; sweep < SWEEPS && change > 1e-14; sweep++) {
    change = 0;
    sorted.forEach((_, i) => {
      const next = nodeValue(values, i, order, (trial) => valueOf(flows[i], curve(pillars, trial)));
      change = Math.max(change, Math.abs(next - values[i]) / (1 + Math.abs(next)));
      values[i] = next;
    });
  }
  const status = change <= 1e-12 ? "converged" : "not converged";
  return { status, model: interpolation, parameters: {}, logDiscount: curve(pillars, values) };
}

/** −ln P of one node, with which a quote's flows are worth 0: the secant method. */
function nodeValue(
  values: readonly number[],
  i: number,
  order: readonly number[],
  valueWith: (trial: readonly number[]) => number,
): number {
  const trial = [...values];
  const at = (x: number): number => {
    trial[i] = x;
    return valueWith(trial);
  };
  let before = values[i];
  let x = before + 1e-4 * (1 + Math.abs(before));
  let [last, now] = [at(before), at(x)];
  for (let step = 0; step < 60 && now !== 0 && now !== last; step++) {
    const next = x - (now * (x - before)) / (now - last);
    [before, last] = [x, now];
    x = next;
    now = at(x);
    if (!(Math.abs(x - before) > 1e-16 * Math.abs(x))) break;
  }
  if (!(Math.abs(now) <= 1e-12) || Math.abs(x) > 1000)
    throw new InstrumentError(order[i], "no discount factor gives this rate beside the quotes that end before it");
  return x;
}
