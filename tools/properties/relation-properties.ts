/** What must hold between the values of several trades, in every model. */
import type { BarrierJson, Contract } from "./contract.ts";
import {
  contractOf,
  drawBarriers,
  drawContract,
  drawDates,
  drawExercise,
  drawMarket,
  drawPayoff,
  drawRight,
  drawStrike,
} from "./generate.ts";
import { discount } from "./market-functions.ts";
import { atMost, type Property, sumsTo } from "./property.ts";

/** Call − put = what pays S − K, with all dividends and every volatility; with knock-outs, too. */
const parity: Property = {
  name: "call-put parity",
  weight: 3,
  draw(random) {
    const market = drawMarket(random);
    const strike = drawStrike(random, market);
    const barriers = random.chance(0.3)
      ? { barriers: drawBarriers(random, market, { kind: "out", rebate: false }) }
      : {};
    const base = { ...contractOf(market), ...barriers };
    const forward = { expression: `S - ${strike}`, ...(random.chance(0.5) ? { kinks: [strike] } : {}) };
    return {
      contracts: [
        { ...base, payoff: "call", strike },
        { ...base, payoff: "put", strike },
        { ...base, payoff: forward },
      ],
      compare: ([call, put, linear]) => [sumsTo("call − put = S − K", 0, [1, call], [-1, put], [-1, linear])],
    };
  },
};

const opposite = (barrier: BarrierJson): BarrierJson => ({
  ...barrier,
  type: barrier.type.replace("-out", "-in") as BarrierJson["type"],
});

/** Knocked in + knocked out = plain, with one rebate at expiry for both: one of them pays it. */
const inOut: Property = {
  name: "in-out parity",
  weight: 3,
  draw(random) {
    const market = drawMarket(random);
    const rebate = random.chance(0.3) ? market.spot * random.uniform(0.001, 0.1) : 0;
    const outs = drawBarriers(random, market, { kind: "out", rebate: false }).map((barrier): BarrierJson => ({
      ...barrier,
      rebate,
      rebateAt: "expiry",
    }));
    const base = { ...contractOf(market), ...drawPayoff(random, market) };
    return {
      contracts: [{ ...base, barriers: outs }, { ...base, barriers: outs.map(opposite) }, base],
      compare: ([out, knockIn, plain]) => [
        sumsTo("in + out = plain", rebate * discount(base.rate, base.expiry), [1, out], [1, knockIn], [-1, plain]),
      ],
    };
  },
};

/** European ≤ Bermudan of some dates ≤ Bermudan of more ≤ American; American ≥ what exercise pays now. */
const exercise: Property = {
  name: "rights of exercise",
  weight: 4,
  draw(random) {
    const market = drawMarket(random);
    const { payoff, strike } = drawPayoff(random, market);
    const barriers = random.chance(0.35) ? { barriers: drawBarriers(random, market) } : {};
    const base: Contract = { ...contractOf(market), payoff, ...(strike === undefined ? {} : { strike }), ...barriers };
    const dates = drawDates(random, market.expiry);
    const some = dates.filter(() => random.chance(0.5));
    const rights = ["european", some.length > 0 ? some : "european", dates, "american"] as const;
    const now =
      typeof payoff === "string" && strike !== undefined && !("barriers" in barriers)
        ? Math.max(payoff === "call" ? market.spot - strike : strike - market.spot, 0)
        : 0;
    return {
      contracts: rights.map((right) => ({ ...base, exercise: right })),
      compare: ([european, fewer, more, american]) => [
        atMost("European ≤ Bermudan", 0, [1, european], [-1, fewer]),
        atMost("Bermudan ≤ with more dates", 0, [1, fewer], [-1, more]),
        atMost("Bermudan ≤ American", 0, [1, more], [-1, american]),
        atMost("intrinsic ≤ American", -now, [-1, american]),
      ],
    };
  },
};

/** Knocked in or out is worth at most what is plain; for early exercise both together at least that. */
const barrierBounds: Property = {
  name: "barrier bounds",
  weight: 3,
  draw(random) {
    const market = drawMarket(random);
    const outs = drawBarriers(random, market, { kind: "out", rebate: false });
    const base: Contract = {
      ...contractOf(market),
      payoff: drawRight(random),
      strike: drawStrike(random, market),
      exercise: drawExercise(random, market),
    };
    return {
      contracts: [{ ...base, barriers: outs }, { ...base, barriers: outs.map(opposite) }, base],
      compare: ([out, knockIn, plain]) => [
        atMost("knock-out ≤ plain", 0, [1, out], [-1, plain]),
        atMost("knock-in ≤ plain", 0, [1, knockIn], [-1, plain]),
        atMost("plain ≤ knock-in + knock-out", 0, [1, plain], [-1, out], [-1, knockIn]),
        atMost("0 ≤ knock-out", 0, [-1, out]),
        atMost("0 ≤ knock-in", 0, [-1, knockIn]),
      ],
    };
  },
};

/** More barriers, more monitoring, longer windows, nearer levels: worth less. */
const barrierOrder: Property = {
  name: "barrier order",
  weight: 3,
  draw(random) {
    const market = drawMarket(random);
    const { expiry, spot, width } = market;
    const up: BarrierJson = { type: "up-and-out", level: spot * Math.exp(width * random.uniform(0.05, 2)) };
    const down: BarrierJson = { type: "down-and-out", level: spot * Math.exp(-width * random.uniform(0.05, 2)) };
    const base: Contract = {
      ...contractOf(market),
      ...drawPayoff(random, market),
      exercise: random.chance(0.6) ? "european" : drawExercise(random, market),
    };
    const dates = drawDates(random, expiry);
    const knockedOut = (...barriers: BarrierJson[]): Contract => ({ ...base, barriers });
    const further = { ...up, level: up.level * Math.exp(0.3 * width) };
    return {
      contracts: [
        knockedOut(down, up),
        knockedOut(up),
        knockedOut({ ...up, from: 0.3 * expiry, to: 0.8 * expiry }),
        knockedOut({ ...up, monitoring: dates }),
        knockedOut(further),
        base,
      ],
      compare: ([double, single, window, discrete, far, plain]) => [
        atMost("two barriers ≤ one", 0, [1, double], [-1, single]),
        atMost("whole life ≤ window", 0, [1, single], [-1, window]),
        atMost("continuous ≤ dates", 0, [1, single], [-1, discrete]),
        atMost("near level ≤ far level", 0, [1, single], [-1, far]),
        atMost("dates ≤ plain", 0, [1, discrete], [-1, plain]),
      ],
    };
  },
};

/** Monotone and convex in the strike; a digital between the slopes of two calls, whatever else the trade has. */
const strikes: Property = {
  name: "strikes",
  weight: 4,
  draw(random) {
    const market = drawMarket(random);
    const barriers = random.chance(0.3) ? { barriers: drawBarriers(random, market, { rebate: false }) } : {};
    const base = { ...contractOf(market), ...barriers, exercise: drawExercise(random, market) };
    const right = drawRight(random);
    const strike = drawStrike(random, market);
    const step = strike * random.choice([1e-3, 0.01, 0.1]);
    const [low, middle, high] = [strike - step, strike, strike + step].map((k): Contract => ({
      ...base,
      payoff: right,
      strike: k,
    }));
    const sign = right === "call" ? 1 : -1;
    return {
      contracts: [low, middle, high],
      compare: ([a, b, c]) => [
        atMost("monotone in strike", 0, [sign, c], [-sign, b]),
        atMost("monotone in strike", 0, [sign, b], [-sign, a]),
        atMost("convex in strike", 0, [2, b], [-1, a], [-1, c]),
      ],
    };
  },
};

const digitals: Property = {
  name: "digitals",
  weight: 3,
  draw(random) {
    const market = drawMarket(random);
    const barriers = random.chance(0.3) ? { barriers: drawBarriers(random, market, { rebate: false }) } : {};
    const base = { ...contractOf(market), ...barriers };
    const right = drawRight(random);
    const strike = drawStrike(random, market);
    const step = market.spot * random.choice([0.01, 0.1, 0.3]);
    const [near, far] = right === "call" ? [strike, strike + step] : [strike + step, strike];
    const digital = { digital: right, cash: step };
    return {
      contracts: [
        { ...base, payoff: right, strike: near },
        { ...base, payoff: right, strike: far },
        { ...base, payoff: digital, strike: near },
        { ...base, payoff: digital, strike: far },
      ],
      compare: ([more, less, likely, unlikely]) => [
        atMost("digital ≥ slope of calls", 0, [1, more], [-1, less], [-1, likely]),
        atMost("digital ≤ slope of calls", 0, [1, unlikely], [-1, more], [1, less]),
      ],
    };
  },
};

/** Monotone in the spot, for proportional and cash dividends alike. */
const spots: Property = {
  name: "spots",
  weight: 2,
  draw(random) {
    const market = drawMarket(random);
    const right = drawRight(random);
    const base: Contract = {
      ...contractOf(market),
      payoff: right,
      strike: drawStrike(random, market),
      exercise: drawExercise(random, market),
    };
    const sign = right === "call" ? 1 : -1;
    const higher = base.spot * (1 + random.choice([1e-4, 1e-3, 0.01, 0.1]));
    return {
      contracts: [base, { ...base, spot: higher }],
      compare: ([a, b]) => [atMost("monotone in spot", 0, [sign, a], [-sign, b])],
    };
  },
};

/**
 * Worth more with more volatility: convex payoffs without barriers, European or American. A spot that a cash dividend
 * stops at zero makes a put concave
 * there, so only calls have cash dividends.
 */
const volatilities: Property = {
  name: "volatilities",
  weight: 2,
  draw(random) {
    const right = drawRight(random);
    const dividends = right === "call" ? {} : { dividends: ["none", "yield", "proportional"] as const };
    const market = drawMarket(random, { volatility: ["flat"], ...dividends });
    const base: Contract = {
      ...contractOf(market),
      payoff: right,
      strike: drawStrike(random, market),
      exercise: drawExercise(random, market),
    };
    return {
      contracts: [base, { ...base, volatility: Number(base.volatility) * (1 + random.choice([1e-3, 0.03, 0.3])) }],
      compare: ([a, b]) => [atMost("monotone in volatility", 0, [1, a], [-1, b])],
    };
  },
};

/** An American right that lasts longer is worth no less: it can be exercised when the shorter one ends. */
const lives: Property = {
  name: "lives",
  weight: 2,
  draw(random) {
    const market = drawMarket(random);
    const barriers = random.chance(0.3)
      ? { barriers: drawBarriers(random, market, { kind: "out", rebate: false, windows: false, continuous: true }) }
      : {};
    const base: Contract = { ...contractOf(market), ...drawPayoff(random, market), exercise: "american", ...barriers };
    return {
      contracts: [base, { ...base, expiry: base.expiry * (1 + random.choice([1e-3, 0.03, 0.5])) }],
      compare: ([a, b]) => [atMost("American: monotone in time", 0, [1, a], [-1, b])],
    };
  },
};

/** Linear in the rebate. */
const rebates: Property = {
  name: "rebates",
  weight: 2,
  draw(random) {
    const market = drawMarket(random);
    const barriers = drawBarriers(random, market, { rebate: false });
    const rebate = market.spot * random.uniform(0.01, 0.1);
    const at = random.choice(["hit", "expiry"] as const);
    const base = { ...contractOf(market), ...drawPayoff(random, market) };
    const paying = (amount: number): Contract => ({
      ...base,
      barriers: barriers.map((barrier) => ({
        ...barrier,
        rebate: amount,
        ...(barrier.type.endsWith("-out") ? { rebateAt: at } : {}),
      })),
    });
    return {
      contracts: [paying(0), paying(rebate), paying(2 * rebate)],
      compare: ([a, b, c]) => [
        sumsTo("linear in the rebate", 0, [1, a], [-2, b], [1, c]),
        atMost("monotone in the rebate", 0, [1, a], [-1, b]),
      ],
    };
  },
};

/** What is paid is a digital with the other sign. */
const signs: Property = {
  name: "signs",
  weight: 1,
  draw(random) {
    const market = drawMarket(random);
    const barriers = random.chance(0.3) ? { barriers: drawBarriers(random, market, { rebate: false }) } : {};
    const cash = market.spot * random.uniform(0.01, 0.5);
    const paying = (amount: number): Contract => ({ ...base, payoff: { digital: right, cash: amount } });
    const right = drawRight(random);
    const base = { ...contractOf(market), ...barriers, strike: drawStrike(random, market) };
    return {
      contracts: [paying(cash), paying(-cash)],
      compare: ([got, paid]) => [sumsTo("digital of less than nothing", 0, [1, got], [1, paid])],
    };
  },
};

/** No trade of any kind fails; what pays nothing negative is worth nothing negative. */
const anything: Property = {
  name: "anything",
  weight: 4,
  draw(random) {
    return {
      contracts: [drawContract(random)],
      compare: ([got]) => [atMost("0 ≤ value", 0, [-1, got])],
    };
  },
};

export const relationProperties: readonly Property[] = [
  parity,
  inOut,
  exercise,
  barrierBounds,
  barrierOrder,
  strikes,
  digitals,
  spots,
  volatilities,
  lives,
  rebates,
  signs,
  anything,
];
