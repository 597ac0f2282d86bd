/** Random scripts on a device: what they carry at the end of paths, by the function that paths run. */
import type { Device } from "../../src/device/device.ts";
import { i32, kernel, type Precision, read, real, write } from "../../src/kernel/index.ts";
import type { Program } from "../../src/market/scripts/index.ts";
import { scripted } from "../../src/montecarlo/index.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";
import { type RandomScript, randomScript } from "./random-scripts.ts";

/** A kernel whose work items run the dates of a program, each on its own spots. */
function pathKernel(program: Program, assets: number) {
  const { update } = scripted({
    program,
    running: Array<number>(program.running).fill(0),
    scalars: program.scalars.map(() => 0),
    dated: program.columns.map(() => [0]),
  });
  return kernel({
    name: "scriptPath",
    params: { dates: i32, items: i32, spots: read(real), p: read(real), q: read(real), running: write(real) },
    env: { update: update!, A: assets, R: program.running, Q: program.columns.length },
    body({ dates, items, spots, p, q, running }, gpu, { update, A, R, Q }): undefined {
      const item = gpu.globalId();
      if (item >= items) return;
      const own = gpu.privateReal(R);
      const now = gpu.privateReal(A);
      const dated = gpu.privateReal(Q);
      const none = gpu.privateReal(1);
      none[0] = 0;
      for (let k = 0; k < R; k++) own[k] = p[k]!;
      for (let date = 0; date < dates; date++) {
        for (let a = 0; a < A; a++) now[a] = spots[(date * A + a) * items + item]!;
        for (let k = 0; k < Q; k++) dated[k] = q[date * Q + k]!;
        const t = gpu.real(0);
        update({
          running: own,
          spots: now,
          p,
          q: dated,
          logs: none,
          before: none,
          variances: none,
          uniforms: none,
          t,
          dt: t,
          date,
          discount: 1,
        });
      }
      for (let k = 0; k < R; k++) running[k * items + item] = own[k]!;
    },
  });
}

/** Returns what a script carries at the end of paths, [paths][numbers], given spots, [paths][dates][assets]. */
export async function carriedOn(
  device: Device,
  precision: Precision,
  { program, assets, dates, begin, scalars }: RandomScript,
  paths: readonly (readonly (readonly number[])[])[],
): Promise<readonly (readonly number[])[]> {
  const items = paths.length;
  const compiled = await device.compile(pathKernel(program, assets), { precision });
  const element = precision === "f64" ? "f64" : "f32";
  const spots = dates.flatMap((_, date) =>
    Array.from({ length: assets }, (_one, a) => paths.map((path) => path[date][a])).flat(),
  );
  const buffers = [spots, [...begin, ...scalars, 0], dates.flat()].map((numbers) => {
    const buffer = device.createBuffer(element, numbers.length);
    device.write(buffer, element === "f64" ? Float64Array.from(numbers) : Float32Array.from(numbers));
    return buffer;
  });
  const running = device.createBuffer(element, items * program.running);
  try {
    const [on, p, q] = buffers;
    device.launch(compiled, { dates: dates.length, items, spots: on, p, q, running }, { items });
    const found = await device.read(running);
    return paths.map((_, k) => begin.map((_one, at) => found[at * items + k]));
  } finally {
    for (const buffer of [...buffers, running]) buffer[Symbol.dispose]();
  }
}

/**
 * Returns the random scripts whose carried numbers on a device are not those of the interpreter in the same
 * precision, each with its seed and the largest relative difference.
 */
export async function differencesOn(
  device: Device,
  seeds: readonly number[],
  count: number,
): Promise<readonly { readonly seed: number; readonly by: number; readonly text: string }[]> {
  const precision = device.precisions.includes("f64") ? "f64" : "f32";
  const bad = [];
  for (const seed of seeds) {
    const made = randomScript(seed);
    const paths = Array.from({ length: count }, (_, k) => made.spots(k));
    const wanted = await carriedOn(new InterpreterDevice(), precision, made, paths);
    const found = await carriedOn(device, precision, made, paths);
    const by = Math.max(
      ...found.flatMap((path, k) =>
        path.map((value, at) => Math.abs(value - wanted[k][at]) / Math.max(1, Math.abs(wanted[k][at]))),
      ),
    );
    if (!(by === 0)) bad.push({ seed, by, text: made.text });
  }
  return bad;
}
