/** A program that opened a WebGPU device ends by itself. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { rmSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { bundled, programFolder } from "../support/program.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";

const run = promisify(execFile);
const folder = programFolder();
afterAll(() => rmSync(folder, { recursive: true }));

const program = (end: string): string => `
  import { openWebGpuForTests } from "./test/support/webgpu.ts";
  const device = await openWebGpuForTests();
  const buffer = device.createBuffer("f32", 4);
  console.log([...(await device.read(buffer))].join());
  ${end}
`;

async function outputOf(end: string): Promise<string> {
  // Ended by force after the timeout, which then rejects.
  const { stdout } = await run(process.execPath, [bundled(program(end), folder)], { timeout: 30_000 });
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
