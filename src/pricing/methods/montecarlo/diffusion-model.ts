/** The path model of assets with local volatilities and dividends on dates, as columns of a batch. */
import {
  ONE_SECOND,
  integratedVariance,
  type LocalSurface,
  rootMeanSquare,
  type SurfaceRow,
  type Volatility,
} from "../../../market/index.ts";
import {
  type AssetVolatility,
  type DiffusionAsset,
  localDiffusions,
  type PathModel,
} from "../../../montecarlo/index.ts";
import type { Parameter } from "../../../montecarlo/index.ts";
import { logGrowth } from "../../terms.ts";
import type { SimulationInstance } from "./acceptance.ts";
import type { Steps } from "./steps.ts";

/** A path with its steps, and for each step the one with which its diffusion ends to be kept. */
interface Stepped {
  readonly path: SimulationInstance;
  readonly steps: Steps;
  readonly last: readonly number[];
}

/**
 * Returns the path model of instances that share a kernel and their number of steps. `correlation` are the columns of
 * the correlation matrix, and `rate` the mean rate over each step.
 */
export function diffusionModel(
  paths: readonly SimulationInstance[],
  rate: Parameter,
  correlation: readonly (readonly Parameter[])[],
): PathModel {
  const all = paths.map((path): Stepped => ({ path, steps: path.steps!, last: lastKept(path.steps!) }));
  const byStep = (of: (one: Stepped, k: number) => number): Parameter => ({
    byStep: all[0].steps.ends.map((_, k) => Float64Array.from(all, (one) => of(one, k))),
  });
  return localDiffusions({
    assets: paths[0].terms.assets.map((_, i) => assetOf(all, i, byStep)),
    rate,
    ends: byStep(({ steps }, k) => steps.ends[k]),
    root: byStep(({ steps }, k) => (steps.isJump[k] ? 0 : Math.sqrt(steps.ends[k] - startOf(steps, k)))),
    correlation,
  });
}

const startOf = ({ ends }: Steps, k: number): number => (k === 0 ? 0 : ends[k - 1]);

/** The last step that keeps the diffusion of each step. */
const lastKept = ({ isFresh }: Steps): readonly number[] => {
  const last = isFresh.map((_, k) => k);
  for (let k = isFresh.length - 2; k >= 0; k--) if (!isFresh[k + 1]) last[k] = last[k + 1];
  return last;
};

type ByStep = (of: (one: Stepped, k: number) => number) => Parameter;

function assetOf(all: readonly Stepped[], i: number, byStep: ByStep): DiffusionAsset {
  const ofAsset = ({ path: { terms } }: Stepped) => terms.assets[i];
  // Volatilities of time change from step to step in any case.
  const isOfTime = ofAsset(all[0]).volatility.kind === "deterministic";
  const growth = (one: Stepped, from: number, to: number): number => {
    const at = (t: number): number => logGrowth(one.path.terms, ofAsset(one), t);
    return at(to) - at(from);
  };
  const spanOf = ({ steps, last }: Stepped, k: number): readonly [number, number] =>
    isOfTime ? [startOf(steps, k), steps.ends[k]] : [startOf(steps, k), steps.ends[last[k]]];
  const paid = (one: Stepped, k: number) =>
    one.steps.isJump[k]
      ? ofAsset(one).underlying.dividends.discrete.find(({ time }) => Math.abs(time - one.steps.ends[k]) <= ONE_SECOND)
      : undefined;
  return {
    spot: Float64Array.from(all, ({ path }) => path.spots[i]),
    growth: byStep((one, k) => Math.exp(growth(one, startOf(one.steps, k), one.steps.ends[k]))),
    kept: byStep((one, k) => 1 - (paid(one, k)?.proportional ?? 0)),
    cash: byStep((one, k) => paid(one, k)?.cash ?? 0),
    fresh: byStep(({ steps }, k) => (isOfTime || steps.isFresh[k] ? 1 : 0)),
    span: byStep((one, k) => spanOf(one, k)[1] - spanOf(one, k)[0]),
    middle: byStep((one, k) => Math.exp(0.5 * growth(one, ...spanOf(one, k)))),
    shown: byStep(({ steps }, k) => (steps.isShown[k] ? 1 : 0)),
    volatility: volatilityOf(all, i, byStep, spanOf),
  };
}

/** The volatility of an asset of all instances, which have one kind. */
function volatilityOf(
  all: readonly Stepped[],
  i: number,
  byStep: ByStep,
  spanOf: (one: Stepped, k: number) => readonly [number, number],
): AssetVolatility {
  const own = ({ path }: Stepped): Volatility => path.terms.assets[i].volatility;
  const column = (of: (volatility: Volatility) => number | undefined): Float64Array =>
    Float64Array.from(all, (one) => of(own(one)) ?? Number.NaN);
  const added = column((one) => ("added" in one ? (one.added ?? 0) : 0));
  const first = own(all[0]);
  switch (first.kind) {
    case "deterministic":
      return { kind: "constant", sigma: byStep((one, k) => meanVolatility(own(one), ...spanOf(one, k))) };
    case "cev":
      return {
        kind: "cev",
        sigma: column((one) => (one.kind === "cev" ? one.sigma : undefined)),
        beta: column((one) => (one.kind === "cev" ? one.beta : undefined)),
        added,
      };
    case "displaced":
      return {
        kind: "displaced",
        sigma: column((one) => (one.kind === "displaced" ? one.sigma : undefined)),
        shift: column((one) => (one.kind === "displaced" ? one.shift : undefined)),
        added,
      };
    case "local": {
      const time = byStep((one, k) => {
        const volatility = own(one);
        const [from, to] = spanOf(one, k);
        return 0.5 * (from + to) + (volatility.kind === "local" ? (volatility.start ?? 0) : 0);
      });
      return { kind: "formula", expression: first.expression, time, added };
    }
    case "surface":
      // The rows contain what is added.
      return { kind: "table", ...tableOf(all, first.surface.spots.length, own, spanOf), added: column(() => 0) };
    default:
      throw new Error(`no steps of ${first.kind}`);
  }
}

/** The root of the mean variance over a time. */
function meanVolatility(volatility: Volatility, from: number, to: number): number {
  if (volatility.kind !== "deterministic") return Number.NaN;
  const { sigma } = volatility;
  return Math.sqrt(Math.max((integratedVariance(sigma, to) - integratedVariance(sigma, from)) / (to - from), 0));
}

/** The surface of each instance in each step, as its root mean square over the time for which it is kept. */
function tableOf(
  all: readonly Stepped[],
  nodes: number,
  own: (one: Stepped) => Volatility,
  spanOf: (one: Stepped, k: number) => readonly [number, number],
): Pick<Extract<AssetVolatility, { kind: "table" }>, "spots" | "volatility" | "slopes"> {
  const surfaceOf = (one: Stepped): LocalSurface => {
    const volatility = own(one);
    if (volatility.kind !== "surface") throw new Error(`no surface of ${volatility.kind}`);
    return volatility.surface;
  };
  const means = new Map<LocalSurface, Map<string, SurfaceRow>>();
  const meanOf = (one: Stepped, k: number): SurfaceRow => {
    const surface = surfaceOf(one);
    const known = means.get(surface) ?? new Map<string, SurfaceRow>();
    means.set(surface, known);
    const span = spanOf(one, k);
    const { added = 0 } = own(one) as Extract<Volatility, { kind: "surface" }>;
    const key = [...span, added].join();
    const row = known.get(key) ?? rootMeanSquare(surface, ...span, added);
    known.set(key, row);
    return row;
  };
  const rows = all.map((one) => one.steps.ends.map((_, k) => meanOf(one, k)));
  const each = Array.from({ length: nodes }, (_, j) => j);
  const column = (name: keyof SurfaceRow) =>
    each.map((j): Parameter => ({
      byStep: all[0].steps.ends.map((_, k) => Float64Array.from(rows, (own) => own[k][name][j])),
    }));
  return {
    spots: each.map((j) => Float64Array.from(all, (one) => surfaceOf(one).spots[j])),
    volatility: column("volatility"),
    slopes: column("slopes"),
  };
}
