/** The table of a context's kernels: threads load each once, and nobody waits for one that fails. */
import { rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test, vi } from "vitest";
import { LoadedKernels } from "../../src/device/cuda/loaded-kernels.ts";
import { MAX_PROGRAMS } from "../../src/device/max-programs.ts";
import { bundled, programFolder } from "../support/program.ts";

const folder = programFolder();
afterAll(() => rmSync(folder, { recursive: true }));

test("threads load each kernel once, after a failure once more", async () => {
  const file = bundled(
    `
      import { parentPort, workerData } from "node:worker_threads";
      import { LoadedKernels } from "./src/device/cuda/loaded-kernels.ts";
      const kernels = new LoadedKernels(workerData.memory);
      const loads = new Int32Array(workerData.loads);
      const handles = Array.from({ length: loads.length }, (_, k) => {
        const load = () => {
          if (Atomics.add(loads, k, 1) === 0) throw new Error("not this time");
          return 2 ** 46 + k;
        };
        for (;;) {
          try {
            return kernels.functionOf("kernel " + k, load);
          } catch {}
        }
      });
      parentPort.postMessage(handles);
    `,
    folder,
  );
  const count = 200;
  const loads = new SharedArrayBuffer(4 * count);
  const { memory } = new LoadedKernels();
  const answers = await Promise.all(
    [0, 1, 2, 3].map(
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(file, { workerData: { memory, loads } });
          worker.on("message", resolve).on("error", reject);
        }),
    ),
  );
  const handles = Array.from({ length: count }, (_, k) => 2 ** 46 + k);
  expect(answers).toEqual([handles, handles, handles, handles]);
  expect([...new Int32Array(loads)]).toEqual(handles.map(() => 2));
});

test("a kernel that an ended thread was loading, and one beyond the table, have no place", () => {
  const kernels = new LoadedKernels();
  const wait = vi.spyOn(Atomics, "wait").mockReturnValue("timed-out");
  let meanwhile: number | undefined = 0;
  kernels.functionOf("0", () => {
    meanwhile = kernels.functionOf("0", () => 1);
    return 1;
  });
  expect(meanwhile).toBe(undefined);
  wait.mockRestore();
  for (let k = 1; k < MAX_PROGRAMS; k++) expect(kernels.functionOf(String(k), () => k)).toBe(k);
  expect(kernels.functionOf("beyond", () => 1)).toBe(undefined);
  expect(kernels.functionOf("7", () => 0)).toBe(7);
});
