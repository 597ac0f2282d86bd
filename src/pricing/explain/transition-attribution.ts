/**
 * The explanation of trades whose volatilities are fitted to quotes, and of trades on several underlyings, by prices at
 * stages between the earlier market and the later one.
 */
import { hasQuotes, type PricedTrade, type Trade, type TradeAsset } from "../../book/index.ts";
import { keyOf } from "../../base/memoize.ts";
import { settlementBetween } from "../settlement-moves.ts";
import type { AssetTransition, MarketPart, MoveShares } from "./asset-transition.ts";
import type { Attribution } from "./attribution.ts";
import { equalUpToRounding } from "../market-moves.ts";
import { SMILE_PARTS, type SmilePart } from "./smile-components.ts";
import { EXPLAIN_TERMS, type ExplainMethod, type ExplainTerm, type SmileTerm } from "./types.ts";

/** A trade in both books, with the transitions of its underlyings between them. */
export interface TradeTransition {
  readonly before: Trade;
  readonly after: Trade;
  readonly years: number;
  readonly assets: readonly AssetTransition[];
}

/** Returns the underlyings of a trade with their volatilities. */
export const assetsOf = ({
  assets,
  underlying,
  volatility,
}: Pick<Trade, "assets" | "underlying" | "volatility">): readonly TradeAsset[] =>
  assets ?? [{ underlying, volatility }];

/**
 * Tells whether a trade's change is explained by prices at stages between the two markets instead of its sensitivities.
 */
export const isExplainedByTransition = (trade: Trade): boolean =>
  trade.assets !== undefined || assetsOf(trade).some(isFitted);

const isFitted = ({ underlying, volatility }: TradeAsset): boolean =>
  underlying.volatility === volatility && hasQuotes(underlying);

/** Attributes the change of a trade's value to the moves of its market, by either method. */
export function attributeByTransition(method: ExplainMethod, path: TradeTransition): Attribution {
  return method === "taylor" ? expansion(path) : revaluation(path);
}

/** The prices of an explanation: the trade in the earlier book, and at the places on the way. */
interface Prices {
  readonly base: PricedTrade;
  readonly values: readonly PricedTrade[];
}
type Read = (prices: Prices) => number;

/** The prices that an explanation needs, each place on the way once. */
class Plan {
  readonly views: Trade[] = [];
  readonly #path: TradeTransition;
  readonly #known = new Map<string, Read>();
  readonly moved: (axis: MarketPart) => boolean;

  constructor(path: TradeTransition) {
    this.#path = path;
    this.moved = (axis) => path.assets.some(({ moved }) => moved[axis]);
  }

  /** Has the trade priced at a place on the way, and returns how its value is read. The start is the earlier book. */
  add(given: MoveShares, correlations: "before" | "after" = "before"): Read {
    const position = this.#onlyMoved(given);
    if (Object.keys(position).length === 0 && correlations === "before") return ({ base }) => base.value;
    const key = keyOf([position, correlations]);
    let read = this.#known.get(key);
    if (read === undefined) {
      const index = this.views.push(this.#tradeAt(position, correlations)) - 1;
      this.#known.set(key, (read = ({ values }) => values[index].value));
    }
    return read;
  }

  #onlyMoved({ component, own, ...position }: MoveShares): MoveShares {
    const parts = Object.entries(position).filter(([axis, share]) =>
      axis === "time" ? this.#path.years > 0 && share === 1 : this.moved(axis as MarketPart) && share !== 0,
    );
    return {
      ...Object.fromEntries(parts),
      ...(own === undefined ? {} : { own }),
      ...(component === undefined ? {} : { component }),
    };
  }

  #tradeAt(position: MoveShares, correlations: "before" | "after"): Trade {
    const { before, after, assets } = this.#path;
    const [terms, of] = [position.time === 1 ? after : before, { before, after }[correlations]];
    const placed = assets.map((asset, i) => asset.at(position, i));
    const [from, to] = [before.settlement, after.settlement];
    return {
      ...terms,
      ...(from === undefined || to === undefined
        ? {}
        : { settlement: settlementBetween(from, to, this.#path.years, position, assets[0].joined) }),
      ...placed[0],
      ...(terms.assets === undefined ? {} : { assets: placed }),
      ...(of.correlations === undefined ? {} : { correlations: of.correlations }),
    };
  }
}

/** The later market but for the spot, and the parts of the market that move from there, with their whole moves. */
const LATER: MoveShares = { time: 1 };
const WHOLE = {
  spot: { spot: 1, paid: 1 },
  volatility: { volatility: 1 },
  rate: { rate: 1 },
  dividends: { dividends: 1 },
} as const satisfies Record<string, MoveShares>;
type Part = keyof typeof WHOLE;
/** The whole move of some parts at the later date. */
const moveOf = (parts: readonly Part[]): MoveShares => ({
  ...LATER,
  ...Object.assign({}, ...parts.map((part): MoveShares => WHOLE[part])),
});

/** The terms of the joint effect of a part and time, and of a part and those before it. */
const WITH_TIME = { spot: "charm", volatility: "veta", rate: "rhoTime", dividends: "dividendCross" } as const;
const WITH_OTHERS = { volatility: "vanna", rate: "rhoVolatility", dividends: "dividendCross" } as const;

/**
 * The steps of first derivatives: that of the spot relative to it, between these; the largest move of a volatility.
 * They are small enough for a slope, and large enough for the noise of meshes and paths.
 */
const STEPS = { spot: [1e-3, 5e-3], volatility: 1e-3 } as const;

/**
 * Explains the change by the sensitivities of the earlier book along the moves of its market, and by full effects:
 *
 *   V₁ − V₀ = theta + Σ (first order of a part + the rest of its effect alone + joint effects)
 *
 * First derivatives are central differences. `gamma` and `volga` are what a part has of effect alone, in full, beyond
 * the first order. The joint effect of a part and time is the difference of its effects at the later and the earlier
 * date. That of a part and those before it (spot, volatility, rate, dividends, in this order) is the difference of its
 * effects at the later date with them and without. Unexplained is by how much the value under the later fit differs
 * from that under the earlier quotes, moved to it and fitted again.
 */
function expansion(path: TradeTransition): Attribution {
  const plan = new Plan(path);
  const parts = (Object.keys(WHOLE) as Part[]).filter((part) =>
    part === "spot" ? plan.moved("spot") || plan.moved("paid") : plan.moved(part),
  );
  const later = plan.add(LATER);
  const steps = parts.map((part, i) => ({
    part,
    now: plan.add(WHOLE[part]),
    then: plan.add(moveOf([part])),
    without: plan.add(moveOf(parts.slice(0, i))),
    beside: plan.add(moveOf(parts.slice(0, i + 1))),
  }));
  const spotAlone = plan.add(moveOf(["spot"]));
  const withSpot = (["spot", "rate"] as const).every((part) => parts.includes(part))
    ? plan.add(moveOf(["spot", "rate"]))
    : undefined;
  const delta = spotSlope(plan, path, "spot");
  const exDividend = spotSlope(plan, path, "paid");
  const smile = smileSlopes(plan, path);
  const last = lastSteps(plan, path);
  return {
    views: plan.views,
    greeks: "none",
    smile: (base, values) => smile.terms({ base, values }),
    terms(base, end, values) {
      const prices = { base, values };
      const rolled = later(prices);
      const first = { delta: delta(prices), exDividend: exDividend(prices), smile: smile.all(prices) };
      const { own, correlation } = last(end, prices);
      const terms = {
        ...Object.fromEntries(EXPLAIN_TERMS.taylor.map((name) => [name, 0])),
        theta: rolled - base.value,
        delta: first.delta,
        exDividend: first.exDividend,
        ...smile.sums(prices),
        correlation,
      } as Record<ExplainTerm, number>;
      terms.smileRest += own;
      const effect = { spot: 0, volatility: 0, rate: 0, dividends: 0 };
      for (const { part, now, then, without, beside } of steps) {
        effect[part] = now(prices) - base.value;
        const alone = then(prices) - rolled;
        terms[WITH_TIME[part]] += alone - effect[part];
        if (part !== "spot") terms[WITH_OTHERS[part]] += beside(prices) - without(prices) - alone;
        if (part === "rate" && withSpot !== undefined) {
          terms.rhoSpot = withSpot(prices) - spotAlone(prices) - alone;
          terms.rhoVolatility -= terms.rhoSpot;
        }
      }
      terms.gamma = effect.spot - first.delta - first.exDividend;
      terms.volga = effect.volatility - first.smile;
      return { ...terms, rho: effect.rate, dividends: effect.dividends };
    },
  };
}

/** The first-order effect of the moves of all spots, or of the dividends paid, by a central difference. */
function spotSlope(plan: Plan, { assets }: TradeTransition, axis: "spot" | "paid"): Read {
  if (!plan.moved(axis)) return () => 0;
  const relative = assets.map((asset) => Math.abs(axis === "spot" ? asset.spotMove : asset.paid) / asset.spot);
  const size = Math.max(...relative);
  const step = Math.min(Math.max(size, STEPS.spot[0]), STEPS.spot[1]) / size;
  const [up, down] = [step, -step].map((share) => plan.add({ [axis]: share }));
  return (prices) => (up(prices) - down(prices)) / (2 * step);
}

const NO_SMILE = { level: 0, slope: 0, curvature: 0 } as const satisfies Record<SmilePart, number>;

/** The first-order effects of the move of the volatilities: of all of it, and of its components by expiry. */
function smileSlopes(plan: Plan, { before, assets }: TradeTransition) {
  const size = Math.max(...assets.map(({ volatility }) => volatility.size));
  const step = size > 0 ? STEPS.volatility / size : 0;
  const [up, down] = [step, -step].map((volatility) => plan.add({ volatility }));
  const all: Read = (prices) => (size > 0 ? (up(prices) - down(prices)) / (2 * step) : 0);
  const slopes = assets.flatMap(({ volatility: { components }, name }, asset) => {
    // A local volatility after the trade's expiry has no effect; the quotes beside it on both sides have.
    const last = Math.min(...components.map(({ time }) => time).filter((time) => time >= before.expiry));
    return components.flatMap((component, index) => {
      if (component.time > last) return [];
      const largest = "moves" in component ? Math.max(...component.moves.map(Math.abs)) : Math.abs(component.move);
      const share = STEPS.volatility / largest;
      const moved = plan.add({ component: { asset, index, share } });
      const effect: Read = (prices) => (moved(prices) - prices.base.value) / share;
      return [{ underlying: name, component, effect }];
    });
  });
  return {
    all,
    /** The effects summed over underlyings and expiries, and what they leave of the whole first-order effect. */
    sums(prices: Prices) {
      const of = (part: SmilePart): number =>
        slopes.reduce((sum, { component, effect }) => (component.part === part ? sum + effect(prices) : sum), 0);
      const [vega, skew, curvature] = SMILE_PARTS.map(of);
      return { vega, skew, curvature, smileRest: all(prices) - vega - skew - curvature };
    },
    terms(prices: Prices): SmileTerm[] {
      const rows = new Map<string, SmileTerm>();
      for (const { underlying, component, effect } of slopes) {
        if (!("expiry" in component)) continue;
        const { expiry, part, move } = component;
        const key = keyOf([underlying, expiry]);
        const row = rows.get(key) ?? { underlying, expiry, ...NO_SMILE, moves: NO_SMILE };
        rows.set(key, { ...row, [part]: row[part] + effect(prices), moves: { ...row.moves, [part]: move } });
      }
      // An expiry after the trade's next one, or of quotes that its value does not know, has no effect.
      return [...rows.values()].filter((row) => SMILE_PARTS.some((part) => row[part] !== 0));
    },
  };
}

/**
 * The last steps to the later book: the later volatilities of underlyings whose earlier ones have no quotes, the
 * correlations, and the fits of the later book, which are the moved quotes' up to misfits and strikes.
 */
function lastSteps(plan: Plan, { before, after, assets }: TradeTransition) {
  const whole = moveOf(Object.keys(WHOLE) as Part[]);
  const all = plan.add(whole);
  const end: MoveShares = assets.some(({ volatility }) => volatility.hasOwnEnd) ? { ...whole, own: 1 } : whole;
  const withOwn = plan.add(end);
  const correlated = equalUpToRounding(before.correlations, after.correlations) ? withOwn : plan.add(end, "after");
  return ({ value }: PricedTrade, prices: Prices) => ({
    own: withOwn(prices) - all(prices),
    correlation: correlated(prices) - withOwn(prices),
    fits: value - correlated(prices),
  });
}

/**
 * Explains the change by full revaluation. After time, each part of the market moves alone, and `cross` is their joint
 * effect. The volatility's effect contains that of the later fits, so that nothing remains unexplained.
 */
function revaluation(path: TradeTransition): Attribution {
  const plan = new Plan(path);
  const fallen = plan.add(LATER);
  const back: MoveShares = { ...LATER, paid: 1 };
  const later = plan.add(back);
  const [spot, volatility, rate, dividends] = (["spot", "volatility", "rate", "dividends"] as const).map((part) =>
    plan.add({ ...back, ...WHOLE[part] }),
  );
  const last = lastSteps(plan, path);
  return {
    views: plan.views,
    greeks: "none",
    terms(base, end, values) {
      const prices = { base, values };
      const from = later(prices);
      const { own, correlation, fits } = last(end, prices);
      const alone = {
        time: fallen(prices) - base.value,
        exDividend: from - fallen(prices),
        spot: spot(prices) - from,
        volatility: volatility(prices) - from + own + fits,
        rate: rate(prices) - from,
        dividends: dividends(prices) - from,
        correlation,
      };
      const moved = alone.spot + alone.volatility + alone.rate + alone.dividends + correlation;
      return { ...alone, cross: end.value - from - moved };
    },
  };
}
