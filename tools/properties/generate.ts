/** Random markets and trades of every kind that a book may hold. */
import type {
  BarrierJson,
  Contract,
  DividendJson,
  MarketPart,
  PayoffJson,
  RateJson,
  Right,
  VolatilityJson,
} from "./contract.ts";
import type { Random } from "./random.ts";

export type VolatilityKind = "flat" | "termStructure" | "cev" | "displaced" | "local" | "skew" | "time" | "surface";

export interface Choices {
  readonly volatility?: readonly VolatilityKind[];
  readonly rates?: readonly ("flat" | "curve")[];
  readonly dividends?: readonly ("none" | "yield" | "cash" | "proportional" | "mixed")[];
  /** Rates below zero, too; the default. */
  readonly negative?: boolean;
}

/** What a market is drawn about: scale and life of the trade. */
interface Frame {
  readonly spot: number;
  readonly expiry: number;
  /** A level of volatility that the kinds are drawn about. */
  readonly level: number;
}

export interface Market extends MarketPart {
  readonly expiry: number;
  /** level·√expiry, about a standard deviation of ln S. */
  readonly deviation: number;
  /** The same, at most 1: the distance by which strikes and barriers are drawn. */
  readonly width: number;
}

const ALL_KINDS: readonly VolatilityKind[] = [
  "flat",
  "flat",
  "flat",
  "termStructure",
  "cev",
  "displaced",
  "local",
  "skew",
  "time",
  "surface",
];
const ALL_DIVIDENDS = ["none", "none", "yield", "yield", "cash", "proportional", "mixed"] as const;

export function drawMarket(random: Random, choices: Choices = {}): Market {
  const frame = {
    spot: random.choice([100, random.logUniform(0.5, 5000)]),
    expiry: random.chance(0.1) ? random.uniform(0.5, 5) / 365 : random.logUniform(0.02, 15),
    level: random.chance(0.03)
      ? random.logUniform(0.005, 0.04)
      : random.logUniform(0.04, random.chance(0.15) ? 1.2 : 0.6),
  };
  const { spot, expiry, level } = frame;
  const kind = random.choice(choices.dividends ?? ALL_DIVIDENDS);
  const discrete = kind === "none" || kind === "yield" ? undefined : drawDividends(random, frame, kind);
  const yieldRate =
    kind === "yield" || (kind === "mixed" && random.chance(0.3)) ? drawYield(random, choices) : undefined;
  return {
    spot,
    expiry,
    deviation: level * Math.sqrt(expiry),
    width: Math.min(level * Math.sqrt(expiry), 1),
    rate: drawRate(random, frame, choices),
    ...(yieldRate === undefined ? {} : { yield: yieldRate }),
    ...(discrete === undefined ? {} : { discrete }),
    volatility: drawVolatility(random, frame, random.choice(choices.volatility ?? ALL_KINDS)),
  };
}

const drawYield = (random: Random, { negative = true }: Choices): number =>
  random.uniform(negative && random.chance(0.3) ? -0.03 : 0, 0.1);

function drawRate(
  random: Random,
  { expiry }: Frame,
  { rates = ["flat", "flat", "curve"], negative = true }: Choices,
): RateJson {
  const draw = (): number =>
    random.chance(0.1) ? 0 : random.uniform(negative && random.chance(0.4) ? -0.03 : 0, 0.12);
  if (random.choice(rates) === "flat") return draw();
  const dates = random.sorted(1 + random.integer(4), () => random.uniform(0.02, 1.3) * expiry);
  const level = draw();
  return dates.map((date) => ({ date, zero: level + random.uniform(-0.01, 0.01) }));
}

function drawVolatility(random: Random, { spot, expiry, level }: Frame, kind: VolatilityKind): VolatilityJson {
  switch (kind) {
    case "flat":
      return level;
    case "termStructure": {
      const dates = random.sorted(1 + random.integer(4), () => random.uniform(0.05, 1.3) * expiry);
      let total = 0;
      return {
        termStructure: dates.map((date, i) => {
          total += (level * random.uniform(0.6, 1.5)) ** 2 * (date - (dates[i - 1] ?? 0));
          return { date, volatility: Math.sqrt(total / date) };
        }),
      };
    }
    case "cev": {
      const beta = random.choice([0.5, 1, random.uniform(0, 1)]);
      return { cev: { sigma: level * spot ** (1 - beta), beta } };
    }
    case "displaced": {
      const shift = spot * random.choice([0, random.uniform(0, 2)]);
      return { displaced: { sigma: (level * spot) / (spot + shift), shift } };
    }
    case "local":
      return { local: String(level) };
    case "skew": {
      const a = random.uniform(-0.4, 0.6);
      return {
        local: random.choice([
          `${level}*(1 + ${a}*(exp(-S/${spot}) - 0.37))`,
          `${level}*(1 + ${Math.abs(a)}*log(S/${spot})**2/(1 + log(S/${spot})**2))`,
          `min(max(${level}*(S/${spot})**${-a}, ${0.4 * level}), ${2.5 * level})`,
        ]),
      };
    }
    case "time":
      return {
        local: random.choice([
          `${level}*(1 + ${random.uniform(-0.4, 0.6)}*t/${expiry})`,
          `${level}*(0.8 + 0.4*exp(-t/${0.3 * expiry}))*(1 + 0.2*exp(-S/${spot}))`,
        ]),
      };
    case "surface": {
      const times = random.sorted(1 + random.integer(3), () => random.uniform(0, 1.2) * expiry);
      const spots = random.sorted(1 + random.integer(6), () => spot * Math.exp(random.uniform(-1, 1)));
      const volatility = times.map(() => spots.map(() => level * random.uniform(0.8, 1.25)));
      return { surface: { times, spots, volatility } };
    }
    default:
      return kind satisfies never;
  }
}

type DiscreteKind = "cash" | "proportional" | "mixed";

function drawDividends(random: Random, { spot, expiry }: Frame, kind: DiscreteKind): DividendJson[] {
  const one = (): DividendJson => {
    const date = random.chance(0.12)
      ? expiry
      : random.chance(0.05)
        ? Math.max(expiry - 1 / 365, 0.4 * expiry)
        : random.uniform(0.02, 0.99) * expiry;
    const cash = { cash: spot * (random.chance(0.12) ? random.uniform(0.1, 0.5) : random.uniform(0.001, 0.05)) };
    const proportional = { proportional: random.chance(0.1) ? random.uniform(0.1, 0.8) : random.uniform(0.001, 0.06) };
    if (kind === "mixed" && random.chance(0.4)) return { date, ...cash, ...proportional };
    return { date, ...(kind === "cash" || (kind === "mixed" && random.chance(0.5)) ? cash : proportional) };
  };
  const list = Array.from({ length: 1 + random.integer(4) }, one);
  // Now and then two on one day.
  const twin = { ...one(), date: list[0].date };
  const onTheDay = [...list, twin].filter(({ date }) => date === twin.date);
  const together = onTheDay.reduce((sum, { proportional = 0 }) => sum + proportional, 0);
  return random.chance(0.2) && together < 0.95 ? [...list, twin] : list;
}

/** A strike near the spot, at it, beside it, or far away. */
export function drawStrike(random: Random, { spot, width }: Market): number {
  if (random.chance(0.08)) return spot;
  if (random.chance(0.08)) return spot * (1 + 1e-3 * random.normal());
  return spot * Math.exp(width * random.normal() * (random.chance(0.1) ? 3 : 1));
}

export const drawRight = (random: Random): Right => random.choice(["call", "put"] as const);

/** A payoff and its strike, if it has one. */
export function drawPayoff(random: Random, market: Market): { payoff: PayoffJson; strike?: number } {
  const strike = drawStrike(random, market);
  const kind = random.next();
  if (kind < 0.6) return { payoff: drawRight(random), strike };
  if (kind < 0.75)
    return { payoff: { digital: drawRight(random), cash: market.spot * random.uniform(0.01, 0.5) }, strike };
  return { payoff: drawExpression(random, market) };
}

/** Payoffs of several kinks: straddle, spread, butterfly, range, capped square. */
function drawExpression(random: Random, market: Market): PayoffJson {
  const [a, b, c] = random.sorted(3, () => drawStrike(random, market));
  return random.choice<PayoffJson>([
    { expression: `abs(S - ${b})`, kinks: [b] },
    { expression: `min(max(S - ${a}, 0), ${b - a})`, kinks: [a, b] },
    { expression: butterfly(a, b, c), kinks: [a, b, c] },
    { expression: `S > ${a} && S < ${c} ? ${0.1 * b} : 0`, kinks: [a, c] },
    { expression: `max(${a} - S, 0) + max(S - ${c}, 0)`, kinks: [a, c] },
    { expression: `min(S*S/${market.spot}, ${2 * b})`, kinks: [Math.sqrt(2 * b * market.spot)] },
  ]);
}

/** Up from a to b, down to c, nothing elsewhere; never below nothing where b and c all but meet. */
function butterfly(a: number, b: number, c: number): string {
  const down = (b - a) / Math.max(c - b, 1e-3 * b);
  return `max(S - ${a}, 0) - max(S - ${b}, 0)*${1 + down} + max(S - ${c}, 0)*${down}`;
}

export function drawDates(random: Random, expiry: number, max = 12): number[] {
  const count = 1 + random.integer(max);
  if (random.chance(0.5))
    return Array.from({ length: count }, (_, i) => (i === count - 1 ? expiry : (expiry * (i + 1)) / count));
  return [...new Set(random.sorted(count, () => random.uniform(0.01, 1) * expiry))];
}

export function drawExercise(random: Random, { expiry }: Market): "european" | "american" | number[] {
  return random.choice(["european", "american", drawDates(random, expiry)] as const);
}

export type BarrierSide = "up" | "down";

const opposite = { up: "down", down: "up" } as const;

export interface BarrierChoices {
  readonly kind?: "out" | "in";
  readonly continuous?: boolean;
  readonly windows?: boolean;
  readonly rebate?: boolean;
}

/** A level beyond the spot, rarely right beside it. */
export function drawLevel(random: Random, { spot, width }: Market, side: BarrierSide): number {
  const distance = random.chance(0.15) ? random.logUniform(1e-4, 0.02) : width * random.uniform(0.05, 2.5);
  return spot * Math.exp(side === "up" ? distance : -distance);
}

export function drawBarrier(
  random: Random,
  market: Market,
  side: BarrierSide,
  choices: BarrierChoices = {},
): BarrierJson {
  const { kind = random.choice(["out", "in"] as const), continuous, windows = true, rebate = true } = choices;
  const dates = !(continuous ?? random.chance(0.6));
  const { expiry, spot } = market;
  const from = windows && random.chance(0.2) ? random.uniform(0, 0.6) * expiry : undefined;
  const to = windows && random.chance(0.2) ? random.uniform(0.6, 1) * expiry : undefined;
  const monitoring = dates
    ? drawDates(random, expiry).filter((t) => t >= (from ?? 0) && t <= (to ?? expiry))
    : undefined;
  // Monitored from later on, it may be on the other side of today's spot.
  const later = (from !== undefined || monitoring !== undefined) && random.chance(0.15);
  return {
    type: `${side}-and-${kind}`,
    level: drawLevel(random, market, later ? opposite[side] : side),
    ...(rebate && random.chance(0.3)
      ? {
          rebate: spot * random.uniform(0.001, 0.1),
          ...(kind === "out" ? { rebateAt: random.choice(["hit", "expiry"] as const) } : {}),
        }
      : {}),
    ...(monitoring !== undefined && monitoring.length > 0 ? { monitoring } : {}),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** One barrier, or one on each side. Knock-ins of a trade have one rebate. */
export function drawBarriers(random: Random, market: Market, choices: BarrierChoices = {}): BarrierJson[] {
  const sides = random.choice([["up"], ["down"], ["down", "up"]] as const);
  const barriers = sides.map((side) => drawBarrier(random, market, side, choices));
  const rebate = barriers.find(({ type }) => type.endsWith("-in"))?.rebate ?? 0;
  return barriers.map((barrier) => (barrier.type.endsWith("-in") ? { ...barrier, rebate } : barrier));
}

/** Anything at all. */
export function drawContract(random: Random, choices: Choices = {}, barrierChance = 0.4): Contract {
  const market = drawMarket(random, choices);
  return {
    ...contractOf(market),
    ...drawPayoff(random, market),
    exercise: drawExercise(random, market),
    ...(random.chance(barrierChance) ? { barriers: drawBarriers(random, market) } : {}),
  };
}

/** The market's part of a contract, without what only helps to draw. */
export function contractOf({
  spot,
  expiry,
  rate,
  yield: q,
  discrete,
  volatility,
}: Market): MarketPart & { expiry: number } {
  return {
    spot,
    expiry,
    rate,
    ...(q === undefined ? {} : { yield: q }),
    ...(discrete === undefined ? {} : { discrete }),
    volatility,
  };
}
