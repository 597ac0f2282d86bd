/** Problems with knock-ins that between them make every kind of kernel that has two values. Free of the test runner. */
import { inwardFirst, type KnockOut, type OneFactorProblem, type MonitoredLevel } from "../../../src/pde/fdm/index.ts";
import { formula } from "../../../src/kernel/index.ts";
import { constant, localSurface } from "../../../src/market/index.ts";
import { vanillaPayoff } from "../../../src/market/products/index.ts";

const level = (side: "up" | "down", at: number, parts: Partial<MonitoredLevel> = {}): MonitoredLevel => ({
  side,
  level: at,
  from: 0,
  to: 1,
  times: undefined,
  ...parts,
});
const out = (side: "up" | "down", at: number, parts: Partial<KnockOut> = {}): KnockOut => ({
  ...level(side, at),
  rebate: 0,
  rebateAt: "hit",
  open: false,
  ...parts,
});

/** Spots that wait, and some that are knocked in, or out. */
export const european: OneFactorProblem = {
  spots: [100, 84, 123],
  expiry: 1,
  payoff: vanillaPayoff("put", 105),
  american: false,
  rates: constant(0.05),
  dividendYield: 0.01,
  dividends: [],
  diffusion: { kind: "deterministic", sigma: constant(0.25) },
};
const dividends = [
  { time: 0.3, cash: 4, proportional: 0 },
  { time: 0.6, cash: 0, proportional: 0.05 },
];

export const settings: Readonly<Record<string, Pick<OneFactorProblem, "knockIns" | "barriers" | "dividends">>> = {
  "one level": { dividends: [], knockIns: { levels: [level("down", 88)], rebate: 2 } },
  "one on either side, one on dates": {
    dividends: [],
    knockIns: { levels: [level("down", 88), level("up", 120, { times: [0.25, 0.5, 1] })], rebate: 1 },
  },
  "windows, knock-outs beside, a rebate at expiry": {
    dividends: [],
    knockIns: { levels: [level("down", 92, { from: 0.2, to: 0.7 }), level("up", 112)], rebate: 1 },
    barriers: inwardFirst([
      out("up", 120, { rebate: 3, rebateAt: "expiry" }),
      out("down", 80, { rebate: 2, times: [0.4, 0.8] }),
    ]),
  },
  "dividends across the level": {
    dividends,
    knockIns: { levels: [level("down", 90), level("up", 125, { from: 0.5 })], rebate: 1 },
  },
  "a level past the mesh, and one where a knock-out is": {
    dividends: [],
    knockIns: { levels: [level("down", 1), level("up", 120)], rebate: 1 },
    barriers: [out("up", 120, { rebate: 3 })],
  },
};

export const withSetting = (base: OneFactorProblem, name: string): OneFactorProblem => ({ ...base, ...settings[name] });

const american = { ...european, american: true };
const bermudan = { ...european, exerciseTimes: [0, 0.25, 0.5, 0.8] };
const surface = localSurface(
  [0.1, 0.6],
  [60, 100, 150],
  [
    [0.4, 0.3, 0.25],
    [0.35, 0.3, 0.28],
  ],
);
export const problems: Readonly<Record<string, OneFactorProblem>> = {
  ...Object.fromEntries(Object.keys(settings).map((name) => [`American, ${name}`, withSetting(american, name)])),
  ...Object.fromEntries(Object.keys(settings).map((name) => [`Bermudan, ${name}`, withSetting(bermudan, name)])),
  "American, σ(S), stepped rates": {
    ...withSetting(american, "windows, knock-outs beside, a rebate at expiry"),
    rates: { times: [0.4, 0.5], values: [0.01, 0.05, 0.05] },
    diffusion: { kind: "local", sigma: (spot) => 2.5 / Math.sqrt(spot), shift: 0 },
  },
  "Bermudan, σ(S, t)": {
    ...withSetting(bermudan, "one level"),
    diffusion: { kind: "formula", sigma: formula("0.2 + 0.1*exp(-S/100) + 0.05*t", ["S", "t"]), shift: 0 },
  },
  "American, surface": { ...withSetting(american, "one level"), diffusion: { kind: "surface", surface, shift: 0.01 } },
};

/** Every kind of event and of diffusion, in three kernels. */
export const kernels = [
  "American, windows, knock-outs beside, a rebate at expiry",
  "Bermudan, dividends across the level",
  "American, surface",
] as const;
