/**
 * Checks the CUDA device on a real GPU, without a test runner, for machines that have nothing but Node and koffi:
 *
 *   npx esbuild test/device/cuda-hardware.ts --bundle --platform=node --format=esm --target=node20 --external:koffi
 *   --outfile=cuda-hardware.mjs
 *   node cuda-hardware.mjs            on the machine with the GPU; exits with 1 if a check fails
 *
 * What neither the emulator nor the device suite (`npm run test:device`) shows is here: the driver's own behaviour
 * after a fault, sizes beyond 4 GiB, memory running out, several GPUs, times. Figures are printed and never judged.
 */
import { execFileSync } from "node:child_process";
import { type CudaDevice, createCudaDevice, cudaDevices } from "../../src/device/cuda/index.ts";
import { diagnoseCuda } from "../../src/device/index.ts";
import { DeviceLostError, OutOfMemoryError } from "../../src/base/errors.ts";
import { i32, kernel, read, real, write } from "../../src/kernel/index.ts";

const increment = kernel({
  name: "increment",
  params: { u: write(real) },
  body({ u }, gpu) {
    const i = gpu.globalId();
    u[i] = u[i] + 1;
  },
});

const affine = kernel({
  name: "affine",
  params: { scale: real, shift: i32, u: read(real), out: write(real) },
  body({ scale, shift, u, out }, gpu) {
    const i = gpu.globalId();
    out[i] = scale * u[i] + gpu.real(shift);
  },
});

const stray = kernel({
  name: "stray",
  params: { u: write(real) },
  body({ u }, gpu) {
    u[gpu.globalId() + 1_000_000_000] = 1;
  },
});

const f64 = { precision: "f64" } as const;

function expect(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

async function fails(work: () => unknown, kind: new (message: string) => Error): Promise<Error> {
  try {
    await work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
  throw new Error(`expected ${kind.name}, got success`);
}

const say = (text: string): void => console.log(`      ${text}`);

async function timesOf(count: number, work: (i: number) => Promise<unknown> | void): Promise<number> {
  for (let i = 0; i < count / 10; i++) await work(i);
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    const pending = work(i);
    if (pending !== undefined) await pending;
  }
  return ((performance.now() - start) / count) * 1000;
}

function usedMiB(): string {
  try {
    const args = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
    return execFileSync("nvidia-smi", args, { encoding: "utf8" }).trim().split("\n")[0];
  } catch {
    return "?";
  }
}

async function largeBuffers(): Promise<void> {
  using device = await createCudaDevice();
  const length = 700_000_000; // 5.6 GB
  using u = device.createBuffer("f64", length);
  device.write(u, Float64Array.of(10, 20), length - 2);
  device.launch(await device.compile(increment, f64), { u }, { items: length });
  expect((await device.read(u, length - 3)).join() === "1,11,21", "the end of 700,000,000 f64");
  expect((await device.read(u, 0, 1))[0] === 1, "the start of 700,000,000 f64");
  using many = device.createBuffer("i32", 2_500_000_000); // more elements than an i32 counts
  device.write(many, Int32Array.of(7), 2_400_000_000);
  expect((await device.read(many, 2_400_000_000, 2)).join() === "7,0", "2,500,000,000 i32");
  const start = performance.now();
  const whole = await device.read(u, 0, 2 ** 28);
  say(`2 GiB read in ${(performance.now() - start).toFixed(0)} ms`);
  expect(whole[2 ** 28 - 1] === 1, "2 GiB in one read");
}

async function outOfMemory(): Promise<void> {
  using device = await createCudaDevice();
  const part = Math.floor(device.info.memoryBytes / 8 / 3);
  using first = device.createBuffer("f64", part);
  using second = device.createBuffer("f64", part);
  const error = await fails(() => device.createBuffer("f64", part), OutOfMemoryError);
  say(error.message);
  second[Symbol.dispose]();
  using third = device.createBuffer("f64", part);
  device.write(third, Float64Array.of(3), part - 1);
  expect((await device.read(third, part - 1))[0] === 3, "after a failed allocation");
  expect(first.length === part, "the first");
}

async function faults(): Promise<void> {
  using other = await createCudaDevice();
  using kept = other.createBuffer("f64", 4);
  {
    using device = await createCudaDevice();
    using u = device.createBuffer("f64", 4);
    device.launch(await device.compile(increment, f64), { u }, { items: 4 });
    await device.finish();
    device.launch(await device.compile(stray, f64), { u }, { items: 1 });
    await fails(() => device.read(u), DeviceLostError);
    say(`lost: ${await device.lost}`);
  }
  const says = async (who: string, device: CudaDevice, u: ReturnType<CudaDevice["createBuffer"]>): Promise<string> => {
    try {
      device.launch(await device.compile(increment, f64), { u }, { items: 4 });
      return `${who} goes on: ${(await device.read(u)).join()}`;
    } catch (error) {
      return `${who} does not: ${String(error)}`;
    }
  };
  say(await says("another context of this GPU", other, kept));
  try {
    using next = await createCudaDevice();
    using u = next.createBuffer("f64", 4);
    say(await says("a new device", next, u));
  } catch (error) {
    say(`no new device opens: ${String(error)}`);
  }
}

async function sequences(): Promise<void> {
  using device = await createCudaDevice();
  const compiled = await device.compile(increment, f64);
  using u = device.createBuffer("f64", 1000);
  using sequence = device.record(() => {
    for (let i = 0; i < 100; i++) device.launch(compiled, { u }, { items: 1000 });
  });
  await timesOf(20, () => sequence.run()); // 2 and 20 runs
  await device.finish();
  expect((await device.read(u))[999] === 2200, "22 runs of 100 launches");
  const single = await device.timed(() => {
    for (let i = 0; i < 1000; i++) device.launch(compiled, { u }, { items: 1000 });
  });
  const together = await device.timed(() => {
    for (let i = 0; i < 10; i++) sequence.run();
  });
  say(`a launch on the device: ${single.toFixed(2)} µs alone, ${together.toFixed(2)} µs in a sequence of 100`);
}

async function times(): Promise<void> {
  using device = await createCudaDevice();
  const compiled = await device.compile(affine, f64);
  using u = device.createBuffer("f64", 1000);
  using out = device.createBuffer("f64", 1000);
  const args = { scale: 2, shift: 1, u, out };
  const launch = (): void => device.launch(compiled, args, { items: 1000 });
  const values = new Float64Array(100);
  const report = (what: string, microseconds: number): void => say(`${what}: ${microseconds.toFixed(2)} µs`);
  report("launch", await timesOf(20_000, launch));
  await device.finish();
  report("launch and finish", await timesOf(5000, () => (launch(), device.finish())));
  report("launch and read of 80 bytes", await timesOf(5000, () => (launch(), device.read(out, 0, 10))));
  report("write of 800 bytes", await timesOf(5000, () => device.write(u, values)));
  report("create and dispose", await timesOf(5000, () => device.createBuffer("f64", 1000)[Symbol.dispose]()));
  await device.finish();
  const length = 2 ** 27; // 1 GiB
  using large = device.createBuffer("f64", length);
  using copy = device.createBuffer("f64", length);
  const host = new Float64Array(length).fill(1);
  for (const what of ["write", "read"] as const) {
    const start = performance.now();
    if (what === "write") device.write(large, host);
    else await device.read(large);
    await device.finish();
    say(`${what} of 1 GiB: ${(1.0737 / ((performance.now() - start) / 1000)).toFixed(1)} GB/s`);
  }
  const run = (): void => device.launch(compiled, { scale: 1, shift: 0, u: large, out: copy }, { items: length });
  run();
  const milliseconds = (await device.timed(() => [1, 2, 3, 4, 5].forEach(run))) / 5;
  say(`copy on the device: ${((2 * 1.0737) / milliseconds).toFixed(2)} TB/s`);
}

async function cycles(): Promise<void> {
  const before = usedMiB();
  const start = performance.now();
  for (let i = 0; i < 20; i++) {
    using device = await createCudaDevice();
    using u = device.createBuffer("f64", 2 ** 20);
    device.launch(await device.compile(increment, f64), { u }, { items: 2 ** 20 });
    expect((await device.read(u))[77] === 1, `cycle ${i}`);
  }
  say(`${((performance.now() - start) / 20).toFixed(0)} ms a cycle; ${before} MiB in use before, ${usedMiB()} after`);
}

async function severalGpus(): Promise<void> {
  const found = await cudaDevices();
  const all = await Promise.all(found.map(({ index }) => createCudaDevice({ device: index })));
  const buffers = all.map((device) => device.createBuffer("f64", 5000));
  const compiled = await Promise.all(all.map((device) => device.compile(increment, f64)));
  for (let round = 0; round < 50; round++)
    for (const [i, device] of all.entries()) device.launch(compiled[i], { u: buffers[i] }, { items: 5000 });
  for (const [i, device] of all.entries()) expect((await device.read(buffers[i]))[4999] === 50, device.name);
  say(`${all.length} at the same time`);
  for (const device of all) device[Symbol.dispose]();
}

async function compilation(): Promise<void> {
  using device = await createCudaDevice();
  const cold = await device.compile(increment, f64);
  using second = await createCudaDevice();
  const again = await second.compile(increment, f64);
  say(`first ${cold.compileMs.toFixed(1)} ms, in another device ${again.compileMs.toFixed(1)} ms (the disk's cache)`);
}

for (const { part, found, detail } of await diagnoseCuda()) console.log(`${part}: ${found ? "" : "MISSING "}${detail}`);
const checks = {
  compilation,
  sequences,
  times,
  "large buffers": largeBuffers,
  "out of memory": outOfMemory,
  cycles,
  "several GPUs": severalGpus,
  faults,
};
const chosen = process.argv.slice(2);
for (const [name, check] of Object.entries(checks)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const start = performance.now();
  try {
    await check();
    console.log(`ok    ${name}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.log(`FAIL  ${name}: ${error instanceof Error ? error.stack : String(error)}`);
    process.exitCode = 1;
  }
}
