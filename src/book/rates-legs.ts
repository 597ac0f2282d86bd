/** Reads the legs of caps, floors and swaptions whose conventions come from an index. */
import { BookError } from "../base/errors.ts";
import type { ForwardCurve } from "../market/index.ts";
import { conventionsOf, type Day } from "../market/conventions/index.ts";
import { floatingOf, type LegDates, periodsOfLeg, timeOf } from "../market/linear/index.ts";
import type { LinearMarket } from "./linear-market.ts";
import { type Around, located, readLeg } from "./linear-trade.ts";
import type { CurveByName } from "./rates.ts";
import { inside, type PathOf } from "./paths.ts";
import type { FloatingPeriod, LegPeriod } from "./rates-types.ts";
import type { IndexLegSpec, IndexSwapSpec } from "./schema/index.ts";
import { dayNumber, type TimeSpec } from "./time.ts";

/** The market of a leg: curves by number and by name. */
export interface LegMarket {
  readonly linear: LinearMarket;
  readonly curveOf: CurveByName;
}

/** The currency of a leg, and the curve that projects its rates where that is not the one that discounts. */
export interface IndexedLegs {
  readonly currency: string;
  readonly projection?: ForwardCurve;
  readonly floating: readonly FloatingPeriod[];
}

/** Returns the periods of a leg that are not yet paid. @throws BookError for an index of overnight rates */
export function readIndexLeg(spec: IndexLegSpec, pathOf: PathOf, market: LegMarket): IndexedLegs {
  const { months } = conventionsOf(spec.index);
  if (months !== undefined) return readFloating(spec, pathOf, market);
  throw new BookError(
    pathOf("index"),
    `expected the index of a term rate: a cap on the compounded rates of ${spec.index} is not priced`,
  );
}

/**
 * Returns the periods of both legs of a swap that are not yet paid. `first` is the first time at which it may be
 * entered: by default it starts on the spot day after it.
 */
export function readIndexSwap(
  { fixed = {}, ...spec }: IndexSwapSpec,
  first: TimeSpec,
  pathOf: PathOf,
  market: LegMarket,
): IndexedLegs & { readonly periods: readonly LegPeriod[] } {
  const { linear } = market;
  const { calendar } = linear.index(spec.index, pathOf("index"));
  const spot = calendar.addBusinessDays(dayNumber(linear.asOf, first), conventionsOf(spec.index).spotLag);
  const start = spec.start ?? ({ kind: "day", midnight: spot * MS_PER_DAY } as const);
  const around: Around = { ...spec, start, currency: undefined };
  const leg = readLeg({ ...fixed, rate: 0 }, around, inside(pathOf, "fixed"), linear);
  const periods = located(pathOf, () => periodsOfLeg(leg.spec));
  return {
    ...readFloating({ ...spec, start }, pathOf, market),
    periods: leftOf(periods, linear.reference).map((period) => inYears(period, linear.reference)),
  };
}

const MS_PER_DAY = 86_400_000;

const leftOf = (periods: readonly LegDates[], reference: Day): LegDates[] =>
  periods.filter(({ paid }) => paid > reference);

const inYears = ({ start, end, accrual, paid }: LegDates, reference: Day): LegPeriod => ({
  start: timeOf(start, reference),
  end: timeOf(end, reference),
  accrual,
  paid: timeOf(paid, reference),
});

function readFloating(spec: IndexLegSpec, pathOf: PathOf, { linear, curveOf }: LegMarket): IndexedLegs {
  const { reference } = linear;
  const { start, end, notional, ...given } = spec;
  const around: Around = { start, end, notional, currency: undefined, index: undefined };
  const { spec: leg, currency } = readLeg(given, around, pathOf, linear);
  const index = linear.index(spec.index, pathOf("index"));
  const isTerm = conventionsOf(spec.index).months !== undefined;
  const floating = leftOf(
    located(pathOf, () => periodsOfLeg(leg)),
    reference,
  ).map((period): FloatingPeriod => {
    const day = index.calendar.addBusinessDays(period.start, -(index.fixingLag ?? 0));
    // Overnight rates of a period that has begun belong to nobody who enters the swap later.
    const known = isTerm ? located(pathOf, () => knownRate(index, period, reference)) : undefined;
    return { ...inYears(period, reference), fixed: timeOf(day, reference), rate: known };
  });
  if (index.curve === leg.discount) return { currency, floating };
  return { currency, projection: curveOf(linear.curves.names[index.curve], pathOf), floating };
}

/** The published rate of a period; undefined if it lies ahead. @throws SpecError if it is missing */
function knownRate(
  index: Parameters<typeof floatingOf>[0],
  { start, end }: LegDates,
  reference: Day,
): number | undefined {
  const { growth, accrual } = floatingOf(index, undefined, start, end, reference);
  return growth.periods.length > 0 ? undefined : (growth.known - 1) / accrual;
}
