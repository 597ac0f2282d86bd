/** The program of `npm run test:device`: its table, its records, its exit codes. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Measurement, measurementSchema, resultFileName } from "../bench/harness.ts";
import type { ConformanceCase } from "./conformance/case.ts";
import { cases } from "./conformance/cases/index.ts";
import type { Family } from "../tools/device-report/check.ts";
import { conformanceOf } from "../tools/device-report/families/conformance.ts";
import { parseOptions, type SuiteOptions } from "../tools/device-report/options.ts";
import { type Families, runSuite } from "../tools/device-report/suite.ts";
import { everything } from "./support/extent.ts";

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "feynkac-device-report-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const parsed = (file: string): Measurement[] =>
  z
    .array(measurementSchema)
    .min(1)
    .parse(JSON.parse(readFileSync(file, "utf8")));

describe("as a program", () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ["--import", "tsx", "tools/device-report/main.ts", ...args], { encoding: "utf8" });

  test("on the CPU: a table, records, and exit code 0", () => {
    const output = join(folder, "report.json");
    const families = everything ? "reference,splits" : "reference";
    const { status, stdout } = run("--devices", "cpu", "--families", families, "--quick", "--output", output);
    expect(stdout).toMatch(/^feynkac [0-9a-f]{10}(\+changes)?, \d{4}-\d\d-\d\d, Node v\d+/);
    expect(stdout).toMatch(/reference cases, auto +\S.* +f64 +\d+ +0 +\S+e-\d+ of spot +\S/);
    if (everything) expect(stdout).toMatch(/splits, workgroup and item +\S.* +f32 +\d+ +0 +\S+e-\d+ of spot +\S/);
    expect(stdout).toMatch(/\d+ cases, 0 failed\n$/);
    expect(status).toBe(0);
    const records = parsed(output);
    expect(new Set(records.map(({ precision }) => precision))).toEqual(new Set(["f64", "f32"]));
    expect(records.every(({ benchmark }) => benchmark === "device-suite")).toBe(true);
    expect(records.filter((record) => record.case === "reference cases, auto: 0 failed")).toHaveLength(2);
    expect(records[0].case).toMatch(/^all: 0 failed; Node v/);
  });

  test("an unknown device: exit code 2, and what is known", () => {
    const { status, stderr } = run("--devices", "tpu");
    expect({ status, stderr }).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("expected cpu, cuda, webgpu"),
    });
  });
});

/** Every way to fail; and a family that must not notice. */
const broken: ConformanceCase = {
  ...cases[0],
  name: "planted",
  args() {
    throw new Error("planted exception");
  },
};
const wrong: Family = () => [
  {
    family: "wrong",
    unit: "ulps",
    checks: [{ name: "one", run: () => Promise.resolve({ error: 3, failure: "3 ulps" }) }],
  },
];
const unable: Family = () => {
  throw new Error("planted: no cases");
};
const sound = conformanceOf(cases.slice(0, 2));

const CPU: SuiteOptions = {
  devices: ["cpu"],
  families: [],
  quick: true,
  output: undefined,
  cudaEmulator: false,
};

async function suite(families: Families, options: Partial<SuiteOptions> = {}): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const output = { line: (text: string): void => void lines.push(text), progress: (): void => {} };
  const code = await runSuite({ ...CPU, families: Object.keys(families), ...options }, output, families);
  return { code, text: lines.join("\n") };
}

describe("what fails", () => {
  test("is counted, said, and does not stop the rest; the exit code is 1", async () => {
    const { code, text } = await suite({ wrong, unable, broken: conformanceOf([broken, cases[1]]), sound });
    expect(code).toBe(1);
    expect(text).toMatch(/wrong +\S.* +f64 +1 +1 +3\.00 ulps +one/);
    expect(text).toMatch(/conformance +\S.* +f64 +2 +1 /);
    expect(text).toMatch(/conformance +\S.* +f64 +2 +0 /);
    expect(text).toContain("one: 3 ulps");
    expect(text).toContain("planted: planted exception");
    expect(text).toContain("planted: no cases");
    expect(text).toMatch(/12 cases, 6 failed$/);
  });

  test("alone is what makes it 1", async () => {
    expect((await suite({ sound })).code).toBe(0);
  });

  test("follows the schema in its records, in a file for each device", async () => {
    const output = join(folder, "results");
    await suite({ wrong, unable }, { output });
    const files = readdirSync(output);
    expect(files).toHaveLength(1);
    const records = parsed(join(output, files[0]));
    expect(resultFileName("device-suite", records[0].device)).toBe(files[0]);
    expect(records).toContainEqual(
      expect.objectContaining({ case: "wrong: worst, one", figure: 3, unit: "ulps", error: 3 }),
    );
  });
});

test("a device that is missing is skipped, with the reason, and nothing at all is no success", async () => {
  const before = process.env["FEYNKAC_CUDA_DRIVER"];
  process.env["FEYNKAC_CUDA_DRIVER"] = join(folder, "libcuda.so.1");
  try {
    const { code, text } = await suite({ sound }, { devices: ["cuda"] });
    expect(text).toMatch(/skipped: cuda: CUDA: /);
    expect(code).toBe(1);
  } finally {
    if (before === undefined) delete process.env["FEYNKAC_CUDA_DRIVER"];
    else process.env["FEYNKAC_CUDA_DRIVER"] = before;
  }
});

test("options", () => {
  const options = parseOptions(["--devices", "webgpu,cpu", "--families", "b"], ["a", "b"]);
  expect(options).toMatchObject({ devices: ["cpu", "webgpu"], families: ["b"], quick: false, output: undefined });
  expect(() => parseOptions(["--families", "c"], ["a", "b"])).toThrow("--families: got c; expected a, b");
});
