import { SENSITIVITIES, type Trade } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import { moveOf } from "../../columns/scenario-cases.ts";
import { type ResultColumns, WARNING } from "../../columns/result-columns.ts";
import { type Terms, termsOf } from "../../terms.ts";
import type { Settings } from "../../options.ts";
import type { Acceptance, Batch, MethodSession, Plan, PricingMethod } from "../method.ts";
import { readEach } from "../read-each.ts";
import { datesOf, withoutModel, withoutProduct } from "./acceptance.ts";
import { mayJump } from "./error.ts";
import { exactly, isGeometricBasket, ROUNDING } from "./exact.ts";
import {
  CROSS,
  DAY,
  DELTA,
  GAMMA,
  type Pair,
  pairsOf,
  RHO,
  RHO_OF,
  type Sensitivities,
  sensitivitiesOf,
  THETA,
  VEGA,
} from "./sensitivities.ts";
import type { Instance } from "./simulate.ts";
import type { Estimate, Measured } from "./measured.ts";
import { streamOf } from "./stream.ts";

/** The time in microseconds that a case of a trade takes on one core, about: more than any other method. */
const COST = 1e6;
/** The cost of a closed form with sensitivities, in microseconds. */
const EXACT_COST = 50;

/** The error of a value to aim at where nothing is said, relative to the largest spot. */
const ACCURACY = 1e-3;

/**
 * Monte Carlo: what depends on the path, baskets of any size, and what no equation of three factors describes. The
 * error estimate is half an interval of at least 95 %, with what a scheme or a rule of exercise adds. Sensitivities are
 * differences of values on the same paths. Random numbers belong to the seed and the trade's terms, so that a trade has
 * one value in any book.
 *
 * Cost: about 30 ns a path, date and underlying, for the value and each bump. Source: docs/montecarlo.md. Verified:
 * test/pricing/montecarlo.
 */
export const montecarlo = {
  name: "montecarlo",
  minCost: EXACT_COST,
  accuracy: ACCURACY,
  accepts,
  open: (device) => ({
    plan: (batch, trades) => Promise.resolve(new MonteCarloPlan(batch, trades, device)),
    [Symbol.dispose]() {},
  }),
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

function accepts({ columns, settings }: Batch, trade: number): Acceptance {
  const { cases } = columns;
  let isExact = true;
  for (const date of cases.dates) {
    const terms = termsOf(columns.tradeOf(trade), date, { volatility: 0, rate: 0 });
    const reason = terms === undefined ? undefined : (withoutModel(terms) ?? withoutProduct(terms));
    if (reason !== undefined) return reason;
    isExact &&= terms === undefined || isGeometricBasket(terms);
  }
  if (isExact) return EXACT_COST;
  return cases.count * (1 + cases.spots) * costOf(columns.tradeOf(trade), settings);
}

/**
 * The time in microseconds of a European option on several underlyings: in any case, and for each value and underlying
 * at 1e-3.
 */
const VALUE_COST = 5e4;
const PATHS_COST = 2e3;

/** More than three underlyings may have sparse grids instead, which win where much is asked for. */
function costOf({ assets = [], exercise }: Trade, { accuracy = ACCURACY, greeks }: Settings): number {
  const d = assets.length;
  if (d < 4 || exercise.kind !== "european") return COST;
  const moves = greeks === "all" ? 4 * d + 6 + (d * (d - 1)) / 2 : 0;
  return VALUE_COST + PATHS_COST * d * (ACCURACY / accuracy) ** 2 * (1 + moves);
}

interface Job {
  readonly trade: number;
  /** [case][spot]; undefined where the trade is settled. */
  readonly cases: (readonly Instance[] | undefined)[];
  failure: unknown;
}

class MonteCarloPlan implements Plan {
  readonly #batch: Batch;
  readonly #device: Device;
  readonly #accuracy: number;
  readonly #jobs: readonly Job[];

  constructor(batch: Batch, trades: readonly number[], device: Device) {
    this.#batch = batch;
    this.#device = device;
    this.#accuracy = batch.settings.accuracy ?? ACCURACY;
    this.#jobs = trades.map((trade) => ({ trade, cases: [], failure: undefined }));
  }

  async run(signal: AbortSignal | undefined): Promise<void> {
    const { precision, settings } = this.#batch;
    // Most books do without.
    const { simulate } = await import("./simulate.ts");
    for (const job of this.#jobs)
      try {
        this.#addCases(job);
      } catch (error) {
        job.failure = error;
      }
    const instances = this.#jobs.flatMap(({ cases }) => cases.flatMap((spots) => spots ?? []));
    await simulate(this.#device, instances, { precision, seed: settings.seed, signal, budget: this.#batch.budget });
  }

  #addCases(job: Job): void {
    const { columns } = this.#batch;
    const { cases, dates, scenarios, count } = columns.cases;
    const trade = columns.tradeOf(job.trade);
    const stream = streamOf(trade);
    const instanceOf = (terms: Terms, spots: readonly number[]): Instance => ({
      trade: job.trade,
      terms,
      spots,
      dates: datesOf(terms),
      stream,
      accuracy: this.#accuracy * Math.max(...terms.assets.map(({ underlying }) => underlying.spot)),
      sensitivities: undefined,
      estimate: exactly(terms, spots),
      failure: undefined,
      isOutOfTime: false,
    });
    for (let k = 0; k < count; k++) {
      const { date, shift } = cases[k];
      const terms = termsOf(trade, dates[date], shift);
      if (terms === undefined) {
        job.cases[k] = undefined;
        continue;
      }
      const today = terms.assets.map(({ underlying }) => underlying.spot);
      const spots = (scenarios?.spot ?? []).map((move) =>
        terms.assets.map(({ underlying: { spot, name } }) => spot * (1 + moveOf(move, name))),
      );
      const moved = spots.map((one) => instanceOf(terms, one));
      // Case 0 is the trade as it is; others are read at the spots of scenarios alone.
      job.cases[k] = k === 0 ? [this.#withSensitivities(trade, instanceOf(terms, today)), ...moved] : moved;
    }
  }

  #withSensitivities(trade: Trade, instance: Instance): Instance {
    const { greeks } = this.#batch.settings;
    const { terms, estimate } = instance;
    if (greeks === "none" || terms.expiry === 0) return instance;
    const later = terms.expiry > DAY ? termsOf(trade, DAY, { volatility: 0, rate: 0 }) : undefined;
    if (estimate === undefined) {
      // Where a payoff jumps, the paths that cross the jump are few.
      const sensitivities = sensitivitiesOf(instance, later, greeks, mayJump(terms) ? 2 : 1);
      return { ...instance, sensitivities };
    }
    const measures = exactMeasures(estimate, sensitivitiesOf(instance, later, greeks, EXACT_SCALE));
    return { ...instance, estimate: { ...estimate, measures } };
  }

  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    let next = 0;
    return readEach(
      this.#jobs.map(({ trade }) => trade),
      results,
      signal,
      () => {
        const job = this.#jobs[next++];
        const all = job.cases.flatMap((spots) => spots ?? []);
        const failure = job.failure ?? all.find((one) => one.failure !== undefined)?.failure;
        if (failure === undefined) this.#readTrade(job, results);
        else results.fail(job.trade, failure);
      },
    );
  }

  #readTrade(job: Job, results: ResultColumns): void {
    const { columns, settings } = this.#batch;
    const { trade } = job;
    const { terms, estimate, isOutOfTime } = job.cases[0]![0];
    const { value, error, isLimited, method, measures } = estimate!;
    results.value[trade] = value;
    results.errorEstimate[trade] = error;
    if (isLimited) results.warnings[trade] |= isOutOfTime ? WARNING.outOfTime : WARNING.pathsLimited;
    const names = terms.assets.map(({ underlying }) => underlying.name);
    const found = readMeasures(names, (name) => measures?.get(name)?.value ?? Number.NaN);
    const errors = readMeasures(names, (name) => measures?.get(name)?.error ?? Number.NaN);
    for (const name of SENSITIVITIES) {
      results[name][trade] = found.total[name];
      if (settings.sensitivityErrorEstimates) results.sensitivityErrors[name][trade] = errors.total[name];
    }
    const { correlations, assets: several } = columns.tradeOf(trade);
    if (several !== undefined)
      results.setSeveral(trade, {
        ...found.several,
        ...(settings.sensitivityErrorEstimates ? { errors: errors.several } : {}),
        assumed: correlations?.assumed ?? [],
      });
    if (columns.cases.scenarios !== undefined) this.#readScenarios(job, results);
    if (method === "montecarlo") results.seeds.set(trade, settings.seed);
    results.priced(trade, method);
  }

  #readScenarios({ trade, cases }: Job, results: ResultColumns): void {
    const { count, spots } = this.#batch.columns.cases;
    const first = this.#batch.columns.rowOf(trade);
    for (let k = 0; k < count; k++) {
      const read = k === 0 ? cases[k]?.slice(1) : cases[k];
      for (let s = 0; s < spots; s++)
        results.scenarioValues[(first + k) * spots + s] = read === undefined ? 0 : read[s].estimate!.value;
      results.scenarioErrors[first + k] = Math.max(0, ...(read ?? []).map(({ estimate }) => estimate!.error));
    }
  }

  [Symbol.dispose](): void {}
}

/** Sensitivities of a trade from its measures, or their errors, of which those of a total are at most the sum. */
function readMeasures(names: readonly string[], of: (measure: string) => number) {
  const assets = names.map((_, i) => ({ delta: of(DELTA(i)), gamma: of(GAMMA(i)), vega: of(VEGA(i)) }));
  const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0);
  const byPair = (name: (pair: Pair) => string) =>
    pairsOf(names.length).map((pair) => [names[pair[0]], names[pair[1]], of(name(pair))] as const);
  return {
    total: {
      delta: sum(assets.map(({ delta }) => delta)),
      gamma: names.length === 1 ? assets[0].gamma : of(GAMMA("all")),
      theta: of(THETA),
      vega: sum(assets.map(({ vega }) => vega)),
      rho: of(RHO),
    },
    several: { assets, crossGamma: byPair(CROSS), correlation: byPair(RHO_OF) },
  };
}

/** The size of bumps where values are exact: rounding then costs second differences 1e-7 of the value. */
const EXACT_SCALE = 0.1;

/** Sensitivities by differences of exact values; none where a moved copy has no exact value. */
function exactMeasures(base: Estimate, { paths, measures }: Sensitivities): ReadonlyMap<string, Measured> {
  const values = [base.value, ...paths.map(({ terms, spots }) => exactly(terms, spots)?.value ?? Number.NaN)];
  const found = new Map<string, Measured>();
  for (const { name, weights } of measures) {
    const used = weights.map((weight, v) => (weight === 0 ? 0 : weight * values[v]));
    const size = used.reduce((sum, x) => sum + Math.abs(x), 0);
    found.set(name, { value: used.reduce((sum, x) => sum + x, 0), error: ROUNDING * size });
  }
  return found;
}
