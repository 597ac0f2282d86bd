import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Benchmark, inTurns } from "./harness.ts";
import { runProgram } from "./program.ts";

const root = join(import.meta.dirname, "..");
const program = join(root, "bin/feynkac.js");

const market = {
  asOf: "2026-11-20",
  market: {
    rates: { EUR: 0.03 },
    underlyings: Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [
        `U${i}`,
        { spot: 100, currency: "EUR", volatility: 0.15 + 0.002 * i, dividends: { yield: 0.01 } },
      ]),
    ),
  },
};

/** A table of American options, whose strikes and expiries are spread evenly (Weyl). */
function tableOf(count: number): string {
  const line = (i: number): string => {
    const strike = 80 + 40 * ((i * 0.6180339887) % 1);
    const expiry = 0.1 + 2.9 * ((i * 0.7548776662) % 1);
    return `T${i},U${i % 100},${i % 2 === 0 ? "call" : "put"},${strike.toFixed(4)},${expiry.toFixed(6)},american\n`;
  };
  return `id,underlying,payoff,strike,expiry,exercise\n${Array.from({ length: count }, (_, i) => line(i)).join("")}`;
}

/** Prices a table that is in memory, and prints the seconds until its results are, and how many have a value. */
const SCRIPT = `
import sys, time
import pyarrow.csv
import feynkac as fk

table = pyarrow.csv.read_csv(sys.argv[1])
with fk.Session(timeout=600) as session:
    session.health()
    start = time.perf_counter()
    results = session.price(table, market=sys.argv[2], transport="arrow")
    rows = results.arrow.num_rows
    print(time.perf_counter() - start, rows, results.failed)
`;

function priceInPython(trades: string, header: string, count: number): number {
  const { stdout, stderr, status } = spawnSync("python3", ["-c", SCRIPT, trades, header], {
    encoding: "utf8",
    env: {
      ...process.env,
      PYTHONPATH: join(root, "clients/python/src"),
      PYTHONDONTWRITEBYTECODE: "1",
      FEYNKAC_COMMAND: `'${process.execPath}' '${program}'`,
    },
  });
  const [seconds, rows, failed] = stdout.split(" ").map(Number);
  if (status !== 0 || rows !== count || failed !== 0) throw new Error(`python3: ${status} ${stdout} ${stderr}`);
  return seconds;
}

export const benchmark: Benchmark = {
  name: "python",
  description: "a table of pyarrow priced by the client for Python, whose results come as Arrow",
  async run({ quick, cpu, report, note }) {
    if (spawnSync("python3", ["-c", "import pyarrow.csv"]).status !== 0)
      return note("python3 with pyarrow is not here");
    const count = quick ? 1000 : 100_000;
    const folder = mkdtempSync(join(tmpdir(), "feynkac-python-"));
    try {
      const [trades, header] = ["trades.csv", "market.json"].map((name) => join(folder, name));
      writeFileSync(trades, tableOf(count));
      writeFileSync(header, JSON.stringify(market));
      for (const output of ["csv", "arrow"]) {
        const args = ["price", trades, "--market", header, "--backend", "cpu", "-o", join(folder, `results.${output}`)];
        const { one, other } = await inTurns(
          0,
          () => priceInPython(trades, header, count),
          async () => (await runProgram(program, args)).seconds,
        );
        report({
          case: `${count.toLocaleString("en-US")} American options, all Greeks, by a running session; beside ${output}`,
          device: cpu,
          precision: "f64",
          figure: count / one,
          unit: "trades/s",
          peers: { [`feynkac price, CSV to ${output}, from start to exit`]: count / other },
        });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
