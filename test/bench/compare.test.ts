import { expect, it } from "vitest";
import { compare, comparisonText, readResults } from "../../bench/compare.ts";
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
  expect(comparisonText(found)).toContain("2.000 | 100 | 50 | 1/s | book: values | a CPU, f64");
  expect(comparisonText(found)).toContain("1.750 | median of 2 | book");
});

it("reads a folder and a file alike, and says what it cannot read", () => {
  const all = readResults("bench/results");
  expect(all.length).toBeGreaterThan(100);
  expect(compare(all, all).every(({ ratio }) => ratio === 1)).toBe(true);
  expect(() => readResults("bench/nothing")).toThrow("bench/nothing: neither a file, nor a folder, nor a commit");
});
