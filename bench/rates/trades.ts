/** Trades on rates as a book, QuantLib's program and the independent quadrature read them. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Whole years, periods of a year, notional 100: what all three programs know. */
interface Terms {
  readonly start: number;
  readonly end: number;
  readonly strike: number;
  readonly isPayer: boolean;
}

export const KINDS = ["cap", "european", "g2", "bermudan", "callable"] as const;
export type Kind = (typeof KINDS)[number];

const NOTIONAL = 100;
const MODEL = { a: 0.05, sigma: 0.01 };
const SECOND = { b: 0.5, eta: 0.008, rho: -0.7 };
const TIMES = [1, 2, 5, 10, 20];
const ZEROS = [0.02, 0.022, 0.025, 0.03, 0.032];
const curve = TIMES.map((date, i) => ({ date, zero: ZEROS[i] }));

export const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: {
    rates: {
      EUR: { hullWhite: { meanReversion: MODEL.a, volatility: MODEL.sigma, curve } },
      GBP: { g2: { ...MODEL, ...SECOND, curve } },
    },
  },
};

/** Strikes and years that come round at different lengths. */
function termsOf(i: number): Terms {
  const start = 1 + (i % 3);
  return { start, end: start + 4 + (i % 5), strike: 0.02 + 0.0005 * ((7 * i) % 41), isPayer: i % 2 === 0 };
}

/** Every year but the last: nine dates at most. */
const datesOf = ({ start, end }: Terms): number[] => Array.from({ length: end - start }, (_, k) => start + k);

/** A bond of 10 years whose issuer may call it at falling prices from year 3 to 8 on. */
function bondOf(i: number) {
  const { start, strike } = termsOf(i);
  const calls = Array.from({ length: 6 }, (_, k) => ({ date: 2 + start + k, price: 102 - 0.5 * Math.min(k, 4) }));
  return { maturity: 10, coupon: strike + 0.01, frequency: 1, notional: NOTIONAL, calls };
}

export function tradeOf(kind: Kind, i: number): object {
  const terms = termsOf(i);
  const { start, end, strike, isPayer } = terms;
  const legs = { start, end, frequency: 1, notional: NOTIONAL };
  const common = { id: `${kind}-${i}`, currency: kind === "g2" ? "GBP" : "EUR" };
  if (kind === "callable") return { ...common, bond: bondOf(i) };
  if (kind === "cap") return { ...common, strike, [isPayer ? "cap" : "floor"]: legs };
  const exercise = kind === "bermudan" ? datesOf(terms) : [start];
  return { ...common, swaption: isPayer ? "payer" : "receiver", strike, exercise, swap: legs };
}

/** An engine of QuantLib and its fineness. */
export interface Engine {
  readonly engine?: "jamshidian" | "g2" | "tree" | "fd";
  readonly intervals?: number;
  readonly steps?: number;
  readonly nodes?: number;
}

export function jobOf(kind: Kind, i: number, engine: Engine, repetitions: number): object {
  const terms = termsOf(i);
  const { start, end, strike, isPayer } = terms;
  const common = { ...MODEL, ...SECOND, times: TIMES, zeros: ZEROS, ...engine, repetitions };
  if (kind === "callable") {
    const { maturity, coupon, calls } = bondOf(i);
    const pairs = calls.map(({ date, price }) => [date, price]);
    return { ...common, product: "bond", end: maturity, coupon, calls: pairs };
  }
  if (kind === "cap") return { ...common, product: isPayer ? "cap" : "floor", start, end, strike };
  const exercise = kind === "bermudan" ? datesOf(terms) : [start];
  return { ...common, product: isPayer ? "payer" : "receiver", start, end, strike, exercise };
}

/** A trade as claims whose values add up. Every period is a year. */
function claimsOf(kind: Kind, i: number): object[] {
  const terms = termsOf(i);
  const { start, end, strike, isPayer } = terms;
  const market = { a: MODEL.a, volTimes: [], vols: [MODEL.sigma], curveTimes: TIMES, zeros: ZEROS };
  const right = isPayer ? "payer" : "receiver";
  if (kind === "callable") {
    const { maturity, coupon, calls } = bondOf(i);
    const flows = Array.from({ length: maturity }, (_, k) => [
      k + 1,
      NOTIONAL * (coupon + (k + 1 === maturity ? 1 : 0)),
    ]);
    return [{ ...market, kind: "bond", flows, dates: calls.map(({ date, price }) => ({ time: date, cap: price })) }];
  }
  if (kind === "cap")
    return Array.from({ length: end - start }, (_, k) => ({
      ...market,
      kind: right,
      flows: [[start + k + 1, NOTIONAL * (1 + strike)]],
      dates: [{ time: start + k, floor: NOTIONAL }],
    }));
  const flows = Array.from({ length: end - start }, (_, k) => [
    start + k + 1,
    NOTIONAL * (strike + (start + k + 1 === end ? 1 : 0)),
  ]);
  const dates = (kind === "bermudan" ? datesOf(terms) : [start]).map((time) => ({ time, floor: NOTIONAL }));
  return [{ ...market, kind: right, flows, dates }];
}

/** Values of the first trades of a kind by quadrature; undefined where its program does not run. */
export function valuesByQuadrature(kind: Exclude<Kind, "g2">, count: number): readonly number[] | undefined {
  const claims = Array.from({ length: count }, (_, i) => claimsOf(kind, i));
  const script = join(import.meta.dirname, "../../test/fixtures/rates/quadrature.py");
  const input = claims.flat().map((claim) => `${JSON.stringify(claim)}\n`);
  const { status, stdout } = spawnSync("python3", [script], { input: input.join(""), encoding: "utf8" });
  if (status !== 0) return undefined;
  const values = stdout.trim().split("\n").map(Number);
  let next = 0;
  return claims.map(({ length }) => values.slice(next, (next += length)).reduce((sum, one) => sum + one, 0));
}
