/** The risk of linear trades by bucket: derivatives by quotes, nodes, key rates and exchange rates. */
import { DifferencePlan, MOVES, sensitivityOf } from "../../../base/differences.ts";
import {
  type Bucket,
  type BucketFactor,
  type BucketPlace,
  linearInputs,
  inputsOf,
  type LinearTrade,
} from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";

/** The values of a linear trade from which its buckets follow. */
interface LinearValues {
  /** Returns the value with the spots of pairs multiplied by the given factors. */
  value(trade: LinearTrade, factorOf?: (pair: string) => number): number;
  /** Returns the derivatives by the quotes of each curve that was found, by the names of curve and instrument. */
  byQuotes(trade: LinearTrade): Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Returns the rounding error of the value. */
  rounding(trade: LinearTrade): number;
}

/** A move of a zero rate, and a relative one of a spot. Values are smooth, and known to rounding. */
const MOVE = 1e-5;

/** Returns the buckets of a linear trade. */
export function linearBuckets(trade: LinearTrade, { value, byQuotes, rounding }: LinearValues): readonly Bucket[] {
  const error = rounding(trade);
  const bucket = (factor: BucketFactor, of: string, at: BucketPlace, own: number, size: number): Bucket[] =>
    own === 0 ? [] : [{ factor, of, at, value: own, errorEstimate: error / size + MOVE * MOVE * Math.abs(own) }];
  const slope = (size: number, at: (by: number) => number): number => {
    const plan = new DifferencePlan<number>();
    plan.addDerivatives(size, [{ name: "slope", order: 1, moves: MOVES.CENTRAL }], at);
    const { copies, formulas } = plan.movedCopies();
    return sensitivityOf(formulas[0], [0, ...copies]);
  };
  const pairs = new Map(trade.legs.flatMap((leg) => leg.conversion.map(({ pair, spot }) => [pair, spot] as const)));
  const bySpot = [...pairs].flatMap(([pair, spot]) => {
    const at = (by: number): number => value(trade, (one) => (one === pair ? 1 + by : 1));
    return bucket("spot", pair, null, slope(MOVE, at) / spot, MOVE * spot);
  });
  const { names, recoveries } = trade.market;
  const factorOf = (curve: string): BucketFactor =>
    recoveries[names.indexOf(curve)] === undefined ? "rate" : "spread";
  const found = Object.entries(byQuotes(trade)).flatMap(([curve, own]) =>
    Object.entries(own).flatMap(([name, one]) => bucket(factorOf(curve), curve, name, one, 1)),
  );
  const given = (inputsOf(linearInputs, trade.market) ?? [])
    .filter(({ from }) => from < trade.expiry - ONE_SECOND)
    .flatMap(({ of, at, moved }) => {
      const then = slope(MOVE, (by) => value({ ...trade, market: moved(by) }));
      // A curve on which the trade does not depend.
      return Math.abs(then) <= error / MOVE ? [] : bucket(factorOf(of!), of!, at, then, MOVE);
    });
  return [...bySpot, ...found, ...given];
}
