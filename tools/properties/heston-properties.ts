/** What must hold of trades under Heston's model that alternating directions price. */
import type { BarrierJson, Contract, HestonJson, Right } from "./contract.ts";
import { atMost, type Comparison, equal, exact, type Property, sumsTo } from "./property.ts";
import type { Random } from "./random.ts";

const ADI = { method: "adi" } as const;

/** A market under Heston's model, from ordinary to extreme, with the scale by which strikes and barriers are drawn. */
export interface HestonMarket {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly expiry: number;
  readonly heston: HestonJson;
  readonly width: number;
}

export function drawHeston(random: Random, { rho, rate, dividends }: Partial<Draws> = {}): HestonMarket {
  const isExtreme = random.chance(0.3);
  const level = isExtreme ? random.logUniform(0.002, 4) : random.logUniform(0.01, 0.25);
  const expiry = random.chance(0.05) ? 1 / 8760 : random.logUniform(0.05, isExtreme ? 30 : 5);
  const heston = {
    v0: random.chance(0.3) ? level : level * random.logUniform(0.2, 5),
    kappa: isExtreme ? random.logUniform(0.1, 500) : random.logUniform(0.5, 8),
    theta: level,
    sigma: isExtreme ? random.logUniform(0.05, 5) : random.logUniform(0.1, 1.2),
    rho: rho ?? (isExtreme ? random.uniform(-0.99, 0.99) : random.uniform(-0.9, 0.5)),
  };
  const { kappa, theta, v0 } = heston;
  const variance = theta * expiry + ((v0 - theta) * -Math.expm1(-kappa * expiry)) / kappa;
  return {
    spot: 100,
    rate: rate ?? random.uniform(-0.01, 0.08),
    yield: dividends ?? (random.chance(0.5) ? 0 : random.uniform(0, 0.06)),
    expiry,
    heston,
    width: Math.min(Math.sqrt(variance), 1),
  };
}

interface Draws {
  readonly rho: number;
  readonly rate: number;
  readonly dividends: number;
}

const drawStrike = (random: Random, { spot, width }: HestonMarket): number =>
  spot * Math.exp(width * 0.8 * random.normal());

export const contractOf = (market: HestonMarket, payoff: Right, strike: number): Contract => ({
  spot: market.spot,
  rate: market.rate,
  yield: market.yield,
  volatility: Math.sqrt(market.heston.v0),
  stochasticVolatility: { heston: market.heston },
  expiry: market.expiry,
  payoff,
  strike,
});

const drawRight = (random: Random): Right => random.choice(["call", "put"] as const);

function drawDates(random: Random, expiry: number): number[] {
  const count = 1 + random.integer(4);
  return Array.from({ length: count }, (_, i) => (expiry * (i + 1)) / (count + 1));
}

/** The Fourier integral is the oracle. */
const european: Property = {
  name: "Heston, European",
  weight: 3,
  draw(random) {
    const market = drawHeston(random);
    const contract = contractOf(market, drawRight(random), drawStrike(random, market));
    return {
      contracts: [{ ...contract, ...ADI }, contract],
      compare: ([got, fourier]) => [exact("Heston, European = Fourier integral", got, fourier.value)],
    };
  },
};

/** A call without dividends at rates ≥ 0, or a put at a rate of 0, is worth its European option. */
const neverExercised: Property = {
  name: "Heston, American never exercised",
  weight: 3,
  draw(random) {
    const right = drawRight(random);
    const market = drawHeston(random, right === "call" ? { rate: random.uniform(0, 0.08), dividends: 0 } : { rate: 0 });
    const contract = contractOf(market, right, drawStrike(random, market));
    return {
      contracts: [{ ...contract, exercise: "american" }, contract],
      compare: ([american, fourier]) => [
        exact("Heston, American never exercised = Fourier integral", american, fourier.value),
      ],
    };
  },
};

/**
 * A put on S struck at K is a call on K struck at S in the market of S as numéraire: rate and yield change places, κ′ =
 * κ − ρσ, κ′θ′ = κθ, ρ′ = −ρ. The two are solved on different meshes with different coefficients.
 */
export function mirrored(contract: Contract, { heston: { v0, kappa, theta, sigma, rho } }: HestonMarket): Contract {
  const reverted = kappa - rho * sigma;
  const { spot, strike = spot, rate, payoff, barriers } = contract;
  return {
    ...contract,
    spot: strike,
    strike: spot,
    rate: contract.yield ?? 0,
    yield: rate as number,
    payoff: payoff === "put" ? "call" : "put",
    stochasticVolatility: { heston: { v0, kappa: reverted, theta: (kappa * theta) / reverted, sigma, rho: -rho } },
    ...(barriers === undefined ? {} : { barriers: barriers.map((barrier) => mirroredBarrier(barrier, spot * strike)) }),
  };
}

function mirroredBarrier(barrier: BarrierJson, product: number): BarrierJson {
  const type = (barrier.type.startsWith("up") ? "down" : "up") + barrier.type.slice(barrier.type.indexOf("-"));
  return { ...barrier, type: type as BarrierJson["type"], level: product / barrier.level };
}

/** Models whose mirror image is one too. */
function drawMirrorable(random: Random): HestonMarket | undefined {
  const market = drawHeston(random, { rate: random.uniform(0, 0.08) });
  const { kappa, rho, sigma } = market.heston;
  return kappa - rho * sigma > 0.1 ? market : undefined;
}

const early: Property = {
  name: "Heston, early exercise",
  weight: 4,
  draw(random) {
    const market = drawMirrorable(random);
    if (market === undefined) return undefined;
    const right = drawRight(random);
    const strike = drawStrike(random, market);
    const contract = contractOf(market, right, strike);
    const american = { ...contract, exercise: "american" } as const;
    const bermudan = { ...contract, exercise: drawDates(random, market.expiry) };
    const most = right === "put" ? strike : market.spot * Math.exp(Math.max(-market.yield, 0) * market.expiry);
    const intrinsic = Math.max(right === "put" ? strike - market.spot : market.spot - strike, 0);
    return {
      contracts: [american, mirrored(american, market), bermudan, contract],
      compare: ([a, image, b, e]) => [
        equal("Heston, American = its mirror image", a, image),
        atMost("Heston, European ≤ Bermudan", 0, [1, e], [-1, b]),
        atMost("Heston, Bermudan ≤ American", 0, [1, b], [-1, a]),
        ...inBounds("Heston, American", a, intrinsic, most),
      ],
    };
  },
};

function inBounds(what: string, of: Parameters<typeof equal>[1], least: number, most: number): Comparison[] {
  return [atMost(`${what} ≥ its lower bound`, -least, [-1, of]), atMost(`${what} ≤ its upper bound`, most, [1, of])];
}

/**
 * Without drift of the forward and with ρ = 0, S and S²-images have the same law from the barrier on (Carr, Ellis &
 * Gupta 1998): with a barrier below the strike a down-and-out call is C(K) − (K/H)·P(H²/K), an up-and-out put above it
 * P(K) − (K/H)·C(H²/K).
 */
const replicated: Property = {
  name: "Heston, replicated barrier",
  weight: 3,
  draw(random) {
    const rate = random.uniform(0, 0.06);
    const market = drawHeston(random, { rho: 0, rate, dividends: rate });
    const strike = drawStrike(random, market);
    const right = drawRight(random);
    const away = market.width * random.uniform(0.1, 1.5);
    const inner = right === "call" ? Math.min(market.spot, strike) : Math.max(market.spot, strike);
    const level = inner * Math.exp(right === "call" ? -away : away);
    const vanilla = contractOf(market, right, strike);
    const image = contractOf(market, right === "call" ? "put" : "call", (level * level) / strike);
    const type = right === "call" ? "down-and-out" : "up-and-out";
    return {
      contracts: [{ ...vanilla, barriers: [{ type, level }] }, vanilla, image],
      compare: ([out, all, reflected]) => [
        exact("Heston, replicated barrier", out, all.value - (strike / level) * reflected.value),
      ],
    };
  },
};

/** An up-and-out call is its mirror image, a down-and-out put, and worth no more than the call. */
const barriers: Property = {
  name: "Heston, barrier",
  weight: 3,
  draw(random) {
    const market = drawMirrorable(random);
    if (market === undefined) return undefined;
    const isUp = random.chance(0.5);
    const right = random.chance(0.7) ? (isUp ? "call" : "put") : drawRight(random);
    const away = market.width * random.uniform(0.2, 2);
    const level = market.spot * Math.exp(isUp ? away : -away);
    const strike = drawStrike(random, market);
    const vanilla = contractOf(market, right, strike);
    const out: Contract = { ...vanilla, barriers: [{ type: isUp ? "up-and-out" : "down-and-out", level }] };
    return {
      contracts: [out, mirrored(out, market), vanilla],
      compare: ([a, image, whole]) => [
        equal("Heston, knock-out = its mirror image", a, image),
        ...inBounds("Heston, knock-out", a, 0, whole.value),
      ],
    };
  },
};

/**
 * Without volatility of the variance, and with v₀ = θ, it is Black and Scholes' model, for which one axis is enough.
 */
const limit: Property = {
  name: "Heston, limit σ → 0",
  weight: 2,
  draw(random) {
    const market = drawHeston(random);
    const { heston, spot, expiry, width } = market;
    const v0 = Math.min(heston.theta, 1);
    const contract = contractOf(
      { ...market, heston: { ...heston, v0, theta: v0, sigma: 1e-5 } },
      drawRight(random),
      drawStrike(random, market),
    );
    const kind = random.choice(["american", "bermudan", "barrier"] as const);
    const up = random.chance(0.5);
    const level = spot * Math.exp((up ? 1 : -1) * random.uniform(0.3, 2) * width);
    const made: Contract =
      kind === "american"
        ? { ...contract, exercise: "american" }
        : kind === "bermudan"
          ? { ...contract, exercise: drawDates(random, expiry) }
          : { ...contract, barriers: [{ type: up ? "up-and-out" : "down-and-out", level }] };
    return {
      contracts: [made, oneFactor(made, Math.sqrt(v0))],
      compare: ([got, one]) => [equal(`Heston, limit σ → 0, ${kind}`, got, one)],
    };
  },
};

function oneFactor(contract: Contract, volatility: number): Contract {
  const { stochasticVolatility: _, ...rest } = contract;
  return { ...rest, volatility };
}

/** Call − put = forward, with knock-outs inside the life, too. */
const parity: Property = {
  name: "Heston, parity on dates",
  weight: 1,
  draw(random) {
    const market = drawHeston(random);
    const strike = drawStrike(random, market);
    const base = {
      ...contractOf(market, "call", strike),
      barriers: [
        {
          type: "up-and-out" as const,
          level: market.spot * Math.exp(random.uniform(0.2, 2) * market.width),
          monitoring: drawDates(random, market.expiry),
        },
      ],
    };
    return {
      contracts: [base, { ...base, payoff: "put" }, { ...base, payoff: { expression: `S - ${strike}` } }],
      compare: ([call, put, forward]) => [
        sumsTo("Heston, parity with a barrier on dates", 0, [1, call], [-1, put], [-1, forward]),
      ],
    };
  },
};

export const hestonProperties: readonly Property[] = [
  european,
  neverExercised,
  early,
  replicated,
  barriers,
  limit,
  parity,
];
