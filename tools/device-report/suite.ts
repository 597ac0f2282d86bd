/** The device suite: every family on every device in every precision, and the report. */
import { commitName } from "../../bench/harness.ts";
import type { BackendName } from "../../src/device/device.ts";
import type { Context, Family, Group, Target } from "./check.ts";
import { DeviceInUse } from "./device-in-use.ts";
import { messageOf, open, type Opened, targetsOf, useCudaEmulator } from "./devices.ts";
import { axes } from "./families/axes.ts";
import { conformance } from "./families/conformance.ts";
import { equations } from "./families/equations.ts";
import { formulasOf, greeks } from "./families/greeks.ts";
import { knockIns } from "./families/knock-ins.ts";
import { methods } from "./families/methods.ts";
import { math } from "./families/math.ts";
import { reference } from "./families/reference.ts";
import { sparse } from "./families/sparse.ts";
import { sparsegrid } from "./families/sparsegrid.ts";
import { splits } from "./families/splits.ts";
import type { SuiteOptions } from "./options.ts";
import { failuresOf, recordsOf, save, type Skipped, tableOf, titleOf } from "./report.ts";
import { type Row, runGroup } from "./run.ts";

export type Families = Readonly<Record<string, Family>>;

export const FAMILIES: Families = {
  conformance,
  functions: math,
  reference,
  greeks,
  formulas: formulasOf,
  splits,
  sparse,
  "sparse-grids": sparsegrid,
  equations,
  axes,
  "knock-ins": knockIns,
  methods,
};

/** Lines of the report, and of its progress. */
export interface Output {
  line(text: string): void;
  progress(text: string): void;
}

/** @returns 0, or 1 when a case failed or nothing ran */
export async function runSuite(options: SuiteOptions, output: Output, families: Families = FAMILIES): Promise<number> {
  if (options.cudaEmulator) await useCudaEmulator();
  const { opened, skipped } = await openAll(options.devices);
  writeHead(opened, skipped, output);
  const baseline = opened.find(({ backend }) => backend === "cpu") ?? (await open("cpu"));
  const software = new Map(opened.map((one) => [one.name, one.software]));
  const rows: Row[] = [];
  for (const one of opened) {
    using inUse = new DeviceInUse(one);
    const context: Context = { quick: options.quick, cpu: baseline.device };
    for await (const row of rowsOf(inUse, options.families, families, context)) {
      rows.push(row);
      const counts = `${row.cases} cases, ${row.failures.length} failed, ${row.seconds.toFixed(1)} s`;
      output.progress(`${titleOf(row)}: ${counts}`);
      for (const line of failuresOf([row])) output.progress(line);
      // Whatever happens later, even to the whole process, what is known by now is kept.
      if (options.output !== undefined) save(options.output, recordsOf(rows, software));
    }
  }
  baseline.device[Symbol.dispose]();
  writeRows(rows, output);
  return rows.length === 0 || rows.some(({ failures }) => failures.length > 0) ? 1 : 0;
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

async function* rowsOf(
  inUse: DeviceInUse,
  names: readonly string[],
  families: Families,
  context: Context,
): AsyncIterable<Row> {
  for (const { name, precision, fma } of targetsOf(inUse.opened)) {
    const thinning = precision === "f32x2" ? 4 : 1;
    for (const family of names) {
      if (context.quick && fma === "exact" && !OF_ARITHMETIC.includes(family)) continue;
      const target = { device: await inUse.usable(), name, precision, fma };
      for (const group of await groupsOf(families[family], target, { ...context, thinning }))
        yield inUse.watch(await runGroup(target, group));
    }
  }
}

/** The families that show whether products and sums are contracted; the others differ by rounding. */
const OF_ARITHMETIC = ["conformance", "functions"];

/** A family that cannot even say what it checks fails, too. */
async function groupsOf(family: Family, target: Target, context: Context): Promise<readonly Group[]> {
  try {
    return await family(target, context);
  } catch (error) {
    const failure = messageOf(error);
    const check = { name: "cases", run: () => Promise.resolve({ error: Infinity, failure }) };
    return [{ family: family.name, unit: "", checks: [check] }];
  }
}

function writeHead(opened: readonly Opened[], skipped: readonly Skipped[], { line }: Output): void {
  line(`feynkac ${commitName()}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}`);
  for (const { name, software } of opened) line(`${name}: ${software}`);
  for (const { what, reason } of skipped) line(`skipped: ${what}: ${reason}`);
}

function writeRows(rows: readonly Row[], { line }: Output): void {
  line(`\n${tableOf(rows)}`);
  const failures = failuresOf(rows);
  if (failures.length > 0) line(`\n${failures.join("\n")}`);
  const failed = rows.reduce((sum, row) => sum + row.failures.length, 0);
  line(`\n${rows.reduce((sum, row) => sum + row.cases, 0)} cases, ${failed} failed`);
}
