import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { advantage, fractionOfFloor, median, measurementSchema, resultFileName, table } from "../../bench/harness.ts";

const results = join(import.meta.dirname, "../../bench/results");
const files = readdirSync(results).filter((name) => name.endsWith(".json"));

const sample = {
  benchmark: "one-factor",
  case: "American put",
  device: "CPU, 2 cores",
  precision: "f64" as const,
  figure: 2,
  unit: "ns per node-step",
  floor: 0.5,
  peers: { QuantLib: 50 },
  error: 1e-3,
  commit: "0ac8898",
  date: "2026-11-21",
};

test("saved results follow the schema, and each file is named after what it holds", () => {
  for (const name of files) {
    const measurements = z
      .array(measurementSchema)
      .min(1)
      .parse(JSON.parse(readFileSync(join(results, name), "utf8")));
    expect(new Set(measurements.map((m) => resultFileName(m.benchmark, m.device)))).toEqual(new Set([name]));
  }
});

describe("the harness", () => {
  test("refuses what is not a measurement", () => {
    const refused = [{ figure: 0 }, { figure: Number.NaN }, { precision: "f16" }, { date: "yesterday" }, { extra: 1 }];
    expect(measurementSchema.safeParse(sample).success).toBe(true);
    for (const change of refused) expect(measurementSchema.safeParse({ ...sample, ...change }).success).toBe(false);
  });

  test("times are better low and rates better high", () => {
    expect(fractionOfFloor(sample)).toBe(0.25);
    expect(advantage(sample, 50)).toBe(25);
    const rate = { ...sample, figure: 300, unit: "options/s", floor: 400 };
    expect(fractionOfFloor(rate)).toBe(0.75);
    expect(advantage(rate, 100)).toBe(3);
  });

  test("takes the median", () => {
    expect(median([5, 1, 9])).toBe(5);
    expect(median([4, 1, 9, 2])).toBe(3);
  });

  test("prints figure, floor, error and peers in one line", () => {
    expect(table([sample])).toMatch(
      /American put +CPU, 2 cores +f64 +2 +ns per node-step +0\.5 +25 % +1\.0e-3 +QuantLib 50 \(25×\)$/,
    );
  });

  test("names files after benchmark and device", () => {
    expect(resultFileName("one-factor", "AMD EPYC, 2 cores")).toBe("one-factor-amd-epyc-2-cores.json");
  });
});
