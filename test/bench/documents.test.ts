/** What the documents say of speed is what was measured: bench/results, through bench/figures. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { blocks, byHand, withBlock } from "../../bench/figures/blocks.ts";
import { Kept } from "../../bench/figures/kept.ts";
import { type Measurement, measurementSchema } from "../../bench/harness.ts";

const root = join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const measurements = readdirSync(join(root, "bench/results"))
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) => z.array(measurementSchema).parse(JSON.parse(read(join("bench/results", name)))));

const measured = (rest: Partial<Measurement> = {}): Measurement => ({
  benchmark: "b",
  case: "a case, 1 thread",
  device: "D",
  precision: "f64",
  figure: 2,
  unit: "s",
  commit: "0ac8898",
  date: "2026-11-21",
  ...rest,
});

describe("figures in the documents", () => {
  const kept = new Kept(measurements);

  it.each(blocks.map((block) => [block.file, block.name, block] as const))(
    "%s: %s is what bench/results holds: run `npm run figures` after new results",
    (file, name, block) => {
      const document = read(file);
      const text = block.text(kept);
      expect(text).not.toMatch(/NaN|undefined|Infinity/);
      expect(withBlock(document, name, text)).toBe(document);
    },
  );

  it("name the commit that each of them was measured at", () => {
    for (const { text } of blocks)
      expect(text(kept)).toMatch(/Measured: .*at commit [0-9a-f]{7,40} \(\d{4}-\d\d-\d\d\) on /);
  });

  const documents = ["README.md", "FEATURES.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)];
  it.each(documents.filter((name) => name.endsWith(".md")))("%s: none is written by hand", (file) => {
    const speed =
      /\d[\d,.]*(e\d+)? ?((million|k|M) )?(options|trades|node-steps|rows|systems)(\/s| a second)|\d ?[GT]B\/s|\d ?(ns|µs)\b|\d+(\.\d+)? ?(×(?! ?\d)|times as fast|times faster)/g;
    expect(byHand(read(file)).match(speed) ?? []).toEqual([]);
  });
});

describe("a quotation", () => {
  it("is of one measurement, of the device measured last", () => {
    const older = measured({ device: "E", figure: 3, date: "2026-11-20" });
    const kept = new Kept([older, measured()]);
    expect(kept.one({ benchmark: "b", case: "a case" }).figure).toBe(2);
    expect(kept.one({ benchmark: "b", case: "a case", device: "E" }).figure).toBe(3);
    expect(() => kept.one({ benchmark: "b", case: "another" })).toThrow(/nothing for .*another/);
    const two = new Kept([measured(), measured({ case: "a case, 2 threads" })]);
    expect(() => two.one({ benchmark: "b", case: "a case" })).toThrow(/expected one measurement, got 2/);
  });

  it("is refused of sources that no commit has", () => {
    for (const commit of ["0ac8898+changes", "unknown"])
      expect(() => new Kept([measured({ commit })]).one({ benchmark: "b", case: "a" })).toThrow(/no commit/);
  });

  it("says where it is from, once", () => {
    const kept = new Kept([measured(), measured({ case: "other", commit: "1234567", benchmark: "c" })]);
    kept.one({ benchmark: "b", case: "a" });
    kept.one({ benchmark: "c", case: "other" });
    const [b, c] = ["`b` at commit 0ac8898 (2026-11-21) on D", "`c` at commit 1234567 (2026-11-21) on D"];
    expect(kept.provenance()).toBe(`Measured: ${b}; ${c}.`);
    expect(kept.provenance()).toBe("Measured: .");
  });

  it("needs its place in the document", () => {
    const document = "a\n<!-- figures: x; written by npm run figures -->\nold 5 µs\n<!-- /figures -->\nb\n";
    expect(withBlock(document, "x", "new")).toBe(document.replace("old 5 µs", "new"));
    expect(byHand(document)).toBe("a\n\nb\n");
    expect(() => withBlock(document, "y", "new")).toThrow(/expected .*figures: y.* once, got it 0 times/);
    expect(() => withBlock(document.replace("<!-- /figures -->", ""), "x", "new")).toThrow(/not closed/);
  });
});
