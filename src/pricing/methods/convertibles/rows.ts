/** Convertibles with a row for each case of the scenarios and for each bump, as their methods see them. */
import type { ConvertibleTrade } from "../../../book/index.ts";
import { memoizeBy } from "../../../base/memoize.ts";
import {
  type Convertible,
  type ConvertibleMarket,
  type ConvertiblePoint,
  type ConvertibleRow,
  hasClosedForm,
} from "../../../pde/convertible/index.ts";
import { moveOf } from "../../columns/scenario-cases.ts";
import type { Batch } from "../../plan/method.ts";
import { marketOf, rollForward } from "./market.ts";

/** The error of a value to aim at where nothing is said, relative to the notional. */
const ACCURACY = 1e-5;

/** Moves for sensitivities, either way. */
export const BUMPS = { volatility: 0.005, rate: 5e-4, credit: 5e-4 } as const;
/** The levels that sensitivities are solved on: four, and three where a value may be off by 5e-5 of the notional. */
const bumpLevels = (accuracy: number): number => (accuracy >= 5e-5 ? 3 : 4);

/** A market move by which a sensitivity is computed. */
export type Bump = keyof typeof BUMPS;
/** The names of all bumps, in the order of a trade's rows. */
export const BUMP_NAMES = Object.keys(BUMPS) as Bump[];

/** A row of a trade: its bond and market under a case or a bump, at spots. */
export interface Row extends ConvertibleRow {
  /** The index of the trade in the batch. */
  readonly place: number;
  readonly isClosed: boolean;
}

/** The rows of a trade. */
export interface ConvertibleRows {
  /** Rows by case; undefined after maturity. The first has today's spot before the scenarios'. */
  readonly cases: readonly (Row | undefined)[];
  /** Two rows for each bump, down and up; none where they were not asked for. */
  readonly bumps: readonly Row[];
  /** Today's point, once it is solved. */
  today?: ConvertiblePoint;
}

/** Returns a trade of a batch, which is a convertible. */
export const convertibleOf = ({ columns }: Batch, trade: number): ConvertibleTrade =>
  columns.givenOf(trade) as ConvertibleTrade;

/** Returns the error that values of a convertible aim at, in the currency. */
export const accuracyOf = (batch: Batch, trade: number): number =>
  (batch.settings.accuracy ?? ACCURACY) * convertibleOf(batch, trade).convertible.notional;

/** Returns a function for the rows of each convertible of a batch. */
export const convertibleRowsOf = memoizeBy((batch: Batch) => {
  const made = new Map<number, ConvertibleRows>();
  return (place: number): ConvertibleRows => {
    const rows = made.get(place) ?? rowsOf(batch, place);
    made.set(place, rows);
    return rows;
  };
});

function rowsOf(batch: Batch, place: number): ConvertibleRows {
  const { settings, columns } = batch;
  const { cases, dates, scenarios } = columns.cases;
  const trade = convertibleOf(batch, place);
  const accuracy = accuracyOf(batch, place);
  const { underlying, convertible } = trade;
  const row = (contract: Convertible, market: ConvertibleMarket, spots: readonly number[]): Row => {
    const isClosed = settings.method !== "fdm" && hasClosedForm(contract, market);
    return { place, contract, market, spots, accuracy, isClosed };
  };
  const moves = scenarios?.spot ?? [];
  const moved = moves.map((move) => underlying.spot * (1 + moveOf(move, underlying.name)));
  const ofCases = cases.map(({ date, shift: { volatility, rate } }, i): Row | undefined => {
    const then = rollForward(trade, dates[date]);
    return (
      then && row(then.convertible, marketOf(then, { volatility, rate }), i === 0 ? [underlying.spot, ...moved] : moved)
    );
  });
  const today = marketOf(trade, {});
  const levels = bumpLevels(settings.accuracy ?? ACCURACY);
  const bumped = (name: Bump, by: number): Row => {
    return { ...row(convertible, marketOf(trade, { [name]: by }), [underlying.spot]), meshOf: today, levels };
  };
  const bumps =
    settings.greeks === "all"
      ? BUMP_NAMES.flatMap((name) => [bumped(name, -BUMPS[name]), bumped(name, BUMPS[name])])
      : [];
  return { cases: ofCases, bumps };
}
