import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";
import { defineConfig } from "vitest/config";
import { COMPILED, compiledSources } from "./test/support/compiled.ts";
import { sources } from "./test/support/sources.ts";

/** Those that take longest, begun first: the last to end then keeps nobody waiting. Their order here is their order. */
const longest = ["fdm/splits", "browser/browser", "kernel/cuda-nvcc", "conformance/conformance", "fdm/axes/devices"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return found === -1 ? longest.length : found;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig(({ mode }) => ({
  // Examples and user programs import the package by its name: here they get its sources, not what was built of others.
  resolve: { alias: [...sources] },
  // `vitest` alone stays, and runs the tests again whose sources change: it must know these.
  plugins: process.argv.includes("run") ? [compiledSources()] : [],
  test: {
    // Processes, not threads: the WebGPU addon is native and the CPU device starts worker threads of its own.
    pool: "forks",
    // `vitest run --mode all`: see test/support/extent.ts.
    env: mode === "all" ? { FEYNKAC_TESTS: "all" } : {},
    // Each test file may start a worker a core, so more processes would only compete.
    maxWorkers: 2,
    server: { deps: { external: [COMPILED] } },
    sequence: { sequencer: LongestFirst },
    include: ["test/**/*.test.ts"],
    reporters: ["default", "./test/support/slowest.ts"],
    teardownTimeout: 10_000,
    // The software GPU takes seconds to compile its first pipelines; a loaded machine takes longer.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
}));
