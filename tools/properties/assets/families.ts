/**
 * Random trades on two and three assets whose values are known: by quadrature, or as a trade on one asset, which the
 * finite differences of one factor price.
 */
import type { Contract } from "../contract.ts";
import type { Random } from "../random.ts";
import { rainbowValue } from "./common-factor.ts";
import type { AssetJson, LevelJson } from "./densities.ts";
import { type AssetsMarket, europeanValue, type PayoffJson } from "./oracles.ts";

/** A barrier of one of the assets, as a book writes it. */
export interface AssetBarrier {
  readonly type: string;
  readonly level: number;
  readonly asset: number;
  readonly monitoring?: readonly number[];
}

/** A trade, with what it is worth. */
export interface AssetsTrade {
  readonly market: AssetsMarket;
  readonly payoff: PayoffJson | { readonly expression: string };
  readonly strike?: number;
  readonly exercise?: "american" | readonly number[];
  readonly barriers?: readonly AssetBarrier[];
  readonly exact: number | { readonly contract: Contract; readonly factor: number };
}

export interface Family {
  readonly name: string;
  readonly assets: number;
  draw(random: Random): AssetsTrade;
}

/** Volatilities, lives and correlations from ordinary to extreme. */
export function drawAssets(random: Random, n: number, choices: { readonly rho?: number } = {}): AssetsMarket {
  const isExtreme = random.chance(0.1);
  const expiry = isExtreme ? random.logUniform(0.02, 10) : random.logUniform(0.1, 4);
  const level = isExtreme ? random.logUniform(0.1, 2) : random.logUniform(0.12, 0.5);
  const assets = Array.from({ length: n }, (): AssetJson => ({
    spot: rounded(random.uniform(70, 130)),
    volatility: rounded(level * random.logUniform(0.6, 1.6)),
    yield: random.chance(0.3) ? 0 : rounded(random.uniform(0, 0.06)),
  }));
  const rate = random.chance(0.15) ? 0 : rounded(random.uniform(0, 0.09));
  return { assets, correlations: drawCorrelations(random, n, choices.rho), rate, expiry: rounded(expiry) };
}

/** Any correlation of two assets; correlations of more by two common factors. */
function drawCorrelations(random: Random, n: number, given: number | undefined): readonly (readonly number[])[] {
  const loadings = Array.from({ length: n }, () => [random.uniform(-0.5, 0.95), random.uniform(-0.6, 0.6)]).map(
    ([a, b]) => {
      const length = Math.hypot(a, b);
      return length > 0.97 ? [(0.97 * a) / length, (0.97 * b) / length] : [a, b];
    },
  );
  const ofTwo = random.chance(0.15) ? random.choice([-0.99, -0.95, 0.95, 0.99]) : random.uniform(-0.9, 0.9);
  const rho = (i: number, j: number): number =>
    rounded(given ?? (n === 2 ? ofTwo : loadings[i][0] * loadings[j][0] + loadings[i][1] * loadings[j][1]));
  return loadings.map((_, i) => loadings.map((_one, j) => (i === j ? 1 : rho(Math.min(i, j), Math.max(i, j)))));
}

export const rounded = (value: number): number => Number(value.toPrecision(6));

const widthOf = ({ assets, expiry }: AssetsMarket): number =>
  Math.min(Math.sqrt(expiry) * Math.max(...assets.map(({ volatility }) => volatility)), 0.8);

/** A payoff with a strike near what its index may be worth. */
export function drawPayoff(
  random: Random,
  market: AssetsMarket,
): { readonly payoff: PayoffJson; readonly strike: number } {
  const { assets } = market;
  const right = random.choice(["call", "put"] as const);
  const spots = assets.map(({ spot }) => spot);
  const move = Math.exp(widthOf(market) * random.uniform(-0.7, 0.7));
  const kind = random.choice(
    assets.length === 2 ? (["basket", "best", "worst", "spread"] as const) : (["basket", "best", "worst"] as const),
  );
  switch (kind) {
    case "basket": {
      const draws = assets.map(() => random.uniform(0.2, 1));
      const total = draws.reduce((sum, one) => sum + one, 0);
      const weights = draws.map((one) => rounded(one / total));
      const index = spots.reduce((sum, spot, i) => sum + weights[i] * spot, 0);
      return { payoff: { basket: right, weights }, strike: rounded(index * move) };
    }
    case "best":
      return { payoff: { bestOf: right }, strike: rounded(Math.max(...spots) * move) };
    case "worst":
      return { payoff: { worstOf: right }, strike: rounded(Math.min(...spots) * move) };
    default:
      return { payoff: { spread: right }, strike: random.chance(0.4) ? 0 : rounded(random.uniform(0, 20)) };
  }
}

/** A level that the asset reaches with a probability neither small nor near 1. */
function drawLevel(random: Random, { assets, expiry }: AssetsMarket, asset: number): LevelJson {
  const { spot, volatility } = assets[asset];
  const distance = Math.min(volatility * Math.sqrt(expiry), 1) * random.uniform(0.3, 2);
  const side = random.choice(["up", "down"] as const);
  return { side, level: rounded(spot * Math.exp(side === "up" ? distance : -distance)) };
}

const barrierOf = ({ side, level, dates }: LevelJson, kind: "in" | "out", asset: number): AssetBarrier => ({
  type: `${side}-and-${kind}`,
  level,
  asset,
  ...(dates === undefined ? {} : { monitoring: dates }),
});

function withBarrier(random: Random, market: AssetsMarket, level: LevelJson): AssetsTrade {
  const { payoff, strike } = drawPayoff(random, market);
  const kind = random.choice(["in", "out"] as const);
  const out = europeanValue(market, payoff, strike, { first: level });
  const exact = kind === "out" ? out : europeanValue(market, payoff, strike) - out;
  return { market, payoff, strike, barriers: [barrierOf(level, kind, 0)], exact };
}

/** A barrier from every few weeks to nearly every day. */
function onManyDates(random: Random): AssetsTrade {
  const market = drawAssets(random, 2);
  const count = Math.round(random.logUniform(20, 150));
  const dates = Array.from({ length: count }, (_, k) => rounded((market.expiry * (k + 1)) / count));
  return withBarrier(random, market, { ...drawLevel(random, market, 0), dates });
}

/** A European knock-out on an asset each, independent of one another. */
function withTwoBarriers(random: Random): AssetsTrade {
  const market = drawAssets(random, 2, { rho: 0 });
  const { payoff, strike } = drawPayoff(random, market);
  const [first, last] = [0, 1].map((asset) => drawLevel(random, market, asset));
  const barriers = [barrierOf(first, "out", 0), barrierOf(last, "out", 1)];
  return { market, payoff, strike, barriers, exact: europeanValue(market, payoff, strike, { first, last }) };
}

const datesOf = (random: Random, expiry: number): readonly number[] => {
  const count = 1 + random.integer(8);
  return Array.from({ length: count }, (_, k) => rounded((expiry * (k + 1)) / (random.chance(0.5) ? count : count + 1)))
    .filter((time, i, all) => i === 0 || time > all[i - 1])
    .map((time) => Math.min(time, expiry));
};

const drawExercise = (random: Random, expiry: number): "american" | readonly number[] =>
  random.chance(0.5) ? "american" : datesOf(random, 0.9 * expiry);

/** A geometric basket: lognormal itself. */
function geometric(random: Random, market: AssetsMarket, isEarly: boolean): AssetsTrade {
  const { assets, correlations, rate, expiry } = market;
  const weights = assets.map(() => rounded(random.uniform(0.5, 1) / assets.length));
  const spot = assets.reduce((product, asset, i) => product * asset.spot ** weights[i], 1);
  let variance = 0;
  weights.forEach((a, i) =>
    weights.forEach((b, l) => (variance += a * b * correlations[i][l] * assets[i].volatility * assets[l].volatility)),
  );
  const drift = assets.reduce(
    (sum, { yield: q, volatility }, i) => sum + weights[i] * (rate - q - 0.5 * volatility ** 2),
    0.5 * variance,
  );
  const volatility = Math.sqrt(variance);
  const right = random.choice(["call", "put"] as const);
  const strike = rounded(spot * Math.exp(Math.min(volatility * Math.sqrt(expiry), 0.8) * random.uniform(-0.7, 0.7)));
  const early = isEarly ? { exercise: drawExercise(random, expiry) } : {};
  const contract: Contract = { spot, rate, yield: rate - drift, volatility, payoff: right, strike, expiry, ...early };
  return {
    market,
    payoff: { basket: right, weights, kind: "geometric" },
    strike,
    ...early,
    exact: { contract, factor: 1 },
  };
}

/** An exchange of one asset for another: one asset in units of the other. */
function exchange(random: Random): AssetsTrade {
  const market = drawAssets(random, 2);
  const [a, b] = market.assets;
  const rho = market.correlations[0][1];
  const volatility = Math.sqrt(a.volatility ** 2 + b.volatility ** 2 - 2 * rho * a.volatility * b.volatility);
  const right = random.choice(["call", "put"] as const);
  const exercise = drawExercise(random, market.expiry);
  const contract: Contract = {
    spot: a.spot / b.spot,
    rate: b.yield,
    yield: a.yield,
    volatility,
    payoff: right,
    strike: 1,
    expiry: market.expiry,
    exercise,
  };
  return { market, payoff: { spread: right }, strike: 0, exercise, exact: { contract, factor: b.spot } };
}

/** Calls that nobody exercises early, without yields; puts without interest. */
function neverExercised(random: Random, n: number): AssetsTrade {
  const drawn = drawAssets(random, n);
  const isCall = random.chance(0.5);
  const market = isCall
    ? { ...drawn, assets: drawn.assets.map((asset) => ({ ...asset, yield: 0 })) }
    : { ...drawn, rate: 0 };
  for (;;) {
    const { payoff, strike } = drawPayoff(random, market);
    const isConvex = isCall
      ? ("basket" in payoff && payoff.basket === "call") || ("bestOf" in payoff && payoff.bestOf === "call")
      : ("basket" in payoff && payoff.basket === "put") || ("worstOf" in payoff && payoff.worstOf === "put");
    if (!isConvex) continue;
    const exercise = drawExercise(random, market.expiry);
    return { market, payoff, strike, exercise, exact: europeanValue(market, payoff, strike) };
  }
}

/** A put or call on the first asset alone, with a barrier on it: a trade on one asset. */
function onFirst(random: Random, n: number): AssetsTrade {
  const market = drawAssets(random, n);
  const { assets, rate, expiry } = market;
  const [{ spot, volatility, yield: q }] = assets;
  const right = random.choice(["call", "put"] as const);
  const strike = rounded(spot * Math.exp(widthOf(market) * random.uniform(-0.5, 0.5)));
  const { side, level } = drawLevel(random, market, 0);
  const exercise = drawExercise(random, expiry);
  const dates = random.chance(0.4) ? datesOf(random, expiry) : undefined;
  const type = `${side}-and-out` as const;
  const monitoring = dates === undefined ? {} : { monitoring: dates };
  const contract: Contract = {
    spot,
    rate,
    yield: q,
    volatility,
    payoff: right,
    strike,
    expiry,
    exercise,
    barriers: [{ type, level, ...monitoring }],
  };
  const expression = right === "call" ? `max(S1 - ${strike}, 0)` : `max(${strike} - S1, 0)`;
  return {
    market,
    payoff: { expression },
    exercise,
    barriers: [{ type, level, asset: 0, ...monitoring }],
    exact: { contract, factor: 1 },
  };
}

/** The best or worst of assets with a common factor, or their geometric mean. */
function europeanOfMany(random: Random, n: number): AssetsTrade {
  const loadings = Array.from({ length: n }, () => rounded(random.uniform(-0.4, 0.9)));
  const correlations = loadings.map((a, i) => loadings.map((b, l) => (i === l ? 1 : a * b)));
  const market = { ...drawAssets(random, n), correlations };
  if (random.chance(0.3)) return geometric(random, market, false);
  const { assets, rate, expiry } = market;
  const [kind, right] = [random.choice(["best", "worst"] as const), random.choice(["call", "put"] as const)];
  const spots = assets.map(({ spot }) => spot);
  const index = kind === "best" ? Math.max(...spots) : Math.min(...spots);
  const strike = rounded(index * Math.exp(widthOf(market) * random.uniform(-0.7, 0.7)));
  const motions = assets.map((asset) => ({ ...asset, rate, expiry }));
  const exact = rainbowValue({ motions, loadings }, kind, right, strike);
  return { market, payoff: kind === "best" ? { bestOf: right } : { worstOf: right }, strike, exact };
}

function ofBoth(n: 2 | 3, words: string): readonly Family[] {
  const european = (random: Random): AssetsTrade => {
    const market = drawAssets(random, n);
    const { payoff, strike } = drawPayoff(random, market);
    return { market, payoff, strike, exact: europeanValue(market, payoff, strike) };
  };
  const continuous = (random: Random): AssetsTrade => {
    const market = drawAssets(random, n);
    return withBarrier(random, market, drawLevel(random, market, 0));
  };
  const onDates = (random: Random): AssetsTrade => {
    const market = drawAssets(random, n);
    return withBarrier(random, market, { ...drawLevel(random, market, 0), dates: datesOf(random, market.expiry) });
  };
  const early = (random: Random): AssetsTrade => {
    const kind = random.integer(n === 2 ? 3 : 2);
    return kind === 0
      ? geometric(random, drawAssets(random, n), true)
      : kind === 1
        ? neverExercised(random, n)
        : exchange(random);
  };
  return [
    { name: `${words}, European`, assets: n, draw: european },
    { name: `${words}, a barrier`, assets: n, draw: continuous },
    { name: `${words}, a barrier on dates`, assets: n, draw: onDates },
    { name: `${words}, early exercise`, assets: n, draw: early },
    { name: `${words}, early exercise and a barrier`, assets: n, draw: (random) => onFirst(random, n) },
  ];
}

export const FAMILIES: readonly Family[] = [
  ...ofBoth(2, "two assets"),
  { name: "two assets, a barrier each", assets: 2, draw: withTwoBarriers },
  { name: "two assets, a barrier on many dates", assets: 2, draw: onManyDates },
  ...ofBoth(3, "three assets"),
  { name: "four assets, European", assets: 4, draw: (random) => europeanOfMany(random, 4) },
  { name: "five assets, European", assets: 5, draw: (random) => europeanOfMany(random, 5) },
];
