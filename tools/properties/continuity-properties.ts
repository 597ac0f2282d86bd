/** Values are continuous: a hair's breadth changes nothing, wherever meshes and time grids change. */
import type { Contract } from "./contract.ts";
import { contractOf, drawContract, drawLevel, drawMarket, drawPayoff } from "./generate.ts";
import { discount } from "./market-functions.ts";
import { equal, type Property, sumsTo } from "./property.ts";

const HAIR = 1e-10;
/** What a hair may make, relative to spot: densities of short lives go to 1,000 and more. */
const SLACK = 3e-7;

type Nudge = (contract: Contract, up: number) => Partial<Contract> | undefined;

const nudges: Readonly<Record<string, Nudge>> = {
  spot: ({ spot }, up) => ({ spot: spot * up }),
  strike: ({ strike }, up) => (strike === undefined ? undefined : { strike: strike * up }),
  "barrier's level": ({ barriers }, up) =>
    barriers && { barriers: barriers.map((barrier) => ({ ...barrier, level: barrier.level * up })) },
  expiry: ({ expiry }) => ({ expiry: expiry * (1 + HAIR) }),
  // All of them, and to earlier: on a common date they come first, and their proportions are of one spot.
  "dividends' dates": ({ discrete }) =>
    discrete && { discrete: discrete.map((one) => ({ ...one, date: one.date * (1 - HAIR) })) },
  "dividends' sizes": ({ discrete }, up) =>
    discrete && { discrete: discrete.map((one) => (one.cash === undefined ? one : { ...one, cash: one.cash * up })) },
  rate: ({ rate }, up) => (typeof rate === "number" ? { rate: rate * up } : undefined),
  yield: ({ yield: q = 0 }) => ({ yield: q + HAIR }),
  volatility: ({ volatility }, up) => (typeof volatility === "number" ? { volatility: volatility * up } : undefined),
};

const nudged: Property = {
  name: "nudged",
  weight: 6,
  draw(random) {
    const contract = drawContract(random);
    const [name, nudge] = random.choice(Object.entries(nudges));
    const change = nudge(contract, random.choice([1 - HAIR, 1 + HAIR]));
    if (change === undefined) return undefined;
    return {
      contracts: [contract, { ...contract, ...change }],
      compare: ([a, b]) => [equal(`continuous in the ${name}`, a, b, SLACK * contract.spot)],
    };
  },
};

/** Right beside a barrier, and on it, what it does has happened. */
const besideBarrier: Property = {
  name: "beside a barrier",
  weight: 2,
  draw(random) {
    const market = drawMarket(random);
    const side = random.choice(["up", "down"] as const);
    const kind = random.choice(["out", "in"] as const);
    const rebate = kind === "out" ? market.spot * random.uniform(0, 0.1) : 0;
    const rebateAt = random.choice(["hit", "expiry"] as const);
    const beside = random.choice([0, side === "up" ? HAIR : -HAIR]);
    const plain: Contract = { ...contractOf(market), ...drawPayoff(random, market) };
    const type = `${side}-and-${kind}` as const;
    const level = market.spot * (1 + beside);
    const barriers = [{ type, level, ...(kind === "out" ? { rebate, rebateAt } : {}) }];
    const paid = kind === "out" ? rebate * (rebateAt === "hit" ? 1 : discount(plain.rate, plain.expiry)) : 0;
    return {
      contracts: [{ ...plain, barriers }, plain],
      compare: ([got, without]) => {
        const name = `${beside === 0 ? "on" : "beside"} a knock-${kind} barrier`;
        const comparison = kind === "out" ? sumsTo(name, paid, [1, got]) : equal(name, got, without);
        return [{ ...comparison, excess: comparison.excess - SLACK * plain.spot }];
      },
    };
  },
};

/** A barrier far away does nothing, a level as near as the mesh allows does no harm: moved through the strike. */
const levelAtStrike: Property = {
  name: "level at the strike",
  weight: 2,
  draw(random) {
    const market = drawMarket(random);
    const side = random.choice(["up", "down"] as const);
    const level = drawLevel(random, market, side);
    const type = `${side}-and-${random.choice(["out", "in"] as const)}` as const;
    const payoff = side === "up" ? "put" : "call";
    const at = (strike: number): Contract => ({ ...contractOf(market), payoff, strike, barriers: [{ type, level }] });
    return {
      contracts: [at(level), at(level * (1 + HAIR)), at(level * (1 - HAIR))],
      compare: ([on, above, below]) => [
        equal("continuous where the strike meets the level", on, above, SLACK * market.spot),
        equal("continuous where the strike meets the level", on, below, SLACK * market.spot),
      ],
    };
  },
};

export const continuityProperties: readonly Property[] = [nudged, besideBarrier, levelAtStrike];
