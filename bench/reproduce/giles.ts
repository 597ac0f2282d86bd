import type { Device, Progress } from "../../src/device/index.ts";
import { OutOfMemoryError, SpecError } from "../../src/base/errors.ts";
import { type AxesSolution, solve } from "../../src/pde/fdm/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { CliError } from "../../src/cli/failure.ts";
import { copyTime } from "./copy-time.ts";
import { allCores, type Open, openCores, openGpus } from "./devices.ts";
import type { ReproduceOptions, Reproduction, ReproductionContext } from "../../src/cli/reproduction.ts";
import { type StepTime, timeStep } from "./step-time.ts";

/**
 * The value of the option that `put` prices, where all three prices are 100. It was computed by the trapezoidal rule in
 * two of the three normal variables, with Black's formula in the third (NumPy; 201 to 3,201 points in each variable
 * agree to 1e-12).
 */
export const EXACT = 5.9960287737;

/**
 * Solves for a put on the mean of three correlated prices by Douglas' scheme, with `nodes` nodes along each of three
 * axes.
 */
export async function put(
  device: Device,
  { nodes, steps, precision }: { readonly nodes: number; readonly steps: number; readonly precision: Precision },
  signal: AbortSignal,
  onProgress?: (progress: Progress) => void,
): Promise<AxesSolution<"X" | "Y" | "Z">> {
  const axis = { from: "K/8", to: "8*K", coordinate: "log", density: "uniform", nodes } as const;
  return solve(
    {
      axes: { X: axis, Y: axis, Z: axis },
      parameters: { K: 100, r: 0.03, sX: 0.2, sY: 0.3, sZ: 0.25, rXY: 0.5, rXZ: 0.2, rYZ: 0.3 },
      equation: ({ X, Y, Z, r, sX, sY, sZ, rXY, rXZ, rYZ }) => ({
        XX: 0.5 * sX * sX * X * X,
        YY: 0.5 * sY * sY * Y * Y,
        ZZ: 0.5 * sZ * sZ * Z * Z,
        XY: rXY * sX * sY * X * Y,
        XZ: rXZ * sX * sZ * X * Z,
        YZ: rYZ * sY * sZ * Y * Z,
        X: r * X,
        Y: r * Y,
        Z: r * Z,
        V: -r,
      }),
      terminal: ({ X, Y, Z, K }) => Math.max(K - (X + Y + Z) / 3, 0),
      expiry: 1,
      scheme: { kind: "douglas", rannacherSteps: 0 },
      steps,
      precision,
    },
    { device, signal, onProgress },
  );
}

/** The measured times of a device. */
interface Timing extends StepTime<"X" | "Y" | "Z"> {
  /** The time in seconds for reading and writing the solution twice, which is a lower bound. */
  readonly floor: number;
}

/** Measures the time of a step. @throws CliError if the device has too little memory for the grid */
async function timed(device: Device, { nodes, steps, precision }: ReproduceOptions, signal: AbortSignal) {
  try {
    const time = await timeStep((count, onProgress) => {
      return put(device, { nodes, steps: count, precision }, signal, onProgress);
    }, steps);
    return { ...time, floor: 2 * (await copyTime(device, nodes ** 3, time.precision)) } satisfies Timing;
  } catch (error) {
    if (!(error instanceof OutOfMemoryError)) throw error;
    const fewer = Math.ceil(nodes / 2);
    throw new CliError(`${device.name}: no room for ${nodes}³ nodes; take fewer: --nodes ${fewer}`, { cause: error });
  }
}

/** Writes a time with three digits in a suitable unit, such as "717 ms". */
function duration(seconds: number): string {
  for (const [unit, size] of Object.entries({ s: 1, ms: 1e-3, µs: 1e-6 }))
    if (seconds >= size) return `${digits(seconds / size)} ${unit}`;
  return `${digits(seconds / 1e-9)} ns`;
}

/** Writes a number with three significant digits, or with all digits before the decimal point. */
const digits = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

const COLUMNS = ["time per step", "per node", "one core = 1", "floor", "measured", "value"] as const;
const WIDTHS = [15, 12, 14, 12, 16, 10] as const;
const DEVICE = 42;

const line = (name: string, cells: readonly string[]): string =>
  [name.padEnd(DEVICE), ...cells.map((cell, i) => cell.padStart(WIDTHS[i]))].join("");

function row(device: Device, timing: Timing, { nodes, precision }: ReproduceOptions, oneCore: number): string {
  const { seconds, measured, steps, floor, entry } = timing;
  const name = timing.precision === precision ? device.name : `${device.name}, ${timing.precision}`;
  return line(name, [
    duration(seconds),
    duration(seconds / nodes ** 3),
    `${digits(oneCore / seconds)}×`,
    duration(floor),
    `${measured} of ${steps}`,
    entry.at({ X: 100, Y: 100, Z: 100 }).value.toFixed(4),
  ]);
}

async function run({ options, signal, say }: ReproductionContext, open?: Open): Promise<void> {
  const { nodes, precision } = options;
  const gpus = await openGpus(options, open);
  const reasons = [...gpus.missing];
  try {
    say(`A put on the mean of three correlated prices (Black–Scholes), Douglas' scheme, ${nodes}³ nodes, ${precision}`);
    say("");
    say(line("device", COLUMNS));
    let oneCore = 0;
    const measure = async (device: Device): Promise<void> => {
      const timing = await timed(device, options, signal);
      oneCore ||= timing.seconds;
      say(row(device, timing, options, oneCore));
    };
    for (const threads of [1, allCores(options)]) {
      if (threads === undefined) continue;
      using device = await openCores(threads, options);
      await measure(device);
    }
    for (const device of gpus.devices) {
      try {
        await measure(device);
      } catch (error) {
        // One of several GPUs may be too small.
        const isSmall = error instanceof CliError || error instanceof SpecError;
        if (options.backend !== "auto" || !isSmall) throw error;
        reasons.push(error.message);
      }
    }
  } finally {
    for (const device of gpus.devices) device[Symbol.dispose]();
  }
  say("");
  if (reasons.length > 0) say(gpus.devices.length === 0 ? "No GPU:" : "Not measured:");
  for (const reason of reasons) say(`  ${reason}`);
  say("Measured: steps between the first launch and the last. Floor: the time of two copies of the solution.");
  say(`Value: where all prices are 100; exact is ${EXACT.toFixed(4)}. With correlations the scheme is of first order,`);
  say("  and 0.02 off in 20 steps.");
  say("Giles reports 25 times the speed of one core on a GeForce 9800GT, and 30 times on an 8800GT:");
  say("  https://people.maths.ox.ac.uk/gilesm/cuda_old.html");
}

/** The reproduction of Giles' finite difference solver for three factors. */
export const giles: Reproduction & { run: typeof run } = {
  name: "giles",
  title: "a three-factor equation by alternating directions, timed beside one core",
  source: "M. B. Giles, a generic 3-D ADI solver for three-factor finance applications on GPUs, Oxford (2008)",
  run,
};
