/** The risk of trades by bucket: slopes of their values along directions, by their methods or by moved copies. */
import {
  type AnyTrade,
  type Bucket,
  type ParsedTrade,
  placeText,
  type PricedTrade,
  type TradeResult,
} from "../book/index.ts";
import { BookError } from "../base/errors.ts";
import type { Measured } from "./columns/result-columns.ts";
import { kindOf } from "./kinds.ts";
import type { BatchSetting, PricedBatch } from "./plan/batch-setting.ts";
import { DIRECTION_SIZES } from "./plan/bump-sizes.ts";
import { type Direction, slopeBetween } from "./plan/directions.ts";
import type { PricingMethod } from "./plan/method.ts";

/** The function that prices a batch of trades. */
type PriceBatch = (trades: readonly ParsedTrade[], firstIndex: number, setting: BatchSetting) => Promise<PricedBatch>;

/** The most copies that are priced together. */
const MAX_COPIES = 4096;

/**
 * Prices trades as `priceBatch` does, and adds to each result its risk by bucket. Directions along which a method knows
 * no slopes are priced by moved copies of the trade, by the same method.
 */
export async function priceBuckets(
  pricedBatch: PriceBatch,
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: BatchSetting,
): Promise<TradeResult[]> {
  const known = new Map<AnyTrade, readonly Direction[]>();
  const directionsOf = (trade: AnyTrade, method: PricingMethod): readonly Direction[] => {
    const made = known.get(trade) ?? kindOf(trade).buckets.directions(trade, sizesFor(method));
    known.set(trade, made);
    return made;
  };
  const priced = await pricedBatch(trades, firstIndex, {
    ...setting,
    sensitivityErrorEstimates: true,
    directionsOf,
  });
  const rows = trades.flatMap((parsed, i) => {
    const result = priced.results[i];
    const method = priced.methods.get(i);
    if (!parsed.ok || result.status !== "ok" || method === undefined) return [];
    const { trade } = parsed;
    return [new BucketRow(i, trade, result, method, priced.slopes, directionsOf(trade, method), setting.accuracy)];
  });
  const priceAll = (copies: readonly ParsedTrade[], methodOf: BatchSetting["methodOf"]): Promise<PricedBatch> =>
    pricedBatch(copies, 0, {
      ...setting,
      greeks: "none",
      scenarios: undefined,
      sensitivityErrorEstimates: false,
      ...(methodOf === undefined ? {} : { methodOf }),
    });
  await priceCopies(rows, (i) => trades[i].index ?? firstIndex + i, priceAll);
  const results = [...priced.results];
  for (const row of rows) results[row.index] = row.result(setting.sensitivityErrorEstimates);
  return results;
}

const sizesFor = ({ accuracy }: PricingMethod) =>
  accuracy === undefined ? DIRECTION_SIZES.exact : DIRECTION_SIZES.discretised;

/** A priced trade with the slopes along its directions, as far as they are known. */
class BucketRow {
  readonly index: number;
  readonly trade: AnyTrade;
  readonly method: PricingMethod;
  /** The numbers of the directions that moved copies are needed for. */
  readonly open: readonly number[];
  readonly #priced: PricedTrade;
  readonly #directions: readonly Direction[];
  readonly #accuracy: number | undefined;
  readonly #slopes: (Measured | BookError | undefined)[];

  constructor(
    index: number,
    trade: AnyTrade,
    priced: PricedTrade,
    method: PricingMethod,
    slopes: PricedBatch["slopes"],
    directions: readonly Direction[],
    accuracy: number | undefined,
  ) {
    this.index = index;
    this.trade = trade;
    this.method = method;
    this.#priced = priced;
    this.#directions = directions;
    this.#accuracy = accuracy;
    this.#slopes = this.#directions.map((_, d) => slopes.get(index)?.[d]);
    this.open = this.#slopes.flatMap((slope, d) => (slope === undefined ? [d] : []));
  }

  /** Returns the copies that the slope along a direction needs. @throws BookError where quotes have no fit */
  copiesOf(d: number): readonly AnyTrade[] {
    const { size, moves, moved } = this.#directions[d];
    return moves.map((move) => (move === 0 ? this.trade : moved(move * size)));
  }

  /** Takes the results of the copies. */
  setCopies(d: number, copies: readonly TradeResult[]): void {
    const failed = copies.find((copy) => copy.status === "error");
    if (failed?.status === "error") {
      this.fail(d, new BookError("", failed.error.message));
      return;
    }
    const values = copies.map(({ value }) => value!);
    const errors = copies.map(({ errorEstimate }) => errorEstimate!);
    const spot = "underlying" in this.trade ? this.trade.underlying.spot : 0;
    const scale = Math.max(...values.map(Math.abs), spot);
    // A European option on a smile has no error but rounding, and in moved markets it is priced on a mesh.
    const isExact = this.method.accuracy === undefined && copies.every(({ method }) => method === this.#priced.method);
    const accuracy = isExact ? undefined : (this.#accuracy ?? this.method.accuracy ?? USUAL_ACCURACY);
    this.#slopes[d] = slopeBetween(this.#directions[d], { values, errors, scale, accuracy });
  }

  /** Records why there is no slope along a direction. */
  fail(d: number, error: BookError): void {
    this.#slopes[d] = error;
  }

  /** Returns the trade's result with its buckets. */
  result(showsErrors: boolean): PricedTrade {
    const { sensitivityErrorEstimates: _, ...rest } = this.#priced;
    const failures: string[] = [];
    const found = this.#directions.flatMap(({ factor, of, at }, d): Bucket[] => {
      const slope = this.#slopes[d];
      if (slope === undefined || slope instanceof BookError) {
        failures.push(
          `buckets: no slope by the ${factor} of ${of} at ${placeText(at)}: ${slope?.message ?? "not priced"}`,
        );
        return [];
      }
      // An input on which the value does not depend.
      if (slope.value === 0) return [];
      return [{ factor, of, at, value: slope.value, errorEstimate: Number.isNaN(slope.error) ? null : slope.error }];
    });
    const known = kindOf(this.trade).buckets.known(this.trade, this.#priced);
    return {
      ...(showsErrors ? this.#priced : rest),
      warnings: [...this.#priced.warnings, ...failures],
      buckets: [...known, ...found],
    };
  }
}

/** The relative error that methods without a usual one aim at. */
const USUAL_ACCURACY = 1e-5;

/** Prices the copies of all rows, some of them at a time. @throws the signal's reason; the error of a lost device */
async function priceCopies(
  rows: readonly BucketRow[],
  indexOf: (row: number) => number,
  price: (copies: readonly ParsedTrade[], methodOf: BatchSetting["methodOf"]) => Promise<PricedBatch>,
): Promise<void> {
  type Wanted = { readonly row: BucketRow; readonly d: number; readonly copies: readonly AnyTrade[] };
  let wanted: Wanted[] = [];
  let count = 0;
  const priceWanted = async (): Promise<void> => {
    const owners = wanted.flatMap(({ row, copies }) => copies.map(() => row));
    const copies = wanted.flatMap(({ row: { index }, copies: own }) =>
      own.map((trade): ParsedTrade => ({ ok: true, trade, index: indexOf(index) })),
    );
    const { results } = await price(copies, (i) => owners[i].method);
    let next = 0;
    for (const { row, d, copies: own } of wanted) row.setCopies(d, results.slice(next, (next += own.length)));
    wanted = [];
    count = 0;
  };
  for (const row of rows)
    for (const d of row.open) {
      try {
        const copies = row.copiesOf(d);
        wanted.push({ row, d, copies });
        count += copies.length;
      } catch (error) {
        if (!(error instanceof BookError)) throw error;
        row.fail(d, error);
      }
      if (count >= MAX_COPIES) await priceWanted();
    }
  if (count > 0) await priceWanted();
}
