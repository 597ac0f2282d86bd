import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";
import { defineConfig } from "vitest/config";
import { sources } from "./test/support/sources.ts";

/**
 * Files that look at their process: its environment, memory, signals and native libraries, or the processes they start.
 * Each has a process of its own.
 */
const alone = [
  "test/{architecture,bench,browser,cli,device,documents,examples,support,types}/**/*.test.ts",
  "test/device-report.test.ts",
  "test/book/streams.test.ts",
  "test/kernel/{cuda-nvcc,minifiers}.test.ts",
  "test/linalg/dense-cublas.test.ts",
  "test/pricing/{memory,workers}.test.ts",
];

/** Not by `exclude`, which would hide what the command line excludes. */
const others = alone.map((files) => `!${files}`);

/** Those that take longest, begun first: the last to end then keeps nobody waiting. Their order here is their order. */
const longest = ["fdm/splits", "kernel/cuda-nvcc", "browser/browser", "fdm/axes/devices", "conformance/conformance"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      // A process serves several files if they come one after another.
      return (project.config.isolate ? 0 : longest.length) + (found === -1 ? longest.length : found);
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  // Examples and user programs import the package by its name: here they get its sources, not what was built of others.
  resolve: { alias: [...sources] },
  test: {
    // Processes, not threads: the WebGPU addon is native and the CPU device starts worker threads of its own.
    pool: "forks",
    // Each test file may start a worker a core, so more processes would only compete.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 10_000,
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      // One process loads the sources once for many files.
      { extends: true, test: { name: "together", include: ["test/**/*.test.ts", ...others], isolate: false } },
    ],
    // The software GPU takes seconds to compile its first pipelines; a loaded machine takes longer.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
