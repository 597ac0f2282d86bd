/** Draws the model of `model.ts` to docs/own-model.svg: its bonds beside the closed form, and bonds that may be given back. */
import { writeFileSync } from "node:fs";

import { solve } from "../../src/index.ts";
import { bonds } from "./model.ts";

const [WIDTH, HEIGHT, TOP, BOTTOM, LEFT] = [470, 330, 46, 46, 52];
const COLOURS = ["#9ecae1", "#3787c0", "#08306b"];
const [KAPPA, THETA, YEARS, FLOOR] = [0.3, 0.06, 10, 0.5];

type Point = readonly [x: number, y: number];

interface Frame {
  readonly title: string;
  readonly left: number;
  readonly x: { readonly label: string; readonly ticks: readonly number[]; readonly text: (tick: number) => string };
  readonly y: { readonly ticks: readonly number[]; readonly text: (tick: number) => string };
}

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
  parameters: { kappa: KAPPA, theta: THETA, sigma: [0.05, 0.15, 0.25], floor: FLOOR },
  equation: ({ r, kappa, theta, sigma }) => ({ rr: 0.5 * sigma ** 2 * r, r: kappa * (theta - r), V: -r }),
  terminal: 1,
  expiry: YEARS,
  steps: 800,
  conditions: [{ kind: "exercise", payoff: "floor", side: "high" }],
});

const rates = Array.from({ length: 61 }, (_, i) => i / 200);
const dots = [0.02, 0.08, 0.14, 0.2, 0.26];

/** Coordinates on the picture. */
function place({ left, x, y }: Frame): (point: Point) => Point {
  const [x0, x1, y0, y1] = [x.ticks[0], x.ticks.at(-1)!, y.ticks[0], y.ticks.at(-1)!];
  return ([px, py]) => [
    left + LEFT + ((WIDTH - LEFT - 30) * (px - x0)) / (x1 - x0),
    HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (py - y0)) / (y1 - y0),
  ];
}

const text = ([x, y]: Point, what: string, anchor: string, kind = "tick"): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${kind}" text-anchor="${anchor}">${what}</text>`;

function axes(frame: Frame): string {
  const { title, x, y } = frame;
  const at = place(frame);
  const [x0, x1] = [x.ticks[0], x.ticks.at(-1)!];
  const rows = y.ticks.map((tick) => {
    const [[a, b], [c]] = [at([x0, tick]), at([x1, tick])];
    const line = `<line x1="${a.toFixed(1)}" x2="${c.toFixed(1)}" y1="${b.toFixed(1)}" y2="${b.toFixed(1)}" class="grid"/>`;
    return line + text([a - 8, b + 4], y.text(tick), "end");
  });
  const columns = x.ticks.map((tick) => text([at([tick, 0])[0], HEIGHT - BOTTOM + 18], x.text(tick), "middle"));
  const [start] = at([x0, 0]);
  const [middle] = at([(x0 + x1) / 2, 0]);
  return [
    text([start, 24], title, "start", "title"),
    ...rows,
    ...columns,
    text([middle, HEIGHT - 8], x.label, "middle"),
  ].join("\n");
}

function curve(frame: Frame, points: readonly Point[], colour: string, kind = "curve"): string {
  const path = points
    .map((point) =>
      place(frame)(point)
        .map((number) => number.toFixed(1))
        .join(","),
    )
    .join(" ");
  return `<polyline points="${path}" stroke="${colour}" class="${kind}"/>`;
}

const percent = (tick: number): string => `${Math.round(100 * tick)} %`;
const prices: Frame = {
  title: "Zero bonds of 10 years; dashed: to be sold for 0.50",
  left: 0,
  x: { label: "short rate today", ticks: [0, 0.1, 0.2, 0.3], text: percent },
  y: { ticks: [0.2, 0.4, 0.6, 0.8], text: (tick) => tick.toFixed(1) },
};
const boundary: Frame = {
  title: "The rate above which it is sold",
  left: WIDTH,
  x: { label: "years from today", ticks: [0, 2, 4, 6, 8, 10], text: String },
  y: { ticks: [0, 0.1, 0.2, 0.3, 0.4], text: percent },
};

let worst = 0;
const drawn = bonds.entries.map((bond, k) => {
  const sigma = bond.parameters["sigma"];
  for (const r of dots) worst = Math.max(worst, Math.abs(bond.at(r).value - closedForm(r, sigma)));
  const marks = dots.map((r) => {
    const [x, y] = place(prices)([r, closedForm(r, sigma)]);
    return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" stroke="${COLOURS[k]}" class="dot"/>`;
  });
  const { times, levels } = puttable.entries[k].exerciseBoundary!;
  const edge = [...times].flatMap((time, i): Point[] => (levels[i] <= 0.4 ? [[time, levels[i]]] : []));
  return [
    curve(
      prices,
      rates.map((r): Point => [r, bond.at(r).value]),
      COLOURS[k],
    ),
    curve(
      prices,
      rates.map((r): Point => [r, puttable.entries[k].at(r).value]),
      COLOURS[k],
      "curve dashed",
    ),
    ...marks,
    curve(boundary, edge, COLOURS[k]),
  ].join("\n");
});
console.log(`largest difference from the closed form: ${worst.toExponential(1)}`);
if (!(worst < 1e-4)) throw new Error("the model's bonds are not those of the closed form");

const legend = bonds.entries.map(({ parameters }, k) => {
  const y = HEIGHT - BOTTOM - 84 + 20 * k;
  const x = 2 * WIDTH - 170;
  return (
    `<line x1="${x}" x2="${x + 18}" y1="${y}" y2="${y}" stroke="${COLOURS[k]}" class="curve"/>` +
    text([x + 24, y + 4], `σ = ${parameters["sigma"]}`, "start")
  );
});
const STYLE = `text { font-family: system-ui, sans-serif; fill: #333 } .title { font-size: 14px; font-weight: 600 } .tick { font-size: 11px }
.grid { stroke: #ddd } .curve { fill: none; stroke-width: 1.8 } .dashed { stroke-dasharray: 5 3 } .dot { fill: #fff; stroke-width: 1.6 }`;
writeFileSync(
  new URL("../../docs/own-model.svg", import.meta.url),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH} ${HEIGHT}" role="img" aria-label="Bonds in the model of Cox, Ingersoll and Ross">
<style>${STYLE}</style>
<rect width="100%" height="100%" fill="#fff"/>
${axes(prices)}
${axes(boundary)}
${drawn.join("\n")}
${legend.join("\n")}
${text([2 * WIDTH - 170, HEIGHT - BOTTOM - 20], "circles: the closed form", "start")}
</svg>
`,
);
