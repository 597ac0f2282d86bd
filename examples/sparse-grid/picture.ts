/** Draws convergence.svg: errors of the combination technique by level and by unknowns, on two to four assets. */
import { writeFileSync } from "node:fs";

import { openDevice } from "feynkac";
import { solveOnSparseGrid } from "feynkac/sparsegrid";
import { type Curve, figure } from "../plot.ts";

/** Up-and-out calls on the best of independent assets: integrals of products of killed distributions. */
const EXACT: Readonly<Record<number, number>> = { 2: 15.968701691, 3: 20.84996803, 4: 24.593101253 };
const MOST_UNKNOWNS = 300_000;

using device = await openDevice({ backend: "cpu" });

const best = (names: readonly string[]): string =>
  names.length === 1 ? names[0]! : `max(${names[0]!}, ${best(names.slice(1))})`;

type Payoff = "smooth" | "averaged" | "nodes";

/** The relative error on a level, and the unknowns of all grids. */
async function errorOf(axes: number, level: number, payoff: Payoff): Promise<{ error: number; unknowns: number }> {
  const names = ["A", "B", "C", "D"].slice(0, axes);
  const isSmooth = payoff === "smooth";
  const axis = { from: 45, to: isSmooth ? 300 : 200, coordinate: "log", points: [100], width: 0.22 } as const;
  const end = { high: { kind: "dirichlet", value: 0 } } as const;
  const { entries } = await solveOnSparseGrid<string>(
    {
      axes: Object.fromEntries(names.map((name) => [name, axis])),
      equation: Object.fromEntries([
        ...names.map((name) => [name + name, `0.02*${name}^2`]),
        ...names.map((name) => [name, `0.03*${name}`]),
        ["V", -0.03],
      ]) as never,
      terminal: isSmooth ? names.join("*") : `max(${best(names)} - 100, 0)`,
      boundaries: isSmooth ? {} : Object.fromEntries(names.map((name) => [name, end])),
      expiry: 1,
      averaging: payoff === "averaged",
      steps: 100,
      level,
    },
    { device },
  );
  const exact = isSmooth ? 100 ** axes * Math.exp(0.03 * (axes - 1)) : EXACT[axes]!;
  const { value } = entries[0]!.at(Object.fromEntries(names.map((name) => [name, 100])));
  return { error: Math.abs(value / exact - 1), unknowns: entries[0]!.unknowns };
}

async function curves(
  axes: number,
  payoff: Payoff,
): Promise<readonly { level: number; error: number; unknowns: number }[]> {
  const all: { level: number; error: number; unknowns: number }[] = [];
  for (let level = 0; level <= 6; level++) {
    const found = await errorOf(axes, level, payoff);
    if (found.unknowns > MOST_UNKNOWNS) break;
    all.push({ level, ...found });
  }
  return all;
}

const power = (tick: number): string => `1e${tick}`;
const labels: Record<Payoff, string> = {
  smooth: "smooth payoff",
  averaged: "best of three, averaged",
  nodes: "best of three, at the nodes",
};
const byLevel: Curve[] = [];
for (const payoff of ["smooth", "averaged", "nodes"] as const) {
  const points = await curves(3, payoff);
  byLevel.push({
    label: labels[payoff],
    points: points.map(({ level, error }) => [level, Math.log10(error)] as const),
  });
}
const byUnknowns: Curve[] = [];
for (const axes of [2, 3, 4]) {
  const points = await curves(axes, "averaged");
  byUnknowns.push({
    label: `${axes} assets`,
    points: points.map(({ unknowns, error }) => [Math.log10(unknowns), Math.log10(error)] as const),
  });
}
const y = { label: "relative error", format: power };
writeFileSync(
  new URL("convergence.svg", import.meta.url),
  figure("Errors of the combination technique by level and by unknowns", [
    { title: "Three assets", x: { label: "level" }, y, curves: byLevel },
    { title: "Best of several, averaged", x: { label: "unknowns", format: power }, y, curves: byUnknowns },
  ]),
);
