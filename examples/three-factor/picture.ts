/** Draws the calls of `model.ts` to calls.svg, beside their closed form, and the prices from which they are exercised. */
import { writeFileSync } from "node:fs";

import { type Curve, figure } from "../plot.ts";
import { calls } from "./model.ts";

type Call = (typeof calls.entries)[number];
const [european, american] = calls.entries as [Call, Call];
const parameter = (name: string): number => european.parameters[name]!;
const [K, sigma, YEARS] = [parameter("K"), parameter("sigma"), 1];
const [kappa, theta, omega] = [parameter("kappa"), parameter("theta"), parameter("omega")];
const [a, m, eta] = [parameter("a"), parameter("m"), parameter("eta")];
const [rhoSy, rhoSr, rhoyr] = [parameter("rhoSy"), parameter("rhoSr"), parameter("rhoyr")];

/** Simpson's rule over the life. */
function integral(f: (u: number) => number): number {
  const n = 200;
  const weight = (i: number): number => (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2);
  return (
    Array.from({ length: n + 1 }, (_, i) => weight(i) * f((YEARS * i) / n)).reduce((x, y) => x + y) * (YEARS / n / 3)
  );
}

/** Φ, to 1e-7: Abramowitz and Stegun (1964), 26.2.17. */
function normal(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const p = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153].reduce((sum, c) => (sum + c) * t, 0);
  const tail = (p * Math.exp(-0.5 * x * x)) / Math.sqrt(2 * Math.PI);
  return x > 0 ? 1 - tail : tail;
}

/**
 * The European call, which `model.ts` does not know. The factors ln S, y and r are Gaussian, so the forward price is
 * lognormal and Black's formula holds, with the variance of the forward price. `asset` is what a barrel delivered at
 * expiry is worth today.
 */
function closedForm(S: number, y: number, r: number): number {
  const B = (speed: number, u: number): number => (1 - Math.exp(-speed * u)) / speed;
  const over = (level: number, now: number, speed: number): number => level * YEARS + (now - level) * B(speed, YEARS);
  const yields = over(theta + (rhoSy * sigma * omega) / kappa, y, kappa);
  const asset = S * Math.exp(-yields + 0.5 * integral((u) => (omega * B(kappa, u)) ** 2));
  const bond = Math.exp(-over(m, r, a) + 0.5 * integral((u) => (eta * B(a, u)) ** 2));
  const variance = integral((u) => {
    const [toYield, toRate] = [-omega * B(kappa, u), eta * B(a, u)];
    const squares = sigma ** 2 + toYield ** 2 + toRate ** 2;
    return squares + 2 * (rhoSy * sigma * toYield + rhoSr * sigma * toRate + rhoyr * toYield * toRate);
  });
  const deviation = Math.sqrt(variance);
  const d1 = Math.log(asset / (K * bond)) / deviation + 0.5 * deviation;
  return asset * normal(d1) - K * bond * normal(d1 - deviation);
}

const range = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
const percent = (part: number): string => `${Math.round(100 * part)} %`.replace("-", "−");

const yields = [-0.2, 0.1, 0.4];
const exact = yields.flatMap((y) => range(65, 135, 8).map((S) => [S, closedForm(S, y, 0.04), y] as const));
const differences = exact.map(([S, value, y]) => Math.abs(european.at({ S, y, r: 0.04 }).value - value));
const worst = Math.max(...differences);
console.log(`largest difference from the closed form: ${worst.toExponential(1)}`);
if (!(worst < 0.01)) throw new Error("the model's calls are not those of the closed form");

const against = (call: Call): Curve[] =>
  yields.map((y) => ({
    label: percent(y),
    points: range(60, 140, 81).map((S) => [S, call.at({ S, y, r: 0.04 }).value] as const),
  }));

/**
 * The price from which the American call is exercised at once, on the line of yield j and rate k; NaN if there is none.
 * The root of value − payoff goes to zero like a straight line. It is continued from the second and fourth node before
 * the exercised ones, since the splitting has lowered the value at the first.
 */
function exercisedFrom(j: number, k: number): number {
  const { S, y } = american.nodes;
  const line = (k * y.length + j) * S.length;
  let first = S.length;
  while (american.exerciseRegion![line + first - 1] === 1) first--;
  if (first === S.length) return Number.NaN;
  const root = (i: number): number => Math.sqrt(american.values[line + i]! - (S[i]! - K));
  const [b, c] = [first - 4, first - 2];
  return S[c]! + (root(c) * (S[c]! - S[b]!)) / (root(b) - root(c));
}

const { y: yieldNodes, r: rateNodes } = american.nodes;
const edges = [0, 0.04, 0.08].map((rate): Curve => {
  const k = rateNodes.findIndex((r) => Math.abs(r - rate) < 1e-9);
  return { label: percent(rate), points: [...yieldNodes].map((y, j) => [y, exercisedFrom(j, k)] as const) };
});

const price = { label: "price of a barrel in USD" };
const value = { label: "value in USD", range: [0, 50] } as const;
writeFileSync(
  new URL("calls.svg", import.meta.url),
  figure("Calls on oil in Schwartz's model of three factors", [
    {
      title: "European call of one year at 100",
      x: price,
      y: value,
      curves: [...against(european), { label: "closed form", points: exact.map(([S, v]) => [S, v]), style: "dots" }],
      legend: "convenience yield",
    },
    {
      title: "American call",
      x: price,
      y: value,
      curves: [
        ...against(american),
        { label: "payoff", points: [60, 100, 140].map((S) => [S, Math.max(S - K, 0)]), style: "reference" },
      ],
      legend: "convenience yield",
    },
    {
      title: "Price from which it is exercised",
      x: { label: "convenience yield today", range: [0.2, 0.8], format: percent },
      y: { label: price.label, range: [100, 160] },
      curves: edges,
      legend: "short rate",
    },
  ]),
);
