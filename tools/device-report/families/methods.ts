/** Every method that a book can choose, on every kind of trade and model that it accepts, against the CPU in f64. */
import { METHOD_NAMES, type MethodName } from "../../../src/book/index.ts";
import type { Device } from "../../../src/device/device.ts";
import { compiledAs } from "../compiled-as.ts";
import { type Check, type Family, type Group, once, some, type Target } from "../check.ts";
import { type Accepted, nameOf, oneOfEach, priceKinds } from "../one-of-each.ts";

/** Trades are found once for all devices and precisions. */
const found = new WeakMap<Device, () => Promise<readonly Accepted[]>>();

function foundOn(cpu: Device): () => Promise<readonly Accepted[]> {
  const known = found.get(cpu) ?? once(() => oneOfEach(cpu));
  found.set(cpu, known);
  return known;
}

/** Rounding for spots and notionals of 100, beside the error estimates of both results. */
const ROUNDING = { f64: 1e-7, f32x2: 1e-6, f32: 0.05 } as const;

export const methods: Family = async (target, context) => {
  const { cpu } = context;
  if (target.device === cpu && target.precision === "f64") return [];
  const all = await foundOn(cpu)();
  // "integral" has no f32, and says so.
  const offered = METHOD_NAMES.filter((method) => !(method === "integral" && target.precision === "f32"));
  return offered.map((method) => {
    const own = all.filter((trade) => trade.method === method);
    return groupOf(method, target, some(own, context, 3));
  });
};

function groupOf(method: MethodName, target: Target, trades: readonly Accepted[]): Group {
  if (trades.length === 0) throw new Error(`methods: no trade by ${method}`);
  const results = once(() => priceKinds(trades, compiledAs(target), target.precision));
  const checks = trades.map((trade, i): Check => ({
    name: nameOf(trade),
    async run() {
      const result = (await results())[i];
      const { value, errorEstimate } = trade.expected;
      if (typeof result === "string") return { error: Infinity, failure: `${nameOf(trade)}: ${result}` };
      const allowed = result.errorEstimate + errorEstimate + ROUNDING[target.precision];
      const error = Math.abs(result.value - value) / allowed;
      const failure = `${nameOf(trade)}: ${result.value}, on the CPU ${value}, ${allowed} allowed`;
      return { error, failure: error <= 1 ? undefined : failure };
    },
  }));
  return { family: `methods, ${method}`, unit: "of the estimates", checks };
}
