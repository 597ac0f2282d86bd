/** Draws Heston's put to heston.svg: its price, where the American one is exercised, and how the schemes converge. */
import { writeFileSync } from "node:fs";

import { openDevice, solve } from "feynkac";
import type { AxesSolution } from "feynkac/fdm";
import { type Curve, figure } from "../plot.ts";
import { surface } from "../surface.ts";

const [K, RATE] = [100, 0.025];
/** The model of docs/pde.md. The call by the Fourier integral of Heston (1993), and the put by parity. */
const EXACT = 8.894869360054 - 100 + K * Math.exp(-RATE);
const AT = { S: 100, v: 0.04 };

// The processor, so that the picture is the same wherever it is made.
using device = await openDevice({ backend: "cpu" });

interface Finesse {
  /** Along S. */
  readonly nodes: number;
  readonly steps: number;
  readonly kind?: (typeof SCHEMES)[number];
  /** 1 if they may be exercised at any time. */
  readonly american?: 0 | 1;
  readonly years?: readonly number[];
}

const SCHEMES = ["douglas", "craig-sneyd", "modified-craig-sneyd", "hundsdorfer-verwer"] as const;

/** Puts of some expiries on `nodes` by half as many. */
async function puts(finesse: Finesse): Promise<AxesSolution<"S" | "v">> {
  const { nodes, steps, kind = "modified-craig-sneyd", american = 0, years = [1] } = finesse;
  return solve(
    {
      axes: {
        S: { from: 0, to: "4*K", points: ["K"], width: "K/4", nodes },
        v: { from: 0, to: 0.6, points: [{ at: 0.04, align: "none" }], width: 0.1, nodes: (nodes + 1) / 2 },
      },
      parameters: { K, r: RATE, kappa: 1.5, eta: 0.04, xi: 0.3, rho: -0.9, american, years },
      equation: ({ S, v, r, kappa, eta, xi, rho }) => ({
        SS: 0.5 * v * S ** 2,
        Sv: rho * xi * v * S,
        vv: 0.5 * xi ** 2 * v,
        S: r * S,
        v: kappa * (eta - v),
        V: -r,
      }),
      terminal: ({ S, K }) => Math.max(K - S, 0),
      expiry: "years",
      conditions: [{ kind: "exercise", payoff: ({ S, K, american }) => american * (K - S) }],
      scheme: { kind },
      steps,
      grading: 1,
    },
    { device },
  );
}

/**
 * The price below which an American put is exercised at once, at each variance of the mesh. The root of value − payoff
 * goes to zero like a straight line. It is continued from the second and fourth node after the exercised ones, since
 * the splitting has lowered the value at the first.
 */
function exercisedBelow({ nodes: { S, v }, values, exerciseRegion }: AxesSolution<"S" | "v">["entries"][number]) {
  return [...v].map((variance, j) => {
    const line = j * S.length;
    let first = 0;
    while (exerciseRegion![line + first] === 1) first++;
    const root = (i: number): number => Math.sqrt(Math.max(values[line + i]! - (K - S[i]!), 0));
    const [b, c] = [first + 1, first + 3];
    return [variance, S[b]! - (root(b) * (S[c]! - S[b]!)) / (root(c) - root(b))] as const;
  });
}

const range = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
const [years, lives] = [
  [0.25, 1, 4],
  ["3 months", "1 year", "4 years"],
];
const names: Record<(typeof SCHEMES)[number], string> = {
  douglas: "Douglas",
  "craig-sneyd": "Craig–Sneyd",
  "modified-craig-sneyd": "modified Craig–Sneyd",
  "hundsdorfer-verwer": "Hundsdorfer–Verwer",
};

const { entries } = await puts({ nodes: 161, steps: 100 });
const european = entries[0]!;
const american = await puts({ nodes: 201, steps: 200, american: 1, years });

/** Logarithms of the errors of each scheme at some resolutions; the line of order 2 begins at `order2`. */
async function errors(
  at: readonly number[],
  resolution: (x: number) => Finesse,
  exact: number,
  order2: number,
): Promise<Curve[]> {
  const curves: Curve[] = [];
  for (const kind of SCHEMES) {
    const points: (readonly [number, number])[] = [];
    for (const x of at) {
      const { value } = (await puts({ ...resolution(x), kind })).entries[0]!.at(AT);
      points.push([Math.log10(x), Math.log10(Math.abs(value - exact))]);
    }
    curves.push({ label: names[kind], points });
  }
  const ends = [at[0]!, at.at(-1)!];
  const line = ends.map((x) => [Math.log10(x), Math.log10(order2 * (x / ends[0]!) ** -2)] as const);
  return [...curves, { label: "order 2", points: line, style: "reference" }];
}

const steps = [5, 10, 20, 40, 80, 160];
const nodes = [25, 49, 97, 193];
const onThisMesh = (await puts({ nodes: 97, steps: 2560, kind: "hundsdorfer-verwer" })).entries[0]!.at(AT).value;
const inTime = await errors(steps, (count) => ({ nodes: 97, steps: count }), onThisMesh, 0.05);
const inBoth = await errors(nodes, (count) => ({ nodes: count, steps: (count - 1) / 2 }), EXACT, 0.25);
for (const { label, points } of [...inTime, ...inBoth])
  console.log(label.padEnd(22), points.map(([, y]) => (10 ** y).toExponential(1)).join("  "));
// 1e-5 of the spot on the finest mesh.
const finest = inBoth.slice(0, SCHEMES.length).map(({ points }) => points.at(-1)![1]);
if (!finest.every((logarithm) => logarithm < -3)) throw new Error("the put is not that of the Fourier integral");

/** A power of ten below 1, by its exponent. */
const power = (exponent: number): string => `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[-exponent]}`;
const logarithmic = (label: string, at: readonly number[]) => ({
  label,
  ticks: at.map((x) => Math.log10(x)),
  format: (tick: number) => String(Math.round(10 ** tick)),
});
const error = { label: "error", ticks: [-6, -5, -4, -3, -2, -1], range: [-6, -0.5], format: power } as const;
const [spots, variances] = [range(50, 150, 31), range(0, 0.3, 25)];
writeFileSync(
  new URL("heston.svg", import.meta.url),
  figure(
    "Puts in Heston's model: price, exercise, and convergence",
    [
      surface({
        title: "Put of one year at 100",
        x: { label: "spot", at: spots, ticks: [60, 80, 100, 120, 140] },
        y: { label: "variance", at: variances, ticks: [0, 0.1, 0.2, 0.3] },
        z: { label: "value", range: [0, 50], ticks: [0, 10, 20, 30, 40, 50] },
        values: variances.map((v) => spots.map((S) => european.at({ S, v }).value)),
      }),
      {
        title: "American puts: exercised below the curve",
        x: { label: "variance today", range: [0, 0.3] },
        y: { label: "spot", range: [40, 100] },
        curves: american.entries.map((entry, k) => ({ label: lives[k]!, points: exercisedBelow(entry) })),
        legend: "to expiry",
      },
      {
        title: "Error in time, 97 × 49 nodes",
        x: logarithmic("steps", steps),
        y: error,
        curves: inTime,
      },
      {
        title: "Error, half as many steps as nodes along S",
        x: logarithmic("nodes along S (half as many along v)", nodes),
        y: error,
        curves: inBoth,
      },
    ],
    { columns: 2 },
  ),
);
