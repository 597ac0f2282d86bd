import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chart } from "../../bench/figures/chart.ts";
import { tridiagonalFigures } from "../../bench/figures/tridiagonal.ts";
import { type Measurement, measurementSchema } from "../../bench/harness.ts";

const root = join(import.meta.dirname, "../..");
const kept = readdirSync(join(root, "bench/results"))
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) =>
    z.array(measurementSchema).parse(JSON.parse(readFileSync(join(root, "bench/results", name), "utf8"))),
  );

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The elements of a well-formed document, in order; throws where it is not well-formed. */
function elements(xml: string): Element[] {
  const found: Element[] = [];
  const open: string[] = [];
  let at = 0;
  for (const match of xml.matchAll(/<(\/?)([a-z]+)((?:\s+[A-Za-z:-]+="[^"<]*")*)\s*(\/?)>/g)) {
    const between = xml.slice(at, match.index);
    if (/[<>]|&(?!amp;|lt;|gt;|quot;)/.test(between)) throw new Error(`not XML: ${between.slice(0, 80)}`);
    at = match.index + match[0].length;
    const [, closing, name, attributes, empty] = match;
    if (closing !== "") {
      if (open.pop() !== name) throw new Error(`</${name}> closes something else`);
      continue;
    }
    const pairs = [...attributes.matchAll(/([A-Za-z:-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value] as const);
    if (new Set(pairs.map(([key]) => key)).size < pairs.length) throw new Error(`<${name}>: an attribute twice`);
    found.push({ name, attributes: Object.fromEntries(pairs) });
    if (empty === "") open.push(name);
  }
  if (open.length > 0 || xml.slice(at).trim() !== "") throw new Error(`not closed: ${open.join(" ")}`);
  return found;
}

function point(rows: number, layout: string, algorithm: string, figure: number, rest: Partial<Measurement> = {}) {
  return {
    benchmark: "device-tridiagonal-sizes",
    case: `${rows} rows × 64 systems, ${layout}, ${algorithm}`,
    device: 'A "GPU" <1> & co',
    precision: "f64",
    figure,
    unit: "ns/row",
    commit: "0ac8898",
    date: "2026-11-21",
    ...rest,
  } satisfies Measurement;
}

describe("figures of tridiagonal systems", () => {
  const figures = tridiagonalFigures(kept);

  test("are what docs/ shows: run `npm run figures` after new results", () => {
    expect(figures.length).toBeGreaterThan(0);
    for (const { file, svg } of figures) expect(readFileSync(join(root, "docs", file), "utf8") === svg).toBe(true);
  });

  test("are well-formed, without a number that is none, and show every point that was kept", () => {
    const points = kept.filter(({ unit, case: name }) => unit === "ns/row" && / rows × /.test(name));
    let marks = 0;
    for (const { svg } of figures) {
      expect(svg).not.toMatch(/NaN|undefined|Infinity/);
      const all = elements(svg);
      expect(all[0]).toMatchObject({ name: "svg", attributes: { xmlns: "http://www.w3.org/2000/svg" } });
      const shapes = all.map(({ attributes }) => attributes["class"] ?? "").filter((name) => /^m\d$/.test(name));
      // One of each is in the legend.
      marks += shapes.length - new Set(shapes).size;
    }
    expect(marks).toBe(points.length);
  });

  test("one for each device, a panel for each layout and precision measured, lines in the order of length", () => {
    const [figure, ...others] = tridiagonalFigures([
      point(1000, "contiguous", "thomas", 4, { floor: 0.5 }),
      point(10, "contiguous", "thomas", 2, { floor: 0.5 }),
      point(10, "interleaved", "pcr", 20),
      point(10, "interleaved", "pcr", 200, { precision: "f32" }),
      point(10, "contiguous", "thomas", 3, { unit: "B/s" }),
    ]);
    expect(others).toEqual([]);
    expect(figure.file).toBe("tridiagonal-a-gpu-1-co.svg");
    elements(figure.svg);
    expect(figure.svg).toContain("A &quot;GPU&quot; &lt;1&gt; &amp; co");
    for (const title of ["f64, contiguous", "f64, interleaved", "f32, interleaved"])
      expect(figure.svg).toContain(title);
    expect(figure.svg).not.toContain("f32, contiguous");
    const path = /class="line s0" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"/.exec(figure.svg)!.slice(1).map(Number);
    expect(path[0]).toBeLessThan(path[2]);
    expect(path[1]).toBeGreaterThan(path[3]); // twice the time stands higher
  });
});

test("names of lines that end at one place are moved apart", () => {
  const line = (name: string, style: number, y: number) =>
    ({
      name,
      style,
      points: [
        [1, 1],
        [100, y],
      ],
    }) as const;
  const panel = { title: "p", series: [line("a", 0, 50), line("b", 1, 50.1), line("c", 2, 51)], floor: 0.5 };
  const svg = chart({ title: "t", subtitle: "s", xLabel: "x", yLabel: "y", panels: [[panel]] });
  const at = [...svg.matchAll(/y="([\d.]+)" class="halo t\d"/g)].map(([, y]) => Number(y)).toSorted((a, b) => a - b);
  expect(at).toHaveLength(3);
  for (const i of [1, 2]) expect(at[i] - at[i - 1]).toBeGreaterThan(13);
});
