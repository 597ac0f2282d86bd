import { readFileSync } from "node:fs";
import { test } from "vitest";
import { createCpuDevice } from "../src/device/cpu/index.ts";
import { rollBack } from "../src/convertible/rollback.ts";
import { constant, dividendSchedule } from "../src/market/index.ts";

export function caseOf(p: any) {
  const coupons: any[] = [];
  const period = p.coupon_period;
  const n = Math.floor(p.maturity / period + 1e-9);
  for (let j = n - 1; j >= 0; j--) {
    const time = p.maturity - j * period;
    if (time > 1e-9 && p.coupon_amount > 0) coupons.push({ time, amount: p.coupon_amount, accruesFrom: time - period });
  }
  const ratio = p.conversion_ratio;
  const conversions =
    p.conversion === "continuous" ? [{ from: p.conversion_start, to: p.maturity, ratio }]
    : p.conversion === "maturity" ? [{ from: p.maturity, to: p.maturity, ratio }]
    : p.conversion === "none" ? []
    : [...p.conversion.filter((t: number) => t < p.maturity), p.maturity].map((t: number) => ({ from: t, to: t, ratio }));
  const contract = {
    notional: p.face, maturity: p.maturity, coupons, conversions,
    calls: [...p.call_windows.map(([from, to, price, trigger]: number[]) => ({ from, to, price, trigger })),
            ...p.call_dates.map(([t, price, trigger]: number[]) => ({ from: t, to: t, price, trigger }))],
    puts: p.put_dates.map(([t, price]: number[]) => ({ from: t, to: t, price })),
    calledCash: p.called_cash_component === "zero" ? 0 : 1,
  };
  const market = {
    rates: constant(p.rate), volatility: constant(p.volatility),
    dividends: dividendSchedule(p.dividend_yield, p.cash_dividends.map(([time, cash]: number[]) => ({ time, cash, proportional: 0 }))),
    credit: p.hazard_rate === undefined ? { kind: "spread" as const, spread: constant(p.credit_spread) }
      : { kind: "hazard" as const, hazard: constant(p.hazard_rate), exponent: 0, reference: 100, recovery: p.recovery, jump: p.stock_jump_eta },
  };
  return { contract, market };
}
export function interpolate(nodes: Float64Array, values: Float64Array, x: number): number {
  let at = nodes.findIndex((s) => s > x) - 1;
  at = Math.min(Math.max(at, 1), nodes.length - 3);
  let sum = 0;
  for (let j = at - 1; j <= at + 2; j++) {
    let w = values[j];
    for (let k = at - 1; k <= at + 2; k++) if (k !== j) w *= (x - nodes[k]) / (nodes[j] - nodes[k]);
    sum += w;
  }
  return sum;
}
test("convergence", async () => {
  const { cases } = JSON.parse(readFileSync("/work/shared/reference/open/convertible_bond.json", "utf8"));
  const device = createCpuDevice({ threads: 1 });
  const lines: string[] = [];
  const only = process.env.ONLY?.split(",");
  const levels = Number(process.env.LEVELS ?? 4);
  const [N, M] = (process.env.BASE ?? "50,16").split(",").map(Number);
  for (const c of cases) {
    if (only && !only.includes(c.id.slice(-2))) continue;
    const { contract, market } = caseOf(c.params);
    const before: number[] = [];
    for (let level = 0; level < levels; level++) {
      const t0 = performance.now();
      const [profile] = await rollBack(device, [{ contract, market, spots: c.params.spots }], { intervals: N, steps: M, level });
      const t1 = performance.now();
      const errors = c.params.spots.map((s: number, i: number) => {
        const v = 100 * interpolate(profile.nodes, profile.value, s / 100);
        const rich = level ? v + (v - before[i]) / 3 : v;
        before[i] = v;
        return `${(v - c.expected.prices[i]).toExponential(1)}/${(rich - c.expected.prices[i]).toExponential(1)}`;
      });
      lines.push(`${c.id} L${level} fail ${profile.failures} ${errors.join("  ")} ${(t1 - t0).toFixed(1)}ms`);
    }
  }
  console.log(lines.join("\n"));
});
