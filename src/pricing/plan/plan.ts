/**
 * The plan of a valuation: requests for each case of the scenarios, each spot and each bumped copy of a trade, and
 * Greeks from their values.
 */
import type { DriverCorrelations, SpotMove } from "../../book/index.ts";
import { BookError } from "../../base/errors.ts";
import { spotMoveOf, type ResultColumns, WARNING } from "../columns/result-columns.ts";
import { type Batch, type MethodPlan, readEach } from "./method.ts";
import { type Terms, termsOf } from "../terms.ts";
import type { Differences } from "./differences.ts";
import { copiesOf, type Direction, slopeBetween, slopesOf, withDirections } from "./directions.ts";
import { greeksOf } from "./greeks.ts";
import {
  type Estimate,
  type Estimator,
  type Measured,
  newRequest,
  type Request,
  type RequestSettings,
  targetOf,
} from "./request.ts";

/** One of the batch's trades. */
interface Job<E extends Estimate> {
  readonly trade: number;
  /** The requests by case; undefined where the trade is settled. Those of case 0 have today's spot first. */
  readonly cases: (readonly Request<E>[] | undefined)[];
  differences: Differences | undefined;
  copies: readonly Request<E>[];
  /** The copies for slopes along directions. */
  along: readonly Along<E>[];
  failure: unknown;
  isOutOfTime: boolean;
}

/** Some of a trade's directions, and the requests whose values tell the slopes along them. */
interface Along<E extends Estimate> {
  readonly directions: readonly Direction[];
  /** One that finds the differences together with its value, or one for each move of a single direction. */
  readonly requests: readonly Request<E>[];
}

const NONE: Differences = { copies: [], formulas: [] };

/** The most directions whose copies are simulated together: a kernel has the statements of every copy. */
const TOGETHER = 4;

/**
 * The plan of the methods that compute one value at a time (several factors, Monte Carlo, trees). It requests the
 * values of trades, of their scenarios and of bumped copies from an `Estimator`, refines them, and forms sensitivities.
 */
export class ValuationPlan<E extends Estimate> implements MethodPlan {
  readonly #batch: Batch;
  readonly #estimator: Estimator<E>;
  readonly #accuracy: number;
  readonly #jobs: readonly Job<E>[];

  constructor(batch: Batch, trades: readonly number[], estimator: Estimator<E>) {
    const { accuracy = estimator.accuracy } = batch.settings;
    this.#batch = batch;
    this.#estimator = estimator;
    this.#accuracy = batch.precision === "f32" ? Math.max(accuracy, estimator.accuracyOfF32) : accuracy;
    this.#jobs = trades.map((trade) => ({
      trade,
      cases: [],
      differences: undefined,
      copies: [],
      along: [],
      failure: undefined,
      isOutOfTime: false,
    }));
  }

  /** Refines today's value of each trade until its error is small enough, then computes scenarios and bumped copies. */
  async run(signal: AbortSignal | undefined): Promise<void> {
    const { precision, budget, settings, columns } = this.#batch;
    const common = { accuracy: this.#accuracy, precision, seed: settings.seed, budget, signal };
    await this.#checkCorrelations();
    this.#forEach((job) => {
      this.#addCases(job, 0, 1, 0);
    });
    await this.#refineFamilies(
      this.#jobs.flatMap((job) => job.cases[0]?.slice(0, 1).map((request) => ({ job, request })) ?? []),
      common,
    );
    this.#forEach((job) => {
      const level = this.#estimator.refinesEach ? 0 : (job.cases[0]?.[0].level ?? 0);
      for (const request of job.cases[0]?.slice(1) ?? []) request.level = level;
      this.#addCases(job, 1, columns.cases.count, level);
      this.#addCopies(job);
      this.#addDirections(job);
    });
    const cases = this.#jobs.flatMap((job) =>
      job.cases.flatMap((requests) => (requests ?? []).map((request) => ({ job, request }))),
    );
    const open = cases.filter(({ request }) => request.estimate === undefined);
    if (this.#estimator.refinesEach) await this.#refineFamilies(open, common);
    const others = this.#estimator.refinesEach ? [] : open.map(({ request }) => request);
    await this.#estimator.estimate([...others, ...this.#jobs.flatMap(({ copies }) => copies)], common);
    const along = this.#jobs.flatMap((job) => job.along.flatMap(({ requests }) => requests));
    if (along.length > 0) await this.#estimator.estimate(along, common);
  }

  /** Trades whose correlations are none fail. */
  async #checkCorrelations(): Promise<void> {
    const problems = new Map<DriverCorrelations, BookError | undefined>();
    for (const job of this.#jobs) {
      const { correlations } = this.#batch.columns.tradeOf(job.trade);
      if (correlations === undefined) continue;
      if (!problems.has(correlations)) problems.set(correlations, await problemOf(correlations));
      job.failure = problems.get(correlations);
    }
  }

  /** Calls `step` for the jobs that have not failed; what it throws is the job's failure. */
  #forEach(step: (job: Job<E>) => void): void {
    for (const job of this.#jobs)
      try {
        if (job.failure === undefined) step(job);
      } catch (error) {
        job.failure = error;
      }
  }

  /**
   * Refines values (`#refine`). Those of one trade in many markets have one index. Where each is refined by its own
   * error, some of them come first, and the others begin at the level that half of these have needed.
   */
  async #refineFamilies(all: readonly Open<E>[], settings: RequestSettings): Promise<void> {
    const families = new Map<number, Open<E>[]>();
    const { indexInRun } = this.#batch.columns;
    for (const one of this.#estimator.refinesEach ? all : []) {
      const index = indexInRun[one.job.trade];
      const family = families.get(index);
      if (family === undefined) families.set(index, [one]);
      else family.push(one);
    }
    const samples = new Map([...families].map(([index, family]) => [index, samplesOf(family)]));
    const first = new Set([...samples.values()].flat());
    await this.#refine(first.size === 0 ? all : [...first], settings);
    const others = all.filter((one) => first.size > 0 && !first.has(one));
    for (const { job, request } of others) {
      const levels = samples.get(indexInRun[job.trade])!.map((one) => one.request.level);
      request.level = levels.toSorted((a, b) => a - b)[Math.floor(levels.length / 2)];
    }
    await this.#refine(others, settings);
  }

  /** Asks again and again on finer levels, until each value is as good as was asked for, or its time is over. */
  async #refine(all: readonly Open<E>[], settings: RequestSettings): Promise<void> {
    for (let open = all; open.length > 0; open = open.filter(({ job, request }) => this.#isRefined(job, request)))
      await this.#estimator.estimate(
        open.map(({ request }) => request),
        settings,
      );
  }

  /** Tells whether a request is to be answered on a finer level, and moves it there. */
  #isRefined(job: Job<E>, request: Request<E>): boolean {
    const { level: now, estimate, terms, failure } = request;
    if (failure !== undefined || !this.#isBeyond(request, estimate!.errors)) return false;
    let level = this.#estimator.finerLevel(request, Math.max(...estimate!.errors) / targetOf(terms, this.#accuracy));
    if (level === now) return false;
    while (level > now && !this.#hasTimeFor(job, request, level)) level--;
    job.isOutOfTime ||= level === now;
    request.level = level;
    return level > now;
  }

  #isBeyond({ terms }: Request<E>, errors: readonly number[]): boolean {
    return !(Math.max(...errors) <= targetOf(terms, this.#accuracy));
  }

  /** Tells whether a trade's time is enough for a value on a level, and for its copies and scenarios after that. */
  #hasTimeFor({ trade }: Job<E>, request: Request<E>, level: number): boolean {
    const { columns, budget } = this.#batch;
    const estimator = this.#estimator;
    const { count, spots } = columns.cases;
    const { copies, slopes = [] } = request.differences ?? this.#differencesOf(request);
    const moved = copies.length + slopes.length;
    const others = estimator.servesAllSpots ? count - 1 : count * spots;
    const after = others + moved * estimator.growth(request, level, estimator.copyLevel({ ...request, level }));
    return budget.allowsTimes(trade, estimator.growth(request, request.level, level) * (1 + after));
  }

  /** Makes some cases of a trade. @throws what is wrong with the trade */
  #addCases(job: Job<E>, from: number, to: number, level: number): void {
    const { columns } = this.#batch;
    const { cases, dates, scenarios } = columns.cases;
    const { trade } = job;
    for (let k = from; k < to; k++) {
      const { date, shift } = cases[k];
      const terms = termsOf(columns.tradeOf(trade), dates[date], shift);
      if (terms === undefined) continue;
      const today = terms.assets.map(({ underlying }) => underlying.spot);
      const moved = (scenarios?.spot ?? []).map((move) => movedSpots(terms, move));
      const requestAt = (spots: readonly (readonly number[])[]): Request<E> =>
        newRequest({ trade, terms, spots, original: undefined, level });
      // Case 0 is the trade as it is; others are read at the spots of scenarios alone.
      job.cases[k] = this.#estimator.servesAllSpots
        ? [requestAt([today, ...moved])]
        : (k === 0 ? [today, ...moved] : moved).map((spots) => requestAt([spots]));
    }
    const [first] = job.cases[0] ?? [];
    if (from === 0 && this.#estimator.findsDifferences) first.differences = this.#differencesOf(first);
  }

  #addCopies(job: Job<E>): void {
    const [original] = job.cases[0] ?? [];
    if (original?.estimate === undefined || original.failure !== undefined) return;
    const { trade } = job;
    job.differences = original.differences ?? this.#differencesOf(original);
    const { copies, slopes = [] } = job.differences;
    if (copies.length + slopes.length === 0) return;
    const level = this.#estimator.copyLevel(original);
    job.copies = this.#estimator.findsDifferences
      ? [original]
      : copies.map(({ terms, spots }) => newRequest({ trade, terms, spots: [spots], original, level }));
  }

  /** Makes the requests for slopes along directions, at the level of the trade's own value. */
  #addDirections(job: Job<E>): void {
    const [original] = job.cases[0] ?? [];
    if (original?.estimate === undefined || original.failure !== undefined) return;
    const { trade } = job;
    const directions = this.#batch.directionsOf?.(trade) ?? [];
    const { findsDifferences } = this.#estimator;
    const { terms, spots, level } = original;
    if (findsDifferences) {
      const isSmooth = this.#estimator.smoothAlongPaths?.(terms, spots[0]) ?? (() => false);
      job.along = Array.from({ length: Math.ceil(directions.length / TOGETHER) }, (_, k) => {
        const some = directions.slice(k * TOGETHER, (k + 1) * TOGETHER);
        const request = newRequest<E>({ trade, terms, spots, original: undefined, level });
        // What is known of the value is not found again.
        request.estimate = { ...original.estimate!, measures: undefined };
        const differences = withDirections(some, { terms, spots: spots[0] }, isSmooth);
        return { directions: some, requests: [{ ...request, differences }] };
      });
      return;
    }
    const copyLevel = this.#estimator.copyLevel(original);
    job.along = directions.map((direction) => {
      const requests = copiesOf(direction, this.#batch.columns.tradeOf(trade)).map((copy) =>
        newRequest<E>({ trade, terms: copy.terms, spots: [copy.spots], original, level: copyLevel }),
      );
      return { directions: [direction], requests };
    });
  }

  /** Returns the slopes along a trade's directions; undefined where a copy has failed. */
  #slopesOf({ cases, along }: Job<E>): readonly (Measured | undefined)[] {
    const { assets } = cases[0]![0].terms;
    const spot = Math.max(...assets.map(({ underlying }) => underlying.spot));
    return along.flatMap(({ directions, requests }) => {
      if (requests.some(({ failure }) => failure !== undefined)) return directions.map(() => undefined);
      const [{ differences }] = requests;
      if (differences !== undefined)
        return slopesOf(this.#estimator.measuresOf(requests[0], differences, requests), directions);
      const [values, errors] = [
        requests.map(({ estimate }) => estimate!.values[0]),
        requests.map(({ estimate }) => estimate!.errors[0]),
      ];
      const scale = Math.max(spot, ...values.map(Math.abs));
      return [slopeBetween(directions[0], { values, errors, scale, accuracy: this.#accuracy })];
    });
  }

  #differencesOf(today: Request<E>): Differences {
    const { greeks } = this.#batch.settings;
    if (greeks === "none") return NONE;
    const trade = this.#batch.columns.tradeOf(today.trade);
    const later = (years: number): Terms | undefined => termsOf(trade, years, { volatility: 0, rate: 0 });
    return this.#estimator.differencesOf(today, greeks, later);
  }

  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    const jobs = this.#jobs.values();
    return readEach(
      this.#jobs.map(({ trade }) => trade),
      results,
      signal,
      () => {
        this.#readTrade(jobs.next().value!, results);
      },
    );
  }

  /** @throws what is wrong with a trade */
  #readTrade(job: Job<E>, results: ResultColumns): void {
    const { trade, cases, copies, differences, failure, isOutOfTime } = job;
    const failed = cases.flatMap((requests) => requests ?? []).find((one) => one.failure !== undefined);
    const thrown = failure ?? failed?.failure;
    if (thrown !== undefined) throw thrown as Error;
    const { columns, settings } = this.#batch;
    const today = cases[0]![0];
    const estimate = today.estimate!;
    results.warnings[trade] |= estimate.warnings ?? 0;
    if (this.#isBeyond(today, estimate.errors.slice(0, 1)))
      results.warnings[trade] |= isOutOfTime ? WARNING.outOfTime : this.#estimator.limited;
    const measures = differences && this.#estimator.measuresOf(today, differences, copies);
    const { correlations, underlying, assets } = columns.tradeOf(trade);
    const names = correlations?.names ?? assets?.map((asset) => asset.underlying.name) ?? [underlying.name];
    const greeks = greeksOf(today.terms, names, (name) => measures?.get(name)?.value ?? Number.NaN);
    const knowsErrors = [...(measures?.values() ?? [])].some(({ error }) => !Number.isNaN(error));
    const errors =
      settings.sensitivityErrorEstimates && knowsErrors
        ? greeksOf(today.terms, names, (name) => measures?.get(name)?.error ?? Number.NaN)
        : undefined;
    const { bias = 0 } = estimate;
    if (job.along.length > 0) results.slopes.set(trade, this.#slopesOf(job));
    results.setToday(trade, estimate.values[0], estimate.errors[0] + bias, greeks.total, errors?.total);
    if (assets !== undefined || correlations !== undefined)
      results.setSeveral(trade, { ...greeks.several, errors: errors?.several, assumed: correlations?.assumed ?? [] });
    if (columns.cases.scenarios !== undefined) this.#readScenarios(trade, cases, results);
    if (estimate.isSampled) results.seeds.set(trade, settings.seed);
    results.priced(trade, estimate.method);
  }

  #readScenarios(trade: number, cases: Job<E>["cases"], results: ResultColumns): void {
    const { count, spots } = this.#batch.columns.cases;
    const first = this.#batch.columns.rowOf(trade);
    for (let k = 0; k < count; k++) {
      const estimates = (cases[k] ?? []).map(({ estimate }) => estimate!);
      // Those of the scenarios' spots are the last ones.
      const values = estimates.flatMap((one) => one.values).slice(-spots);
      const errors = estimates.flatMap(({ errors: own, bias = 0 }) => own.map((error) => error + bias)).slice(-spots);
      results.setScenarios(
        first + k,
        (s) => values[s] ?? 0,
        (s) => errors[s] ?? 0,
      );
    }
  }

  [Symbol.dispose](): void {}
}

/** A request to be refined, and its trade. */
interface Open<E extends Estimate> {
  readonly job: Job<E>;
  readonly request: Request<E>;
}

/** The values of a trade from which on some of them tell how fine a level the others need, and the number of these. */
const MIN_FAMILY = 24;
const SAMPLES = 8;

/** Returns some of the values of a trade, evenly by their spots, whatever their order; all where they are few. */
function samplesOf<E extends Estimate>(family: readonly Open<E>[]): readonly Open<E>[] {
  if (family.length < MIN_FAMILY) return family;
  const spotOf = ({ request }: Open<E>): number => request.spots[0].reduce((sum, spot) => sum + spot, 0);
  const sorted = family.toSorted((a, b) => spotOf(a) - spotOf(b));
  return Array.from({ length: SAMPLES }, (_, n) => sorted[Math.round((n * (sorted.length - 1)) / (SAMPLES - 1))]);
}

const movedSpots = ({ assets }: Terms, move: SpotMove): readonly number[] =>
  assets.map(({ underlying: { spot, name } }) => spot * (1 + spotMoveOf(move, name)));

/** Correlations of a singular matrix that somebody has rounded to nine digits make an eigenvalue as far below 0. */
const ROUNDED = 1e-9;

/**
 * Returns the error of a correlation matrix that is not valid, which names the nearest valid one (Higham 2002);
 * undefined for a valid matrix.
 */
async function problemOf({ names, matrix }: DriverCorrelations): Promise<BookError | undefined> {
  // Linear algebra is loaded where there are correlations.
  const { isPositiveSemidefinite, nearestCorrelation } = await import("../../numerics/linalg/index.ts");
  if (isPositiveSemidefinite(matrix.flat(), { relative: ROUNDED })) return undefined;
  const { values } = nearestCorrelation(matrix.flat());
  const n = names.length;
  const list = (valueOf: (i: number, j: number) => number): string =>
    names.flatMap((a, i) => names.slice(i + 1).map((b, k) => JSON.stringify([a, b, valueOf(i, i + 1 + k)]))).join(", ");
  return new BookError(
    "market.correlations",
    `the matrix of ${list((i, j) => matrix[i][j])} is not positive semi-definite: no prices have such correlations; ` +
      `the nearest that some have: ${list((i, j) => rounded(values[i * n + j]))}`,
  );
}

/** Rounds to four digits towards zero, so that the matrix stays positive semi-definite. */
const rounded = (value: number): number => Math.trunc(value * 1e4) / 1e4;
