import { type ConvertibleTrade, failedResult, labelsOf, type ParsedTrade, type TradeResult } from "../../book/index.ts";
import {
  type Convertible,
  type ConvertibleMarket,
  type ConvertiblePoint,
  type ConvertibleRow,
  errorOfMoves,
  hasClosedForm,
  type Refinement,
  solveConvertibles,
  TRUNCATED,
} from "../../pde/convertible/index.ts";
import { NumericsError, SpecError } from "../../base/errors.ts";
import { later } from "../../market/index.ts";
import { Turns } from "../../base/turns.ts";
import type { Engine, SessionOf } from "../backend.ts";
import { moveOf, type ScenarioCases } from "../columns/scenario-cases.ts";
import { outsideText, withinBounds } from "../guard/range.ts";
import { ACCURACY_MISSED, OUT_OF_TIME, SCENARIO_OUTSIDE } from "../guard/warnings.ts";
import { refuseDoubts } from "../fit-doubts.ts";
import type { Settings } from "../options.ts";
import type { TimeBudget } from "../time-budget.ts";
import { boundsOf } from "./bounds.ts";
import { cpuBeside } from "./on-cpu.ts";
import { bounded, closedFormPoint, type Estimated, thetaAt } from "./figures.ts";
import { laterConvertible, marketOf, type Move, NO_MOVE } from "./market.ts";
import { type ConvertibleNumbers, convertibleResult } from "./result.ts";

/** The settings and the device with which the convertibles of a batch are priced. */
export interface ConvertibleSetting {
  readonly settings: Settings;
  readonly cases: ScenarioCases;
  readonly engine: Engine;
  readonly sessionOf: SessionOf;
  readonly budget: TimeBudget;
  readonly signal: AbortSignal | undefined;
}

/** The error of a value to aim at where nothing is said, relative to the notional. */
const ACCURACY = 1e-5;

/** Moves for sensitivities, either way. */
const BUMPS = { volatility: 0.005, rate: 5e-4, credit: 5e-4 } as const;
/** The levels that sensitivities are solved on: four, and three where a value may be off by 5e-5 of the notional. */
const bumpLevels = (accuracy: number): number => (accuracy >= 5e-5 ? 3 : 4);

type Bump = keyof typeof BUMPS;
const BUMP_NAMES = Object.keys(BUMPS) as Bump[];

/** A row of a trade: its bond and market under a case or a bump, at spots. */
interface Row extends ConvertibleRow {
  readonly place: number;
  readonly isClosed: boolean;
}

interface Job {
  readonly place: number;
  readonly trade: ConvertibleTrade;
  /** Rows by case; undefined after maturity. The first has today's spot before the scenarios'. */
  readonly cases: readonly (Row | undefined)[];
  /** Two rows for each bump, down and up; none where they were not asked for. */
  readonly bumps: readonly Row[];
}

/**
 * Prices the convertibles of a batch: by closed forms where they exist, and the others together on a device. @returns
 * the results by the index of the trade in the batch
 */
export async function priceConvertibles(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: ConvertibleSetting,
): Promise<ReadonlyMap<number, TradeResult>> {
  const results = new Map<number, TradeResult>();
  const jobs: Job[] = [];
  const turns = new Turns(setting.signal);
  const fail = (trade: ConvertibleTrade, place: number, error: unknown): void => {
    const index = trades[place].index ?? firstIndex + place;
    const labels = { id: trade.id, ...labelsOf(trade) };
    results.set(place, failedResult(labels, error, setting.engine.warnings, `trades[${index}]`));
  };
  for (const [place, parsed] of trades.entries()) {
    if (!parsed.ok || parsed.trade.kind !== "convertible") continue;
    if (turns.due) await turns.take();
    try {
      refuseDoubts(parsed.trade, setting.settings);
      jobs.push(jobOf(parsed.trade, place, setting));
    } catch (error) {
      fail(parsed.trade, place, error);
    }
  }
  const rows = jobs.flatMap(({ cases, bumps }) => [...cases.filter((row) => row !== undefined), ...bumps]);
  const points = await solve(rows, setting);
  for (const job of jobs) {
    try {
      results.set(job.place, resultOf(job, points, setting));
    } catch (error) {
      fail(job.trade, job.place, error);
    }
  }
  return results;
}

type Points = ReadonlyMap<Row, readonly ConvertiblePoint[]>;

async function solve(rows: readonly Row[], { sessionOf, budget, signal }: ConvertibleSetting): Promise<Points> {
  const points = new Map<Row, readonly ConvertiblePoint[]>();
  const open = rows.filter((row) => !row.isClosed);
  const placesOf = (numbers: readonly number[]): number[] => [...new Set(numbers.map((i) => open[i].place))];
  const refinement: Refinement = {
    spend: (numbers, work) => budget.spend(placesOf(numbers), work),
    allows: (i, times) => budget.allowsTimes(open[i].place, times),
  };
  const solved =
    open.length === 0 ? [] : await solveConvertibles(await sessionOf(cpuBeside).device, open, signal, refinement);
  open.forEach((row, i) => points.set(row, solved[i]));
  for (const row of rows)
    if (row.isClosed)
      points.set(
        row,
        row.spots.map((spot) => closedFormPoint(row.contract, row.market, spot)),
      );
  return points;
}

/** @throws SpecError a method that does not price convertibles */
function jobOf(trade: ConvertibleTrade, place: number, setting: ConvertibleSetting): Job {
  const { settings, cases } = setting;
  const { method } = settings;
  if (method !== "auto" && method !== "fdm" && method !== "closed-form")
    throw new SpecError(`method: ${method} does not price convertible bonds; expected auto, closed-form or fdm`);
  const accuracy = (settings.accuracy ?? ACCURACY) * trade.convertible.notional;
  const { underlying, convertible } = trade;
  const row = (contract: Convertible, market: ConvertibleMarket, spots: readonly number[]): Row => {
    const isClosed = method !== "fdm" && hasClosedForm(contract, market);
    if (!isClosed && method === "closed-form")
      throw new SpecError('method: closed-form does not price this bond, which may end early; expected auto or "fdm"');
    return { place, contract, market, spots, accuracy, isClosed };
  };
  const moves = cases.scenarios?.spot ?? [];
  const moved = moves.map((move) => underlying.spot * (1 + moveOf(move, underlying.name)));
  const ofCases = cases.cases.map(({ date, shift }, i): Row | undefined => {
    const contract = laterConvertible(convertible, cases.dates[date]);
    if (contract === undefined) return undefined;
    const market = marketOf(trade, { ...NO_MOVE, years: cases.dates[date], ...pickShift(shift) });
    return row(
      contract,
      market,
      i === 0 ? [underlying.spot, ...moved] : moved.length === 0 ? [underlying.spot] : moved,
    );
  });
  const today = marketOf(trade, NO_MOVE);
  const bumped = (name: Bump, by: number): Row => {
    const move: Move = { ...NO_MOVE, [name]: by };
    const levels = bumpLevels(settings.accuracy ?? ACCURACY);
    return { ...row(convertible, marketOf(trade, move), [underlying.spot]), meshOf: today, levels };
  };
  const bumps =
    settings.greeks === "all"
      ? BUMP_NAMES.flatMap((name) => [bumped(name, -BUMPS[name]), bumped(name, BUMPS[name])])
      : [];
  return { place, trade, cases: ofCases, bumps };
}

const pickShift = ({ volatility, rate }: { readonly volatility: number; readonly rate: number }): Partial<Move> => ({
  volatility,
  rate,
});

/** @throws SpecError a value that is not finite */
function resultOf({ trade, cases: rows, bumps }: Job, points: Points, setting: ConvertibleSetting): TradeResult {
  const { settings, engine, cases } = setting;
  const { underlying, convertible } = trade;
  const [today] = rows;
  if (today === undefined) throw new SpecError("no value");
  const method = today.isClosed ? "closed-form" : "fdm";
  const raw = bounded(convertible, underlying.spot, points.get(today)![0]);
  if (!Number.isFinite(raw.value))
    throw new SpecError(`value: ${raw.value}; its terms are beyond what finite differences can represent`);
  const first = guarded(today, underlying.spot, raw);
  if (first === undefined) {
    const bounds = boundsOf(convertible, today.market, underlying.spot);
    throw new NumericsError(`value: ${outsideText(method, raw.value, bounds)}; ask for another accuracy`);
  }
  const theta = today.isClosed ? closedTheta(today, first) : thetaAt(convertible, today.market, underlying.spot, first);
  const slope = (name: Bump): Estimated => {
    if (bumps.length === 0) return UNKNOWN;
    const [down, up] = bumps.slice(2 * BUMP_NAMES.indexOf(name)).map((row) => points.get(row)![0]);
    const width = 2 * BUMPS[name];
    const moved = errorOfMoves([up.moves[0] - down.moves[0], up.moves[1] - down.moves[1]]);
    // Twice that of other figures: two solutions part where a boundary crosses a node in one of them.
    const error = (2 * moved) / width + (today.isClosed ? 0 : TRUNCATED * convertible.notional);
    return { value: (up.value - down.value) / width, error };
  };
  const figures: ConvertibleNumbers = {
    ...first,
    theta,
    vega: slope("volatility"),
    rho: slope("rate"),
    credit: slope("credit"),
  };
  const warnings = warningsOf(today, first, setting);
  const priced = convertibleResult({ trade, market: today.market, figures, method, warnings, settings, engine });
  const { scenarios } = cases;
  if (scenarios === undefined) return priced;
  const values = new Float64Array(cases.count * cases.spots);
  const errors = new Float64Array(cases.count);
  let isOutside = false;
  rows.forEach((row, k) => {
    if (row === undefined) return;
    const found = points.get(row)!.slice(k === 0 ? 1 : 0);
    found.slice(0, cases.spots).forEach((point, i) => {
      const spot = row.spots[k === 0 ? i + 1 : i];
      const own = bounded(row.contract, spot, point);
      const at = guarded(row, spot, own);
      isOutside ||= at === undefined;
      values[k * cases.spots + i] = at?.value ?? Number.NaN;
      errors[k] = Math.max(errors[k], (at ?? own).errorEstimate);
    });
  });
  return {
    ...priced,
    ...(isOutside ? { warnings: [...priced.warnings, SCENARIO_OUTSIDE] } : {}),
    scenarios: cases.ladder(scenarios, values, 0),
    scenarioErrorEstimates: cases.estimates(scenarios, errors, 0),
  };
}

/** The point within its bounds (`boundsOf`); undefined where it is further outside than its estimate allows. */
function guarded({ contract, market }: Row, spot: number, point: ConvertiblePoint): ConvertiblePoint | undefined {
  const found = withinBounds(point, boundsOf(contract, market, spot), TRUNCATED * (contract.notional + spot));
  return found && { ...point, ...found };
}

/** What a result says of its error: that it is larger than asked for, and whether more time would have helped. */
function warningsOf(
  { place, accuracy, isClosed }: Row,
  { errorEstimate }: ConvertiblePoint,
  setting: ConvertibleSetting,
) {
  if (isClosed || errorEstimate <= accuracy * (1 + 1e-9)) return [];
  return setting.budget.allowsTimes(place, 1) ? [ACCURACY_MISSED] : [OUT_OF_TIME, ACCURACY_MISSED];
}

/** The years that a closed form is moved by for its theta. */
const THETA_STEP = 1e-4;

const UNKNOWN: Estimated = { value: Number.NaN, error: Number.NaN };

/** ∂V/∂t of a closed form: the rates, dividends and volatilities keep their dates. */
function closedTheta({ contract, market, spots }: Row, { value, errorEstimate }: ConvertiblePoint): Estimated {
  const next = laterConvertible(contract, THETA_STEP);
  if (next === undefined || contract.coupons.some(({ time }) => time <= THETA_STEP)) return UNKNOWN;
  const later = closedFormPoint(next, laterMarket(market, THETA_STEP), spots[0]).value;
  // The difference is of first order: its error is of the size of its relative step.
  const theta = (later - value) / THETA_STEP;
  return { value: theta, error: (2 * errorEstimate) / THETA_STEP + (Math.abs(theta) * THETA_STEP) / contract.maturity };
}

function laterMarket(market: ConvertibleMarket, years: number): ConvertibleMarket {
  const { rates, volatility, credit } = market;
  return {
    ...market,
    rates: later(rates, years),
    volatility: typeof volatility === "function" ? volatility : later(volatility, years),
    credit:
      credit.kind === "spread"
        ? { ...credit, spread: later(credit.spread, years) }
        : { ...credit, hazard: later(credit.hazard, years) },
  };
}
