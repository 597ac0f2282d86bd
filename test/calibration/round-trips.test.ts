/**
 * Round trips: a model with random parameters gives quotes, whose fit is to give the quotes back. What is not recovered
 * must not be called converged. `npm run test:all` takes 10,000 sets of each model.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fitAndreasenHuge } from "../../src/calibration/andreasen-huge.ts";
import type { SurfaceFit, UnderlyingQuotes } from "../../src/calibration/fit.ts";
import { fitHeston } from "../../src/calibration/heston-fit.ts";
import { hestonSlice } from "../../src/calibration/heston-slices.ts";
import { fitHullWhite, hullWhitePrice, type RateQuote } from "../../src/calibration/hull-white.ts";
import { fitSabr } from "../../src/calibration/sabr.ts";
import { haganVolatility } from "../../src/market/hagan.ts";
import { ssviVariance } from "../../src/market/ssvi.ts";
import { fitSsvi } from "../../src/calibration/ssvi-fit.ts";
import { fitSvi } from "../../src/calibration/svi-surface.ts";
import { sviVariance } from "../../src/market/svi.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { everything } from "../support/extent.ts";
import { quotesOf } from "./quotes.ts";
import { uniform } from "./uniform.ts";

/** The largest root mean square error of prices that is a recovery; that of caps is relative. */
const TOLERANCE = 1e-6;
/** The share of sets that has to be recovered. */
const RECOVERED = 0.995;

type Random = () => number;
type Fit = (random: Random) => Promise<{ readonly status: string; readonly error: number }>;

const between = (random: Random, low: number, high: number): number => low + (high - low) * random();
const geometric = (random: Random, low: number, high: number): number => low * (high / low) ** random();
const TIMES = [0.1, 0.5, 1, 2];
const STEPS = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2];

/** Quotes of `volatility` at ±2 deviations of `level` about the forward. */
function quoted(level: (t: number) => number, volatility: (k: number, t: number) => number): UnderlyingQuotes {
  const expiries = TIMES.map((t) => {
    const k = STEPS.map((step) => step * level(t) * Math.sqrt(t));
    return quotesOf(t, k, (at) => volatility(at, t));
  });
  return { spot: 100, expiries };
}

/** Errors of prices, in units of F·√T: a quote that is worth hardly anything determines no volatility. */
function tried({ expiries }: UnderlyingQuotes, { status, impliedVolatility }: SurfaceFit): ReturnType<Fit> {
  let [sum, count] = [0, 0];
  for (const { time, logMoneyness, implied } of expiries)
    logMoneyness.forEach((k, i) => {
      const deviation = implied[i] * Math.sqrt(time);
      const vega = Math.exp(-0.5 * (-k / deviation + 0.5 * deviation) ** 2) / Math.sqrt(2 * Math.PI);
      sum += (vega * (impliedVolatility(k, time) - implied[i])) ** 2;
      count++;
    });
  return Promise.resolve({ status, error: Math.sqrt(sum / count) });
}

/** Quotes of an SSVI surface within the conditions of Gatheral and Jacquier. */
function ssviQuotes(random: Random): UnderlyingQuotes {
  const sigma = geometric(random, 0.1, 0.6);
  const rho = between(random, -0.9, 0.5);
  const gamma = between(random, 0.1, 0.6);
  const thetas = TIMES.map((t) => sigma * sigma * t);
  const caps = [thetas[0], thetas[thetas.length - 1]].flatMap((theta) => [
    (4 * theta ** (gamma - 1)) / (1 + Math.abs(rho)),
    2 * Math.sqrt(theta ** (2 * gamma - 1) / (1 + Math.abs(rho))),
  ]);
  const eta = between(random, 0.1, 0.9) * Math.min(...caps);
  return quoted(
    () => sigma,
    (k, t) => {
      const theta = sigma * sigma * t;
      return Math.sqrt(ssviVariance({ theta, phi: eta * theta ** -gamma, rho, k }).variance / t);
    },
  );
}

function svi(random: Random): ReturnType<Fit> {
  const level = geometric(random, 0.1, 0.6);
  const of = TIMES.map((t) => {
    const [width, rho] = [level * Math.sqrt(t), between(random, -0.9, 0.9)];
    const sigma = width * geometric(random, 0.2, 2);
    // Lee's bound on the slopes of the wings is one of the fit.
    const b = Math.min((level * level * t * between(random, 0.1, 0.8)) / sigma, 1.9 / (1 + Math.abs(rho)));
    const a = level * level * t - b * sigma * Math.sqrt(1 - rho * rho) * between(random, 0, 1);
    return { a, b, rho, m: width * between(random, -0.5, 0.5), sigma };
  });
  const quotes = quoted(
    () => level,
    (k, t) => Math.sqrt(sviVariance({ parameters: of[TIMES.indexOf(t)], k }).variance / t),
  );
  return tried(quotes, fitSvi(quotes));
}

function sabr(random: Random): ReturnType<Fit> {
  const [level, beta] = [geometric(random, 0.1, 0.5), between(random, 0.3, 1)];
  const model = {
    alpha: level * 100 ** (1 - beta),
    beta,
    rho: between(random, -0.8, 0.5),
    nu: geometric(random, 0.1, 1),
  };
  const quotes = quoted(
    () => level,
    (k, time) => haganVolatility({ model, forward: 100, strike: 100 * Math.exp(k), time }),
  );
  return tried(quotes, fitSabr(quotes, beta));
}

function hullWhite(random: Random): ReturnType<Fit> {
  const parameters = { meanReversion: between(random, 0.005, 0.3), volatility: geometric(random, 0.003, 0.03) };
  const discount = (t: number): number => Math.exp(-0.03 * t);
  const quotes = [1, 2, 3, 5, 7, 10].map((maturity): RateQuote => {
    const cap = { kind: "cap", start: 0.5, maturity, frequency: 2, strike: 0.03, price: 0 } as const;
    return { ...cap, price: hullWhitePrice(cap, discount, parameters) };
  });
  const { status, rmse } = fitHullWhite(quotes, discount);
  return Promise.resolve({ status, error: rmse });
}

describe("round trips", () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ backend: "cpu", threads: 1 });
  });
  afterAll(() => device[Symbol.dispose]());

  async function heston(random: Random): ReturnType<Fit> {
    const [v0, theta] = [geometric(random, 0.01, 0.25), geometric(random, 0.01, 0.25)];
    const [kappa, sigma] = [geometric(random, 0.3, 8), geometric(random, 0.1, 1.5)];
    const point = [v0, kappa, theta, sigma, between(random, -0.9, 0.3)];
    const slices = TIMES.map((t) => hestonSlice(point, t, 2 * 0.5 * Math.sqrt(t)));
    const quotes = quoted(
      () => Math.sqrt(0.5 * (v0 + theta)),
      (k, t) => slices[TIMES.indexOf(t)].volatility(k),
    );
    return tried(quotes, fitHeston(quotes));
  }
  const models: readonly (readonly [name: string, sample: number, fit: Fit])[] = [
    ["SVI", 200, svi],
    [
      "SSVI",
      200,
      (random) => {
        const quotes = ssviQuotes(random);
        return tried(quotes, fitSsvi(quotes));
      },
    ],
    [
      "Andreasen and Huge",
      100,
      (random) => {
        const quotes = ssviQuotes(random);
        return tried(quotes, fitAndreasenHuge(quotes));
      },
    ],
    ["SABR", 100, sabr],
    ["Hull and White", 100, hullWhite],
    ["Heston", 60, heston],
  ];

  it.each(models)("%s", { timeout: 3_600_000 }, async (name, sample, fit) => {
    const random = uniform(name.length);
    const count = everything ? 10_000 : sample;
    let recovered = 0;
    const wrong: number[] = [];
    for (let i = 0; i < count; i++) {
      const { status, error } = await fit(random);
      if (error <= TOLERANCE) recovered++;
      else if (status === "converged") wrong.push(error);
    }
    if (everything || process.env["ROUND_TRIPS"])
      console.log(`${name}: ${recovered} of ${count} recovered, ${wrong.length} called converged`);
    expect(wrong).toEqual([]);
    expect(recovered).toBeGreaterThanOrEqual(Math.floor(RECOVERED * count));
  });
});
