/** Structured products: scripts on underlyings, priced on paths or backwards. */
import type { ScriptedTrade, ScriptPayoff } from "../../../book/index.ts";
import type { Device } from "../../../device/index.ts";
import { viewsOfMarket } from "../../market-moves.ts";
import { type TradeKind, UNBOUNDED } from "../../plan/kind.ts";
import {
  type Acceptance,
  type Batch,
  type MethodSession,
  type PricingMethod,
  TARGET_ERRORS,
} from "../../plan/method.ts";
import { underlyingBuckets, underlyingDirections } from "../../plan/underlying-directions.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import { doubtsOf, unitWarnings } from "../../term-warnings.ts";
import { assetsOf, rollForward, termsOf } from "../../terms.ts";
import { totalVariance } from "../../variance.ts";
import { whyNoModel, whyNoProduct } from "../montecarlo/acceptance.ts";
import { estimatorOf } from "../montecarlo/montecarlo.ts";

/** The time in microseconds that a case of a trade takes on one core, about. */
const COST = 1e6;

const tradeOf = ({ columns }: Batch, trade: number): ScriptedTrade => columns.givenOf(trade) as ScriptedTrade;

/** Adds what is expected of the states of notes. */
const outlookOn =
  (device: Device): NonNullable<MethodSession["finish"]> =>
  async (...given) => {
    const { addOutlook } = await import("./outlook.ts");
    await addOutlook(device, ...given);
  };

/** The method of scripts: paths, as for options that depend on them. Verified: test/pricing/scripted.test.ts. */
const onPaths: PricingMethod = {
  name: "montecarlo",
  minCost: COST,
  accuracy: TARGET_ERRORS.montecarlo,
  accepts(batch, trade): Acceptance {
    for (const date of batch.columns.cases.dates) {
      const terms = termsOf(tradeOf(batch, trade), date, { volatility: 0, rate: 0 });
      const reason = terms && (whyNoModel(terms) ?? whyNoProduct(terms));
      if (reason !== undefined) return reason;
    }
    return COST * batch.columns.cases.count * (1 + batch.columns.cases.spots);
  },
  open: (device) => ({
    finish: outlookOn(device),
    plan: (batch, trades) => Promise.resolve(new ValuationPlan(batch, trades, estimatorOf(batch, device))),
    [Symbol.dispose]() {},
  }),
};

/** The time in microseconds that a date takes on one core with its Greeks, and with a state that follows the spot. */
const COST_OF_DATE = { finite: 2e3, real: 5e4 } as const;

/** Returns the number of carried numbers that follow the spot, and so are axes of finite differences. */
function realStatesOf({ program: { columns, states, initialAt, lastAt }, dates }: ScriptPayoff): number {
  const start = columns.findIndex((one) => one.kind === "happens" && one.event === "start");
  const isToCome = initialAt !== undefined && dates.some(({ dated }) => dated[start] > 0);
  const own = states.reduce((sum, { values, count }) => sum + (values === "real" ? count : 0), 0);
  return own + (isToCome ? 1 : 0) + (lastAt === undefined ? 0 : 1);
}

/**
 * Finite differences on one spot, backwards from date to date, for scripts with at most one state that follows the
 * spot. Verified: test/pde/scripts/backwards.test.ts, beside paths, options and published values.
 */
const onGrid: PricingMethod = {
  name: "fdm",
  minCost: COST_OF_DATE.finite,
  accuracy: TARGET_ERRORS.adi,
  accepts({ columns }, trade): Acceptance {
    const { assets, payoff, underlying, volatility, expiry } = columns.givenOf(trade) as ScriptedTrade;
    if (assets !== undefined && assets.length > 1) return "a script on several underlyings";
    if (
      payoff.program.sites.some(({ rate }) => rate !== undefined) ||
      payoff.owed.some(({ rate }) => rate !== undefined)
    )
      return "payments in another currency";
    if (underlying.shortRate !== undefined) return "a stochastic short rate";
    if (!OF_SPOT.includes(volatility.kind)) return "a script and a volatility with a factor of its own";
    const reals = realStatesOf(payoff);
    if (reals > 1) return "a script with more than one number that follows the spot, such as a sum and the last fixing";
    if (!(payoff.dates.length > 0 && payoff.dates[0].time > 0)) return "an event today, or none to come";
    // The spot of a volatility of almost nothing meets jumps that nothing has smoothed.
    if (!(totalVariance(volatility, underlying.spot, expiry) > MIN_DEVIATION ** 2)) return "almost no volatility";
    return columns.cases.count * payoff.dates.length * COST_OF_DATE[reals > 0 ? "real" : "finite"];
  },
  open: (device) => ({
    finish: outlookOn(device),
    async plan(batch, trades) {
      const { backwardsOn } = await import("./backwards.ts");
      return new ValuationPlan(batch, trades, backwardsOn(device, batch.settings.method === "auto"));
    },
    [Symbol.dispose]() {},
  }),
};

const MIN_DEVIATION = 0.01;
/** The volatilities that are functions of spot and time. */
const OF_SPOT: readonly string[] = ["deterministic", "cev", "displaced", "local", "surface"];

/** The trade kind of structured products. */
export const scriptedKind: TradeKind<ScriptedTrade> = {
  methods: [onPaths, onGrid],
  add() {},
  targetErrorOf: (batch, trade, { accuracy }) =>
    (batch.settings.accuracy ?? accuracy!) * tradeOf(batch, trade).payoff.unit,
  boundsOf: () => Promise.resolve({ at: () => () => UNBOUNDED, rounding: () => 0 }),
  // What is left of a script may be a day in any unit.
  warnings: (trade) => unitWarnings({ ...trade, expiry: Math.max(trade.expiry, 1) }),
  doubts: (trade) => doubtsOf(assetsOf(trade), trade.expiry),
  buckets: {
    known: underlyingBuckets,
    directions: (trade, sizes) => underlyingDirections(trade, sizes, trade.expiry),
  },
  settlesAtSpot: true,
  rollForward,
  inMarket: (trade, market) => market.onUnderlyings(trade),
  sharesSpots: true,
  difference,
  views: viewsOfMarket,
};

/** The first of the terms in which two structured products differ; the carried numbers belong to the market. */
function difference({ payoff: a, ...rolled }: ScriptedTrade, { payoff: b, ...after }: ScriptedTrade) {
  const names = (trade: Pick<ScriptedTrade, "assets" | "underlying">): string =>
    (trade.assets ?? [trade]).map(({ underlying }) => underlying.name).join();
  if (names(rolled) !== names(after)) return "its underlying differs";
  if (a.program.key !== b.program.key) return "its script differs";
  return a.scalars.join() === b.scalars.join() ? undefined : "its data differ";
}
