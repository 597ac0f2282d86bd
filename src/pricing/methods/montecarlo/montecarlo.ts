import type { Trade } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import { moveOf } from "../../columns/scenario-cases.ts";
import { type ResultColumns, WARNING } from "../../columns/result-columns.ts";
import { bumped, type Bump, type Terms, termsOf } from "../../terms.ts";
import type { Settings } from "../../options.ts";
import type { Acceptance, Batch, MethodSession, Plan, PricingMethod } from "../method.ts";
import { readEach } from "../read-each.ts";
import { datesOf, withoutModel, withoutProduct } from "./acceptance.ts";
import { exactly } from "./exact.ts";
import type { Instance } from "./simulate.ts";

/** Microseconds that a case of a trade takes on one core, about: more than any other method. */
const COST = 1e6;

/** The error of a value to aim at where nothing is said, relative to the largest spot. */
const ACCURACY = 1e-3;

/**
 * Monte Carlo: what depends on the path, baskets of any size, and what no equation of three factors describes. The
 * error estimate is half a 95 % interval, with what a scheme or a rule of exercise adds; sensitivities are differences
 * of two values on the same random numbers, which belong to the seed and the trade's place in the book.
 *
 * Cost: about 30 ns a path, date and underlying, for the value and each bump. Source: docs/montecarlo.md. Verified:
 * test/pricing/montecarlo.
 */
export const montecarlo = {
  name: "montecarlo",
  accepts,
  open: (device) => ({
    plan: (batch, trades) => Promise.resolve(new MonteCarloPlan(batch, trades, device)),
    [Symbol.dispose]() {},
  }),
} as const satisfies PricingMethod & { open(device: Device): MethodSession };

function accepts({ columns, settings }: Batch, trade: number): Acceptance {
  const { cases } = columns;
  for (const date of cases.dates) {
    const terms = termsOf(columns.tradeOf(trade), date, { volatility: 0, rate: 0 });
    const reason = terms === undefined ? undefined : (withoutModel(terms) ?? withoutProduct(terms));
    if (reason !== undefined) return reason;
  }
  return cases.count * (1 + cases.spots) * costOf(columns.tradeOf(trade), settings);
}

/** Microseconds of a European option on several underlyings: in any case, and for each value and underlying at 1e-3. */
const VALUE_COST = 5e4;
const PATHS_COST = 2e3;

/** More than three underlyings may have sparse grids instead, which win where much is asked for. */
function costOf({ assets = [], exercise }: Trade, { accuracy = ACCURACY, greeks }: Settings): number {
  const d = assets.length;
  if (d < 4 || exercise.kind !== "european") return COST;
  const moves = greeks === "all" ? 4 * d + 6 + (d * (d - 1)) / 2 : 0;
  return VALUE_COST + PATHS_COST * d * (ACCURACY / accuracy) ** 2 * (1 + moves);
}

type Pair = readonly [number, number];

/** What of an instance is moved. */
type Move =
  | { readonly kind: "spot"; readonly asset: number | "all"; readonly by: number }
  /** Two spots to the same side, by their own bumps. */
  | { readonly kind: "spots"; readonly pair: Pair; readonly by: number }
  | { readonly kind: "later"; readonly years: number }
  | Bump;

interface Moved {
  readonly move: Move;
  readonly instance: Instance;
}

interface Job {
  readonly trade: number;
  /** [case][spot]; undefined where the trade is settled. */
  readonly cases: (readonly Instance[] | undefined)[];
  moves: readonly Moved[];
  failure: unknown;
}

/** Sizes of bumps: of a spot relative to it, of volatilities, rates and correlations absolute. */
const SPOT = 0.01;
const VOLATILITY = 0.01;
const RATE = 1e-3;
const CORRELATION = 0.02;
const DAY = 1 / 365;

class MonteCarloPlan implements Plan {
  readonly #batch: Batch;
  readonly #device: Device;
  readonly #accuracy: number;
  readonly #jobs: readonly Job[];

  constructor(batch: Batch, trades: readonly number[], device: Device) {
    this.#batch = batch;
    this.#device = device;
    this.#accuracy = batch.settings.accuracy ?? ACCURACY;
    this.#jobs = trades.map((trade) => ({ trade, cases: [], moves: [], failure: undefined }));
  }

  /** Values first, with as many paths as each takes; then bumps on as many, and the same. */
  async run(signal: AbortSignal | undefined): Promise<void> {
    const { precision, settings } = this.#batch;
    const common = { precision, seed: settings.seed, signal };
    // Most books do without.
    const { simulate } = await import("./simulate.ts");
    for (const job of this.#jobs) this.#collect(job, () => this.#addCases(job));
    const values = this.#jobs.flatMap(({ cases }) => cases.flatMap((spots) => spots ?? []));
    await simulate(this.#device, values, common);
    if (settings.greeks === "none") return;
    for (const job of this.#jobs) this.#collect(job, () => (job.moves = this.#movesOf(job)));
    const moves = this.#jobs.flatMap(({ moves }) => moves.map(({ instance }) => instance));
    await simulate(this.#device, moves, common);
  }

  #collect(job: Job, make: () => void): void {
    if (job.failure !== undefined) return;
    try {
      make();
    } catch (error) {
      job.failure = error;
    }
  }

  #instanceOf(job: Job, terms: Terms, spots: readonly number[], paths?: number): Instance {
    const today = Math.max(...terms.assets.map(({ underlying }) => underlying.spot));
    return {
      terms,
      spots,
      dates: datesOf(terms),
      stream: this.#batch.columns.place[job.trade],
      // Half a 95 % interval is about two standard errors.
      standardError: paths === undefined ? 0.5 * this.#accuracy * today : undefined,
      paths,
      estimate: exactly(terms, spots),
      failure: undefined,
    };
  }

  #addCases(job: Job): void {
    const { columns } = this.#batch;
    const { cases, dates, scenarios, count } = columns.cases;
    const trade = columns.tradeOf(job.trade);
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
      // Case 0 is the trade as it is; others are read at the spots of scenarios alone.
      const wanted = k === 0 ? [today, ...spots] : spots;
      job.cases[k] = wanted.map((one) => this.#instanceOf(job, terms, one));
    }
  }

  /** What sensitivities are differences of; none of what needs no paths. */
  #movesOf(job: Job): readonly Moved[] {
    const base = job.cases[0]?.[0];
    if (base?.failure !== undefined || base?.estimate === undefined) return [];
    const { terms, spots } = base;
    const all = this.#batch.settings.greeks === "all";
    const d = terms.assets.length;
    // Where a payoff jumps, the paths that cross the jump are few.
    const scale = mayJump(terms) ? 3 : 1;
    const both = (make: (size: number) => Move): Move[] => [make(scale), make(-scale)];
    const moves: Move[] = [];
    for (let asset = 0; asset < d; asset++)
      moves.push(...both((size) => ({ kind: "spot", asset, by: size * SPOT * spots[asset] })));
    if (all && terms.exercise.kind === "european")
      for (const pair of pairsOf(d)) moves.push(...both((by) => ({ kind: "spots", pair, by })));
    if (d > 1) moves.push(...both((size) => ({ kind: "spot", asset: "all", by: size * SPOT * Math.min(...spots) })));
    if (terms.expiry > DAY) moves.push({ kind: "later", years: DAY });
    if (all) {
      for (let asset = 0; asset < d; asset++)
        moves.push(...both((size) => ({ kind: "volatility", asset, by: size * VOLATILITY })));
      moves.push(...both((size) => ({ kind: "rate", by: size * RATE })));
      for (const pair of pairsOf(d)) {
        const rho = terms.correlations[pair[0]][pair[1]];
        // Towards 0, where a correlation matrix stays one; from 0 upwards.
        moves.push({ kind: "correlation", pair, by: rho > 0 ? -CORRELATION : CORRELATION });
      }
    }
    return moves.flatMap((move) => {
      const moved = this.#moved(job, terms, spots, move);
      if (moved === undefined) return [];
      const { terms: own, spots: at } = moved;
      return [{ move, instance: this.#instanceOf(job, own, at, base.estimate!.paths) }];
    });
  }

  #moved(job: Job, terms: Terms, spots: readonly number[], move: Move) {
    switch (move.kind) {
      case "spot":
        return {
          terms,
          spots: spots.map((spot, i) => (move.asset === "all" || move.asset === i ? spot + move.by : spot)),
        };
      case "spots":
        return { terms, spots: spots.map((spot, i) => (move.pair.includes(i) ? spot * (1 + move.by * SPOT) : spot)) };
      case "later": {
        const later = termsOf(this.#batch.columns.tradeOf(job.trade), move.years, { volatility: 0, rate: 0 });
        return later === undefined || withoutProduct(later) !== undefined ? undefined : { terms: later, spots };
      }
      default:
        return { terms: bumped(terms, move), spots };
    }
  }

  read(results: ResultColumns, signal: AbortSignal | undefined): Promise<void> {
    let next = 0;
    return readEach(
      this.#jobs.map(({ trade }) => trade),
      results,
      signal,
      () => {
        const job = this.#jobs[next++];
        const all = [...job.cases.flatMap((spots) => spots ?? []), ...job.moves.map(({ instance }) => instance)];
        const failure = job.failure ?? all.find((one) => one.failure !== undefined)?.failure;
        if (failure === undefined) this.#readTrade(job, results);
        else results.fail(job.trade, failure);
      },
    );
  }

  #readTrade(job: Job, results: ResultColumns): void {
    const { columns, settings } = this.#batch;
    const { trade, moves } = job;
    const { terms, estimate } = job.cases[0]![0];
    const { value, error, isLimited, method } = estimate!;
    results.value[trade] = value;
    results.errorEstimate[trade] = error;
    if (isLimited) results.warnings[trade] |= WARNING.pathsLimited;
    const differences = new Differences(moves, value);
    const names = terms.assets.map(({ underlying }) => underlying.name);
    const early = terms.exercise.kind !== "european";
    const delta = names.map((_, i) => differences.slope((move) => move.kind === "spot" && move.asset === i));
    const gamma = names.map((_, i) =>
      early ? Number.NaN : differences.curvature((move) => move.kind === "spot" && move.asset === i),
    );
    const vega = names.map((_, i) => differences.slope((move) => move.kind === "volatility" && move.asset === i));
    const total = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0);
    results.delta[trade] = total(delta);
    results.gamma[trade] =
      names.length === 1 || early
        ? gamma[0]
        : differences.curvature((move) => move.kind === "spot" && move.asset === "all");
    results.theta[trade] = differences.rate((move) => move.kind === "later");
    results.vega[trade] = total(vega);
    results.rho[trade] = differences.slope((move) => move.kind === "rate");
    const { correlations, assets } = columns.tradeOf(trade);
    if (assets !== undefined)
      results.setSeveral(trade, {
        assets: names.map((_, i) => ({ delta: delta[i], gamma: gamma[i], vega: vega[i] })),
        crossGamma: pairsOf(names.length).map((pair) => [
          names[pair[0]],
          names[pair[1]],
          early ? Number.NaN : differences.cross(pair),
        ]),
        correlation: pairsOf(names.length).map(([i, j]) => [
          names[i],
          names[j],
          differences.rate((move) => move.kind === "correlation" && move.pair[0] === i && move.pair[1] === j),
        ]),
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

const mayJump = ({ payoff, barriers }: Terms): boolean =>
  payoff.kind === "digital" || payoff.kind === "expression" || barriers.length > 0;

const pairsOf = (count: number): readonly Pair[] =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: count - i - 1 }, (_one, k) => [i, i + 1 + k] as const),
  ).flat();

/** Differences of values on the same paths; NaN where a value is missing. */
class Differences {
  readonly #moves: readonly Moved[];
  readonly #base: number;

  constructor(moves: readonly Moved[], base: number) {
    this.#moves = moves;
    this.#base = base;
  }

  #found(matches: (move: Move) => boolean): readonly { readonly by: number; readonly value: number }[] {
    return this.#moves
      .filter(({ move }) => matches(move))
      .map((one) => ({ by: sizeOf(one.move), value: valueOf(one) }));
  }

  slope(matches: (move: Move) => boolean): number {
    const [a, b] = this.#found(matches);
    return b === undefined ? Number.NaN : (a.value - b.value) / (a.by - b.by);
  }

  curvature(matches: (move: Move) => boolean): number {
    const [a, b] = this.#found(matches);
    return b === undefined ? Number.NaN : (a.value - 2 * this.#base + b.value) / (a.by * a.by);
  }

  /**
   * ∂²V/∂Sᵢ∂Sⱼ = (V(+, +) + V(−, −) − V(+, 0) − V(−, 0) − V(0, +) − V(0, −) + 2·V)/(2·hᵢ·hⱼ), of second order.
   */
  cross(pair: Pair): number {
    const both = this.#found((move) => move.kind === "spots" && move.pair[0] === pair[0] && move.pair[1] === pair[1]);
    const each = pair.map((asset) => this.#found((move) => move.kind === "spot" && move.asset === asset));
    if (both.length < 2 || each.some((one) => one.length < 2)) return Number.NaN;
    const total = (all: readonly { readonly value: number }[]): number =>
      all.reduce((sum, { value }) => sum + value, 0);
    const [one, other] = each;
    return (total(both) - total(one) - total(other) + 2 * this.#base) / (2 * one[0].by * other[0].by);
  }

  /** Of one move alone. */
  rate(matches: (move: Move) => boolean): number {
    const [a] = this.#found(matches);
    return a === undefined ? Number.NaN : (a.value - this.#base) / a.by;
  }
}

const valueOf = ({ instance }: Moved): number => instance.estimate?.value ?? Number.NaN;
const sizeOf = (move: Move): number => (move.kind === "later" ? move.years : move.by);
