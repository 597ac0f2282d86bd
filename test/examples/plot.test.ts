import { describe, expect, test } from "vitest";
import { type Curve, figure, type Panel } from "../../examples/plot.ts";
import { type Surface, surface } from "../../examples/surface.ts";

const panel = (curves: readonly Curve[], rest: Partial<Panel> = {}): Panel => ({
  title: "A title",
  x: { label: "x" },
  y: { label: "y" },
  curves,
  ...rest,
});
const line: Curve = {
  label: "line",
  points: [
    [0, -1],
    [5, 3],
    [10, 8],
  ],
};

/** What stands between the tags of a class. */
const texts = (svg: string, anchor: string): string[] =>
  [...svg.matchAll(new RegExp(`<text [^>]*class="muted" text-anchor="${anchor}">([^<]*)`, "g"))].map(
    ([, text]) => text,
  );

describe("a figure", () => {
  test("has round ticks: to the data's ends along x, around them along y", () => {
    const svg = figure("label", [panel([line])]);
    expect(texts(svg, "middle")).toEqual(["0", "2", "4", "6", "8", "10"]);
    expect(texts(svg, "end")).toEqual(["−2", "0", "2", "4", "6", "8"]);
  });

  test("puts points where the axes say", () => {
    const svg = figure("label", [panel([line], { y: { label: "y", range: [-1, 9] } })], { width: 100, height: 50 });
    const [, path] = /<path d="([^"]*)" class="curve/.exec(svg) ?? [];
    const numbers = (path.match(/[\d.]+/g) ?? []).map(Number);
    expect(numbers[2] - numbers[0]).toBeCloseTo(50, 9);
    expect(numbers[4] - numbers[0]).toBeCloseTo(100, 9);
    expect([numbers[1], numbers[3], numbers[5]]).toEqual([100, 80, 55]);
  });

  test("interrupts a curve where it has no value", () => {
    const points = [
      [0, 1],
      [1, 2],
      [2, Number.NaN],
      [3, 2],
      [4, 1],
    ] as const;
    const svg = figure("label", [panel([{ label: "gap", points }])]);
    expect(/<path d="(M[^M]*M[^M]*)"/.exec(svg)).not.toBeNull();
  });

  test("draws what is constant, and a single point", () => {
    for (const points of [
      [
        [0, 2],
        [1, 2],
      ],
      [[3, 0]],
    ] as const)
      expect(figure("label", [panel([{ label: "flat", points }])])).not.toMatch(/NaN|Infinity/);
  });

  test("has a legend for several curves, with text as text", () => {
    const svg = figure('a "label"', [panel([line, { ...line, label: "<&>" }])]);
    expect(svg).toContain(">&lt;&amp;></text>");
    expect(svg).toContain('aria-label="a &quot;label&quot;"');
    expect(figure("label", [panel([line])])).not.toContain(">line</text>");
  });

  test("has colours for eight curves, or for any number in order", () => {
    const many = Array.from({ length: 9 }, () => line);
    expect(() => figure("label", [panel(many)])).toThrow("A title: expected at most 8 distinct curves, got 9");
    const svg = figure("label", [panel(many, { colours: "ordered" })]);
    // Once for light pages and once for dark ones.
    expect(new Set(svg.match(/hsl\([^)]*\)/g)).size).toBe(18);
  });

  test("of nothing is refused", () => {
    expect(() => figure("label", [panel([])])).toThrow("A title: expected a curve with a finite point, got none");
  });
});

describe("a surface", () => {
  const plane: Surface = {
    title: "A plane",
    x: { label: "x", at: [0, 1, 2] },
    y: { label: "y", at: [0, 1] },
    z: { label: "z" },
    values: [
      [0, 1, 2],
      [0, 1, 2],
    ],
  };
  const cells = (svg: string): (readonly [colour: number, corners: readonly number[]])[] =>
    [...svg.matchAll(/<path d="M([^"]*)Z" class="cell s1c(\d+)"/g)].map(([, path, colour]) => [
      Number(colour),
      (path.match(/[\d.]+/g) ?? []).map(Number),
    ]);

  test("has a cell between four points, coloured by height, beside other panels", () => {
    const svg = figure("label", [panel([line]), surface(plane)]);
    // The middle of the first cell is at a quarter of the heights, that of the second at three quarters.
    expect(cells(svg).map(([colour]) => colour)).toEqual([3, 9]);
    expect(svg).toContain('class="curve');
    expect(svg).not.toMatch(/NaN|Infinity/);
  });

  test("is a plane where the values are: its cells are parallelograms of one shape, side by side", () => {
    const [first, second] = cells(figure("label", [panel([line]), surface(plane)])).map(([, corners]) => corners);
    const [ax, ay, bx, by, cx, cy, dx, dy] = first;
    expect([bx - ax, by - ay]).toEqual([expect.closeTo(cx - dx, 0), expect.closeTo(cy - dy, 0)]);
    expect(second.slice(0, 2)).toEqual([bx, by]);
    // Up is towards smaller y: 2 is higher than 0, beyond what the axis that comes nearer takes away.
    const flat = cells(figure("label", [panel([line]), surface({ ...plane, z: { label: "z", range: [0, 1e9] } })]));
    expect(second[3]).toBeLessThan(flat[1][1][3]);
  });

  test("of another shape than its axes is refused", () => {
    expect(() => surface({ ...plane, values: [[0, 1, 2]] })).toThrow("A plane: expected 2 rows of 3 values");
  });
});
