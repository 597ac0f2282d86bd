import { defineConfig } from "vitest/config";
import { sources } from "./test/support/sources.ts";

export default defineConfig({
  // Examples and user programs import the package by its name: here they get its sources, not what was built of others.
  resolve: { alias: [...sources] },
  test: {
    include: ["test/**/*.test.ts"],
    // Processes, not threads: the WebGPU addon is native and the CPU device starts worker threads of its own.
    pool: "forks",
    // Each test file may start a worker a core, so more processes would only compete.
    maxWorkers: 2,
    // The software GPU takes seconds to compile its first pipelines; a loaded machine takes longer.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
