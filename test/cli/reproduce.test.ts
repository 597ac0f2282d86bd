import { afterAll, describe, expect, test, vi } from "vitest";
import { EXACT, giles, put } from "../../bench/reproduce/giles.ts";
import { nonZeros, spot, upAndOut } from "../../bench/reproduce/gaikwad-toke.ts";
import { FORMATS, publishedSystem, stepsIn } from "../../bench/reproduce/gaikwad-toke-formats.ts";
import { timeStep } from "../../bench/reproduce/step-time.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { DeviceUnavailableError, OutOfMemoryError } from "../../src/base/errors.ts";
import { everything } from "../support/extent.ts";
import { normalCdf } from "../support/normal.ts";
import { feynkac } from "./in-process.ts";

const { signal } = new AbortController();
const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** The cells of a row of the table, whose columns are two spaces apart at least. */
const cellsOf = (report: string, name: RegExp): string[] =>
  report
    .split("\n")
    .find((line) => name.test(line))!
    .split(/ {2,}/);

/** A time in seconds. */
function seconds(cell: string): number {
  const [, value, unit] = /^([\d.]+) (s|ms|µs|ns)$/.exec(cell)!;
  return Number(value) * { s: 1, ms: 1e-3, µs: 1e-6, ns: 1e-9 }[unit]!;
}

describe("feynkac reproduce", () => {
  test("--list names what there is, with its source", async () => {
    const { status, stdout } = await feynkac(["reproduce", "--list"]);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^giles +\S.*\n +M\. B\. Giles, .*\(2008\)\ngaikwad-toke +\S.*\n +A\. Gaikwad, .*\npages-wilbertz +\S.*\n +G\. Pagès, .*\n$/,
    );
  });

  test.each([
    [
      ["gilse"],
      'got gilse (did you mean "giles"?); known are giles, gaikwad-toke, pages-wilbertz; feynkac reproduce --list',
    ],
    [["heston"], "got heston; known are giles, gaikwad-toke"],
    [[], "expected a name; known are giles"],
    [["giles", "--nodes", "0"], "expected a whole number from 1 on"],
    [["giles", "--nodes", "3", "--backend", "cpu"], "axes.X.nodes: got 3"],
    [["giles", "--nodes", "2000", "--threads", "1", "--backend", "cpu"], "2000 × 2000 × 2000 nodes take"],
  ])("%j is an error", async (args, message) => {
    const { status, stderr } = await feynkac(["reproduce", ...args]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message) as string]);
  });

  test("giles times a step on one core and on several", async () => {
    const args = ["giles", "--backend", "cpu", "--threads", "2", "--nodes", "25", "--precision", "f64"];
    const { status, stdout, stderr } = await feynkac(["reproduce", ...args]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("25³ nodes, f64");
    const rows = [cellsOf(stdout, /^CPU, 1 thread/), cellsOf(stdout, /^CPU, 2 threads/)];
    for (const [, step, node, ratio, floor, measured, value] of rows) {
      expect(seconds(step) / seconds(node) / 25 ** 3).toBeCloseTo(1, 1);
      expect(Number.parseFloat(ratio)).toBeCloseTo(seconds(rows[0][1]) / seconds(step), 1);
      expect(seconds(floor)).toBeGreaterThan(0);
      const [some, all] = measured.split(" of ").map(Number);
      expect(some).toBeGreaterThan(0);
      expect(some).toBeLessThan(all);
      expect(Math.abs(Number(value) - EXACT)).toBeLessThan(0.05);
    }
    expect(rows[0][3]).toBe("1.00×");
  });
});

test.skipIf(!everything)("pages-wilbertz estimates π, and has a row for each printed figure", async () => {
  const small = ["--points", "20000", "--repeats", "30", "--paths", "64", "--threads", "1"];
  const { status, stdout, stderr } = await feynkac(["reproduce", "pages-wilbertz", "--backend", "cpu", ...small]);
  expect([status, stderr]).toEqual([0, ""]);
  for (const name of ["drand48", "MRG32k3a", "CURAND"]) {
    const [, mean, , deviation, theory] = stdout
      .split("\n")
      .find((line) => line.trim().startsWith(name))!
      .trim()
      .split(/ +/);
    // 4·√(p·(1 − p)/n), p = π/4.
    expect(Number(theory)).toBeCloseTo(4 * Math.sqrt(((Math.PI / 4) * (1 - Math.PI / 4)) / 20_000), 5);
    expect(Math.abs(Number(mean) - Math.PI)).toBeLessThan((4 * Number(theory)) / Math.sqrt(30));
    // A standard deviation of 30 values has a relative standard error of 13 %.
    expect(Math.abs(Number(deviation) / Number(theory) - 1)).toBeLessThan(0.5);
  }
  for (const title of ["Table 3: 23,360 nearest", "Tables 5 and 6: the whole tree, 64 paths", "The swing option: 60"])
    expect(stdout).toContain(title);
  // On grids of spacings 0.35 and 0.25, extrapolated: 653.96.
  const [, converged] = /converged +([\d.]+)/.exec(stdout)!;
  expect(Math.abs(Number(converged) / 653.96 - 1)).toBeLessThan(2e-3);
});

describe("giles", () => {
  const options = {
    device: undefined,
    threads: 1,
    precision: "f32",
    nodes: 17,
    steps: 20,
    points: 1,
    repeats: 2,
    paths: 1,
  } as const;
  async function told(backend: "auto" | "cuda", open: () => Promise<Device>): Promise<string> {
    const lines: string[] = [];
    await giles.run({ options: { ...options, backend }, signal, say: (line) => lines.push(line) }, open);
    return lines.join("\n");
  }
  /** The CPU by another name, which may be disposed without harm. */
  const posing = (rest: Partial<Device>): Device =>
    new Proxy(device, {
      get(target, name) {
        if (name === Symbol.dispose) return () => {};
        const value: unknown = name in rest ? rest[name as keyof Device] : Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });

  test("has a row for a GPU, beside one core and not beside all", async () => {
    const report = await told("cuda", async () => posing({ name: "a GPU" }));
    expect(cellsOf(report, /^a GPU /)[3]).toMatch(/^[\d.]+×$/);
    expect(report.match(/^CPU, /gm)).toHaveLength(1);
    expect(report).not.toMatch(/No GPU|Not measured/);
  });

  test("says which GPUs are missing, and why", async () => {
    const [missing, software] = [new DeviceUnavailableError("CUDA: no driver"), posing({ name: "SwiftShader" })];
    const found = [Promise.reject<Device>(missing), Promise.resolve(software)];
    const report = await told("auto", async () => found.shift()!);
    expect(report).toContain("No GPU:\n  CUDA: no driver\n  SwiftShader runs on the CPU\n");
  });

  test("of a GPU that is asked for and missing is an error", async () => {
    const open = async (): Promise<Device> => {
      throw new DeviceUnavailableError("CUDA: no driver");
    };
    await expect(told("cuda", open)).rejects.toThrow("CUDA: no driver");
  });

  test("goes on after a GPU with too little memory, unless that was asked for", async () => {
    const full = posing({
      name: "a small GPU",
      parallelism: 100_000,
      backend: "webgpu",
      createBuffer: () => {
        throw new OutOfMemoryError("full");
      },
    });
    expect(await told("auto", async () => full)).toContain("a small GPU: no room for 17³ nodes; take fewer: --nodes 9");
    await expect(told("cuda", async () => full)).rejects.toThrow("a small GPU: no room for 17³ nodes");
  });

  test.skipIf(!everything)("converges to the exact value", async () => {
    const at = { X: 100, Y: 100, Z: 100 };
    const errorOf = async (nodes: number, steps: number): Promise<number> => {
      const { entries } = await put(device, { nodes, steps, precision: "f64" }, signal);
      return entries[0].at(at).value - EXACT;
    };
    const [coarse, fine] = [await errorOf(33, 20), await errorOf(65, 80)];
    // Second order in space and first in time: a quarter.
    expect(Math.abs(fine)).toBeLessThan(0.4 * Math.abs(coarse));
    expect(Math.abs(fine)).toBeLessThan(0.01);
  });

  test("knows the exact value: two of the prices by the trapezoidal rule, the third by Black's formula", () => {
    const [K, r, sX, sY, sZ, rXY, rXZ, rYZ] = [100, 0.03, 0.2, 0.3, 0.25, 0.5, 0.2, 0.3];
    // W₂ and W₃ by independent variables: the Cholesky factor of the correlations.
    const own = Math.sqrt(1 - rXY ** 2);
    const common = (rYZ - rXY * rXZ) / own;
    const deviation = sZ * Math.sqrt(1 - rXZ ** 2 - common ** 2);
    const cdf = Array.from({ length: 3201 }, (_, i) => normalCdf((i - 1600) / 100));
    // Between the points of the table by its tangent and curvature.
    const phi = (x: number): number => {
      const i = Math.min(Math.max(Math.round(100 * x) + 1600, 0), 3200);
      const [near, step] = [(i - 1600) / 100, x - (i - 1600) / 100];
      const density = Math.exp(-0.5 * near ** 2) / Math.sqrt(2 * Math.PI);
      return cdf[i] + density * step * (1 - (near * step) / 2 + ((near ** 2 - 1) * step ** 2) / 6);
    };
    const h = 0.1;
    let sum = 0;
    for (let a = -8; a <= 8; a += h)
      for (let b = -8; b <= 8; b += h) {
        const X = 100 * Math.exp(r - 0.5 * sX ** 2 + sX * a);
        const Y = 100 * Math.exp(r - 0.5 * sY ** 2 + sY * (rXY * a + own * b));
        const strike = 3 * K - X - Y;
        if (strike <= 0) continue;
        const mean = Math.log(100) + r - 0.5 * sZ ** 2 + sZ * (rXZ * a + common * b);
        const d2 = (mean - Math.log(strike)) / deviation;
        const forward = Math.exp(mean + 0.5 * deviation ** 2);
        const value = strike * phi(-d2) - forward * phi(-d2 - deviation);
        sum += (value * Math.exp(-0.5 * (a * a + b * b)) * h * h) / (2 * Math.PI);
      }
    expect((Math.exp(-r) * sum) / 3).toBeCloseTo(EXACT, 6);
  });
});

describe("the time of a step", () => {
  /** Launches of up to `most` steps, each step 2 ms, the first launch and the last one 100 ms more. */
  async function timed(most: number, first: number) {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      return await timeStep(async (steps, onProgress) => {
        for (let done = 0; done < steps;) {
          const part = Math.min(most, steps - done);
          vi.advanceTimersByTime(2 * part + (done === 0 || done + part === steps ? 100 : 0));
          onProgress({ done: (done += part), total: steps });
        }
        return { entries: [], precision: "f64" };
      }, first);
    } finally {
      vi.useRealTimers();
    }
  }

  test("leaves out the first launch and the last", async () => {
    const { seconds, measured, steps } = await timed(4, 20);
    expect([measured, steps]).toEqual([12, 20]);
    expect(seconds).toBeCloseTo(2e-3, 12);
  });

  test("takes more steps if there are too few launches", async () => {
    const { seconds, measured, steps } = await timed(50, 20);
    expect([measured, steps]).toEqual([100, 160]);
    expect(seconds).toBeCloseTo(2e-3, 12);
  });

  test("says what to do if a step is too short", async () => {
    await expect(timed(1e6, 20)).rejects.toThrow("a step is too short to measure by 100000 of them; take more nodes");
  });
});

describe("Table 5 of Gaikwad and Toke", () => {
  const grid = [2, 2, 3];

  test.skipIf(!everything)(
    "the systems have its sizes, and their time loop the value of the sparse grid's",
    async () => {
      const system = publishedSystem(grid, 1 / 5000);
      expect(system.matrix.column.length).toBe(nonZeros(grid));
      expect(publishedSystem([4, 3, 3], 1 / 5000).matrix.column.length).toBe(4627);
      const { value } = await stepsIn(device, system, "DIA", 5000);
      const entry = await upAndOut(device, { axes: 3, level: 10, grid }, signal);
      // Every step may add 1e-10 of the norm, which is below 100.
      expect(Math.abs(value - entry.at(spot(3)).value)).toBeLessThan(5e-5);
    },
  );

  test("every format has the same values after as many iterations", async () => {
    const system = publishedSystem(grid, 1 / 50);
    const found = [];
    for (const format of Object.keys(FORMATS)) found.push(await stepsIn(device, system, format, 5));
    for (const { iterations, value } of found) {
      expect(iterations).toBe(found[0].iterations);
      expect(Math.abs(value / found[0].value - 1)).toBeLessThan(1e-12);
    }
  });
});
