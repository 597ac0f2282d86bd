/** Implied volatilities of many quotes in one launch. */
import { type Device, offeredPrecision } from "../../device/index.ts";
import { i32, kernel, read, real, withEnvironment, write } from "../../kernel/index.ts";
import { blackDeviation, normalDeviation } from "./volatility.ts";

/** Options on forwards whose implied volatilities are computed; each array has one number for each option. */
export interface ForwardOptions {
  /** The forward prices; positive for the model "black". */
  readonly forward: Float64Array;
  readonly strike: Float64Array;
  /** The times to expiry in years, > 0. */
  readonly expiry: Float64Array;
  /** The undiscounted prices (present value divided by the discount factor). */
  readonly price: Float64Array;
  /** The signs: 1 for a call, −1 for a put. */
  readonly sign: Float64Array;
}

/** The implied volatilities of options: NaN for an option whose `status` is not 0 (`QuoteStatus`). */
export interface ImpliedVolatilities {
  readonly volatility: Float64Array;
  readonly status: Int32Array;
}

/** The time that one core takes for a volatility. */
const MICROSECONDS = 0.5;

/**
 * The kernel that computes Black's implied volatilities (`blackDeviation`). `input[i·items + l]` are forward, strike,
 * expiry, price and sign of option l, i = 0 … 4; `output[l]` is its volatility.
 */
export const impliedVolatilityKernel = kernel({
  name: "implied volatility",
  params: { items: i32, input: read(real), output: write(real), status: write(i32) },
  env: { deviationOf: blackDeviation },
  body({ items, input, output, status }, gpu, { deviationOf }) {
    const l = gpu.globalId();
    if (l >= items) return;
    const found = deviationOf({
      quoted: {
        forward: input[l],
        strike: input[items + l],
        price: input[3 * items + l],
        sign: input[4 * items + l],
      },
    });
    output[l] = found.deviation / Math.sqrt(input[2 * items + l]);
    status[l] = found.status;
  },
});

const kernels = {
  black: impliedVolatilityKernel,
  normal: withEnvironment(impliedVolatilityKernel, { deviationOf: normalDeviation }, "implied normal volatility"),
};

/**
 * Computes implied volatilities by Black's formula ("black") or Bachelier's ("normal"), σ = deviation/√expiry. Cost:
 * about 0.3 µs of one core per option. Accuracy: see `blackDeviation` and `normalDeviation`.
 */
export async function impliedVolatilities(
  device: Device,
  { forward, strike, expiry, price, sign }: ForwardOptions,
  model: "black" | "normal" = "black",
): Promise<ImpliedVolatilities> {
  const items = forward.length;
  if (items === 0) return { volatility: new Float64Array(0), status: new Int32Array(0) };
  const precision = await offeredPrecision(device, "f64");
  const compiled = await device.compile(kernels[model], { precision, vectors: 2 });
  using input = device.createBuffer("f64", 5 * items);
  using output = device.createBuffer("f64", items);
  using status = device.createBuffer("i32", items);
  [forward, strike, expiry, price, sign].forEach((values, i) => device.write(input, values, i * items));
  device.launch(compiled, { items, input, output, status }, { items, microsecondsEach: MICROSECONDS });
  const [volatility, statuses] = await Promise.all([device.read(output), device.read(status)]);
  return { volatility, status: statuses };
}
