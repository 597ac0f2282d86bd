import type { CompiledKernel, Device, DeviceBuffer } from "../device/index.ts";
import type { UnderlyingQuotes } from "./fit.ts";
import {
  hestonMomentKernel,
  hestonQuoteKernel,
  hestonRuleKernel,
  ITEMS_PER_EXPIRY,
  MAX_NODES,
  MOMENT_COUNT,
  PARAMETER_COUNT,
  QUOTE_OUTPUTS,
  RULE_REALS,
} from "./heston-kernels.ts";

/**
 * The implied volatilities of all quotes for one set of parameters, with their derivatives with respect to v₀, κ, θ, σ,
 * ρ: six numbers for each quote.
 */
export type HestonVolatilities = Float64Array;

type Kernels = readonly [CompiledKernel, CompiledKernel, CompiledKernel];

/**
 * Returns quotes as the arrays that kernels read: `expiry` has the times of all expiries, then the largest |k| of each;
 * `quote` has k = ln(K/F) of each quote; `expiryOf` has the index of its expiry.
 */
export function quoteArrays(expiries: UnderlyingQuotes["expiries"]): {
  readonly expiry: Float64Array;
  readonly quote: Float64Array;
  readonly expiryOf: Int32Array;
} {
  const furthest = expiries.map(({ logMoneyness }) => Math.max(...logMoneyness.map(Math.abs)));
  return {
    expiry: Float64Array.from([...expiries.map(({ time }) => time), ...furthest]),
    quote: Float64Array.from(expiries.flatMap(({ logMoneyness }) => Array.from(logMoneyness))),
    expiryOf: Int32Array.from(expiries.flatMap(({ logMoneyness }, e) => Array.from(logMoneyness, () => e))),
  };
}

/**
 * Computes implied volatilities under Heston's model for the quotes of one underlying on a device, for up to `maxSets`
 * sets of parameters at a time.
 */
export class HestonEngine implements Disposable {
  /** The number of quotes. */
  readonly count: number;
  readonly #device: Device;
  readonly #kernels: Kernels;
  readonly #expiries: number;
  readonly #buffers: Readonly<
    Record<"expiry" | "quote" | "expiryOf" | "point" | "rule" | "moments" | "output", DeviceBuffer>
  >;

  private constructor(device: Device, kernels: Kernels, { expiries }: UnderlyingQuotes, maxSets: number) {
    this.#device = device;
    this.#kernels = kernels;
    this.#expiries = expiries.length;
    const { expiry, quote, expiryOf } = quoteArrays(expiries);
    this.count = quote.length;
    this.#buffers = {
      expiry: device.createBuffer("f64", 2 * expiries.length),
      quote: device.createBuffer("f64", quote.length),
      expiryOf: device.createBuffer("i32", quote.length),
      point: device.createBuffer("f64", PARAMETER_COUNT * maxSets),
      rule: device.createBuffer("f64", RULE_REALS * maxSets * expiries.length),
      moments: device.createBuffer("f64", 2 * MOMENT_COUNT * MAX_NODES * maxSets * expiries.length),
      output: device.createBuffer("f64", QUOTE_OUTPUTS * maxSets * quote.length),
    };
    device.write(this.#buffers.expiry, expiry);
    device.write(this.#buffers.quote, quote);
    device.write(this.#buffers.expiryOf, expiryOf);
  }

  static async create(device: Device, quotes: UnderlyingQuotes, maxSets: number): Promise<HestonEngine> {
    const options = { precision: "f64", vectors: 1 } as const;
    const kernels = await Promise.all([
      device.compile(hestonRuleKernel, options),
      device.compile(hestonMomentKernel, options),
      device.compile(hestonQuoteKernel, options),
    ]);
    return new HestonEngine(device, kernels, quotes, maxSets);
  }

  /** Returns the implied volatilities for each set of parameters, v₀, κ, θ, σ, ρ. */
  async volatilities(points: readonly Float64Array[]): Promise<HestonVolatilities[]> {
    const device = this.#device;
    const [rules, nodes, quotes] = this.#kernels;
    const { expiry, quote, expiryOf, point, rule, moments, output } = this.#buffers;
    const expiries = this.#expiries;
    const items = points.length * expiries;
    const all = new Float64Array(PARAMETER_COUNT * points.length);
    points.forEach((one, i) => all.set(one, PARAMETER_COUNT * i));
    device.write(point, all);
    device.launch(rules, { items, expiries, expiry, point, rule }, { items, microsecondsEach: 20 });
    const size = { items: items * ITEMS_PER_EXPIRY, microsecondsEach: 1 };
    device.launch(nodes, { items, expiries, expiry, point, rule, moments }, size);
    device.launch(
      quotes,
      {
        items: points.length * this.count,
        quotes: this.count,
        expiries,
        quote,
        expiryOf,
        expiry,
        rule,
        moments,
        output,
      },
      { items: points.length * this.count, microsecondsEach: 2 },
    );
    const found = await device.read(output);
    const each = QUOTE_OUTPUTS * this.count;
    return points.map((_, i) => Float64Array.from(found.subarray(i * each, (i + 1) * each)));
  }

  [Symbol.dispose](): void {
    for (const buffer of Object.values(this.#buffers)) buffer[Symbol.dispose]();
  }
}
