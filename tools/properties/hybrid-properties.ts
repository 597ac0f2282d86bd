/** What must hold of trades under SABR's volatility and under Hull and White's short rate. */
import type { Contract, Right } from "./contract.ts";
import { blackScholes } from "./closed-forms.ts";
import { atMost, equal, exact, type Property } from "./property.ts";
import type { Random } from "./random.ts";

const drawRight = (random: Random): Right => random.choice(["call", "put"] as const);

interface SabrDraws {
  readonly nu: number;
  readonly yield: number;
  readonly rate: number;
}

function drawSabr(random: Random, draws: Partial<SabrDraws> = {}): Contract {
  const spot = 100;
  const expiry = random.logUniform(0.05, 5);
  const level = random.logUniform(0.08, 0.5);
  const beta = random.choice([0.5, 1, random.uniform(0.2, 1)]);
  const nu = draws.nu ?? random.logUniform(0.05, 1.2) / Math.max(1, Math.sqrt(expiry));
  const width = Math.min(level * Math.sqrt(expiry), 1);
  return {
    spot,
    rate: draws.rate ?? random.uniform(0, 0.06),
    yield: draws.yield ?? random.choice([0, random.uniform(0, 0.05)]),
    volatility: level,
    stochasticVolatility: {
      sabr: { alpha: level * spot ** (1 - beta), beta, nu, rho: random.uniform(-0.8, 0.6) },
    },
    payoff: drawRight(random),
    strike: spot * Math.exp(0.8 * width * random.normal()),
    expiry,
  };
}

/** Without dividends, at rates ≥ 0, a call is never exercised. */
const sabrCall: Property = {
  name: "SABR, American call",
  weight: 3,
  draw(random) {
    const contract = { ...drawSabr(random, { yield: 0 }), payoff: "call" as const };
    return {
      contracts: [{ ...contract, exercise: "american" }, contract],
      compare: ([american, european]) => [equal("SABR, American call = European call", american, european)],
    };
  },
};

/** ν → 0 is CEV, for which one axis is enough. */
const sabrLimit: Property = {
  name: "SABR, limit ν → 0",
  weight: 3,
  draw(random) {
    const contract = drawSabr(random, { nu: 1e-5 });
    const { sabr } = contract.stochasticVolatility as { sabr: { alpha: number; beta: number } };
    const made: Contract = random.chance(0.5) ? { ...contract, exercise: "american" } : contract;
    const { stochasticVolatility: _, ...rest } = made;
    return {
      contracts: [made, { ...rest, volatility: { cev: { sigma: sabr.alpha, beta: sabr.beta } } }],
      compare: ([got, cev]) => [equal("SABR, limit ν → 0 = CEV", got, cev)],
    };
  },
};

const sabrParity: Property = {
  name: "SABR, European parity and bounds",
  weight: 2,
  draw(random) {
    const contract = drawSabr(random);
    const { spot, strike = spot, expiry, rate } = contract;
    const forward = spot * Math.exp(-(contract.yield ?? 0) * expiry) - strike * Math.exp(-(rate as number) * expiry);
    return {
      contracts: [
        { ...contract, payoff: "call" },
        { ...contract, payoff: "put" },
        { ...contract, payoff: "put", exercise: "american" },
      ],
      compare: ([call, put, american]) => [
        exact(
          "SABR, call − put = forward",
          { value: call.value - put.value, estimate: call.estimate + put.estimate },
          forward,
        ),
        atMost("SABR, European ≤ American", 0, [1, put], [-1, american]),
        atMost("SABR, put ≥ 0", 0, [-1, put]),
        atMost("SABR, American put ≤ strike", strike, [1, american]),
      ],
    };
  },
};

interface Hybrid {
  readonly contract: Contract;
  readonly rate: number;
  readonly meanReversion: number;
  readonly volatility: number;
  readonly sigma: number;
  readonly correlation: number;
}

function drawHybrid(random: Random, rateVolatility?: number): Hybrid {
  const rate = random.uniform(0, 0.06);
  const meanReversion = random.choice([0, random.uniform(0.01, 0.5)]);
  const volatility = rateVolatility ?? random.uniform(0.002, 0.02);
  const sigma = random.logUniform(0.08, 0.5);
  const expiry = random.logUniform(0.1, 15);
  const correlation = random.uniform(-0.7, 0.7);
  const width = Math.min(sigma * Math.sqrt(expiry), 1);
  return {
    rate,
    meanReversion,
    volatility,
    sigma,
    correlation,
    contract: {
      spot: 100,
      rate,
      shortRate: { meanReversion, volatility, correlation },
      yield: random.choice([0, random.uniform(0, 0.04)]),
      volatility: sigma,
      payoff: drawRight(random),
      strike: 100 * Math.exp(0.8 * width * random.normal()),
      expiry,
    },
  };
}

/** The variance of ln of the forward, ∫ σ² + 2ρσsB + s²B² with B = (1 − e^{−a(T−t)})/a, by Simpson's rule. */
function forwardVariance({
  meanReversion: a,
  volatility: s,
  sigma,
  correlation,
  contract: { expiry },
}: Hybrid): number {
  const intervals = 400;
  const at = (left: number): number => {
    const b = a * left < 1e-9 ? left : -Math.expm1(-a * left) / a;
    return sigma * sigma + 2 * correlation * sigma * s * b + s * s * b * b;
  };
  const h = expiry / intervals;
  const sum = Array.from({ length: intervals + 1 }, (_, i) => {
    const weight = i === 0 || i === intervals ? 1 : i % 2 === 1 ? 4 : 2;
    return weight * at(i * h);
  }).reduce((total, value) => total + value, 0);
  return (sum * h) / 3;
}

const hybridEuropean: Property = {
  name: "Hull–White, European",
  weight: 4,
  draw(random) {
    const hybrid = drawHybrid(random);
    const { contract, rate } = hybrid;
    const { spot, strike = spot, expiry } = contract;
    const volatility = Math.sqrt(forwardVariance(hybrid) / expiry);
    const expected = blackScholes(
      { spot, rate, yield: contract.yield ?? 0, volatility, expiry },
      contract.payoff as Right,
      strike,
    );
    return {
      contracts: [contract],
      compare: ([got]) => [exact("Hull–White, European = closed form", got, expected)],
    };
  },
};

const hybridLimit: Property = {
  name: "Hull–White, limit s → 0",
  weight: 3,
  draw(random) {
    const { contract } = drawHybrid(random, 1e-6);
    const made: Contract = { ...contract, exercise: "american" };
    const { shortRate: _, ...one } = made;
    return {
      contracts: [made, one],
      compare: ([got, oneFactor]) => [equal("Hull–White, limit s → 0, American", got, oneFactor)],
    };
  },
};

const hybridOrder: Property = {
  name: "Hull–White, order of exercise",
  weight: 2,
  draw(random) {
    const { contract } = drawHybrid(random);
    const { expiry, spot, strike = spot, payoff } = contract;
    const intrinsic = Math.max(payoff === "put" ? strike - spot : spot - strike, 0);
    return {
      contracts: [
        { ...contract, exercise: "american" },
        { ...contract, exercise: [expiry / 3, (2 * expiry) / 3] },
        contract,
      ],
      compare: ([american, bermudan, european]) => [
        atMost("Hull–White, European ≤ Bermudan", 0, [1, european], [-1, bermudan]),
        atMost("Hull–White, Bermudan ≤ American", 0, [1, bermudan], [-1, american]),
        atMost("Hull–White, American ≥ intrinsic", -intrinsic, [-1, american]),
      ],
    };
  },
};

export const hybridProperties: readonly Property[] = [
  sabrCall,
  sabrLimit,
  sabrParity,
  hybridEuropean,
  hybridLimit,
  hybridOrder,
];
