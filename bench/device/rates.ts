/**
 * Bermudan swaptions and callable bonds on a GPU: device time of the recursion alone, one value each.
 *
 * npx tsx bench/device/main.ts device-rates
 */
import type { CudaDevice } from "../../src/device/cuda/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import {
  type GaussianMarket,
  oneFactorInduction,
  BackwardInductionEngine,
  type ShortRateTrade,
} from "../../src/quadrature/rates/index.ts";
import { type Benchmark, type Context, median } from "../harness.ts";

/** The fineness of values in books, and one that tells their error. */
const FINE = { density: 2.5, reach: 7 };
const FINEST = { density: 4, reach: 8 };
const MARKET: GaussianMarket = {
  meanReversion: 0.05,
  volatility: { times: [], values: [0.01] },
  logDiscount: (t) => -0.03 * t,
};
const DATES = 9;

/** On a notional of 1, with strikes and coupons that come round after 41. */
function tradeOf(kind: "payer" | "bond", i: number): ShortRateTrade {
  const rate = 0.02 + 0.0005 * (i % 41);
  const years = Array.from({ length: DATES + 1 }, (_, k) => k + 1);
  const flows = years.map((time) => [time, rate + (time === years.length ? 1 : 0)] as const);
  const dates = years.slice(0, DATES).map((time) => ({ time, settlement: time }));
  if (kind === "bond") return { kind, flows, dates: dates.map((date) => ({ ...date, cap: 1.01 })) };
  return { kind, flows, dates: dates.map((date) => ({ ...date, floor: 1 })) };
}

/** The device with the milliseconds of each launch by its own clock. */
function timed(device: CudaDevice, launches: Promise<number>[]): Device {
  const launch: Device["launch"] = (kernel, args, size) => {
    launches.push(device.timed(() => device.launch(kernel, args, size)));
  };
  return new Proxy(device, {
    get: (target, name) => {
      if (name === "launch") return launch;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function onDevice(device: CudaDevice, { quick, report }: Context): Promise<void> {
  const count = quick ? 2 ** 12 : 2 ** 18;
  for (const [kind, name] of [
    ["payer", `Bermudan payer swaptions of ${DATES} dates`],
    ["bond", `callable bonds of ${DATES} dates`],
  ] as const) {
    const trades = Array.from({ length: count }, (_, i) => tradeOf(kind, i));
    const instances = trades.map((_, trade) => ({ trade, market: 0 }));
    const launches: Promise<number>[] = [];
    using engine = new BackwardInductionEngine(oneFactorInduction, timed(device, launches));
    const exact = await engine.values(trades, [MARKET], instances.slice(0, 41), FINEST);
    const runs: number[] = [];
    let error = 0;
    for (let k = 0; k < (quick ? 2 : 5); k++) {
      launches.length = 0;
      const values = await engine.values(trades, [MARKET], instances, FINE);
      error = exact.reduce((most, one, i) => Math.max(most, Math.abs(values[i] - one)), 0);
      runs.push((await Promise.all(launches)).reduce((sum, ms) => sum + ms, 0));
    }
    report({
      case: `${name}, value only, the kernel alone; CUDA events`,
      device: device.name,
      precision: "f64",
      figure: count / (median(runs.slice(1)) / 1e3),
      unit: "trades/s",
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
  name: "device-rates",
  description: "Bermudan swaptions and callable bonds on a GPU, on a notional of 1",
  run,
};
