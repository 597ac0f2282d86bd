/** Values that are known in closed form, however the trade is written down. */
import {
  aroundKink,
  blackScholes,
  CASH,
  cev,
  expectation,
  type Lognormal,
  oneTouch,
  type Piece,
  piecesOf,
  survivingValue,
} from "./closed-forms.ts";
import type { BarrierJson, Contract, PayoffJson, VolatilityJson } from "./contract.ts";
import { contractOf, drawLevel, drawMarket, drawRight, drawStrike, type Market } from "./generate.ts";
import { afterDividends, beforeDividends, discount, lognormalOf, totalVariance } from "./market-functions.ts";
import { atMost, exact, type Property } from "./property.ts";
import type { Random } from "./random.ts";

/** A payoff of straight lines, and how a book writes it. */
interface Lines {
  readonly payoff: PayoffJson;
  readonly strike?: number;
  readonly pieces: readonly Piece[];
}

function drawLines(random: Random, market: Market): Lines {
  const [a, b] = random.sorted(2, () => drawStrike(random, market));
  const right = drawRight(random);
  const cash = market.spot * random.uniform(0.01, 0.5);
  const call = (strike: number): Piece[] => piecesOf("call", strike);
  return random.choice<Lines>([
    { payoff: right, strike: a, pieces: piecesOf(right, a) },
    { payoff: right, strike: a, pieces: piecesOf(right, a) },
    { payoff: { digital: right, cash }, strike: a, pieces: piecesOf(`digital-${right}`, a, cash) },
    { payoff: { expression: `max(S - ${a}, 0)`, kinks: [a] }, pieces: call(a) },
    { payoff: { expression: `abs(S - ${a})`, kinks: [a] }, pieces: [...call(a), ...piecesOf("put", a)] },
    {
      payoff: { expression: `min(max(S - ${a}, 0), ${b - a})`, kinks: [a, b] },
      pieces: [
        { from: a, to: b, constant: -a, slope: 1 },
        { from: b, to: Infinity, constant: b - a, slope: 0 },
      ],
    },
    {
      payoff: { expression: `S > ${a} && S < ${b} ? ${cash} : 0`, kinks: [a, b] },
      pieces: [{ from: a, to: b, constant: cash, slope: 0 }],
    },
  ]);
}

/** A flat volatility in forms that leave the closed form. */
function disguised(random: Random, level: number, market: Market): VolatilityJson {
  return random.choice<VolatilityJson>([
    { local: String(level) },
    { local: `${level} + 0*S` },
    { local: `${level} + 0*t` },
    { cev: { sigma: level, beta: 1 } },
    { displaced: { sigma: level, shift: 0 } },
    { surface: { times: [0.3], spots: [market.spot], volatility: [[level]] } },
    {
      surface: {
        times: [0.1 * market.expiry, market.expiry],
        spots: [0.7 * market.spot, 1.3 * market.spot],
        volatility: [
          [level, level],
          [level, level],
        ],
      },
    },
  ]);
}

const european: Property = {
  name: "European",
  weight: 8,
  draw(random) {
    const market = drawMarket(random, {
      volatility: ["flat", "flat", "termStructure"],
      dividends: ["none", "yield", "proportional"],
    });
    const { pieces, ...lines } = drawLines(random, market);
    const contract: Contract = { ...contractOf(market), ...lines };
    const model = lognormalOf(contract);
    const level = market.volatility;
    const volatility = typeof level === "number" && random.chance(0.8) ? disguised(random, level, market) : level;
    const form = volatility === level ? "as given" : Object.keys(volatility)[0];
    const exercise = random.chance(0.2) ? [contract.expiry] : "european";
    return {
      contracts: [{ ...contract, volatility, exercise }],
      compare: ([got]) => [exact(`European closed form, ${form}`, got, survivingValue(model, pieces))],
    };
  },
};

/** σ√T up to 4 and more with a constant as a formula. */
const wide: Property = {
  name: "wide",
  weight: 3,
  draw(random) {
    const market = drawMarket(random, { volatility: ["flat"], dividends: ["none", "yield"], rates: ["flat"] });
    const level = random.uniform(0.3, 1.3);
    const expiry = random.uniform(1, 15);
    const right = drawRight(random);
    const contract: Contract = {
      ...contractOf(market),
      expiry,
      volatility: level,
      payoff: right,
      strike: drawStrike(random, market),
    };
    const model = lognormalOf(contract);
    return {
      contracts: [{ ...contract, volatility: disguised(random, level, market) }],
      compare: ([got]) => [
        exact("European closed form, σ√T to 5", got, blackScholes(model, right, contract.strike ?? 0)),
      ],
    };
  },
};

/** Early exercise that is never worth it. */
const neverExercised: Property = {
  name: "never exercised",
  weight: 4,
  draw(random) {
    const market = drawMarket(random, { volatility: ["flat", "termStructure"], dividends: ["none"], rates: ["flat"] });
    const right = drawRight(random);
    const size = random.uniform(0, 0.1);
    // A call is not exercised early where r ≥ 0 ≥ q, a put where r ≤ 0 ≤ q.
    const sign = right === "call" ? 1 : -1;
    const rates = { rate: sign * size, yield: -sign * random.choice([0, random.uniform(0, 0.04)]) };
    const contract: Contract = { ...contractOf(market), ...rates, payoff: right, strike: drawStrike(random, market) };
    const model = lognormalOf(contract);
    const exercise = random.chance(0.7) ? "american" : random.sorted(5, () => random.uniform(0, contract.expiry));
    return {
      contracts: [{ ...contract, exercise }],
      compare: ([got]) => [
        exact("American that is never exercised", got, blackScholes(model, right, contract.strike ?? 0)),
      ],
    };
  },
};

/** Without volatility the spot is its forward, and the holder exercises at the best time. */
const certain: Property = {
  name: "certain",
  weight: 2,
  draw(random) {
    const market = drawMarket(random, { volatility: ["flat"], dividends: ["none", "yield"], rates: ["flat"] });
    const { pieces, ...lines } = drawLines(random, market);
    const contract: Contract = {
      ...contractOf(market),
      ...lines,
      volatility: 0,
      exercise: random.choice(["european", "american"]),
    };
    const { spot, yield: q = 0, expiry } = contract;
    const rate = Number(contract.rate);
    const paidAt = (t: number): number => {
      const at = spot * Math.exp((rate - q) * t);
      const paid = pieces.reduce(
        (sum, { from, to, constant, slope }) => sum + (at > from && at < to ? constant + slope * at : 0),
        0,
      );
      return paid * Math.exp(-rate * t);
    };
    const expected = paidAt(expiry);
    // A jump right at the forward is decided by rounding.
    if (
      pieces.some(({ from, to }) =>
        [from, to].some((end) => Math.abs(Math.log(end / spot) - (rate - q) * expiry) < 1e-9),
      )
    )
      return undefined;
    if (contract.exercise === "european")
      return { contracts: [contract], compare: ([got]) => [exact("no volatility", got, expected)] };
    const best = Math.max(...Array.from({ length: 200 }, (_, i) => paidAt((i * expiry) / 199)));
    return {
      contracts: [contract],
      compare: ([got]) => [atMost("no volatility: exercise at any time ≤ American", -best, [-1, got])],
    };
  },
};

const constantMarket = (random: Random): Market =>
  drawMarket(random, { volatility: ["flat"], dividends: ["none", "yield"], rates: ["flat"] });

/** One or two continuous barriers, knock-out without rebate or with one at expiry; knock-in. */
const barriers: Property = {
  name: "barriers",
  weight: 8,
  draw(random) {
    const market = constantMarket(random);
    const { pieces, ...lines } = drawLines(random, market);
    const sides = random.choice([["up"], ["down"], ["down", "up"]] as const);
    const kind = random.choice(["out", "in"] as const);
    const rebate = random.chance(0.4) ? market.spot * random.uniform(0.001, 0.1) : 0;
    const list = sides.map((side): BarrierJson => ({
      type: `${side}-and-${kind}`,
      level: drawLevel(random, market, side),
      ...(rebate === 0 ? {} : { rebate, rebateAt: "expiry" as const }),
    }));
    const contract: Contract = { ...contractOf(market), ...lines, barriers: list };
    const model = lognormalOf(contract);
    const level = (side: string): number | undefined => list.find(({ type }) => type.startsWith(side))?.level;
    const alive = (of: readonly Piece[]): number => survivingValue(model, of, level("down"), level("up"));
    const out = alive(pieces);
    const bond = discount(contract.rate, contract.expiry);
    const expected =
      kind === "out" ? out + rebate * (bond - alive(CASH)) : survivingValue(model, pieces) - out + rebate * alive(CASH);
    const volatility = random.chance(0.4) ? disguised(random, Number(market.volatility), market) : market.volatility;
    return {
      contracts: [{ ...contract, volatility }],
      compare: ([got]) => [
        exact(`${sides.length === 1 ? "one barrier" : "two barriers"}, knock-${kind}, closed form`, got, expected),
      ],
    };
  },
};

/** A rebate at the hit; also as an American digital. */
const touches: Property = {
  name: "touches",
  weight: 4,
  draw(random) {
    const market = constantMarket(random);
    if (Number(market.rate) < 0) return undefined;
    const side = random.choice(["up", "down"] as const);
    const level = drawLevel(random, market, side);
    const rebate = market.spot * random.uniform(0.01, 0.3);
    const asDigital = random.chance(0.4);
    const { pieces, ...lines } = drawLines(random, market);
    const contract: Contract = asDigital
      ? {
          ...contractOf(market),
          payoff: { digital: side === "up" ? "call" : "put", cash: rebate },
          strike: level,
          exercise: "american",
        }
      : { ...contractOf(market), ...lines, barriers: [{ type: `${side}-and-out`, level, rebate, rebateAt: "hit" }] };
    const model = lognormalOf(contract);
    const touched = rebate * oneTouch(model, level);
    const expected = asDigital
      ? touched
      : touched + survivingValue(model, pieces, ...(side === "up" ? [0, level] : [level]));
    return {
      contracts: [contract],
      compare: ([got]) => [
        exact(asDigital ? "American digital, closed form" : "rebate at the hit, closed form", got, expected),
      ],
    };
  },
};

const cevs: Property = {
  name: "CEV",
  weight: 3,
  draw(random) {
    const market = drawMarket(random, { volatility: ["cev"], dividends: ["none", "yield"], rates: ["flat"] });
    const { volatility } = market;
    if (typeof volatility === "number" || !("cev" in volatility)) return undefined;
    const { sigma, beta } = volatility.cev;
    // Near β = 1 the distribution has millions of degrees of freedom.
    if (beta > 0.95) return undefined;
    const right = drawRight(random);
    const contract: Contract = { ...contractOf(market), payoff: right, strike: drawStrike(random, market) };
    const model = { ...contract, rate: Number(contract.rate), yield: contract.yield ?? 0 };
    const expected = cev(model, sigma, beta, right === "call", contract.strike ?? 0);
    if (!Number.isFinite(expected)) return undefined;
    return { contracts: [contract], compare: ([got]) => [exact("CEV, noncentral χ²", got, expected)] };
  },
};

/** Where r = q the displaced spot is lognormal without drift, absorbed at the shift. */
const displaced: Property = {
  name: "displaced diffusion",
  weight: 3,
  draw(random) {
    const market = drawMarket(random, { volatility: ["displaced"], dividends: ["none"], rates: ["flat"] });
    const { volatility, spot, expiry } = market;
    if (typeof volatility === "number" || !("displaced" in volatility)) return undefined;
    const { sigma, shift } = volatility.displaced;
    const rate = Number(market.rate);
    const right = drawRight(random);
    const strike = drawStrike(random, market);
    const contract: Contract = { ...contractOf(market), yield: rate, payoff: right, strike };
    const model: Lognormal = { spot: spot + shift, rate: 0, yield: 0, volatility: sigma, expiry };
    const call = survivingValue(model, piecesOf("call", strike + shift), shift);
    const expected = Math.exp(-rate * expiry) * (right === "call" ? call : call - (spot - strike));
    return { contracts: [contract], compare: ([got]) => [exact("displaced diffusion, closed form", got, expected)] };
  },
};

/**
 * Something happens on one date (dividends of every form, then a barrier, then exercise), and after it the trade is
 * Black and Scholes': its value by
 * quadrature. Before it the spot may be absorbed by a continuous barrier.
 */
const oneDate: Property = {
  name: "one date",
  weight: 10,
  draw(random) {
    const market = drawMarket(random, {
      volatility: ["flat", "termStructure"],
      dividends: ["none", "yield"],
      rates: ["flat", "curve"],
    });
    const { spot, expiry } = market;
    const date = random.choice([expiry, expiry - 1 / 365, expiry - 0.02, random.uniform(0.02, 0.98) * expiry]);
    if (date < 0.1 * expiry) return undefined;
    const right = drawRight(random);
    const strike = drawStrike(random, market);
    const size = random.chance(0.2) ? random.uniform(0.1, 0.6) : random.uniform(0.001, 0.06);
    const discrete = random.choice([
      [],
      [{ date, cash: size * spot }],
      [{ date, cash: size * spot }],
      [
        { date, cash: 0.6 * size * spot },
        { date, cash: 0.4 * size * spot },
      ],
      [{ date, cash: size * spot, proportional: random.uniform(0, 0.3) }],
      [
        { date, cash: size * spot },
        { date, proportional: random.uniform(0, 0.3) },
      ],
    ]);
    const level = random.chance(discrete.length === 0 ? 0.6 : 0.25)
      ? spot * Math.exp(market.width * random.uniform(-1.5, 1.5))
      : undefined;
    const side = random.choice(["up", "down"] as const);
    const exercised = random.chance(discrete.length === 0 && level === undefined ? 1 : 0.3);
    const contract: Contract = {
      ...contractOf(market),
      ...(discrete.length === 0 ? {} : { discrete }),
      payoff: right,
      strike,
      ...(level === undefined ? {} : { barriers: [{ type: `${side}-and-out`, level, monitoring: [date] }] }),
      ...(exercised ? { exercise: [date] } : {}),
    };
    const before = lawBetween(contract, 0, date);
    const after = date < expiry ? lawBetween(contract, date, expiry) : undefined;
    const intrinsic = (s: number): number => Math.max(right === "call" ? s - strike : strike - s, 0);
    const kept = (s: number): number => {
      if (after === undefined) return intrinsic(s);
      return s > 0
        ? blackScholes({ ...after, spot: s }, right, strike)
        : intrinsic(0) * discountBetween(contract, date, expiry);
    };
    const onDate = (unpaid: number): number => {
      const s = afterDividends(unpaid, discrete);
      if (level !== undefined && (side === "up" ? s >= level : s <= level)) return 0;
      return exercised ? Math.max(kept(s), intrinsic(s)) : kept(s);
    };
    const s2 = after === undefined ? 0 : after.volatility * Math.sqrt(after.expiry);
    const turns = [
      0,
      ...aroundKink(strike, s2),
      ...(level === undefined ? [] : [level]),
      ...(exercised ? crossings((s) => kept(s) - intrinsic(s), spot) : []),
    ];
    const expected = expectation(
      before,
      onDate,
      turns.map((s) => beforeDividends(s, discrete)),
    );
    const what = [
      discrete.length > 0 ? "dividends" : "",
      level === undefined ? "" : "barrier",
      exercised ? "exercise" : "",
    ];
    return {
      contracts: [contract],
      compare: ([got]) => [
        exact(`one date: ${what.filter((w) => w !== "").join(", ") || "nothing"}, quadrature`, got, expected),
      ],
    };
  },
};

function discountBetween({ rate }: Pick<Contract, "rate">, from: number, to: number): number {
  return discount(rate, to) / discount(rate, from);
}

/** The law of the spot from one time to another, without its discrete dividends. */
function lawBetween({ spot, rate, yield: q = 0, volatility }: Contract, from: number, to: number): Lognormal {
  const expiry = to - from;
  return {
    spot,
    expiry,
    rate: -Math.log(discountBetween({ rate }, from, to)) / expiry,
    yield: q,
    volatility: Math.sqrt((totalVariance(volatility, to) - totalVariance(volatility, from)) / expiry),
  };
}

/** Where f changes its sign, from e⁻⁸ to e⁸ of the spot, by bisection. */
function crossings(f: (s: number) => number, spot: number): number[] {
  const grid = Array.from({ length: 801 }, (_, i) => spot * Math.exp((i - 400) / 50));
  return grid.flatMap((from, i) => {
    if (i === 0 || f(from) > 0 === f(grid[i - 1]) > 0) return [];
    let [low, high] = [grid[i - 1], from];
    for (let k = 0; k < 50; k++) {
      const middle = 0.5 * (low + high);
      if (f(middle) > 0 === f(low) > 0) low = middle;
      else high = middle;
    }
    return [low];
  });
}

export const closedFormProperties: readonly Property[] = [
  european,
  wide,
  neverExercised,
  certain,
  barriers,
  touches,
  cevs,
  displaced,
  oneDate,
];
