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
 * Which process a test file has, by its path and text. One that changes what a process has once, or starts servers, has
 * its own, a second of a core. Those that open GPUs share two processes with each other, since a GPU that is open
 * changes what the choice of a device finds. All others share two more.
 */
const OWN = {
  path: /^test\/(browser|device|service|site|web)\//,
  text: /openEmulated|create(WebGpu|Cuda)|buildCuda|worker_threads|vi\.(mock|stub)|process\.(on|argv)\b|process\.env\S* (\?\?)?= /,
} as const;
const GPUS = /openTestDevices|open(WebGpu|Cuda)/;
type Process = "own" | "gpus" | "shared";
const files = readdirSync(new URL("test", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => `test/${path}`);

function processOf(path: string): Process {
  const text = readFileSync(new URL(path, import.meta.url), "utf8");
  if (OWN.path.test(path) || OWN.text.test(text)) return "own";
  return GPUS.test(text) ? "gpus" : "shared";
}

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
      projects: (["own", "gpus", "shared"] as const).map((name) => ({
        ...common,
        test: { ...test, name, isolate: name === "own", include: files.filter((path) => processOf(path) === name) },
      })),
    },
  };
});
