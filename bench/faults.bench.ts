import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runFaults } from "../test/service/cluster/faults.ts";
import { programFolder } from "../test/support/program.ts";
import type { Benchmark } from "./harness.ts";

/** A loaded machine makes fewer runs. Seconds. */
const LONGEST = 420;

export const benchmark: Benchmark = {
  name: "faults",
  description: "runs in a queue under random faults, each compared by bytes with a run without",
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), "feynkac-faults-"));
    const programs = programFolder();
    try {
      const request = { folder, programs, runs: context.quick ? 10 : 200, seconds: LONGEST, seed: 1 };
      const { runs, happened, wrong } = await runFaults({ ...request, report: (line) => context.note(line) });
      if (wrong.length > 0)
        throw new Error(`${wrong.length} of ${runs} runs ended with other bytes: ${wrong.join(", ")}`);
      const common = { device: context.cpu, precision: "f64" } as const;
      const name = "runs under one to three faults, complete, with the bytes of a run without faults";
      context.report({ ...common, case: name, figure: runs, unit: "runs" });
      for (const [fault, count] of Object.entries(happened))
        if (count > 0) context.report({ ...common, case: fault, figure: count, unit: "faults" });
    } finally {
      rmSync(programs, { recursive: true });
      rmSync(folder, { recursive: true });
    }
  },
};
