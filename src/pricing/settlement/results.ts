/** Prices options with a settlement of their own by their form for methods, and makes their results and ladders. */
import {
  failedResult,
  labelsOf,
  type ParsedTrade,
  type PricedTrade,
  type Scenarios,
  type SpotMove,
  type Trade,
  type TradeResult,
} from "../../book/index.ts";
import { emptyScenarioValues, spotMoveOf } from "../columns/result-columns.ts";
import type { Settings } from "../options.ts";
import { earlyError, settledResult } from "./figures.ts";
import { assetsOf, isEarly, isDriftKept, type Moves, Payment, priceable, type SettledTrade, UNMOVED } from "./rule.ts";

/** A function that prices trades with given scenarios and requested Greeks. */
export type PriceUnder = (
  trades: readonly ParsedTrade[],
  under: { readonly scenarios: Scenarios | undefined; readonly greeks: Settings["greeks"] },
) => Promise<TradeResult[]>;

/** An option in both forms, with its place in the batch. */
interface Form {
  readonly place: number;
  readonly index: number;
  readonly trade: SettledTrade;
  readonly priced: Trade;
  readonly payment: Payment;
}

/** Returns the function that prices options with a settlement of their own, too; `firstIndex` is that of a batch. */
export function withSettlements(price: PriceUnder, firstIndex: number): PriceUnder {
  return async (batch, under) => {
    const indexOf = (i: number): number => batch[i].index ?? firstIndex + i;
    const settled = batch.flatMap((parsed, place) => {
      const trade = parsed.ok ? parsed.trade : undefined;
      return trade?.kind === undefined && trade?.settlement !== undefined
        ? [{ place, trade: trade as SettledTrade }]
        : [];
    });
    if (settled.length === 0) return price(batch, under);
    const results: TradeResult[] = [];
    const isSettled = new Set(settled.map(({ place }) => place));
    const others = batch.flatMap((_, i) => (isSettled.has(i) ? [] : [i]));
    const plain = others.map((i) => ({ ...batch[i], index: indexOf(i) }));
    const priced = plain.length === 0 ? [] : await price(plain, under);
    others.forEach((place, i) => (results[place] = priced[i]));
    const forms: Form[] = [];
    for (const { place, trade } of settled)
      try {
        const own = priceable(trade, UNMOVED);
        const payment = new Payment(trade, own);
        // What cannot be priced is found before anything is.
        void payment.error;
        forms.push({ place, index: indexOf(place), trade, priced: own, payment });
      } catch (error) {
        results[place] = failedResult({ id: trade.id, ...labelsOf(trade) }, error, [], `trades[${indexOf(place)}]`);
      }
    const done = await pricedForms(forms, under, price);
    forms.forEach(({ place }, i) => (results[place] = done[i]));
    return results;
  };
}

const parsedOf = ({ index }: Form, trade: Trade): ParsedTrade => ({ ok: true, trade, index });

async function pricedForms(
  forms: readonly Form[],
  { scenarios, greeks }: Parameters<PriceUnder>[1],
  price: PriceUnder,
): Promise<TradeResult[]> {
  if (forms.length === 0) return [];
  const today = await price(
    forms.map((form) => parsedOf(form, form.priced)),
    { scenarios: undefined, greeks },
  );
  const byDrift = greeks === "all" ? await driftSlopes(forms, price) : undefined;
  const results = forms.map(({ trade, priced, payment }, i): TradeResult => {
    const result = today[i];
    return result.status === "ok"
      ? settledResult({ trade, priced, payment, result: withoutBuckets(result), byDrift: byDrift?.get(i) })
      : { ...result, ...labelsOf(trade) };
  });
  if (scenarios === undefined) return results;
  const ladders = await laddersOf(forms, today, scenarios, price);
  return results.map((result, i) => (result.status === "ok" ? { ...result, ...ladders[i] } : result));
}

/** Leaves out the risk by bucket of an option's form for methods, which is not that of the option. */
function withoutBuckets({ buckets, ...result }: PricedTrade): PricedTrade {
  if (buckets === undefined) return result;
  return { ...result, warnings: [...result.warnings, NO_BUCKETS] };
}

const NO_BUCKETS =
  "buckets: none for options on currency pairs, quanto or composite ones, with yields by time, or paid after expiry; " +
  "price the trade under a moved market instead";

/** The move of the yield for a derivative by the drift. */
const STEP = 1e-3;

/** The derivatives by the drift of options that may be paid early, by the place among the forms. */
async function driftSlopes(forms: readonly Form[], price: PriceUnder): Promise<ReadonlyMap<number, number>> {
  const early = forms.flatMap(({ trade }, i) => (isEarly(trade) && trade.settlement.fixings === undefined ? [i] : []));
  if (early.length === 0) return new Map();
  const moved = (by: number): ParsedTrade[] =>
    early.map((i) => parsedOf(forms[i], priceable(forms[i].trade, { ...UNMOVED, yield: by })));
  const values = await price([...moved(-STEP), ...moved(STEP)], { scenarios: undefined, greeks: "none" });
  return new Map(
    early.flatMap((place, i) => {
      const [up, down] = [values[i], values[early.length + i]];
      return up.status === "ok" && down.status === "ok" ? [[place, (up.value - down.value) / (2 * STEP)] as const] : [];
    }),
  );
}

/** Which moves methods do not make: those of these axes are priced one by one, or only discount. */
interface Axes {
  readonly volatility: "method" | "one by one";
  readonly rate: "method" | "one by one" | "discount";
}

function axesOf({ trade }: Form): Axes {
  const volatility = trade.settlement.conversion === undefined ? "method" : "one by one";
  if (!isDriftKept(trade)) return { volatility, rate: "method" };
  return { volatility, rate: isEarly(trade) ? "one by one" : "discount" };
}

type Ladder = Pick<PricedTrade, "scenarios" | "scenarioErrorEstimates">;

/** Returns values and error estimates of options in all scenarios. */
async function laddersOf(
  forms: readonly Form[],
  today: readonly TradeResult[],
  scenarios: Scenarios,
  price: PriceUnder,
): Promise<readonly Ladder[]> {
  const { volatility, rate, spot } = scenarios;
  const ladders = forms.map(() => ({
    values: emptyScenarioValues(scenarios),
    errors: scenarios.time.map(() => volatility.map(() => rate.map((): number | null => null))),
  }));
  const groups = new Map<string, number[]>();
  forms.forEach((form, i) => {
    const { settlement, assets } = form.trade;
    if (settlement.fixings !== undefined) {
      fixedLadder(form, today[i], scenarios, ladders[i]);
      return;
    }
    const axes = axesOf(form);
    const key = `${axes.volatility} ${axes.rate} ${settlement.conversion === "composite" || assets !== undefined}`;
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  for (const members of groups.values()) {
    const axes = axesOf(forms[members[0]]);
    const all = <T>(list: readonly T[]): readonly (readonly [number, T])[] => list.map((one, i) => [i, one] as const);
    const movesOfVolatility = axes.volatility === "method" ? [[-1, 0] as const] : all(volatility);
    const movesOfRate = axes.rate === "one by one" ? all(rate) : [[-1, 0] as const];
    const under: Scenarios = {
      ...scenarios,
      spot: spot.map((move) =>
        movedSpots(
          move,
          members.map((i) => forms[i]),
        ),
      ),
      volatility: axes.volatility === "method" ? volatility : [0],
      rate: axes.rate === "method" ? rate : [0],
    };
    for (const [v, byVolatility] of movesOfVolatility)
      for (const [r, byRate] of movesOfRate) {
        const moves: Moves = { volatility: byVolatility, rate: byRate, yield: 0 };
        const variants = members.map((i) => ({ form: forms[i], priced: priceable(forms[i].trade, moves) }));
        const results = await price(
          variants.map(({ form, priced }) => parsedOf(form, priced)),
          { scenarios: under, greeks: "none" },
        );
        members.forEach((i, k) => {
          const own = { ...forms[i], payment: new Payment(forms[i].trade, variants[k].priced) };
          fill(own, results[k], scenarios, axes, [v, r], ladders[i]);
        });
      }
  }
  return ladders.map(({ values, errors }) => ({ scenarios: values, scenarioErrorEstimates: errors }));
}

interface Open {
  readonly values: (number | null)[][][][];
  readonly errors: (number | null)[][][];
}

/** Puts the values of one variant of an option into its ladder; −1 stands for an axis that methods moved along. */
function fill(
  { trade, payment }: Form,
  result: TradeResult,
  { time, spot, volatility, rate }: Scenarios,
  axes: Axes,
  [atVolatility, atRate]: readonly [number, number],
  { values, errors }: Open,
): void {
  const { expiry, settlement } = trade;
  time.forEach((years, t) => {
    // From expiry to payment the amount depends on a fixing that nobody knows.
    const isUnknown = years > expiry && years <= settlement.payment;
    volatility.forEach((_, v) => {
      if (atVolatility >= 0 && v !== atVolatility) return;
      rate.forEach((by, r) => {
        if (atRate >= 0 && r !== atRate) return;
        const [row, column] = [atVolatility < 0 ? v : 0, axes.rate === "method" ? r : 0];
        const factor = payment.factor(Math.min(years, expiry), by);
        let largest = 0;
        spot.forEach((__, s) => {
          const own = result.status === "ok" ? result.scenarios?.[t][s][row][column] : undefined;
          const value = own === undefined || own === null || isUnknown ? null : factor * own;
          values[t][s][v][r] = value;
          largest = Math.max(largest, earlyError(trade, payment, value ?? 0));
        });
        const estimate = result.status === "ok" ? result.scenarioErrorEstimates?.[t][row][column] : undefined;
        errors[t][v][r] = estimate === undefined || estimate === null ? null : factor * estimate + largest;
      });
    });
  });
}

/** The ladder of an option whose payment is known: it is discounted. */
function fixedLadder(
  { trade, payment }: Form,
  result: TradeResult,
  { time, spot, volatility, rate }: Scenarios,
  { values, errors }: Open,
): void {
  if (result.status !== "ok") return;
  time.forEach((years, t) =>
    volatility.forEach((_, v) =>
      rate.forEach((by, r) => {
        const isPaid = years > trade.settlement.payment;
        const factor = isPaid ? 0 : payment.factor(years, by);
        spot.forEach((__, s) => (values[t][s][v][r] = factor * result.value));
        errors[t][v][r] = factor * result.errorEstimate;
      }),
    ),
  );
}

/** A move of spots in which converted underlyings move with their exchange rates. */
function movedSpots(move: SpotMove, forms: readonly Form[]): SpotMove {
  const converted = forms.filter(({ trade }) => trade.settlement.conversion !== undefined);
  if (converted.length === 0) return move;
  const moves: Record<string, number> = {};
  for (const { trade, priced } of forms)
    assetsOf(trade).forEach(({ underlying: { name } }, i) => {
      const rate = trade.settlement.conversion === "composite" ? trade.settlement.exchange[i] : undefined;
      const byRate = rate === undefined ? 1 : (1 + spotMoveOf(move, rate.pair)) ** rate.power;
      moves[assetsOf(priced)[i].underlying.name] = (1 + spotMoveOf(move, name)) * byRate - 1;
    });
  return moves;
}
