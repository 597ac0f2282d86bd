/** Trades in several factors on their way through a method that solves their equation. */
import { allOf } from "../../../all-of.ts";
import { type DriverCorrelations, SENSITIVITIES, type SpotMove } from "../../../book/index.ts";
import type { AxesDerivatives, AxesPoint } from "../../../fdm/index.ts";
import { type BookError, DeviceLostError } from "../../../errors.ts";
import { type Device, isGpu } from "../../../device/index.ts";
import { keyOf } from "../../../remembered.ts";
import { Turns } from "../../../turns.ts";
import { moveOf } from "../../columns/scenario-cases.ts";
import { type ResultColumns, WARNING } from "../../columns/result-columns.ts";
import { type Bump, bumped, type Terms, termsOf } from "../../terms.ts";
import type { Batch, Plan } from "../method.ts";
import { readEach } from "../read-each.ts";
import { problemOf } from "./check-correlations.ts";
import type { Engine, EntryReading } from "./engine.ts";
import { knownAt, partsOf } from "./parts.ts";
import {
  addTo,
  errorOf,
  isExercisable,
  newRow,
  pointsOf,
  remember,
  type Row,
  sumOf,
  type Task,
  tasksOf,
  valueAt,
} from "./row.ts";
import { errorsOf, noErrors, type SensitivityErrors } from "./sensitivity-errors.ts";
import {
  bumpsOf,
  followFromGamma,
  type Found,
  knownSensitivities,
  sensitivitiesOf,
  type Slope,
  slopesFromGamma,
  slopesOf,
} from "./sensitivities.ts";

/** The least error, relative to the largest spot, that f32 can do. */
const ACCURACY_F32 = 1e-4;

/** One of the batch's trades. */
interface Job {
  readonly trade: number;
  /** The rows by case; undefined where the trade is settled. */
  readonly rows: (Row | undefined)[];
  readonly bumps: { readonly bump: Bump; readonly row: Row }[];
  failure: unknown;
  isOutOfTime: boolean;
}

/**
 * The largest number of nodes that entries of one call of `solve` have together: their results stand in memory at once.
 */
const MAX_NODES = 1.6e7;
/**
 * The number of solutions at once on a GPU, where each shape is a kernel that takes seconds to compile: others are
 * compiled, or run, in the meantime.
 */
const AT_ONCE_ON_GPUS = 4;
/** The number of times that a value is solved again on a finer level. */
const MAX_ROUNDS = 6;

export class SeveralPlan<P> implements Plan {
  readonly #engine: Engine<P>;
  readonly #batch: Batch;
  readonly #device: Device;
  readonly #accuracy: number;
  readonly #jobs: readonly Job[];

  constructor(engine: Engine<P>, batch: Batch, trades: readonly number[], device: Device) {
    const { accuracy = engine.accuracy } = batch.settings;
    this.#engine = engine;
    this.#batch = batch;
    this.#device = device;
    this.#accuracy = batch.precision === "f32" ? Math.max(accuracy, ACCURACY_F32) : accuracy;
    this.#jobs = trades.map((trade) => ({ trade, rows: [], bumps: [], failure: undefined, isOutOfTime: false }));
  }

  /** Each trade first, until its value is good; then its bumps and scenarios as finely as it took. */
  async run(signal: AbortSignal | undefined): Promise<void> {
    const { cases } = this.#batch.columns;
    await this.#checkCorrelations();
    const first = this.#jobs.flatMap((job) => this.#collect(job, () => this.#rowsOf(job, 0, 1, 0)));
    await this.#solveCoarser(first, signal);
    await this.#refine(signal);
    const others = this.#jobs.flatMap((job) =>
      this.#collect(job, () => this.#rowsOf(job, 1, cases.count, job.rows[0]?.level ?? 0)),
    );
    await this.#solveCoarser(others, signal);
    const bumps = this.#jobs.flatMap((job) => this.#collect(job, () => this.#bumpsOf(job)));
    await this.#solve([...others, ...bumps], signal);
  }

  /** Solves rows at the level below their own whose distance is a part of their estimates, if the engine has one. */
  async #solveCoarser(rows: readonly Row[], signal: AbortSignal | undefined): Promise<void> {
    const compared = rows.flatMap((row) => {
      const below = this.#engine.levelsBelow(row.mesh);
      if (below === undefined) return [];
      row.level -= below;
      return [{ row, below }];
    });
    await this.#solve(
      compared.map(({ row }) => row),
      signal,
    );
    for (const { row, below } of compared) {
      remember(row);
      row.level += below;
    }
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

  /** Rows of a job; what making them throws is its failure. */
  #collect(job: Job, make: () => readonly Row[]): readonly Row[] {
    if (job.failure !== undefined) return [];
    try {
      return make();
    } catch (error) {
      job.failure = error;
      return [];
    }
  }

  /** Solves today's rows again and again, until each is as good as was asked for, or its time is over. */
  async #refine(signal: AbortSignal | undefined): Promise<void> {
    let open = this.#jobs.filter(({ rows, failure }) => failure === undefined && rows[0] !== undefined);
    for (let round = 0; open.length > 0; round++) {
      await this.#solve(
        open.map(({ rows }) => rows[0]!),
        signal,
      );
      if (round === MAX_ROUNDS) return;
      open = open.filter((job) => this.#isRefined(job, job.rows[0]!));
    }
  }

  /** Tells whether a row is to be solved on a finer level, and moves it there. */
  #isRefined(job: Job, row: Row): boolean {
    if (row.failure !== undefined || this.#engine.isFinest(row.mesh, row.level)) return false;
    const ratio = row.error / this.#targetOf(row);
    if (!(ratio > 1)) return false;
    let level = this.#engine.refined(row.mesh, row.level, ratio);
    while (level > row.level && !this.#hasTimeFor(row, level)) level--;
    job.isOutOfTime = level === row.level;
    if (job.isOutOfTime) return false;
    if (row.coarser !== undefined) remember(row);
    row.level = level;
    return true;
  }

  /** Tells whether a trade's time is enough for its value on a level, and for its bumps and scenarios after that. */
  #hasTimeFor({ trade, terms, mesh, level: now }: Row, level: number): boolean {
    const { columns, budget } = this.#batch;
    const bumps = this.#isBumped(terms) ? bumpsOf(terms).length : 0;
    const after =
      columns.cases.count - 1 + bumps * this.#engine.growth(mesh, level, this.#engine.bumpLevel(mesh, level));
    return budget.allowsTimes(trade, this.#engine.growth(mesh, now, level) * (1 + after));
  }

  /** The error that is small enough, in the currency. */
  #targetOf({ spots: [today] }: Row): number {
    return this.#accuracy * Math.max(...today);
  }

  /** Makes some cases of a trade. @throws what is wrong with the trade */
  #rowsOf(job: Job, from: number, to: number, level: number): readonly Row[] {
    const { columns } = this.#batch;
    const { cases, dates, scenarios } = columns.cases;
    const made: Row[] = [];
    for (let k = from; k < to; k++) {
      const { date, shift } = cases[k];
      const terms = termsOf(columns.tradeOf(job.trade), dates[date], shift);
      if (terms === undefined) continue;
      const today = terms.assets.map(({ underlying }) => underlying.spot);
      const spots = [today, ...(scenarios?.spot ?? []).map((move) => movedSpots(terms, move))];
      const known = spots.map((one) => knownAt(terms, one));
      const parts = partsOf(terms, spots, `trades[${columns.place[job.trade]}]`);
      const row = newRow({ trade: job.trade, terms, mesh: terms, spots, known, parts, level });
      job.rows[k] = row;
      made.push(row);
    }
    return made;
  }

  #bumpsOf({ rows: [base], bumps }: Job): readonly Row[] {
    if (base === undefined || base.failure !== undefined || base.known[0] !== undefined) return [];
    if (!this.#isBumped(base.terms)) return [];
    const level = this.#engine.bumpLevel(base.mesh, base.level);
    return bumpsOf(base.terms).map((bump) => {
      const row = newRow({ ...base, terms: bumped(base.terms, bump), spots: base.spots.slice(0, 1), level });
      bumps.push({ bump, row });
      return row;
    });
  }

  /** Tells whether sensitivities of a trade are differences of values. */
  #isBumped(terms: Terms): boolean {
    return this.#batch.settings.greeks === "all" && !this.#fromGamma(terms);
  }

  #fromGamma(terms: Terms): boolean {
    return this.#engine.usesGamma && followFromGamma(terms);
  }

  /** Solves rows once, problems of one shape together. @throws the signal's reason; what the device throws */
  async #solve(rows: readonly Row[], signal: AbortSignal | undefined): Promise<void> {
    const turns = new Turns(signal);
    const groups = new Map<string, Task<P>[]>();
    for (const row of rows) {
      if (turns.due) await turns.take();
      row.correction = 0;
      row.points = [];
      if (row.known.every((known) => known !== undefined)) continue;
      try {
        for (const task of tasksOf(row, this.#engine)) {
          const key = keyOf(task.built.problem);
          const group = groups.get(key);
          if (group === undefined) groups.set(key, [task]);
          else group.push(task);
        }
      } catch (error) {
        row.failure = error;
      }
    }
    const calls = [...groups.values()].flatMap((group) => {
      const size = Math.max(1, Math.floor(MAX_NODES / (this.#atOnce * group[0].built.nodes)));
      return Array.from({ length: Math.ceil(group.length / size) }, (_, k) => group.slice(k * size, (k + 1) * size));
    });
    const next = calls.values();
    await allOf(
      Array.from({ length: this.#atOnce }, async () => {
        for (const call of next) await this.#solveGroup(call, signal);
      }),
    );
    // In one order, whatever was ready first, so that sums have the same bits.
    for (const task of calls.flat()) addTo(task);
    for (const row of rows) row.error = errorOf(row, this.#engine);
  }

  /** Problems of different shapes that are solved at a time. */
  get #atOnce(): number {
    return isGpu(this.#device) ? AT_ONCE_ON_GPUS : 1;
  }

  /** Solves problems that differ in their parameters alone. */
  async #solveGroup(group: readonly Task<P>[], signal: AbortSignal | undefined): Promise<void> {
    const [{ built }] = group;
    const { precision } = this.#batch;
    const parameters = Object.fromEntries(
      [...built.parameters.values.keys()].map((name) => [
        name,
        group.map((task) => task.built.parameters.values.get(name)!),
      ]),
    );
    let entries: readonly EntryReading[];
    try {
      entries = await this.#batch.budget.spend(
        group.map(({ row }) => row.trade),
        () => this.#engine.solve(built.problem, { parameters, precision, device: this.#device, signal }),
      );
    } catch (error) {
      if (error instanceof DeviceLostError || signal?.aborted === true) throw error;
      for (const { row } of group) row.failure ??= error;
      return;
    }
    group.forEach((task, i) => {
      try {
        task.points = pointsOf(task, entries[i]);
      } catch (error) {
        task.row.failure ??= error;
      }
    });
  }

  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    let next = 0;
    return readEach(
      this.#jobs.map(({ trade }) => trade),
      results,
      signal,
      (trade) => {
        const job = this.#jobs[next++];
        const failed = [
          ...job.rows,
          ...job.bumps.filter(({ bump }) => bump.kind !== "correlation").map(({ row }) => row),
        ];
        const failure = job.failure ?? failed.find((row) => row?.failure !== undefined)?.failure;
        if (failure === undefined) this.#readTrade(job, trade, results);
        else results.fail(trade, failure);
      },
    );
  }

  #readTrade(job: Job, trade: number, results: ResultColumns): void {
    const { rows, bumps, isOutOfTime } = job;
    const { columns, precision } = this.#batch;
    // A trade that is not settled has a row for today.
    const base = rows[0]!;
    const { terms, spots, known, points, error } = base;
    const { correlations, underlying } = columns.tradeOf(trade);
    const names = correlations?.names ?? [underlying.name];
    const values = bumps.map(({ bump, row }) => ({
      bump,
      value: row.failure === undefined ? row.points[0].value : Number.NaN,
    }));
    const slopes = (): readonly Slope[] =>
      this.#fromGamma(terms) ? slopesFromGamma(terms, points[0], spots[0]) : slopesOf(values);
    const found =
      known[0] === undefined
        ? sensitivitiesOf(terms, names, points[0], spots[0], isExercisable(terms), slopes())
        : knownSensitivities(terms, names, spots[0], known[0]);
    results.value[trade] = found.value;
    results.delta[trade] = found.delta;
    results.gamma[trade] = found.gamma;
    results.theta[trade] = found.theta;
    results.vega[trade] = found.vega;
    results.rho[trade] = found.rho;
    results.errorEstimate[trade] = known[0] === undefined ? error : 1e-14 * Math.abs(found.value);
    if (isOutOfTime) results.warnings[trade] |= WARNING.outOfTime;
    else if (known[0] === undefined && error > this.#targetOf(base))
      results.warnings[trade] |= precision === "f32" ? WARNING.beyondF32 : WARNING.inaccurate;
    const errors = this.#batch.settings.sensitivityErrorEstimates ? this.#errorsOf(job, names, found) : undefined;
    for (const name of SENSITIVITIES) results.sensitivityErrors[name][trade] = errors?.[name] ?? Number.NaN;
    results.setSeveral(trade, {
      ...found.several,
      ...(errors === undefined ? {} : { errors: errors.several }),
      assumed: correlations?.assumed ?? [],
    });
    if (columns.cases.scenarios !== undefined) this.#readScenarios(rows, trade, results);
    results.priced(trade, known[0]?.method ?? this.#engine.name);
  }

  /** Returns the error estimates of a trade's sensitivities; undefined where the engine has no corrections. */
  #errorsOf({ rows, bumps }: Job, names: readonly string[], found: Found): SensitivityErrors | undefined {
    const { terms, spots, known, points, coarser, error, level } = rows[0]!;
    if (known[0] !== undefined) return noErrors(found);
    const [point] = points;
    if (point.corrections.length === 0) return undefined;
    const ofBumps = (valueOf: (point: AxesPoint) => number): readonly Slope[] =>
      slopesOf(
        bumps.map(({ bump, row }) => ({ bump, value: row.points[0] === undefined ? NaN : valueOf(row.points[0]) })),
      );
    const slopesOfMove = (moved: AxesDerivatives, valueOf: (point: AxesPoint) => number): readonly Slope[] =>
      this.#fromGamma(terms) ? slopesFromGamma(terms, moved, spots[0]) : ofBumps(valueOf);
    const moves = point.corrections.map((moved, c) => ({
      moved,
      slopes: slopesOfMove(moved, ({ corrections }) => corrections[c].value),
    }));
    const isCompared = coarser !== undefined && coarser.level < level;
    if (isCompared) {
      const moved = sumOf(point, coarser.points[0], -1);
      moves.push({ moved, slopes: slopesOfMove(moved, () => 0) });
    }
    const [moved, slopes] = [moves.map((one) => one.moved), moves.map((one) => one.slopes)];
    const signs = { moved, slopes, isCompared, error };
    return errorsOf(terms, names, spots[0], signs, found);
  }

  #readScenarios(rows: Job["rows"], trade: number, results: ResultColumns): void {
    const { cases } = this.#batch.columns;
    const first = this.#batch.columns.rowOf(trade);
    for (let k = 0; k < cases.count; k++) {
      const row = rows[k];
      for (let s = 0; s < cases.spots; s++)
        results.scenarioValues[(first + k) * cases.spots + s] = row === undefined ? 0 : valueAt(row, s + 1);
      results.scenarioErrors[first + k] = row?.error ?? 0;
    }
  }

  [Symbol.dispose](): void {}
}

const movedSpots = ({ assets }: Terms, move: SpotMove): readonly number[] =>
  assets.map(({ underlying: { spot, name } }) => spot * (1 + moveOf(move, name)));
