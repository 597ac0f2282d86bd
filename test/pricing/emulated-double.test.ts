/**
 * The reference cases, and formulas, in emulated double on WebGPU against f64 on the CPU. Both make the same meshes and
 * steps, so they differ by rounding alone: 6e-13 of spot is the most observed.
 */
import { afterAll, describe, expect, it } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { openDevice } from "../../src/device/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { dealt, everything } from "../support/extent.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";
import { priced, referenceTrades, trade } from "./reference.ts";

const TOLERANCE = 1e-9;
/** A software adapter compiles for 20 s, longer on a busy machine. */
const COMPILING = 300_000;

const cpu = await openDevice({ backend: "cpu" });
const webgpu = await openWebGpuForTests();

afterAll(() => {
  expect(webgpu?.liveBuffers ?? 0).toBe(0);
  for (const device of [cpu, webgpu]) device?.[Symbol.dispose]();
});

describe.skipIf(webgpu === undefined)("f64 on WebGPU", () => {
  const trades = referenceTrades().map((one) => one.trade);

  it.each(["auto", "fdm"] as const)(
    "prices the reference cases, method %s, to 1e-9 of spot",
    async (method) => {
      // Others are priced in f32: see devices.test.ts.
      const own = method === "auto" ? dealt(trades, 1, 24) : dealt(trades, 3, 12);
      const solvable = method === "auto" ? own : own.filter(({ id }) => id !== "EUR-O-13");
      // On meshes that both devices have room for: the private memory of a software adapter ends at some 170 nodes.
      const options = { precision: "f64", method, greeks: "grid", accuracy: { relative: 1e-4 } } as const;
      const expected = await priced(solvable, { device: cpu, ...options });
      const got = await priced(solvable, { device: webgpu!, ...options });
      // American options go to the integral equation in f64, which pairs do not have, and to the same method otherwise.
      const errors = solvable.flatMap(({ id, underlying: { spot } }, i) => {
        const value = Math.abs(got[i].value - expected[i].value) / spot;
        const delta = Math.abs(got[i].delta! - expected[i].delta!);
        return got[i].method === expected[i].method ? [{ id, value, delta }] : [];
      });
      const others = expected.filter((one, i) => one.method !== got[i].method);
      expect(others.filter((one) => one.method !== "integral")).toEqual([]);
      expect(errors.length).toBeGreaterThan(others.length);
      const worst = errors.reduce((a, b) => (b.value > a.value ? b : a));
      console.log(`${webgpu!.name}, ${method}: ${worst.value.toExponential(1)} of spot at ${worst.id}`);
      expect(errors.filter(({ value, delta }) => !(value <= TOLERANCE && delta <= 100 * TOLERANCE))).toEqual([]);
      // What no device computes is f64.
      for (const { method: by, precision } of got) expect(precision).toBe(/payoff|determ/.test(by) ? "f64" : "f32x2");
    },
    COMPILING,
  );

  it(
    "prices formulas as well",
    async () => {
      const both = [
        trade({ exercise: { kind: "american" }, volatility: { kind: "local", expression: "0.2 + 0.1*exp(-S/100)" } }),
        trade({ volatility: { kind: "local", expression: "0.2 + 0.05*sin(3*t)*max(0.5, min(2, S/100))" } }),
      ];
      const formulas = dealt(both, 0, 2);
      const [expected, got] = [
        await priced(formulas, { device: cpu, precision: "f64", greeks: "none" }),
        await priced(formulas, { device: webgpu!, precision: "f32x2", greeks: "none" }),
      ];
      got.forEach(({ value }, i) => expect(Math.abs(value - expected[i].value)).toBeLessThanOrEqual(100 * TOLERANCE));
    },
    COMPILING,
  );

  it(
    "prices by paths, on grids of factors and on trees, from the same random numbers",
    async () => {
      const gaussianFactors = { alpha: [0.3, 4], sigma: [0.3, 0.5], rho: -0.1 };
      const market = {
        rates: { EUR: 0.02 },
        underlyings: {
          A: { spot: 20, currency: "EUR", volatility: 0.2 },
          G: { spot: 20, currency: "EUR", volatility: { gaussianFactors } },
          ONE: { spot: 20, currency: "EUR", volatility: { gaussianFactors: { alpha: [0.3], sigma: [0.3] } } },
        },
      };
      const common = { strike: 20, expiry: 1 };
      const trades = [
        { id: "1", underlying: "A", payoff: "call", ...common, average: { kind: "arithmetic", dates: [0.5, 1] } },
        { id: "2", underlying: "G", payoff: "call", ...common, swing: { dates: [0.5, 1], min: 1, max: 1 } },
      ] as const;
      // Transitions of two factors are simulated, which takes a software adapter ten seconds.
      const trees = [
        { id: "3", underlying: everything ? "G" : "ONE", payoff: "put", ...common, exercise: [0.5] },
      ] as const;
      const books = [
        readBook({ asOf: "2026-01-01", market, trades }),
        readBook({ asOf: "2026-01-01", market, trades: trees }),
      ];
      const [expected, got] = await Promise.all(
        [cpu, webgpu!].map(async (device) => {
          const asked = { device, precision: "f64", greeks: "none", accuracy: { relative: 1e-3 } } as const;
          const [paths, tree] = [
            await priceBook(books[0], asked),
            await priceBook(books[1], { ...asked, method: "quantization" }),
          ];
          return [...paths.results, ...tree.results];
        }),
      );
      got.forEach((one, i) => {
        const other = expected[i];
        if (one.status === "error" || other.status === "error") throw new Error(`${one.id}: not priced`);
        expect([one.precision, one.method]).toEqual(["f32x2", ["montecarlo", "convolution", "quantization"][i]]);
        expect(Math.abs(one.value - other.value)).toBeLessThanOrEqual(20 * TOLERANCE);
        expect(one.errorEstimate / other.errorEstimate).toBeCloseTo(1, 3);
      });
    },
    COMPILING,
  );

  it("says so in every result of a book", async () => {
    const book = readBook({
      asOf: "2026-01-01",
      market: { rates: { EUR: 0.03 }, underlyings: { X: { spot: 100, currency: "EUR", volatility: 0.25 } } },
      trades: ["american", "european"].map((exercise) => ({
        id: exercise,
        underlying: "X",
        payoff: "put",
        strike: 100,
        expiry: 1,
        exercise,
      })),
    });
    const { results } = await priceBook(book, { device: webgpu!, precision: "f64" });
    expect(results.map((result) => [result.id, result.precision, result.backend])).toEqual([
      ["american", "f32x2", "webgpu"],
      ["european", "f32x2", "webgpu"],
    ]);
  });
});
