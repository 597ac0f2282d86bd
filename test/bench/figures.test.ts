import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
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
  for (const match of xml.matchAll(/<(\/?)([a-z]+)((?:\s+[A-Za-z\d:-]+="[^"<]*")*)\s*(\/?)>/g)) {
    const between = xml.slice(at, match.index);
    if (/[<>]|&(?!amp;|lt;|gt;|quot;)/.test(between)) throw new Error(`not XML: ${between.slice(0, 80)}`);
    at = match.index + match[0].length;
    const [, closing, name, attributes, empty] = match;
    if (closing !== "") {
      if (open.pop() !== name) throw new Error(`</${name}> closes something else`);
      continue;
    }
    const pairs = [...attributes.matchAll(/([A-Za-z\d:-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value] as const);
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
    let drawn = 0;
    for (const { svg } of figures) {
      expect(svg).not.toMatch(/NaN|undefined|Infinity/);
      const all = elements(svg.replace(/<style>.*?<\/style>/s, ""));
      expect(all[0]).toMatchObject({ name: "svg", attributes: { xmlns: "http://www.w3.org/2000/svg" } });
      const lines = all.filter(({ attributes }) => attributes["class"] === "c-line c-line");
      // The legend's have no comma.
      drawn += lines.reduce((sum, { attributes: { d = "" } }) => sum + (d.match(/[ML][\d.]+,/g) ?? []).length, 0);
    }
    expect(drawn).toBe(points.length);
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
    elements(figure.svg.replace(/<style>.*?<\/style>/s, ""));
    expect(figure.svg).toContain("A &quot;GPU&quot; &lt;1&gt; &amp; co");
    for (const title of ["f64, contiguous", "f64, interleaved", "f32, interleaved"])
      expect(figure.svg).toContain(title);
    expect(figure.svg).not.toContain("f32, contiguous");
    const path = /class="c-line c-line" d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)"/
      .exec(figure.svg)!
      .slice(1)
      .map(Number);
    expect(path[0]).toBeLessThan(path[2]);
    expect(path[1]).toBeGreaterThan(path[3]); // twice the time stands higher
  });
});
