/** A program that opened a WebGPU device ends by itself. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openWebGpuForTests } from "../support/webgpu.ts";

const run = promisify(execFile);
const support = new URL("../support/webgpu.ts", import.meta.url).href;

const program = (end: string): string => `
  const { openWebGpuForTests } = await import(${JSON.stringify(support)});
  const device = await openWebGpuForTests();
  const buffer = device.createBuffer("f32", 4);
  console.log([...(await device.read(buffer))].join());
  ${end}
`;

async function outputOf(end: string): Promise<string> {
  const args = ["--import", "tsx", "--input-type=module", "-e", program(end)];
  // Ended by force after the timeout, which then rejects.
  const { stdout } = await run(process.execPath, args, { timeout: 30_000 });
  return stdout.trim();
}

describe("a process with a WebGPU device", () => {
  test.for([
    ["disposed", "buffer[Symbol.dispose](); device[Symbol.dispose]();"],
    ["not disposed", ""],
    [
      "disposed with work under way",
      "device.read(buffer).catch((error) => console.log(error.code)); device[Symbol.dispose]();",
    ],
  ])("ends by itself: %s", async ([, end], { skip }) => {
    const device = await openWebGpuForTests();
    if (device === undefined) return skip("no WebGPU adapter");
    device[Symbol.dispose]();
    expect(await outputOf(end)).toMatch(/^0,0,0,0/);
  });
});
