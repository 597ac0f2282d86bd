/** Compares random schedules and swaps with an independent implementation: `npm run check:desk -- [COUNT] [SEED]`. */
import { differentSchedules, differentSwaps, type Miss } from "./compare.ts";

const [count = 10_000, seed = 1] = process.argv.slice(2).map(Number);

function report(what: string, misses: readonly Miss[]): void {
  console.log(`${count} random ${what}: ${misses.length} differ`);
  for (const miss of misses.slice(0, 3)) console.log(miss);
  if (misses.length > 0) process.exitCode = 1;
}

report("schedules", differentSchedules(count, seed));
report("swaps", await differentSwaps(count, seed));
