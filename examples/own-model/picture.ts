/** Draws the model of `model.ts` to bonds.svg: its bonds beside the closed form, and bonds that may be sold back. */
import { writeFileSync } from "node:fs";

import { solve } from "feynkac";
import { type Curve, figure } from "../plot.ts";
import { bonds } from "./model.ts";

const [KAPPA, THETA, YEARS] = [0.3, 0.06, 10];

/** Cox, Ingersoll and Ross (1985): V = A·e^(−B·r), what `model.ts` never knew. */
function closedForm(r: number, sigma: number): number {
  const h = Math.sqrt(KAPPA ** 2 + 2 * sigma ** 2);
  const growth = Math.expm1(h * YEARS);
  const denominator = 2 * h + (KAPPA + h) * growth;
  const A = ((2 * h * Math.exp(((KAPPA + h) * YEARS) / 2)) / denominator) ** ((2 * KAPPA * THETA) / sigma ** 2);
  return A * Math.exp((-2 * growth * r) / denominator);
}

/** The same bonds, which their holder may sell for 0.50 at any time. */
const puttable = await solve({
  axes: { r: { from: 0, to: 1, nodes: 1001, points: [0.05], width: 0.1 } },
  parameters: { kappa: KAPPA, theta: THETA, sigma: [0.05, 0.15, 0.25], floor: 0.5 },
  equation: ({ r, kappa, theta, sigma }) => ({ rr: 0.5 * sigma ** 2 * r, r: kappa * (theta - r), V: -r }),
  terminal: 1,
  expiry: YEARS,
  steps: 800,
  conditions: [{ kind: "exercise", payoff: "floor", side: "high" }],
});

const rates = Array.from({ length: 61 }, (_, i) => i / 200);
const volatilities = bonds.entries.map(({ parameters }) => parameters["sigma"]!);
const label = (k: number): string => `σ = ${volatilities[k]}`;
const percent = (tick: number): string => `${Math.round(100 * tick)} %`;

const exact = volatilities.flatMap((sigma) =>
  [0.02, 0.08, 0.14, 0.2, 0.26].map((r) => [r, closedForm(r, sigma)] as const),
);
const differences = exact.map(([r, value], i) => Math.abs(bonds.entries[Math.floor(i / 5)]!.at(r).value - value));
const worst = Math.max(...differences);
console.log(`largest difference from the closed form: ${worst.toExponential(1)}`);
if (!(worst < 1e-4)) throw new Error("the model's bonds are not those of the closed form");

const against = (entries: typeof bonds.entries): Curve[] =>
  entries.map((entry, k) => ({ label: label(k), points: rates.map((r) => [r, entry.at(r).value] as const) }));
const edges = puttable.entries.map(({ exerciseBoundary }, k): Curve => {
  const { times, levels } = exerciseBoundary!;
  return { label: label(k), points: [...times].map((time, i) => [time, levels[i]!] as const) };
});
const rate = { label: "short rate today", format: percent, ticks: [0, 0.1, 0.2, 0.3] };
const price = { label: "price", range: [0.2, 0.8], ticks: [0.2, 0.4, 0.6, 0.8] } as const;
writeFileSync(
  new URL("bonds.svg", import.meta.url),
  figure("Bonds in the model of Cox, Ingersoll and Ross", [
    {
      title: "Zero bonds of ten years",
      x: rate,
      y: price,
      curves: [...against(bonds.entries), { label: "closed form", points: exact, style: "dots" }],
    },
    { title: "That may be sold for 0.50 at any time", x: rate, y: price, curves: against(puttable.entries) },
    {
      title: "The rate above which they are sold",
      x: { label: "years from today", range: [0, 10] },
      y: { label: "short rate", range: [0, 0.4], ticks: [0, 0.1, 0.2, 0.3, 0.4], format: percent },
      curves: edges,
    },
  ]),
);
