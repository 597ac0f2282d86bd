/** Compares what Feynkac computes with files of reference cases: `npm run check:reference -- FILE…`. */
import { readFileSync } from "node:fs";
import { type Case, differences, type Solver } from "./case.ts";
import { conventions } from "./conventions.ts";
import { curves } from "./curves.ts";
import { desk } from "./desk.ts";
import { fx } from "./fx.ts";
import { options } from "./options.ts";
import { scriptedCases } from "./scripted.ts";
import { swaps } from "./swaps.ts";

const SOLVERS: Readonly<Record<string, Solver>> = {
  ...conventions,
  ...curves,
  ...swaps,
  ...fx,
  ...desk,
  ...options,
  ...scriptedCases,
};

/** Returns what is wrong with a case; undefined where there is no way to compute it. */
export async function checked(one: Case): Promise<readonly string[] | undefined> {
  if (!Object.hasOwn(SOLVERS, one.product)) return undefined;
  try {
    return differences(one, await SOLVERS[one.product](one.params));
  } catch (error) {
    return [String(error)];
  }
}

async function main(files: readonly string[]): Promise<void> {
  if (files.length === 0) throw new Error("name at least one file: npm run check:reference -- FILE…");
  let failed = 0;
  for (const file of files) {
    const { family, cases } = JSON.parse(readFileSync(file, "utf8")) as { family: string; cases: Case[] };
    const results = await Promise.all(cases.map(async (one) => ({ one, wrong: await checked(one) })));
    const unknown = results.filter(({ wrong }) => wrong === undefined);
    const bad = results.filter(({ wrong }) => wrong !== undefined && wrong.length > 0);
    failed += unknown.length + bad.length;
    console.log(`${family}: ${cases.length - unknown.length - bad.length} of ${cases.length} agree`);
    for (const { one, wrong } of bad) console.log(`  ${one.id}: ${wrong!.slice(0, 3).join("; ")}`);
    if (unknown.length > 0)
      console.log(`  not computed: ${[...new Set(unknown.map(({ one }) => one.product))].join(", ")}`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
}

if (import.meta.filename === process.argv[1]) await main(process.argv.slice(2));
