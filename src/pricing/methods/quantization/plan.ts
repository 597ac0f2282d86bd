/** Trades with rights, their cases and their sensitivities, by a method that finds values of instances. */
import type { Common } from "./solve.ts";
import { moveOf } from "../../columns/scenario-cases.ts";
import { type ResultColumns, WARNING } from "../../columns/result-columns.ts";
import { type Terms, termsOf } from "../../terms.ts";
import type { Batch, Plan } from "../method.ts";
import { readEach } from "../read-each.ts";
import { unitsOf } from "./factors.ts";
import { type Moves, movesOf, sensitivitiesOf } from "./sensitivities.ts";
import type { Instance } from "./solve.ts";

/** The interface through which a method values instances. */
export interface Valuer {
  /** The error of a value to aim at where nothing is said, relative to the spot and a swing's units. */
  readonly accuracy: number;
  /** The finest level at which an instance can be valued. */
  readonly maxLevel: (instance: Instance) => number;
  /** Set where values of less memory (`Estimate.memory`) deserve a warning. */
  readonly minMemory: number;
  /** The warning of a result that is less accurate than it should be. */
  readonly limited: number;
  /** Finds the estimates that are missing. @throws the signal's reason; what the device throws when it is lost */
  readonly solve: (instances: readonly Instance[], common: Common) => Promise<void>;
}

/** A level more takes about so many times as long. */
const GROWTH = 4;

interface Job {
  readonly trade: number;
  /** [case][spot]; undefined where the trade is settled. */
  readonly cases: (readonly Instance[] | undefined)[];
  moves: Moves | undefined;
  failure: unknown;
  isOutOfTime: boolean;
}

/** A plan that finds values first, on finer levels until they are good; then bumps and scenarios on the same levels. */
export class RightsPlan implements Plan {
  readonly #batch: Batch;
  readonly #valuer: Valuer;
  readonly #accuracy: number;
  readonly #jobs: readonly Job[];

  constructor(batch: Batch, trades: readonly number[], valuer: Valuer) {
    this.#batch = batch;
    this.#valuer = valuer;
    this.#accuracy = batch.settings.accuracy ?? valuer.accuracy;
    this.#jobs = trades.map((trade) => ({
      trade,
      cases: [],
      moves: undefined,
      failure: undefined,
      isOutOfTime: false,
    }));
  }

  /** Each trade first, on finer levels until its value is good; then its bumps and scenarios on the same level. */
  async run(signal: AbortSignal | undefined): Promise<void> {
    const { precision, settings, columns } = this.#batch;
    const common = { precision, seed: settings.seed, signal };
    for (const job of this.#jobs) this.#collect(job, () => this.#addCases(job, 0, 1, 0));
    // Spots of scenarios follow, as finely as today's.
    let open = this.#jobs.flatMap((job) => job.cases[0]?.slice(0, 1).map((one) => ({ job, one })) ?? []);
    while (open.length > 0) {
      const [trades, instances] = [open.map(({ job }) => job.trade), open.map(({ one }) => one)];
      await this.#batch.budget.spend(trades, () => this.#valuer.solve(instances, common));
      open = open.filter(({ job, one }) => this.#isRefined(job, one));
    }
    for (const job of this.#jobs) {
      const level = job.cases[0]?.[0].level ?? 0;
      for (const one of job.cases[0] ?? []) one.level = level;
      this.#collect(job, () => this.#addCases(job, 1, columns.cases.count, level));
      this.#collect(job, () => (job.moves = this.#movesOf(job)));
    }
    const others = this.#jobs.flatMap(({ cases, moves }) => [
      ...cases.flatMap((spots) => spots ?? []),
      ...(moves?.instances ?? []),
    ]);
    await this.#valuer.solve(others, common);
  }

  #collect(job: Job, make: () => void): void {
    if (job.failure !== undefined) return;
    try {
      make();
    } catch (error) {
      job.failure = error;
    }
  }

  /** Tells whether a value is to be found on a finer level, and moves it there. */
  #isRefined(job: Job, one: Instance): boolean {
    if (one.level >= this.#valuer.maxLevel(one) || !this.#isBeyond(one)) return false;
    const { columns, budget } = this.#batch;
    const { count, spots } = columns.cases;
    const moves = this.#movesOf(job)?.instances.length ?? 0;
    job.isOutOfTime = !budget.allowsTimes(job.trade, GROWTH * (1 + moves + count * spots));
    if (!job.isOutOfTime) [one.level, one.estimate] = [one.level + 1, undefined];
    return !job.isOutOfTime;
  }

  /** Tells whether the error is larger than it should be. */
  #isBeyond({ terms, spot, estimate }: Instance): boolean {
    return estimate !== undefined && estimate.error > this.#accuracy * spot * Math.max(unitsOf(terms).max, 1);
  }

  #addCases(job: Job, from: number, to: number, level: number): void {
    const { columns } = this.#batch;
    const { cases, dates, scenarios } = columns.cases;
    const trade = columns.tradeOf(job.trade);
    for (let k = from; k < to; k++) {
      const { date, shift } = cases[k];
      const terms = termsOf(trade, dates[date], shift);
      if (terms === undefined) {
        job.cases[k] = undefined;
        continue;
      }
      const [{ underlying }] = terms.assets;
      const spots = (scenarios?.spot ?? []).map((move) => underlying.spot * (1 + moveOf(move, underlying.name)));
      // Case 0 is the trade as it is; others are read at the spots of scenarios alone.
      const wanted = k === 0 ? [underlying.spot, ...spots] : spots;
      job.cases[k] = wanted.map((spot) => instanceOf(terms, spot, level));
    }
  }

  #movesOf(job: Job): Moves | undefined {
    const base = job.cases[0]?.[0];
    if (base?.estimate === undefined || this.#batch.settings.greeks === "none") return undefined;
    const trade = this.#batch.columns.tradeOf(job.trade);
    const later = (years: number): Terms | undefined => termsOf(trade, years, { volatility: 0, rate: 0 });
    return movesOf(base, later, this.#batch.settings.greeks === "all");
  }

  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    let next = 0;
    return readEach(
      this.#jobs.map(({ trade }) => trade),
      results,
      signal,
      () => {
        const job = this.#jobs[next++];
        const all = [...job.cases.flatMap((spots) => spots ?? []), ...(job.moves?.instances ?? [])];
        const failure = job.failure ?? all.find((one) => one.failure !== undefined)?.failure;
        if (failure === undefined) this.#readTrade(job, results);
        else results.fail(job.trade, failure);
      },
    );
  }

  #readTrade({ trade, cases, moves, isOutOfTime }: Job, results: ResultColumns): void {
    const { columns, settings } = this.#batch;
    const [base] = cases[0]!;
    const { value, error, method, isSampled, memory } = base.estimate!;
    results.value[trade] = value;
    results.errorEstimate[trade] = error;
    if (this.#isBeyond(base)) results.warnings[trade] |= isOutOfTime ? WARNING.outOfTime : this.#valuer.limited;
    if (memory < this.#valuer.minMemory) results.warnings[trade] |= WARNING.treeForgets;
    if (moves !== undefined) {
      const found = sensitivitiesOf(base, moves);
      results.delta[trade] = found.delta;
      results.gamma[trade] = found.gamma;
      results.theta[trade] = found.theta;
      results.vega[trade] = found.vega;
      results.rho[trade] = found.rho;
    }
    if (columns.cases.scenarios !== undefined) this.#readScenarios(trade, cases, results);
    if (isSampled) results.seeds.set(trade, settings.seed);
    results.priced(trade, method);
  }

  #readScenarios(trade: number, cases: Job["cases"], results: ResultColumns): void {
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

const instanceOf = (terms: Terms, spot: number, level: number): Instance => ({
  terms,
  spot,
  level,
  isBump: false,
  estimate: undefined,
  failure: undefined,
});
