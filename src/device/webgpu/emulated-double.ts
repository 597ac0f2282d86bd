/**
 * Tests whether double-word arithmetic survives an adapter's compilers. Each operation, and the functions built on
 * them, are measured against f64. Only a test can tell, because WGSL promises neither separate rounding nor a fused
 * multiply-add.
 */
import type { CompiledKernel } from "../device.ts";
import type { Device } from "../device.ts";
import { PrecisionError } from "../../base/errors.ts";
import { fn, i32, type Kernel, kernel, type KernelIR, lower, read, real, write } from "../../kernel/index.ts";

const pair = [real, real] as const;

/** The operations that are tested. When plain JavaScript calls them they run in f64, and are their own references. */
const operations = {
  add: fn({ name: "add", params: pair, body: ([x, y]) => x + y }),
  subtract: fn({ name: "subtract", params: pair, body: ([x, y]) => x - y }),
  multiply: fn({ name: "multiply", params: pair, body: ([x, y]) => x * y }),
  divide: fn({ name: "divide", params: pair, body: ([x, y]) => x / y }),
  sqrt: fn({ name: "sqrt", params: pair, body: ([x]) => Math.sqrt(Math.abs(x)) }),
  exp: fn({ name: "exp", params: pair, body: ([x]) => Math.exp(x) }),
  log: fn({ name: "log", params: pair, body: ([x]) => Math.log(Math.abs(x)) }),
  erf: fn({ name: "erf", params: pair, body: ([x], gpu) => gpu.erf(x) }),
  normalCdf: fn({ name: "normalCdf", params: pair, body: ([x], gpu) => gpu.normalCdf(x) }),
  normalPdf: fn({ name: "normalPdf", params: pair, body: ([x], gpu) => gpu.normalPdf(x) }),
};
type Operation = keyof typeof operations;
const names = Object.keys(operations) as Operation[];

/**
 * Returns the largest allowed relative error: 2⁻⁴⁴ for the operations, and twice to four times that for functions of
 * about fifty operations. Without protection from the compiler errors are about 2⁻²⁴.
 */
const boundOf = (name: Operation): number =>
  ["add", "subtract", "multiply", "divide", "sqrt"].includes(name) ? 2 ** -44 : 2 ** -42;

const ITEMS = 4096;

const selfTest = kernel({
  name: "emulatedDoubleTest",
  params: { n: i32, x: read(real), y: read(real), out: write(real) },
  env: operations,
  body({ n, x, y, out }, gpu, { add, subtract, multiply, divide, sqrt, exp, log, erf, normalCdf, normalPdf }) {
    const i = gpu.globalId();
    const a = x[i];
    const b = y[i];
    out[i] = add(a, b);
    out[i + n] = subtract(a, b);
    out[i + 2 * n] = multiply(a, b);
    out[i + 3 * n] = divide(a, b);
    out[i + 4 * n] = sqrt(a, b);
    out[i + 5 * n] = exp(a, b);
    out[i + 6 * n] = log(a, b);
    out[i + 7 * n] = erf(a, b);
    out[i + 8 * n] = normalCdf(a, b);
    out[i + 9 * n] = normalPdf(a, b);
  },
});

/** A device that can compile kernels that have already been lowered. */
interface Compiling extends Device {
  compileIr(kernel: Kernel, ir: KernelIR): Promise<CompiledKernel>;
}

/** Returns the largest relative error of each operation of emulated double (f32x2), measured on a device. */
export async function emulatedDoubleErrors(device: Compiling): Promise<Record<Operation, number>> {
  const compiled = await device.compileIr(selfTest, lower(selfTest, "f32x2"));
  const [x, y] = inputs();
  using xs = device.createBuffer("f64", ITEMS);
  using ys = device.createBuffer("f64", ITEMS);
  using out = device.createBuffer("f64", names.length * ITEMS);
  device.write(xs, x);
  device.write(ys, y);
  device.launch(compiled, { n: ITEMS, x: xs, y: ys, out }, { items: ITEMS });
  const [a, b, got] = await Promise.all([device.read(xs), device.read(ys), device.read(out)]);
  const worst = names.map((name, k) => {
    let error = 0;
    for (let i = 0; i < ITEMS; i++) {
      const exact = operations[name](a[i], b[i]);
      const relative = got[k * ITEMS + i] === exact ? 0 : Math.abs(got[k * ITEMS + i] / exact - 1);
      error = Math.max(error, Number.isNaN(relative) ? Infinity : relative);
    }
    return [name, error];
  });
  return Object.fromEntries(worst) as Record<Operation, number>;
}

/**
 * Checks each operation of emulated double (f32x2) on a device against f64. An operation is tested after those that it
 * consists of. @throws PrecisionError, which names the first operation that is not exact enough, and its error
 */
export async function checkEmulatedDouble(device: Compiling): Promise<void> {
  const errors = await emulatedDoubleErrors(device);
  const wrong = names.find((name) => !(errors[name] <= boundOf(name)));
  if (wrong === undefined) return;
  throw new PrecisionError(
    `${device.name}: f32x2, emulated double, is not exact enough here: ${wrong} has a relative error of ` +
      `${errors[wrong].toExponential(1)}, at most ${boundOf(wrong).toExponential(1)} allowed; use f32, or the CPU, which offers f64`,
  );
}

/**
 * Returns test inputs of either sign with magnitudes from 2⁻¹² to 2³, all of whose f64 bits are used, and pairs that
 * nearly cancel. They are pseudo-random and always the same (xorshift32).
 */
function inputs(): [Float64Array, Float64Array] {
  let state = 2463534242;
  const word = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const uniform = (): number => (word() + word() / 2 ** 32) / 2 ** 32;
  const number = (): number => (word() & 1 ? -1 : 1) * (1 + uniform()) * 2 ** ((word() % 15) - 12);
  const x = Float64Array.from({ length: ITEMS }, number);
  const y = x.map((value, i) => (i % 4 === 0 ? -value * (1 + uniform() * 2 ** -(word() % 30)) : number()));
  return [x, y];
}
