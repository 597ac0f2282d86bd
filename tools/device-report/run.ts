/** Runs groups of checks. What goes wrong in one is written down, and the next one runs. */
import type { Device } from "../../src/device/device.ts";
import type { Group, Target, Verdict } from "./check.ts";
import { messageOf } from "./devices.ts";

/** What came of one group on one target. */
export interface Row {
  readonly family: string;
  readonly target: Target;
  readonly unit: string;
  readonly cases: number;
  readonly failures: readonly string[];
  /** Largest error, and the case it is of. */
  readonly worst: number;
  readonly where: string;
  readonly seconds: number;
  /** Whether the device no longer answers. */
  readonly hangs: boolean;
}

/** Longer than any check takes on any device; a device that hangs must not keep the others from their turn. */
const MAX_MS = 240_000;

export async function runGroup(target: Target, { family, unit, checks }: Group): Promise<Row> {
  const start = performance.now();
  const failures: string[] = [];
  let [worst, where] = [0, ""];
  let hangs = unanswering.has(target.device);
  for (const { name, run } of checks) {
    const { error, failure, late = false }: Timed = hangs ? HANGS : await verdictOf(run);
    if (late) unanswering.add(target.device);
    hangs ||= late;
    if (failure !== undefined) failures.push(`${name}: ${failure}`);
    const size = Number.isNaN(error) ? Infinity : error;
    if (size > worst || where === "") [worst, where] = [size, name];
  }
  const seconds = (performance.now() - start) / 1e3;
  return { family, target, unit, cases: checks.length, failures, worst, where, seconds, hangs };
}

/** Nothing waits for these again. */
const unanswering = new WeakSet<Device>();

type Timed = Verdict & { readonly late?: boolean };

const HANGS: Timed = { error: Infinity, failure: "the device did not answer before", late: true };

async function verdictOf(run: () => Promise<Verdict>): Promise<Timed> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Timed>((resolve) => {
    const failure = `no answer within ${MAX_MS / 1e3} s`;
    timer = setTimeout(() => resolve({ error: Infinity, failure, late: true }), MAX_MS);
  });
  try {
    return await Promise.race([run(), late]);
  } catch (error) {
    return { error: Infinity, failure: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
