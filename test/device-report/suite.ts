/** The device suite: every family on every device in every precision, and the report. */
import { commitName } from "../../bench/harness.ts";
import type { BackendName } from "../../src/device/device.ts";
import type { Context, Family, Target } from "./check.ts";
import { messageOf, open, type Opened, targetsOf, useCudaEmulator } from "./devices.ts";
import { conformance } from "./families/conformance.ts";
import { math } from "./families/math.ts";
import { reference } from "./families/reference.ts";
import { splits } from "./families/splits.ts";
import type { SuiteOptions } from "./options.ts";
import { failuresOf, recordsOf, type Report, save, type Skipped, tableOf } from "./report.ts";
import { type Row, runGroup } from "./run.ts";

export type Families = Readonly<Record<string, Family>>;

export const FAMILIES: Families = { conformance, functions: math, reference, splits };

/** Lines of the report, and of its progress. */
export interface Output {
  line(text: string): void;
  progress(text: string): void;
}

/** @returns 0, or 1 when a case failed or nothing ran */
export async function runSuite(options: SuiteOptions, output: Output, families: Families = FAMILIES): Promise<number> {
  if (options.cudaEmulator) await useCudaEmulator();
  const { opened, skipped } = await openAll(options.devices);
  const software = new Map(opened.map((one) => [one.name, one.software]));
  writeHead(opened, skipped, output);
  const baseline = opened.find(({ backend }) => backend === "cpu") ?? (await open("cpu"));
  const context: Context = { quick: options.quick, cpu: baseline.device };
  const rows: Row[] = [];
  try {
    for (const device of opened) await runDevice(device, context);
  } finally {
    for (const { device } of new Set([...opened, baseline])) device[Symbol.dispose]();
  }
  writeReport({ rows, skipped, software }, output);
  return rows.length === 0 || rows.some(({ failures }) => failures.length > 0) ? 1 : 0;

  async function runDevice(device: Opened, context: Context): Promise<void> {
    for (const target of targetsOf(device)) {
      for (const name of options.families) {
        await runFamily(target, families[name], context);
        // Whatever happens later, even to the whole process, what is known by now is kept.
        if (options.output !== undefined) save(options.output, recordsOf({ rows, skipped, software }));
      }
    }
  }

  async function runFamily(target: Target, family: Family, context: Context): Promise<void> {
    for (const group of family(target, context)) {
      const row = await runGroup(target, group);
      rows.push(row);
      const { name, precision, fma } = target;
      output.progress(
        `${name}, ${precision}, ${fma}: ${row.family}: ${row.cases} cases, ${row.failures.length} failed, ${row.seconds.toFixed(1)} s`,
      );
    }
  }
}

async function openAll(backends: readonly BackendName[]): Promise<{ opened: Opened[]; skipped: Skipped[] }> {
  const opened: Opened[] = [];
  const skipped: Skipped[] = [];
  for (const backend of backends) {
    try {
      const one = await open(backend);
      opened.push(one);
      for (const { precision, reason } of one.missing) skipped.push({ what: `${one.name}, ${precision}`, reason });
    } catch (error) {
      skipped.push({ what: backend, reason: messageOf(error) });
    }
  }
  return { opened, skipped };
}

function writeHead(opened: readonly Opened[], skipped: readonly Skipped[], { line }: Output): void {
  line(`feynkac ${commitName()}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}`);
  for (const { name, software } of opened) line(`${name}: ${software}`);
  for (const { what, reason } of skipped) line(`skipped: ${what}: ${reason}`);
}

function writeReport({ rows }: Report, { line }: Output): void {
  line(`\n${tableOf(rows)}`);
  const failures = failuresOf(rows);
  if (failures.length > 0) line(`\n${failures.join("\n")}`);
  const failed = rows.reduce((sum, row) => sum + row.failures.length, 0);
  line(`\n${rows.reduce((sum, row) => sum + row.cases, 0)} cases, ${failed} failed`);
}
