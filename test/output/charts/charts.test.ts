import { describe, expect, test } from "vitest";
import { type Chart, chartSvg, drawChart } from "../../../src/output/charts/index.ts";

const size = { width: 400, height: 260 };
const line: Chart = {
  kind: "plot",
  title: "A <title> & more",
  x: { label: "x" },
  y: { label: "y" },
  series: [
    {
      label: "line",
      points: [
        [0, 0],
        [5, 1],
        [6, Number.NaN],
        [7, 1],
        [10, 2],
      ],
    },
    {
      label: "dots",
      style: "dots",
      points: [
        [1, 1],
        [2, 2],
      ],
    },
  ],
};
const all: readonly Chart[] = [
  line,
  {
    ...line,
    series: [
      {
        label: "bars",
        style: "bars",
        points: [
          [0, 3],
          [1, 0],
          [2, 5],
        ],
      },
    ],
  },
  {
    ...line,
    x: { label: "x", scale: "log" },
    y: { label: "y", scale: "log" },
    series: [
      {
        label: "l",
        points: [
          [0.01, 1],
          [10, 1e-9],
        ],
      },
    ],
  },
  { ...line, series: [{ label: "constant", points: [[1, 7]] }], marks: [{ x: 1, label: "today" }] },
  { ...line, series: [{ label: "nothing", points: [] }] },
  {
    kind: "heat-map",
    title: "Map",
    x: { label: "x", values: ["a", "b"] },
    y: { label: "y", values: ["c", "d"] },
    values: [
      [-1, 2],
      [null, 4],
    ],
    unit: "EUR",
    colours: "diverging",
  },
  {
    kind: "waterfall",
    title: "Steps",
    unit: "EUR",
    steps: [
      { label: "before", value: 10, isTotal: true },
      { label: "down", value: -4 },
      { label: "after", value: 6, isTotal: true },
    ],
  },
];

describe("charts", () => {
  test.each(all.map((chart, i) => [`${i} ${chart.kind}`, chart] as const))(
    "%s has no number that is none",
    (_, chart) => {
      const svg = drawChart(chart, size);
      expect(svg).toMatch(/^<svg .*<\/svg>$/s);
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    },
  );

  test("escape what comes from outside", () => {
    expect(drawChart(line, size)).toContain("A &lt;title&gt; &amp; more");
    expect(drawChart(line, size)).not.toContain("<title> &");
  });

  test("interrupt a line where it has no value, and put points where the axes say", () => {
    const [, path] =
      /<path class="c-line c-line" d="([^"]*)" style/.exec(drawChart(line, size).replace(/d="M\d+ \d+h18"/g, "")) ?? [];
    expect(path.match(/M/g)).toHaveLength(2);
    const [x0, y0, x1, y1] = path.match(/[\d.]+/g)!.map(Number);
    // x is tight, 0 … 10; y has round ticks, 0 … 2.
    expect((x1 - x0) / (386 - x0)).toBeCloseTo(0.5, 2);
    expect(y1).toBeLessThan(y0);
  });

  test("a waterfall's bars begin where the one before has ended", () => {
    const bars = [...drawChart(all[6], size).matchAll(/<rect x="([\d.]+)"[^>]*width="([\d.]+)"/g)].map(
      ([, x, width]) => [Number(x), Number(width)],
    );
    const [before, down, after] = bars;
    expect(down[0] + down[1]).toBeCloseTo(before[0] + before[1], 0);
    expect(down[0]).toBeCloseTo(after[0] + after[1], 0);
    expect(down[1] / before[1]).toBeCloseTo(0.4, 1);
  });

  test("a waterfall's labels are the steps, not the running sum", () => {
    const texts = [...drawChart(all[6], size).matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
    expect(texts).toEqual(expect.arrayContaining(["10", "−4", "6"]));
  });

  test("a heat map has its first row at the bottom, its first column at the left, and its colours by sign", () => {
    const cells = drawChart(all[5], size).matchAll(
      /<rect x="([\d.]+)" y="([\d.]+)"[^>]*style="fill:([^"]*)"><title>x: (\w)\ny: (\w)/g,
    );
    const at = Object.fromEntries(
      [...cells].map(([, x, y, fill, i, j]) => [i + j, { x: Number(x), y: Number(y), fill }]),
    );
    expect(at["ac"].x).toBe(at["ad"].x);
    expect(at["ac"].y).toBeGreaterThan(at["ad"].y);
    expect(at["ac"].x).toBeLessThan(at["bc"].x);
    expect(at["ac"].fill).toContain("--c-loss");
    expect(at["bc"].fill).toContain("--c-gain");
    expect(at["ad"].fill).toBe("none");
  });

  test("bars stand on zero, and their heights are in proportion to the values", () => {
    const bars = [...drawChart(all[1], size).matchAll(/<rect x[^>]*? y="([\d.]+)" height="([\d.]+)" rx/g)];
    const [three, five] = bars.map(([, y, height]) => ({ height: Number(height), foot: Number(y) + Number(height) }));
    expect(three.height / five.height).toBeCloseTo(0.6, 2);
    expect(three.foot).toBeCloseTo(five.foot, 6);
  });

  test("bars of one sign stand on the zero of their axis", () => {
    const points = [2, 3].map((value, i) => [i, value] as const);
    const svg = drawChart({ ...line, series: [{ label: "bars", style: "bars", points }] }, size);
    const [two, three] = [...svg.matchAll(/<rect x[^>]*? height="([\d.]+)" rx/g)].map(([, height]) => Number(height));
    expect(two / three).toBeCloseTo(2 / 3, 2);
  });

  test("the areas of dots are in proportion to their weights", () => {
    const series = [
      { label: "quotes", style: "dots", weights: [4, 1, 0], points: [0, 1, 2].map((x) => [x, x] as const) },
    ];
    const radii = [...drawChart({ ...line, series } as Chart, size).matchAll(/ r="([\d.]+)"/g)].map(([, r]) =>
      Number(r),
    );
    // One pixel that all have, and up to six by the weight.
    expect(radii).toEqual([7, 4, 1]);
  });

  test("a diverging map has its neutral colour at zero, and the same strength on both sides", () => {
    const map = {
      ...(all[5] as Extract<Chart, { kind: "heat-map" }>),
      values: [
        [1, 4],
        [2, 0],
      ],
    };
    const fills = [...drawChart(map, size).matchAll(/class="c-cell" style="fill:([^"]*)"/g)].map(([, fill]) => fill);
    const gain = (percent: number): string => `color-mix(in oklab, var(--c-gain) ${percent}%, var(--c-none))`;
    expect(fills).toEqual([25, 100, 50, 0].map(gain));
  });

  test("a step of a waterfall that falls is a loss wherever it ends", () => {
    const fills = [...drawChart(all[6], size).matchAll(/rx="2" style="fill:([^"]*)"/g)].map(([, fill]) => fill);
    expect(fills).toEqual(["var(--c0)", "var(--c-loss)", "var(--c0)"]);
  });

  test.each([
    [0, 1e6],
    [-7, 3],
    [1e-3, 2e-3],
    [12, 950],
  ])("numbers of the axes %d … %d have room", (low, high) => {
    const points = [low, high].map((value) => [value, value] as const);
    const svg = drawChart({ ...line, series: [{ label: "line", points }] }, size);
    const at = { x: new Set<number>(), y: new Set<number>() };
    for (const [, x, anchor] of svg.matchAll(/<text x="([\d.]+)"[^>]*class="c-tick" text-anchor="(middle)"/g))
      if (anchor === "middle") at.x.add(Number(x));
    for (const [, y] of svg.matchAll(/<text x="[\d.]+" y="([\d.]+)"[^>]*text-anchor="end"/g)) at.y.add(Number(y));
    const gaps = (places: ReadonlySet<number>): number[] => {
      const sorted = [...places].sort((a, b) => a - b);
      return sorted.slice(1).map((place, i) => place - sorted[i]);
    };
    // A number of nine characters, and a line of text with its like between it and the next.
    expect(Math.min(...gaps(at.x))).toBeGreaterThan(54);
    expect(Math.min(...gaps(at.y))).toBeGreaterThan(20);
    expect(Math.max(...gaps(at.y))).toBeLessThan(80);
  });

  test("a legend that is too long goes on below its beginning", () => {
    const series = Array.from({ length: 7 }, (_, i) => ({ label: `series ${i}`, points: [[0, 0] as const] }));
    const svg = drawChart({ ...line, series }, size);
    const entries = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"[^>]*>series/g)].map(([, x, y]) =>
      [x, y].map(Number),
    );
    const rows = [...new Set(entries.map(([, y]) => y))];
    expect(entries).toHaveLength(7);
    expect(rows.length).toBeGreaterThan(1);
    const firsts = rows.map((row) => entries.filter(([, y]) => y === row).map(([x]) => x)[0]);
    expect(new Set(firsts).size).toBe(1);
  });

  test("colours in order go from one end to the other", () => {
    const series = [1, 2, 3].map((k) => ({
      label: `${k}`,
      points: [
        [0, 0],
        [1, k],
      ] as const,
    }));
    const svg = drawChart({ ...line, series, colours: "ordered" }, size);
    const parts = [...svg.matchAll(/c-line"[^>]*style="stroke:color-mix\(in oklab, var\(--c-high\) (\d+)%/g)];
    expect(new Set(parts.map(([, part]) => Number(part)))).toEqual(new Set([0, 50, 100]));
  });

  test("a file of its own has its colours, and refers to nothing else", () => {
    const file = chartSvg(line, size);
    expect(file).toContain("--c0:light-dark(");
    expect(file.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|url\(/);
  });

  /** The areas of the closed paths with a fill, in the order in which they are painted. */
  const areas = (svg: string): number[] =>
    [...svg.matchAll(/<path d="([^"]*)" style="fill/g)].map(([, d]) =>
      d.split("M").reduce((sum, piece) => {
        const places = [...piece.matchAll(/([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
        const turns = places.map(([x, y], i) => {
          const [nextX, nextY] = places[(i + 1) % places.length];
          return (x * nextY - nextX * y) / 2;
        });
        return sum + Math.abs(turns.reduce((total, turn) => total + turn, 0));
      }, 0),
    );
  const contours = (values: readonly (readonly (number | null)[])[]): Chart => ({
    kind: "contour",
    title: "Contours",
    x: { label: "x", values: values[0].map((_, i) => i) },
    y: { label: "y", values: values.map((_, j) => j) },
    values,
    unit: "EUR",
  });
  const large = { width: 1400, height: 1100 };

  test("each band of a contour chart covers the part of the plane on which the function is above its edge", () => {
    const nodes = Array.from({ length: 11 }, (_, i) => i / 10);
    const [all, ...bands] = areas(drawChart(contours(nodes.map((y) => nodes.map((x) => x + y))), large));
    // x + y ≥ c on the unit square; the edges are 0.2, 0.4 … 1.8.
    const exact = (c: number): number => (c <= 1 ? 1 - c ** 2 / 2 : (2 - c) ** 2 / 2);
    expect(bands).toHaveLength(9);
    for (const [i, area] of bands.entries()) expect(area / all).toBeCloseTo(exact(0.2 * (i + 1)), 3);
  });

  test("a saddle is joined where its middle is above the edge, and split where it is below", () => {
    // Corners 1 and 0 in turn, middle 1/2: below half its two triangles or what is left beside them.
    const [all, ...bands] = areas(
      drawChart(
        contours([
          [1, 0],
          [0, 1],
        ]),
        large,
      ),
    );
    for (const [i, area] of bands.entries()) {
      const level = 0.1 * (i + 1);
      const part = level <= 0.5 ? 1 - level ** 2 : (1 - level) ** 2;
      expect(area / all).toBeCloseTo(part, 2);
    }
  });

  test("cells that lack a value are empty", () => {
    const [all] = areas(
      drawChart(
        contours([
          [1, 2, 3],
          [1, 2, null],
          [1, 2, 3],
        ]),
        large,
      ),
    );
    const [whole] = areas(
      drawChart(
        contours([
          [1, 2, 3],
          [1, 2, 3],
          [1, 2, 3],
        ]),
        large,
      ),
    );
    expect(all / whole).toBeCloseTo(0.5, 2);
  });

  test("no two series have one colour unless they ask for it", () => {
    const many = (colours: readonly (number | undefined)[]): Chart => ({
      ...line,
      series: colours.map((colour, i) => ({
        label: `s${i}`,
        points: [[0, i] as const, [1, i] as const],
        ...(colour === undefined ? {} : { colour }),
      })),
    });
    const strokes = (chart: Chart): string[] =>
      [...drawChart(chart, large).matchAll(/class="c-line c-line" d="M[^h"]*" style="stroke:([^"]*)"/g)].map(
        ([, colour]) => colour,
      );
    expect(new Set(strokes(many(Array.from({ length: 13 }, () => undefined)))).size).toBe(13);
    const [a, b, c, d] = strokes(many([0, 0, 1, 1]));
    expect([a === b, c === d, a === c]).toEqual([true, true, false]);
  });

  test("a waterfall whose totals are far from zero shows their change, and says so", () => {
    const steps = [
      { label: "before", value: 1000, isTotal: true },
      { label: "up", value: 30 },
      { label: "down", value: -10 },
      { label: "after", value: 1020, isTotal: true },
    ];
    const svg = drawChart({ kind: "waterfall", title: "Steps", unit: "EUR", steps }, large);
    const bars = [...svg.matchAll(/<rect x="([\d.]+)"[^>]*width="([\d.]+)"/g)].map(([, x, width]) => [
      Number(x),
      Number(width),
    ]);
    const [before, up, down, after] = bars;
    expect(up[1] / down[1]).toBeCloseTo(3, 1);
    expect(up[0]).toBeCloseTo(before[0] + before[1], 0);
    expect(after[0] + after[1]).toBeCloseTo(down[0], 0);
    expect(up[1]).toBeGreaterThan(0.4 * large.width);
    expect(svg).toContain("EUR, without the part from zero");
  });
});
