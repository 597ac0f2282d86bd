/**
 * American options by the integral equation on a GPU: device time of the premium kernel alone, with boundaries that are
 * solved, as in a book whose trades share them.
 *
 * npx tsx bench/device/main.ts device-integral
 */
import { type Device, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { BoundaryCache } from "../../src/quadrature/integral/boundaries.ts";
import { PREMIUM_OUTPUTS, premiumKernel } from "../../src/quadrature/integral/premium.ts";
import { SCHEMES } from "../../src/quadrature/integral/scheme.ts";
import type { Benchmark, Context } from "../harness.ts";
import { stopwatch } from "./stopwatch.ts";

const UNDERLYINGS = 100;
/** The schemes that are timed, and the one that tells their errors. */
const TIMED = [0, 1, 2, 3];
const FINEST = SCHEMES.length - 1;
/** Arithmetic in f64 of an H100 or H200 without tensor cores, operations a second. */
const OPERATIONS = 33e12;

/** Evenly spread numbers (Weyl). */
const spread = (i: number, step: number, from: number, to: number): number =>
  from + (to - from) * ((0.5 + i * step) % 1);

async function onDevice(device: Device, context: Context): Promise<void> {
  const watch = stopwatch(device);
  const count = context.quick ? 2 ** 10 : 2 ** 20;
  using boundaries = new BoundaryCache(device);
  // As `BOUNDARY_INPUTS` says: boundaries of puts, up to four years.
  const inputs = Array.from({ length: UNDERLYINGS }, (_, i) => [
    0.03,
    spread(i, 0.6180339887, 0, 0.03),
    spread(i, 0.7548776662, 0.15, 0.4),
    4,
    1,
    1,
  ]).flat();
  const slots = boundaries.slotsOf(inputs);
  await boundaries.solve(new Set(slots), FINEST);
  const own = Int32Array.from({ length: 2 * count }, (_, l) => (l < count ? slots[l % UNDERLYINGS] : -1));
  const expiries = Array.from({ length: count }, (_, l) => spread(l, 0.569840291, 0.1, 3));
  const spots = Array.from({ length: count }, (_, l) => Math.log(spread(l, 0.8191725134, 1 / 1.2, 1 / 0.8)));
  const compiled = await device.compile(premiumKernel, { precision: "f64", vectors: 1 });
  using boundary = device.createBuffer("i32", own.length);
  using option = device.createBuffer("f64", 3 * count);
  using output = device.createBuffer("f64", PREMIUM_OUTPUTS * count);
  device.write(boundary, own);
  device.write(option, Float64Array.from([...spots, ...expiries, ...expiries]));
  const launch = (scheme: number): void => {
    const { table, tableBuffer, series } = boundaries.scheme(scheme);
    const { nodes, premium: points } = table.size;
    const { capacity, model } = boundaries;
    const known = { count, boundaries: capacity, nodes, points, rule: table.premium, table: tableBuffer };
    device.launch(compiled, { ...known, model, series, boundary, option, output }, { items: count });
  };
  launch(FINEST);
  const exact = await device.read(output, 0, count);
  for (const scheme of TIMED) {
    launch(scheme);
    const values = await device.read(output, 0, count);
    const error = values.reduce((most, value, l) => Math.max(most, Math.abs(value - exact[l])), 0);
    const ms = await watch.milliseconds(() => launch(scheme), context.quick ? 2 : 9);
    const { nodes, premium } = SCHEMES[scheme];
    context.report({
      case: `American puts, value and all Greeks, ${nodes} nodes, ${premium} points, boundaries solved; ${watch.how}`,
      device: device.name,
      precision: "f64",
      figure: count / (ms / 1e3),
      unit: "options/s",
      floor: OPERATIONS / (premium * (100 + 6 * nodes)),
      error,
    });
  }
}

async function run(context: Context): Promise<void> {
  try {
    using device = await openDevice({ backend: "cuda" });
    await onDevice(device, context);
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError)) throw error;
    context.note(`cuda: ${error.message}`);
  }
}

export const benchmark: Benchmark = {
  name: "device-integral",
  description: "American options by the integral equation on a GPU, on a strike of 1",
  run,
};
