/** A program that opened a CUDA device ends by itself, from a worker thread too. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { rmSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { bundled, programFolder } from "../support/program.ts";
import { type Emulation, emulation } from "./cuda-kernels.ts";

const run = promisify(execFile);
const emulated = await emulation();
const folder = programFolder();
afterAll(() => rmSync(folder, { recursive: true }));

const program = (end: string): string => `
  import { createCudaDevice } from "./src/device/cuda/index.ts";
  const device = await createCudaDevice();
  const buffer = device.createBuffer("f32", 4);
  console.log([...(await device.read(buffer))].join());
  ${end}
`;

const ENDS = [
  ["disposed", "buffer[Symbol.dispose](); device[Symbol.dispose]();"],
  ["not disposed", ""],
  [
    "disposed with work under way",
    "device.read(buffer).catch((error) => console.log(error.code)); device[Symbol.dispose]();",
  ],
  ["with a wait that nobody awaits", "device.finish();"],
] as const;

describe.skipIf(emulated === undefined)("a process with a CUDA device", () => {
  const { libraries } = emulated ?? ({} as Emulation);

  async function outputOf(source: string): Promise<string> {
    const env = {
      ...process.env,
      FEYNKAC_CUDA_DRIVER: libraries.driver,
      FEYNKAC_NVRTC: libraries.nvrtc,
      FEYNKAC_CACHE: "off",
    };
    // Ended by force after the timeout, which then rejects.
    const { stdout } = await run(process.execPath, [bundled(source, folder)], { env, timeout: 30_000 });
    return stdout.trim();
  }

  test.each(ENDS)("ends by itself: %s", async (_, end) => {
    expect(await outputOf(program(end))).toMatch(/^0,0,0,0/);
  });

  test.each(ENDS)("ends by itself, from a worker thread: %s", async (_, end) => {
    const worker = `
      import { Worker } from "node:worker_threads";
      for (let i = 0; i < 2; i++) {
        const worker = new Worker(${JSON.stringify(bundled(program(end), folder, "worker"))});
        await new Promise((resolve, reject) => worker.on("exit", resolve).on("error", reject));
      }
      console.log("over");
    `;
    expect(await outputOf(worker)).toMatch(/^0,0,0,0[^]*0,0,0,0[^]*over$/);
  });
});
