/**
 * Implied volatilities on a GPU, in bulk: device time, from prices in its memory to volatilities there.
 *
 * npx tsx bench/device/main.ts device-calibration
 */
import { impliedVolatilityKernel } from "../../src/calibration/implied/batch.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { hostNormalCdf } from "../../src/market/models/index.ts";
import type { Benchmark, Context } from "../harness.ts";
import { stopwatch } from "./stopwatch.ts";

/** Forward, strike, expiry, price and sign of options out of the money, entry fastest, with their volatilities. */
function options(count: number): { readonly input: Float64Array; readonly sigma: Float64Array } {
  const input = new Float64Array(5 * count);
  const sigma = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const [strike, expiry] = [70 + ((11 * i) % 61), 0.5 + ((13 * i) % 31) / 15];
    sigma[i] = 0.05 + (0.75 * ((7 * i) % 101)) / 101;
    const [sign, deviation] = [strike >= 100 ? 1 : -1, sigma[i] * Math.sqrt(expiry)];
    const d1 = Math.log(100 / strike) / deviation + 0.5 * deviation;
    const price = sign * (100 * hostNormalCdf(sign * d1) - strike * hostNormalCdf(sign * (d1 - deviation)));
    [100, strike, expiry, price, sign].forEach((value, row) => (input[row * count + i] = value));
  }
  return { input, sigma };
}

async function measured(device: Device, { quick, report }: Context): Promise<void> {
  const items = 2 ** (quick ? 12 : 22);
  const compiled = await device.compile(impliedVolatilityKernel, { precision: "f64" });
  const { input: values, sigma } = options(items);
  using input = device.createBuffer("f64", 5 * items);
  using output = device.createBuffer("f64", items);
  using status = device.createBuffer("i32", items);
  device.write(input, values);
  const watch = stopwatch(device);
  const milliseconds = await watch.milliseconds(
    () => device.launch(compiled, { items, input, output, status }, { items }),
    quick ? 2 : 9,
  );
  const found = await device.read(output);
  const error = found.reduce((worst, one, i) => Math.max(worst, Math.abs(one / sigma[i] - 1)), 0);
  report({
    case: `implied volatilities of prices in doubles, relative error; ${watch.how}`,
    device: device.name,
    precision: "f64",
    figure: items / (milliseconds / 1e3),
    unit: "volatilities/s",
    error,
  });
}

async function run(context: Context): Promise<void> {
  try {
    using device = await openDevice({ backend: "cuda" });
    await measured(device, context);
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError)) throw error;
    context.note(`cuda: ${error.message}`);
  }
}

export const benchmark: Benchmark = {
  name: "device-calibration",
  description: "implied volatilities on a GPU, in bulk",
  run,
};
