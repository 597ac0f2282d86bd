/** Values of scripts on one spot, backwards by finite differences. */
import { sensitivityBy } from "../../../base/differences.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Device } from "../../../device/index.ts";
import type { Precision } from "../../../kernel/index.ts";
import { discountFactor, integratedVariance } from "../../../market/index.ts";
import { volatilityAt } from "../../../pde/fdm/index.ts";
import {
  findLayers,
  type Layers,
  type Mesh,
  type ProblemDate,
  type ScriptPoint,
  type ScriptProblem,
  solveScripts,
} from "../../../pde/scripts/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { bumpsOnGrids } from "../../plan/bump-sizes.ts";
import { DELTA, differencesOf, GAMMA, RHO, THETA, VEGA } from "../../plan/differences.ts";
import { roundingError, TARGET_ERRORS } from "../../plan/method.ts";
import {
  type Estimate,
  type Estimator,
  type Measured,
  type Request,
  type RequestSettings,
  together,
} from "../../plan/request.ts";
import { logGrowth, type Terms } from "../../terms.ts";
import { diffusionOf } from "../../trade-problem.ts";
import { totalVariance } from "../../variance.ts";

/** The resolution on level 0; each level doubles nodes and steps. */
const LEVEL = { nodes: 200, steps: 24, points: 32, most: 4 } as const;
/** The most nodes of all layers of all dates: seconds of one core. */
const MOST_NODES = 1e6;
/** The deviations of the mesh on both sides of the spots. */
const REACH = 6;
/** A value that is larger is none: states had values that were not found. */
const HUGE = 1e20;

const nodesOn = (level: number): number => LEVEL.nodes * 2 ** level + 1;
const pointsOn = (level: number): number => LEVEL.points * 2 ** level + 1;

/** A resolution as powers of two of that of level 0. */
interface Resolution {
  readonly nodes: number;
  readonly steps: number;
  readonly points: number;
}

/** The resolutions of a value: the finest, then with half of the nodes, of the steps, and of the points. */
const resolutionsOf = (level: number, hasPoints: boolean): readonly Resolution[] => {
  const finest = { nodes: level, steps: level, points: level };
  const coarser = [
    { ...finest, nodes: level - 1 },
    { ...finest, steps: level - 1 },
  ];
  return [finest, ...coarser, ...(hasPoints ? [{ ...finest, points: level - 1 }] : [])];
};

/**
 * Returns a number by extrapolation from what the resolutions give, and its error. The scheme is of second order in
 * nodes and steps; interpolation between points is of higher order and less regular.
 */
function extrapolated([finest, ofNodes, ofSteps, ofPoints = finest]: readonly number[]): Measured {
  const [a, b, c] = [finest - ofNodes, finest - ofSteps, finest - ofPoints];
  return { value: finest + (a + b) / 3, error: Math.abs(a) + 0.5 * Math.abs(b) + Math.abs(c) };
}

/** The answer to a request: at each resolution the point at each spot. */
interface ScriptEstimate extends Estimate {
  readonly solved: readonly (readonly ScriptPoint[])[];
}

type ScriptRequest = Request<ScriptEstimate>;

const scriptOf = ({ payoff }: Terms) => {
  if (payoff.kind === "script") return payoff;
  throw new Error(`no script of a ${payoff.kind}`);
};

/** Returns what the terms of a script are backwards. */
export function problemOf(terms: Terms): ScriptProblem {
  const { program, running, scalars, dates } = scriptOf(terms);
  const { assets, rates, expiry } = terms;
  const [asset] = assets;
  const { volatility, underlying } = asset;
  const discount = (time: number): number => discountFactor(rates, Math.max(time, 0));
  const dividends = underlying.dividends.discrete.filter(({ time }) => time > 0 && time <= expiry);
  const diffusion = diffusionOf(volatility, underlying.spot, expiry);
  const all = new Map<number, ProblemDate>();
  const nothing = program.columns.map(() => 0);
  for (const time of [0, ...dividends.map(({ time }) => time)]) all.set(time, { time, dated: nothing, cash: 0 });
  for (const { time, dated } of dates)
    all.set(time, {
      time,
      cash: 0,
      dated: dated.map((value, c) => (program.columns[c].kind === "delay" ? discount(value) / discount(time) : value)),
    });
  for (const dividend of dividends) all.set(dividend.time, { ...all.get(dividend.time)!, cash: dividend.cash });
  return {
    program,
    running: running.map((value, k) => (k === 0 ? 0 : value)),
    scalars,
    dates: [...all.values()].toSorted((a, b) => a.time - b.time),
    growth: (time) =>
      dividends.reduce(
        (grown, one) => (one.time <= time ? grown * (1 - one.proportional) : grown),
        Math.exp(logGrowth(terms, asset, time)),
      ),
    discount,
    deviation: (time) => Math.sqrt(totalVariance(volatility, underlying.spot, time)),
    halfVariance:
      volatility.kind === "deterministic"
        ? (from, to) => 0.5 * (integratedVariance(volatility.sigma, to) - integratedVariance(volatility.sigma, from))
        : undefined,
    sigma: (spot, time) => volatilityAt(diffusion, spot, time),
  };
}

/** The mesh and the layers that a request shares with its moved copies. */
interface Base {
  readonly mesh: Mesh;
  readonly layers: readonly Layers[];
}

/** Returns the estimator of scripts backwards. Where a script has too many states values are NaN if `isOpen`. */
export function backwardsOn(device: Device, isOpen: boolean): Estimator<ScriptEstimate> {
  const bases = new Map<Terms, Base>();
  const baseOf = async ({ terms, spots }: ScriptRequest, { precision }: RequestSettings): Promise<Base> => {
    const known = bases.get(terms);
    if (known !== undefined) return known;
    const problem = problemOf(terms);
    const at = spots.map(([spot]) => Math.log(spot));
    const deviation = Math.max(problem.deviation(terms.expiry), 0.01);
    const reach = REACH * deviation + 0.5 * deviation ** 2;
    const mesh = {
      from: Math.min(...at) - reach,
      to: Math.max(...at) + reach,
      nodes: 0,
      spots: at.toSorted((a, b) => a - b),
    };
    const base = { mesh, layers: await findLayers(problem, mesh, device, precision) };
    bases.set(terms, base);
    return base;
  };
  const solve = async (requests: readonly ScriptRequest[], settings: RequestSettings): Promise<void> => {
    try {
      await solveTogether(requests, settings);
    } catch (error) {
      if (!isOpen || !(error instanceof SpecError)) throw error;
      const none = { value: Number.NaN, first: Number.NaN, second: Number.NaN };
      for (const request of requests) {
        const points = request.spots.map(() => none);
        request.estimate = estimateOf(request, [points, points, points], settings.precision);
      }
    }
  };
  const solveTogether = async (requests: readonly ScriptRequest[], settings: RequestSettings): Promise<void> => {
    const [first] = requests;
    const { mesh, layers } = await baseOf(first.original ?? first, settings);
    const problems = requests.map(({ terms }) => problemOf(terms));
    const hasPoints = layers.some(({ axis }) => axis !== undefined);
    const all: (readonly (readonly ScriptPoint[])[])[] = [];
    for (const { nodes, steps, points } of resolutionsOf(first.level, hasPoints))
      all.push(
        await solveScripts(problems, scriptOf(first.terms).unit, {
          layers,
          device,
          precision: settings.precision,
          points: pointsOn(points),
          steps: LEVEL.steps * 2 ** steps,
          mesh: { ...mesh, nodes: nodesOn(nodes), spots: first.spots.map(([spot]) => Math.log(spot)) },
        }),
      );
    requests.forEach((request, i) => {
      const own = all.map((solved) => solved[i]);
      if (!own.flat().every(({ value }) => Math.abs(value) < HUGE))
        throw new SpecError(
          `script "${scriptOf(first.terms).program.name}": its states have values that finite differences did not ` +
            'find; use method "montecarlo"',
        );
      request.estimate = estimateOf(request, own, settings.precision);
    });
  };
  return {
    accuracy: TARGET_ERRORS.adi,
    accuracyOfF32: 1e-4,
    limited: WARNING.inaccurate,
    servesAllSpots: true,
    findsDifferences: false,
    refinesEach: false,
    async estimate(requests, settings) {
      const groups = new Map<string, ScriptRequest[]>();
      const numbers = new Map<object, number>();
      const numberOf = (one: object): number => {
        if (!numbers.has(one)) numbers.set(one, numbers.size);
        return numbers.get(one)!;
      };
      for (const request of requests) {
        const key = `${numberOf(request.original ?? request)} ${request.level} ${request.spots.join()}`;
        groups.set(key, [...(groups.get(key) ?? []), request]);
      }
      for (const group of groups.values())
        await together(
          group,
          (one) => one,
          settings,
          (some) => solve(some, settings),
        );
    },
    finerLevel({ terms, level }, ratio) {
      const layers = bases.get(terms)?.layers ?? [];
      const nodes = (on: number): number =>
        nodesOn(on) * layers.reduce((sum, { groups, axis }) => sum + groups.length * (axis ? pointsOn(on) : 1), 0);
      let finer = Math.min(level + Math.max(1, Math.floor(0.5 * Math.log2(ratio))), LEVEL.most);
      while (finer > level && !(nodes(finer) <= MOST_NODES)) finer--;
      return finer > level ? finer : level;
    },
    growth: (_, from, to) => 4 ** (to - from),
    copyLevel: ({ level }) => level,
    differencesOf({ terms, spots: [spots] }, greeks) {
      if (greeks !== "all") return { copies: [], formulas: [] };
      return differencesOf({ terms, spots }, bumpsOnGrids({ ...terms, exercise: { kind: "american" } }, "f64", true));
    },
    measuresOf(today, { formulas }, copies) {
      const all = [today, ...copies].map(({ estimate }) => estimate!);
      const failed = copies.find(({ failure }) => failure !== undefined);
      if (failed !== undefined) throw failed.failure;
      const found = all[0].solved.map((points, r) => {
        const own = pointMeasures(today, points[0]);
        for (const formula of formulas)
          own.set(
            formula.name,
            sensitivityBy(formula, (k) => all[k].solved[r][0].value),
          );
        return own;
      });
      const beside = sensitivityErrors(today, all[0].errors[0]);
      return new Map(
        Array.from(found[0].keys(), (name) => {
          const { value, error } = extrapolated(found.map((own) => own.get(name)!));
          return [name, { value, error: error + (beside.get(name) ?? 0) }];
        }),
      );
    },
  };
}

/** The values at all spots; owed payments are added. */
function estimateOf(
  { terms, spots }: ScriptRequest,
  solved: ScriptEstimate["solved"],
  precision: Precision,
): ScriptEstimate {
  const due = scriptOf(terms).owed.reduce(
    (sum, { time, amount }) => sum + amount * discountFactor(terms.rates, Math.max(time, 0)),
    0,
  );
  const withDue = solved.map((points) => points.map((one) => ({ ...one, value: one.value + due })));
  const values = spots.map((_, k) => extrapolated(withDue.map((points) => points[k].value)));
  return {
    solved: withDue,
    values: values.map(({ value }) => value),
    errors: values.map(({ value, error }, k) => error + roundingError(precision, spots[k][0], value)),
    method: "fdm",
  };
}

/**
 * What the error of a value may be in its sensitivities, beside what resolutions tell of these, which may agree by
 * chance: the value's error over the width in which values change much, half a deviation of the spot, or what of the
 * volatility and of the rates makes as much.
 */
function sensitivityErrors({ terms, spots: [[spot]] }: ScriptRequest, error: number): ReadonlyMap<string, number> {
  const { deviation, sigma } = problemOf(terms);
  const whole = Math.max(deviation(terms.expiry), 1e-3);
  const width = spot * Math.min(0.5 * whole, 1);
  const gamma = error / width ** 2;
  return new Map([
    [DELTA(0), error / width],
    [GAMMA(0), gamma],
    [THETA, Math.abs(terms.rates.values[0]) * error + 0.5 * (sigma(spot, 0) * spot) ** 2 * gamma],
    [VEGA(0), (error * Math.sqrt(terms.expiry)) / (0.5 * whole)],
    [RHO, (error * terms.expiry) / (0.5 * whole)],
  ]);
}

/** Delta, gamma and theta of a point. */
function pointMeasures({ terms, spots: [[spot]] }: ScriptRequest, { value, first, second }: ScriptPoint) {
  const [asset] = terms.assets;
  const now = 1e-9;
  const { sigma } = problemOf(terms);
  const rate = terms.rates.values[0];
  const growth = logGrowth(terms, asset, now) / now;
  const theta = rate * value - growth * first - 0.5 * sigma(spot, 0) ** 2 * (second - first);
  return new Map([
    [DELTA(0), first / spot],
    [GAMMA(0), (second - first) / spot ** 2],
    [THETA, theta],
  ]);
}
