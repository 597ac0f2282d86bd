import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compare, comparisonText, missingIn, readResults } from "../../bench/compare.ts";
import type { Measurement } from "../../bench/harness.ts";

const figure = (name: string, unit: string, value: number): Measurement => ({
  benchmark: "book",
  case: name,
  device: "a CPU",
  precision: "f64",
  figure: value,
  unit,
  commit: "unknown",
  date: "2026-11-28",
});

it("compares what both sets have: above 1 is slower, for times and for rates", () => {
  const before = [figure("whole command", "s", 2), figure("values", "1/s", 100), figure("only here", "s", 1)];
  const after = [figure("values", "1/s", 50), figure("whole command", "s", 3), figure("only there", "s", 1)];
  const found = compare(before, after);
  expect(found.map(({ case: name, ratio }) => [name, ratio])).toEqual([
    ["values", 2],
    ["whole command", 1.5],
  ]);
  const text = comparisonText(before, after);
  expect(text).toContain("2.000 | 100 | 50 | 1/s | book: values | a CPU, f64");
  expect(text).toContain("1.750 | median of 2 | book");
  expect(text).toContain("only before | 1 | s | book: only here | a CPU, f64");
  expect(text).toContain("only after | 1 | s | book: only there | a CPU, f64");
});

it("pairs each figure or names it as missing, once, whatever its case, unit and device", () => {
  const all = readResults("bench/results");
  const others = all.map((one, i): Measurement => {
    if (i % 3 === 0) return { ...one, case: `${one.case}, other` };
    return i % 3 === 1 ? { ...one, unit: `other ${one.unit}` } : one;
  });
  const keys = new Set(
    all.map((one) => JSON.stringify([one.benchmark, one.case, one.device, one.precision, one.unit])),
  );
  expect(keys.size).toBe(all.length);
  expect(compare(all, others).length + missingIn(others, all).length).toBe(all.length);
  expect(missingIn(others, all).length).toBe(missingIn(all, others).length);
  // Other machines and other benchmarks were not run, and are not missing.
  expect(missingIn([], all)).toEqual([]);
  expect(missingIn([{ ...all[0], device: "another" }], all)).toEqual([]);
});

it("reads a folder and a file alike, and says what it cannot read", () => {
  const all = readResults("bench/results");
  expect(all.length).toBeGreaterThan(100);
  expect(compare(all, all).every(({ ratio }) => ratio === 1)).toBe(true);
  expect(() => readResults("bench/nothing")).toThrow("bench/nothing: neither a file, nor a folder, nor a commit");
});

it("names the file that is no list of measurements, such as one with a figure of 0", () => {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-compare-"));
  try {
    const file = join(folder, "a.json");
    for (const text of ["{", "{}", JSON.stringify([figure("nothing", "s", 0)])]) {
      writeFileSync(file, text);
      for (const name of [file, folder]) expect(() => readResults(name)).toThrow(`${file}: no list of measurements`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
