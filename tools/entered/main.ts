// node --import ./scripts/typescript.js tools/entered/main.ts [--files]
// Prices five trades with all Greeks from the sources, and counts the files of src outside of kernel/ whose functions
// are entered, by V8's own coverage: what a reader of one value has to visit. --files names them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const EUR = { rates: { EUR: 0.03 } };
const asset = (volatility: unknown) => ({ ...EUR, underlyings: { A: { spot: 100, currency: "EUR", volatility } } });
const on = { id: "1", underlying: "A", strike: 100, expiry: 1 };

const BOOKS = {
  "American put": {
    market: asset(0.2),
    trades: [{ ...on, payoff: "put", exercise: "american" }],
  },
  "knock-out": {
    market: asset(0.2),
    method: "fdm",
    trades: [{ ...on, payoff: "call", barriers: [{ type: "down-and-out", level: 90 }] }],
  },
  "Heston American": {
    market: asset({ heston: { v0: 0.04, kappa: 2, theta: 0.04, sigma: 0.4, rho: -0.6 } }),
    trades: [{ ...on, payoff: "put", exercise: "american" }],
  },
  "Bermudan swaption": {
    market: { rates: { EUR: { hullWhite: { meanReversion: 0.03, volatility: 0.01, curve: 0.03 } } } },
    trades: [
      {
        id: "1",
        currency: "EUR",
        swaption: "payer",
        strike: 0.03,
        exercise: [1, 2, 3, 4],
        swap: { start: 1, end: 5, frequency: 1, notional: 100 },
      },
    ],
  },
  Asian: {
    market: asset(0.2),
    method: "montecarlo",
    trades: [{ ...on, payoff: "call", average: { kind: "arithmetic", dates: [0.25, 0.5, 0.75, 1] } }],
  },
} as const;

interface FunctionCoverage {
  readonly functionName: string;
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}

/** The sources whose functions, not only their top level, have run. */
function entered(name: keyof typeof BOOKS): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-entered-"));
  try {
    const book = join(folder, "book.json");
    writeFileSync(book, JSON.stringify({ asOf: "2026-01-01", ...BOOKS[name] }));
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      ["--import", "./scripts/typescript.js", "tools/entered/price.ts", book],
      { cwd: ROOT, encoding: "utf8", env: { ...process.env, NODE_V8_COVERAGE: join(folder, "coverage") } },
    );
    if (status !== 0) throw new Error(`${name}: ${stderr}${stdout}`);
    const files = new Set<string>();
    for (const file of readdirSync(join(folder, "coverage"))) {
      const { result } = JSON.parse(readFileSync(join(folder, "coverage", file), "utf8")) as {
        readonly result: readonly { readonly url: string; readonly functions: readonly FunctionCoverage[] }[];
      };
      for (const { url, functions } of result) {
        if (!url.startsWith(pathToFileURL(join(ROOT, "src")).href)) continue;
        if (functions.some(({ functionName, ranges: [first] }) => functionName !== "" && first.count > 0))
          files.add(relative(join(ROOT, "src"), fileURLToPath(url)));
      }
    }
    return [...files].filter((file) => !file.startsWith("kernel/")).toSorted();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const name of Object.keys(BOOKS) as (keyof typeof BOOKS)[]) {
  const files = entered(name);
  console.log(`${name}: ${files.length} files outside of kernel/`);
  if (process.argv.includes("--files")) console.log(files.map((file) => `  ${file}`).join("\n"));
}
