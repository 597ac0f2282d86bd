/** Prices of trades as claims with rights on dates, with error estimates and sensitivities. */
import { SpecError } from "../../../base/errors.ts";
import type { ShortRateTrade } from "../../../quadrature/rates/index.ts";
import { WARNING } from "../../columns/result-columns.ts";
import { datedTrade } from "./claims.ts";
import {
  Evaluations,
  MovesOfMarkets,
  type RatesDifferences,
  ratesDifferences,
  type RatesEngine,
  sensitivitiesBy,
  type Valued,
  type Weighted,
} from "./sensitivities.ts";
import type { RatesOutcome, RatesRow, RatesSession, RatesValue } from "./method.ts";
import type { RatesMarket } from "./rates-market.ts";

/**
 * A linear combination of values at several resolutions, such as an extrapolation, as pairs of a factor and a
 * resolution.
 */
export type Resolution<F> = readonly (readonly [factor: number, fineness: F])[];

/** A value, and others whose differences from it, times a factor that may depend on the market, count as errors. */
interface Compared<M, F> {
  readonly value: Resolution<F>;
  readonly checks: readonly (readonly [factor: number | ((market: M) => number), resolution: Resolution<F>])[];
}

/**
 * The rules by which an engine prices claims with rights on dates. M is the type of its market, F of its resolution.
 */
export interface DatedRules<M, F> {
  /** Returns a market in the form that the engine takes. @throws SpecError an unsupported market */
  marketOf(market: RatesMarket): M;
  /** Checks that the engine can price a claim. @throws SpecError a claim that it cannot price */
  checked(claim: ShortRateTrade, market: M, hasWindows: boolean): void;
  /** The resolution for rights on dates. */
  readonly dates: Compared<M, F>;
  /** The finer resolution for claims whose error estimate exceeds the target, if there is one. */
  readonly finer?: Compared<M, F> | undefined;
  /** The resolution of sensitivities, in whose differences errors mostly cancel. */
  readonly moved: Resolution<F>;
  /**
   * The resolution for rights at any time within a period, where the number of dates that approximate the period
   * dominates the error.
   */
  readonly windows: Resolution<F>;
  /**
   * The numbers of dates a year that approximate a right at any time, each twice the one before. Values converge to
   * first order in the distance of dates.
   */
  readonly perYear: readonly [number, number, number];
  /** The amounts added to error estimates, relative to the largest payment. */
  readonly least: { readonly dates: number; readonly windows: number };
}

/** The default numbers of dates a year that approximate a right at any time. */
export const PER_YEAR = [6, 12, 24] as const;
/** The number of times that the difference of two extrapolations of dates counts as an error. */
const MARGIN = 3;
/** The error to aim at, relative to the largest payment, where none is asked for. */
const AIM = 1e-7;
/** The work of the finer resolution, in units of all before: its values alone take some four times those before. */
const FINER = 4;

/** Runs work for rows, and charges their trades with its time. */
function spent<T>(rows: readonly RatesRow[], work: () => Promise<T>): Promise<T> {
  const indices = [...new Set(rows.map(({ time }) => time.index))];
  return rows.length === 0 ? work() : rows[0].time.budget.spend(indices, work);
}

/** The evaluations of a row, and the weights by which its results follow. */
interface Plan {
  readonly row: RatesRow;
  readonly value: Weighted;
  readonly checks: readonly (readonly [factor: number, value: Weighted])[];
  readonly least: number;
  readonly aim: number;
  readonly differences: RatesDifferences;
  /** The value and those of the moved copies, at the resolution of sensitivities; none where nobody reads it. */
  readonly moved: readonly Weighted[];
}

/** A session that prices claims with rights on dates by an engine, which it owns and disposes. */
export class DatedSession<M, F> implements RatesSession {
  readonly #engine: RatesEngine<M, F>;
  readonly #rules: DatedRules<M, F>;

  constructor(engine: RatesEngine<M, F>, rules: DatedRules<M, F>) {
    this.#engine = engine;
    this.#rules = rules;
  }

  async price(rows: readonly RatesRow[], signal: AbortSignal | undefined): Promise<readonly RatesOutcome[]> {
    const [first, finer] = [new Evaluations<M, F>(), new Evaluations<M, F>()];
    const markets = new Markets((market) => this.#rules.marketOf(market));
    const plans = rows.map((row) => tried(() => this.#planOf(row, first, markets)));
    await spent(rows, () => first.run(this.#engine, signal));
    const outcomes = plans.map((plan) => (plan instanceof Error ? plan : valueOf(plan, first)));
    const { finer: resolution } = this.#rules;
    if (resolution === undefined) return outcomes;
    const late = new Set<number>();
    const again = plans.map((plan, i): Plan | undefined => {
      const outcome = outcomes[i];
      if (plan instanceof Error || outcome instanceof Error || !(outcome.errorEstimate > plan.aim)) return undefined;
      const { claim, hasWindows } = datedTrade(plan.row.trade, plan.row.market, 1);
      if (hasWindows) return undefined;
      const { budget, index } = plan.row.time;
      if (!budget.allowsTimes(index, FINER)) {
        late.add(i);
        return undefined;
      }
      return { ...plan, ...compared(claim, markets.of(plan.row.market), resolution, finer) };
    });
    const refined = rows.filter((_, i) => again[i] !== undefined);
    if (refined.length > 0) await spent(refined, () => finer.run(this.#engine, signal));
    return outcomes.map((outcome, i) => {
      const plan = again[i];
      if (late.has(i) && !(outcome instanceof Error)) return { ...outcome, warnings: WARNING.outOfTime };
      return plan === undefined || outcome instanceof Error ? outcome : { ...outcome, ...numbersOf(plan, finer) };
    });
  }

  [Symbol.dispose](): void {
    this.#engine[Symbol.dispose]();
  }

  #planOf(row: RatesRow, evaluations: Evaluations<M, F>, markets: Markets<M>): Plan {
    const { trade, market, greeks, accuracy } = row;
    const { dates, moved, windows, least, ...rules } = this.#rules;
    const [first, second, third] = rules.perYear;
    const { hasWindows, claim } = datedTrade(trade, market, third);
    const claims = new Map([[third, claim]] as [number, ShortRateTrade][]);
    // Without windows a trade is one claim, whatever the number of dates a year.
    const claimAt = (perYear: number): ShortRateTrade => {
      const known = claims.get(hasWindows ? perYear : third) ?? datedTrade(trade, market, perYear).claim;
      claims.set(perYear, known);
      return known;
    };
    rules.checked(claim, markets.of(market), hasWindows);
    const resolve = (at: RatesMarket, own: ShortRateTrade, of: Resolution<F>, factor: number, to: number[]): void => {
      const made = markets.of(at);
      for (const [weight, fineness] of of) to.push(factor * weight, evaluations.ask(own, made, fineness));
    };
    // A value of rights at any time from a number of dates a year and half as many.
    const extrapolate = (own: (perYear: number) => ShortRateTrade, at: RatesMarket, fine: number, factor: number) => {
      const to: number[] = [];
      resolve(at, own(fine), windows, 2 * factor, to);
      resolve(at, own(fine / 2), windows, -factor, to);
      return to;
    };
    const movedValue = ({ trade: of, market: at }: Valued): Weighted => {
      const own = (perYear: number): ShortRateTrade =>
        of === trade ? claimAt(perYear) : datedTrade(of, at, perYear, at.years - market.years).claim;
      if (hasWindows) return extrapolate(own, at, second, 1);
      const to: number[] = [];
      resolve(at, own(first), moved, 1, to);
      return to;
    };
    const wanted = { theta: greeks !== "none", model: greeks === "all", curve: greeks === "all" };
    const differences = ratesDifferences(trade, markets.moves.of(market), wanted);
    const isRead = differences.formulas.some(({ weights }) => weights[0] !== 0);
    const sensitivities = {
      differences,
      moved: [isRead ? movedValue({ trade, market }) : [], ...differences.copies.map(movedValue)],
    };
    const size = Math.max(...claim.flows.map(([, amount]) => Math.abs(amount)));
    const aim = (accuracy ?? AIM) * size;
    if (!hasWindows) {
      const both = compared(claim, markets.of(market), dates, evaluations);
      return { row, ...both, least: least.dates * size, aim, ...sensitivities };
    }
    const value = extrapolate(claimAt, market, third, 1);
    const check = extrapolate(claimAt, market, second, 1);
    // Of the resolution of a window nothing is compared.
    return { row, value, checks: [[MARGIN, check]], least: least.windows * size, aim, ...sensitivities };
  }
}

/** The markets of a batch as its engine has them, each made once, and their moves. */
class Markets<M> {
  readonly moves = new MovesOfMarkets();
  readonly #made = new Map<RatesMarket, M>();
  readonly #make: (market: RatesMarket) => M;

  constructor(make: (market: RatesMarket) => M) {
    this.#make = make;
  }

  /** @throws SpecError a market that the engine cannot have */
  of(market: RatesMarket): M {
    const known = this.#made.get(market) ?? this.#make(market);
    this.#made.set(market, known);
    return known;
  }
}

/** The sums of a claim, whose resolutions are evaluated once where both have them. */
function compared<M, F>(
  claim: ShortRateTrade,
  market: M,
  resolution: Compared<M, F>,
  evaluations: Evaluations<M, F>,
): Pick<Plan, "value" | "checks"> {
  const numbers = new Map<F, number>();
  const weighted = (parts: Resolution<F>): Weighted =>
    parts.flatMap(([factor, fineness]) => {
      const number = numbers.get(fineness) ?? evaluations.ask(claim, market, fineness);
      numbers.set(fineness, number);
      return [factor, number];
    });
  const { value, checks } = resolution;
  const factorOf = (factor: number | ((of: M) => number)): number =>
    typeof factor === "number" ? factor : factor(market);
  return { value: weighted(value), checks: checks.map(([factor, of]) => [factorOf(factor), weighted(of)] as const) };
}

function tried<T>(make: () => T): T | SpecError {
  try {
    return make();
  } catch (error) {
    if (error instanceof SpecError) return error;
    throw error;
  }
}

function numbersOf<M, F>(
  { value: of, checks, least }: Plan,
  evaluations: Evaluations<M, F>,
): Pick<RatesValue, "value" | "errorEstimate"> {
  const value = evaluations.sum(of);
  const errors = checks.map(([factor, check]) => factor * Math.abs(value - evaluations.sum(check)));
  return { value, errorEstimate: errors.reduce((sum, one) => sum + one, least) };
}

function valueOf<M, F>(plan: Plan, evaluations: Evaluations<M, F>): RatesValue {
  const moved = plan.moved.map((weighted) => evaluations.sum(weighted));
  return { ...numbersOf(plan, evaluations), ...sensitivitiesBy(plan.differences, moved) };
}
