/** What stays in memory of trades that are priced and gone. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** Runs a module in a process of its own, which can collect its garbage when it wants to; reads what it prints. */
function printedBy(program: string): unknown {
  const args = ["--expose-gc", "--import", "./scripts/typescript.js", "--input-type=module", "-e", program];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8", timeout: 100_000 }));
}

// Every σ(S, t) is a kernel of its own. Each used to leave 1 MB behind, syntax trees, IR and instructions, and a book's
// solver its host arrays.
test("kernels of trades that are gone leave little behind", () => {
  const program = `
    import { openDevice, parseBook, priceBook } from "./src/index.ts";
    const device = await openDevice({ backend: "cpu", threads: 1 });
    const market = { rates: { EUR: 0.02 }, underlyings: { X: { spot: 100, currency: "EUR", volatility: 0.2 } } };
    const trade = { underlying: "X", payoff: "call", strike: 100, expiry: 1 };
    const tradeOf = (k) => ({ ...trade, id: String(k), volatility: { local: \`0.2 + 0.0001*\${k}*exp(-t) + 0.01*100/S\` } });
    const mebibytes = [];
    let failed = 0;
    for (let k = 1; k <= 160; k++) {
      const book = parseBook({ asOf: "2026-11-20T16:00:00Z", market, trades: [tradeOf(k)] });
      const { results } = await priceBook(book, { device, accuracy: { relative: 1e-3 } });
      if (!(results[0].value > 0)) failed++;
      if (k % 80 > 0) continue;
      gc();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      mebibytes.push((heapUsed + arrayBuffers) / 2 ** 20);
    }
    device[Symbol.dispose]();
    console.log(JSON.stringify({ failed, mebibytes }));
  `;
  const { failed, mebibytes } = printedBy(program) as { failed: number; mebibytes: number[] };
  expect(failed).toBe(0);
  expect(mebibytes[1] - mebibytes[0]).toBeLessThan(16);
}, 120_000);

test("a kernel does not hold on to whoever had it declared", () => {
  const program = `
    import { kernel, real, write } from "./src/kernel/index.ts";
    function declared() {
      return kernel({ params: { out: write(real) }, body({ out }, gpu) { out[gpu.globalId()] = 1; } });
    }
    class Solver { solve() { return declared(); } }
    let solver = new Solver();
    const held = solver.solve();
    const reference = new WeakRef(solver);
    solver = undefined;
    await new Promise((resolve) => setTimeout(resolve, 10));
    gc();
    console.log(JSON.stringify([held.name, reference.deref() === undefined]));
  `;
  expect(printedBy(program)).toEqual(["kernel", true]);
});
