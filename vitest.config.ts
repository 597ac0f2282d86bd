import { readdirSync, readFileSync } from "node:fs";
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { COMPILED, COMPILED_KERNELS, compiledSources } from "./test/support/compiled.ts";
import { sources } from "./test/support/sources.ts";

/** Those that take longest, begun first: the last to end then keeps nobody waiting. Their order here is their order. */
const longest = [
  "pde/fdm/splits",
  "browser/browser",
  "kernel/cuda-nvcc",
  "conformance/conformance",
  "pde/fdm/axes/devices",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return found === -1 ? longest.length : found;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/**
 * Tests that open GPUs, start processes or change what a process has once have a process to themselves, a second of a
 * core each. The others share two, and what these have loaded.
 */
const OWN = {
  path: /^test\/(bench|browser|cli|device|examples|service|site|web)\//,
  text: /openTestDevices|open(WebGpu|Cuda|Emulated)|create(WebGpu|Cuda)|buildCuda|child_process|worker_threads|vi\.(mock|stub)|process\.(env|on|argv)/,
} as const;
const files = readdirSync(new URL("test", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => `test/${path}`);
const isOwn = (path: string): boolean =>
  OWN.path.test(path) || OWN.text.test(readFileSync(new URL(path, import.meta.url), "utf8"));

export default defineConfig(({ mode }) => {
  // `vitest` alone stays, and runs the tests again whose sources change: it must know these.
  const isRun = process.argv.includes("run");
  const common = {
    // Examples and user programs import the package by its name: here they get its sources, not what was built of others.
    resolve: { alias: [...sources] },
    plugins: isRun ? [compiledSources()] : [],
  };
  const test: TestProjectInlineConfiguration["test"] = {
    // Processes, not threads: the WebGPU addon is native and the CPU device starts worker threads of its own.
    pool: "forks",
    // `vitest run --mode all`: see test/support/extent.ts.
    env: {
      FEYNKAC_CACHE: process.env["FEYNKAC_CACHE"] ?? COMPILED_KERNELS,
      ...(mode === "all" ? { FEYNKAC_TESTS: "all" } : {}),
    },
    server: { deps: { external: [COMPILED] } },
    // The software GPU takes seconds to compile its first pipelines; a loaded machine takes longer.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  };
  return {
    test: {
      // Each test file may start a worker a core, so more processes would only compete.
      maxWorkers: 2,
      sequence: { sequencer: LongestFirst },
      reporters: ["default", "./test/support/slowest.ts"],
      teardownTimeout: 10_000,
      projects: [
        { ...common, test: { ...test, name: "own", include: files.filter(isOwn) } },
        { ...common, test: { ...test, name: "shared", isolate: false, include: files.filter((path) => !isOwn(path)) } },
      ],
    },
  };
});
