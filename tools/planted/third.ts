import { beside, type Bug } from "./bug.ts";

/**
 * Bugs of what the one pipeline, conventions and linear products made new. The tests that were there let each of them
 * pass.
 */
export const third: readonly Bug[] = [
  ...beside("market", "market/conventions", [
    ["conventions/calendar.ts", "if (year < from || year > to", "if (year <= from || year > to"],
    ["conventions/dates.ts", "nthWeekday(year, quarter, 2, 3) > after", "nthWeekday(year, quarter, 2, 3) >= after"],
    ["conventions/day-counts.ts", "end === termination && civilDate(end).month === 2", "end === termination"],
    ["conventions/schedules.ts", "if (backward && first === undefined) between", "if (backward) between"],
  ]),
  ...beside("market", "market/linear", [
    ["linear/legs.ts", "if (paid <= reference) continue;", "if (end <= reference) continue;"],
    ["linear/legs.ts", "amount: notionalOf(k - 1) - notionalOf(k)", "amount: notionalOf(k) - notionalOf(k - 1)"],
    ["linear/legs.ts", "years(day, next) / years(observed, after)", "1"],
  ]),
  ...beside("pricing", "pricing/kinds pricing/roll-forward", [
    [
      "kinds.ts",
      'equalUpToRounding(rolled.barriers, after.barriers) ? undefined : "its',
      'rolled.barriers ? undefined : "its',
    ],
    ["terms.ts", "a * past.mean + b * spot", "b * past.mean + a * spot"],
    ["methods/rates/roll-forward.ts", "Math.exp(-model.kappa * years)", "Math.exp(model.kappa * years)"],
    ["methods/rates/roll-forward.ts", "r0: other.r0, theta: other.theta }", "r0: other.r0 }"],
    ["methods/convertibles/rows.ts", "puts: rollPeriods(contract.puts, years)", "puts: contract.puts"],
  ]),
  ...beside("pricing", "pricing/guard", [
    ["batch.ts", "        results.reset(trade);\n", ""],
    ["batch.ts", "Math.max(accuracy / finer, FINEST)", "Math.max(accuracy * finer, FINEST)"],
    ["guard/guard.ts", "Math.floor(scenario / spots)", "Math.round(scenario / spots)"],
  ]),
  ...beside("pricing", "pricing/kind-results", [
    ["methods/rates/pricing.ts", "product.calls.length + product.puts.length > 0", "product.calls.length > 0"],
    ["methods/convertibles/pricing.ts", "(ratio ?? whole) * underlying.spot", "(ratio ?? 0) * underlying.spot"],
  ]),
  ...beside("output/formats", "output/arrow", [
    ["arrow.ts", "const offset = written + lengthOf(waiting);", "const offset = written;"],
    ["flatbuffer.ts", "Math.max(this.#length, 2 * this.#view.byteLength)", "2 * this.#view.byteLength"],
  ]),
  ...beside("service/http", "service/http/service", [
    ["prices.ts", "    a.timePerTrade === b.timePerTrade &&\n", ""],
    ["server.ts", "this.#totals.priced + this.#totals.failed", "this.#totals.priced"],
  ]),
];
