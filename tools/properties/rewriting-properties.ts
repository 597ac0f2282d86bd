/** Trades that mean the same: written in another way, in other units, or seen from the other side. */
import type { BarrierJson, Contract, DividendJson, PayoffJson, VolatilityJson } from "./contract.ts";
import { contractOf, drawBarriers, drawContract, drawExercise, drawMarket, drawRight, drawStrike } from "./generate.ts";
import { equal, type Property } from "./property.ts";
import type { Random } from "./random.ts";

/** Another way to write a contract; undefined where it does not apply. */
type Rewriting = (contract: Contract, random: Random) => Partial<Contract> | undefined;

const rewritings: Readonly<Record<string, Rewriting>> = {
  "flat volatility as another form": ({ volatility, expiry, spot }, random) => {
    if (typeof volatility !== "number") return undefined;
    return {
      volatility: random.choice<VolatilityJson>([
        { local: `${volatility}` },
        { cev: { sigma: volatility, beta: 1 } },
        { displaced: { sigma: volatility, shift: 0 } },
        { termStructure: [0.3, 0.7, 1.2].map((part) => ({ date: part * expiry, volatility })) },
        { surface: { times: [0.4 * expiry], spots: [0.8 * spot, spot], volatility: [[volatility, volatility]] } },
      ]),
    };
  },
  "a model as its formula": ({ volatility }) => {
    if (typeof volatility === "number") return undefined;
    if ("cev" in volatility)
      return { volatility: { local: `${volatility.cev.sigma}*S**(${volatility.cev.beta - 1})` } };
    if (!("displaced" in volatility)) return undefined;
    const { sigma, shift } = volatility.displaced;
    return { volatility: { local: `${sigma}*(S + ${shift})/S` } };
  },
  "one rate as a curve": ({ rate, expiry }) =>
    typeof rate === "number"
      ? { rate: [0.2, 0.6, 1.5].map((part) => ({ date: part * expiry, zero: rate })) }
      : undefined,
  "a dividend of nothing": ({ discrete = [], expiry }, random) => ({
    discrete: [...discrete, { date: random.choice([0.37 * expiry, expiry]), cash: 0 }],
  }),
  "a dividend after expiry": ({ discrete = [], expiry, spot }, random) => ({
    discrete: [...discrete, { date: expiry * (1 + random.choice([1e-6, 0.01, 1])), cash: 0.2 * spot }],
  }),
  "dividends in two parts": ({ discrete }) =>
    discrete && { discrete: discrete.flatMap((dividend) => [partOf(dividend, 0.3), partOf(dividend, 0.7)]) },
  "a payoff as a formula": ({ payoff, strike = 0 }) => {
    if (payoff === "call") return { payoff: { expression: `max(S - ${strike}, 0)`, kinks: [strike] } };
    if (payoff === "put") return { payoff: { expression: `max(${strike} - S, 0)`, kinks: [strike] } };
    if (!("digital" in payoff)) return { strike: payoff.kinks?.[0] ?? 1 };
    const { digital, cash } = payoff;
    return { payoff: { expression: `S ${digital === "call" ? ">" : "<"} ${strike} ? ${cash} : 0`, kinks: [strike] } };
  },
  "kinks that are not named": ({ payoff }) =>
    typeof payoff === "object" && "expression" in payoff ? { payoff: { expression: payoff.expression } } : undefined,
  // Dividends of cash may take the spot to zero, which is past any barrier below.
  "a barrier that is never hit": ({ barriers = [], spot, discrete = [] }, random) => ({
    barriers: [
      ...barriers,
      random.choice<BarrierJson>([
        { type: "up-and-out", level: 1e30 * spot },
        ...(discrete.some(({ cash = 0 }) => cash > 0) ? [] : [{ type: "down-and-out" as const, level: 1e-30 * spot }]),
      ]),
    ],
  }),
  "barriers twice, with their windows": ({ barriers, expiry }) =>
    barriers && {
      barriers: [...barriers, ...barriers.map(({ from = 0, to = expiry, ...barrier }) => ({ ...barrier, from, to }))],
    },
  "dates of exercise in any order": ({ exercise, expiry }) =>
    typeof exercise === "object" ? { exercise: [...exercise, expiry, ...exercise].reverse() } : undefined,
};

const partOf = ({ date, cash, proportional }: DividendJson, part: number): DividendJson => ({
  date,
  ...(cash === undefined ? {} : { cash: part * cash }),
  ...(proportional === undefined ? {} : { proportional: part * proportional }),
});

const rewritten: Property = {
  name: "rewritten",
  weight: 8,
  draw(random) {
    const contract = drawContract(random);
    const [name, rewrite] = random.choice(Object.entries(rewritings));
    const change = rewrite(contract, random);
    if (change === undefined) return undefined;
    return { contracts: [contract, { ...contract, ...change }], compare: ([a, b]) => [equal(name, a, b)] };
  },
};

/** Everything that is an amount of money times a factor. */
const units: Property = {
  name: "units",
  weight: 3,
  draw(random) {
    const contract = drawContract(random);
    const factor = random.choice([1e-3, 0.37, 7.3, 1e4]);
    const { spot, strike, discrete, barriers, payoff, volatility } = contract;
    const scaled: Contract = {
      ...contract,
      spot: factor * spot,
      ...(strike === undefined ? {} : { strike: factor * strike }),
      ...(discrete && {
        discrete: discrete.map((one) => (one.cash === undefined ? one : { ...one, cash: factor * one.cash })),
      }),
      ...(barriers && {
        barriers: barriers.map((one) => ({ ...one, level: factor * one.level, rebate: factor * (one.rebate ?? 0) })),
      }),
      payoff: inUnits(payoff, factor),
      volatility: volatilityInUnits(volatility, factor),
    };
    return {
      contracts: [contract, scaled],
      // In the units of the second, whose spot the check takes if it is the larger.
      compare: ([a, b]) => {
        const unit = Math.max(factor, 1);
        const [first, second] = [timesFactor(a, unit), timesFactor(b, unit / factor)];
        return [equal("other units of money", first, second)];
      },
    };
  },
};

const timesFactor = ({ value, estimate }: { value: number; estimate: number }, factor: number) => ({
  value: value * factor,
  estimate: estimate * factor,
});

function inUnits(payoff: PayoffJson, factor: number): PayoffJson {
  if (typeof payoff === "string") return payoff;
  if ("digital" in payoff) return { ...payoff, cash: factor * payoff.cash };
  return {
    expression: `${factor}*(${payoff.expression.replaceAll(/\bS\b/g, `(S/${factor})`)})`,
    ...(payoff.kinks && { kinks: payoff.kinks.map((kink) => factor * kink) }),
  };
}

function volatilityInUnits(volatility: VolatilityJson, factor: number): VolatilityJson {
  if (typeof volatility === "number" || "termStructure" in volatility) return volatility;
  if ("cev" in volatility) {
    const { sigma, beta } = volatility.cev;
    return { cev: { sigma: sigma * factor ** (1 - beta), beta } };
  }
  if ("displaced" in volatility)
    return { displaced: { ...volatility.displaced, shift: factor * volatility.displaced.shift } };
  if ("local" in volatility) return { local: volatility.local.replaceAll(/\bS\b/g, `(S/${factor})`) };
  const { surface } = volatility;
  return { surface: { ...surface, spots: surface.spots.map((s) => factor * s) } };
}

/** Years times a factor, rates and variances by the year divided by it. */
const clocks: Property = {
  name: "clocks",
  weight: 3,
  draw(random) {
    const contract = drawContract(random);
    const factor = random.choice([0.5, 1.7]);
    const { rate, yield: q, discrete, volatility, expiry, exercise, barriers } = contract;
    const later = (t: number): number => (t === expiry ? factor * expiry : Math.min(factor * t, factor * expiry));
    const slower: Contract = {
      ...contract,
      expiry: factor * expiry,
      rate:
        typeof rate === "number"
          ? rate / factor
          : rate.map(({ date, zero }) => ({ date: factor * date, zero: zero / factor })),
      ...(q === undefined ? {} : { yield: q / factor }),
      ...(discrete && { discrete: discrete.map((one) => ({ ...one, date: later(one.date) })) }),
      ...(typeof exercise === "object" ? { exercise: exercise.map(later) } : {}),
      ...(barriers && {
        barriers: barriers.map(({ from, to, monitoring, ...barrier }) => ({
          ...barrier,
          ...(from === undefined ? {} : { from: later(from) }),
          ...(to === undefined ? {} : { to: later(to) }),
          ...(monitoring && { monitoring: monitoring.map(later) }),
        })),
      }),
      volatility: onClock(volatility, factor),
    };
    return { contracts: [contract, slower], compare: ([a, b]) => [equal("another unit of time", a, b)] };
  },
};

function onClock(volatility: VolatilityJson, factor: number): VolatilityJson {
  const root = Math.sqrt(factor);
  if (typeof volatility === "number") return volatility / root;
  if ("termStructure" in volatility)
    return {
      termStructure: volatility.termStructure.map((node) => ({
        date: factor * node.date,
        volatility: node.volatility / root,
      })),
    };
  if ("cev" in volatility) return { cev: { ...volatility.cev, sigma: volatility.cev.sigma / root } };
  if ("displaced" in volatility)
    return { displaced: { ...volatility.displaced, sigma: volatility.displaced.sigma / root } };
  if ("local" in volatility) return { local: `(${volatility.local.replaceAll(/\bt\b/g, `(t/${factor})`)})/${root}` };
  const { times, spots, volatility: values } = volatility.surface;
  return {
    surface: { times: times.map((t) => factor * t), spots, volatility: values.map((row) => row.map((v) => v / root)) },
  };
}

/**
 * Call(S, K, r, q) = put(K, S, q, r), with every right of exercise; a barrier H becomes S·K/H on the other side
 * (McDonald & Schroder 1998).
 */
const mirrored: Property = {
  name: "mirrored",
  weight: 4,
  draw(random) {
    const market = drawMarket(random, { volatility: ["flat", "termStructure"], rates: ["flat"], dividends: ["yield"] });
    const right = drawRight(random);
    const strike = drawStrike(random, market);
    const barriers = random.chance(0.4) ? drawBarriers(random, market, { rebate: false }) : [];
    const contract: Contract = {
      ...contractOf(market),
      payoff: right,
      strike,
      exercise: drawExercise(random, market),
      barriers,
    };
    const { spot, rate, yield: q = 0 } = contract;
    const other: Contract = {
      ...contract,
      spot: strike,
      strike: spot,
      rate: q,
      yield: Number(rate),
      payoff: right === "call" ? "put" : "call",
      barriers: barriers.map((barrier) => ({
        ...barrier,
        type: (barrier.type.startsWith("up")
          ? barrier.type.replace("up", "down")
          : barrier.type.replace("down", "up")) as BarrierJson["type"],
        level: (spot * strike) / barrier.level,
      })),
    };
    const name = barriers.length === 0 ? "call as a put" : "call as a put, barriers";
    return { contracts: [contract, other], compare: ([a, b]) => [equal(name, a, b)] };
  },
};

export const rewritingProperties: readonly Property[] = [rewritten, units, clocks, mirrored];
