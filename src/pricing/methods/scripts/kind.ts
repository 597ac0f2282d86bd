/** Structured products: scripts on underlyings, priced on paths. */
import type { ScriptedTrade } from "../../../book/index.ts";
import { viewsOfMarket } from "../../market-moves.ts";
import { type TradeKind, UNBOUNDED } from "../../plan/kind.ts";
import { type Acceptance, type Batch, type PricingMethod, TARGET_ERRORS } from "../../plan/method.ts";
import { underlyingBuckets, underlyingDirections } from "../../plan/underlying-directions.ts";
import { ValuationPlan } from "../../plan/plan.ts";
import { doubtsOf, unitWarnings } from "../../term-warnings.ts";
import { assetsOf, rollForward, termsOf } from "../../terms.ts";
import { whyNoModel, whyNoProduct } from "../montecarlo/acceptance.ts";
import { estimatorOf } from "../montecarlo/montecarlo.ts";

/** The time in microseconds that a case of a trade takes on one core, about. */
const COST = 1e6;

const tradeOf = ({ columns }: Batch, trade: number): ScriptedTrade => columns.givenOf(trade) as ScriptedTrade;

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
    async finish(...given) {
      const { addOutlook } = await import("./outlook.ts");
      await addOutlook(device, ...given);
    },
    plan: (batch, trades) => Promise.resolve(new ValuationPlan(batch, trades, estimatorOf(batch, device))),
    [Symbol.dispose]() {},
  }),
};

/** The trade kind of structured products. */
export const scriptedKind: TradeKind<ScriptedTrade> = {
  methods: [onPaths],
  add() {},
  targetErrorOf: (batch, trade) =>
    (batch.settings.accuracy ?? TARGET_ERRORS.montecarlo) * tradeOf(batch, trade).payoff.unit,
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
