/** One bad entry among good ones: no call throws, and the good ones are as they are alone. */
import { afterAll, expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { solve } from "../../src/pde/fdm/index.ts";
import { fn } from "../../src/kernel/index.ts";
import {
  Cholesky,
  choleskySpec,
  csrMatrix,
  DeviceArray,
  KrylovBatch,
  krylovSpec,
  solveTridiagonal,
} from "../../src/numerics/linalg/index.ts";
import { blackScholes, longstaffSchwartz, monteCarlo, pathProduct, productParams } from "../../src/montecarlo/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { solveOnSparseGrid } from "../../src/pde/sparsegrid/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** The results of entries: a number, or undefined where the entry failed. */
type Results = readonly (number | undefined)[];

/** The square root of a parameter: that of the second entry is not a number. */
const SIGNS = [1, -1, 4];

const equation = { XX: 0.5 } as const;
const X = { from: -3, to: 3 };
const problem = { parameters: { p: SIGNS }, equation, terminal: "sqrt(p) + X", expiry: 1, steps: 4 } as const;

const paths = {
  model: blackScholes({ spot: 1, volatility: 0.2 }),
  product: pathProduct({
    name: "root",
    running: 0,
    parameters: { p: SIGNS },
    payoff: fn({ params: productParams.payoff, body: ({ p }) => Math.sqrt(p[0]) }),
  }),
};

const calls: Readonly<Record<string, () => Promise<Results>>> = {
  async solve() {
    const { entries } = await solve({ ...problem, axes: { X: { ...X, nodes: 15 } } }, { device });
    return entries.map((entry) => (entry.error === undefined ? entry.at(0).value : undefined));
  },
  async "solve on two axes"() {
    const axes = { X: { ...X, nodes: 15 }, Y: { from: 0, to: 1, nodes: 15 } };
    const { entries } = await solve({ ...problem, axes }, { device });
    return entries.map((entry) => (entry.error === undefined ? entry.at({ X: 0, Y: 0.5 }).value : undefined));
  },
  async solveOnSparseGrid() {
    const { entries } = await solveOnSparseGrid({ ...problem, axes: { X, Y: { from: 0, to: 1 } } }, { device });
    return entries.map((entry) => (entry.error === undefined ? entry.at({ X: 0, Y: 0.5 }).value : undefined));
  },
  async monteCarlo() {
    const { value, status } = await monteCarlo({ device, ...paths, dates: [1], paths: 256 });
    return status.map((one, i) => (one === "not-finite" ? undefined : value[i]));
  },
  async longstaffSchwartz() {
    const settings = { ...paths, dates: [0.5, 1], paths: 256, regressionPaths: 256 };
    const { value, status } = await longstaffSchwartz({ device, ...settings });
    return status.map((one, i) => (one === "not-finite" ? undefined : value[i]));
  },
  async Cholesky() {
    using a = await DeviceArray.create(device, [3, 1, 1], { values: SIGNS });
    using cholesky = await Cholesky.create(device, choleskySpec({ size: 1, batch: 3 }));
    const [status, values] = [await cholesky.factor(a), await a.download()];
    return Array.from(status, (minor, i) => (minor === 0 ? values[i] : undefined));
  },
  async solveTridiagonal() {
    const zero = [0, 0, 0];
    const system = { lower: zero, diagonal: [1, 0, 0.25], upper: zero, rhs: [1, 1, 0.5] };
    const { x, failures } = await solveTridiagonal(system, { device, rows: 1, batch: 3 });
    return Array.from(x, (one, i) => (failures.some((failure) => failure.system === i) ? undefined : one));
  },
  async KrylovBatch() {
    const matrices = [1, 0, 0.25].map((value) =>
      csrMatrix({ rows: 1, columns: 1, starts: [0, 1], column: [0], values: [value] }),
    );
    using batch = await KrylovBatch.create(device, matrices, krylovSpec());
    using b = device.createBuffer("f64", 3);
    using x = device.createBuffer("f64", 3);
    device.write(b, Float64Array.of(1, 1, 0.5));
    batch.solve({ b, x });
    const [results, values] = [await batch.results(), await device.read(x)];
    return results.map(({ status }, i) => (status === "converged" ? values[i] : undefined));
  },
  async priceBook() {
    const trade = { id: "1", underlying: "A", payoff: "call", strike: 1, expiry: 1 };
    const book = readBook({
      asOf: "2026-01-01",
      market: { rates: { EUR: 0 }, underlyings: { A: { spot: 2, currency: "EUR", volatility: 0.01 } } },
      trades: [trade, { ...trade, id: "2", strike: -1 }, { ...trade, id: "3", strike: 0.0001 }] as never,
    });
    const { results } = await priceBook(book, { device, greeks: "none" });
    return results.map((result) => (result.status === "ok" ? Math.round(result.value) : undefined));
  },
};

test.each(Object.keys(calls))("%s", async (name) => {
  const results = await calls[name]();
  expect(results.map((one) => (one === undefined ? undefined : Number(one.toFixed(6))))).toEqual([1, undefined, 2]);
});
