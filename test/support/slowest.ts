/** A reporter that prints which test files took longest: what to look at when the suite has become slow. */
import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 10;

// oxlint-disable-next-line import/no-default-export -- the runner loads reporters so
export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const times = modules.map((module) => {
      const { collectDuration, duration, setupDuration } = module.diagnostic();
      return { file: module.relativeModuleId, seconds: (collectDuration + duration + setupDuration) / 1000 };
    });
    const slowest = times.toSorted((a, b) => b.seconds - a.seconds).slice(0, SHOWN);
    console.log(`\nSlowest of ${times.length} files`);
    for (const { file, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(8)} s  ${file}`);
  }
}
