/** Runs Heston's kernel on a device. */
import type { Device } from "../../../src/device/device.ts";
import { hostRealType, type Precision } from "../../../src/kernel/index.ts";
import { HESTON_INPUTS, HESTON_OUTPUTS, hestonKernel } from "../../../src/market/models/index.ts";

export interface HestonOption {
  readonly spot: number;
  readonly strike: number;
  /** ∫r dt and ∫q dt up to the expiry. */
  readonly rates: number;
  readonly yields: number;
  readonly expiry: number;
  readonly right: "call" | "put";
  /** Of a digital; 0 for a vanilla. */
  readonly cash: number;
  readonly v0: number;
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
  readonly rho: number;
}

const OUTPUTS = ["value", "delta", "gamma", "toVariance", "toRates", "cross", "toVarianceTwice", "error"] as const;
export type HestonResult = Record<(typeof OUTPUTS)[number], number>;

export const inputsOf = (o: HestonOption): number[] => [
  o.spot,
  o.strike,
  o.rates,
  o.yields,
  o.expiry,
  o.right === "call" ? 1 : -1,
  o.cash,
  o.v0,
  o.kappa,
  o.theta,
  o.sigma,
  o.rho,
];

export async function hestonOn(
  device: Device,
  precision: Precision,
  options: readonly HestonOption[],
): Promise<HestonResult[]> {
  const items = options.length;
  const element = hostRealType(precision);
  const compiled = await device.compile(hestonKernel, { precision });
  using input = device.createBuffer(element, HESTON_INPUTS * items);
  using output = device.createBuffer(element, HESTON_OUTPUTS * items);
  const rows = options.map(inputsOf);
  const columns = rows[0].flatMap((_, i) => rows.map((row) => row[i]));
  device.write(input, element === "f64" ? Float64Array.from(columns) : Float32Array.from(columns));
  device.launch(compiled, { items, input, output }, { items });
  const values = await device.read(output);
  return options.map(
    (_, l) => Object.fromEntries(OUTPUTS.map((name, i) => [name, values[i * items + l]])) as HestonResult,
  );
}
