/** Quotes to models: fits on one core, beside QuantLib's, and the whole command for a market of many underlyings. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fitAdjoint } from "../src/calibration/adjoint-fit.ts";
import { fitAndreasenHuge } from "../src/calibration/andreasen-huge.ts";
import { fitEssvi } from "../src/calibration/essvi-fit.ts";
import { rmseOf, type SurfaceFit, type UnderlyingQuotes } from "../src/calibration/fit.ts";
import { fitHestonOn } from "../src/calibration/heston-fit.ts";
import { impliedVolatilities } from "../src/calibration/implied/batch.ts";
import { fitLocal } from "../src/calibration/local-fit.ts";
import { fitSabr } from "../src/calibration/sabr.ts";
import { fitSsvi } from "../src/calibration/ssvi-fit.ts";
import { ssviVariance } from "../src/market/ssvi.ts";
import { fitSvi } from "../src/calibration/svi-surface.ts";
import { openDevice } from "../src/device/index.ts";
import { hostNormalCdf } from "../src/market/models/index.ts";
import { dax, quotesOf } from "../test/calibration/quotes.ts";
import { type Benchmark, type Context, medianSeconds } from "./harness.ts";
import { buildPeer } from "./peers/quantlib.ts";
import { runProgram } from "./program.ts";

const program = join(import.meta.dirname, "..", "bin/feynkac.js");
const EXPIRIES = [1 / 12, 1 / 6, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 6];

/** SSVI volatilities with the power law φ = η/√(θ(1 + θ)), at ±2 deviations about the forward. */
function ssviQuotes(expiries: number, strikes: number, sigma: number, rho: number): UnderlyingQuotes {
  const quotes = EXPIRIES.slice(0, expiries).map((time) => {
    const theta = sigma * sigma * time;
    const phi = 0.8 / Math.sqrt(theta * (1 + theta));
    const k = Array.from({ length: strikes }, (_, j) => ((2 * j) / (strikes - 1) - 1) * 2 * sigma * Math.sqrt(time));
    const volatility = (at: number): number => Math.sqrt(ssviVariance({ theta, phi, rho, k: at }).variance / time);
    return quotesOf(time, k, volatility, 100 * Math.exp(0.02 * time));
  });
  return { spot: 100, expiries: quotes };
}

/** Volatilities per second of one thread, and their largest relative error. */
async function measureImplied({ report, quick, cpu }: Context): Promise<void> {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const count = quick ? 10_000 : 200_000;
  const sigma = Float64Array.from({ length: count }, (_, i) => 0.05 + (0.75 * ((7 * i) % 101)) / 101);
  const strike = Float64Array.from({ length: count }, (_, i) => 70 + ((11 * i) % 61));
  const forward = new Float64Array(count).fill(100);
  const expiry = Float64Array.from({ length: count }, (_, i) => 0.5 + ((13 * i) % 31) / 15);
  const sign = strike.map((one) => (one >= 100 ? 1 : -1));
  const price = strike.map((one, i) => {
    const deviation = sigma[i] * Math.sqrt(expiry[i]);
    const d1 = Math.log(100 / one) / deviation + 0.5 * deviation;
    return sign[i] * (100 * hostNormalCdf(sign[i] * d1) - one * hostNormalCdf(sign[i] * (d1 - deviation)));
  });
  const options = { forward, strike, expiry, price, sign };
  const { volatility } = await impliedVolatilities(device, options);
  const error = volatility.reduce((worst, one, i) => Math.max(worst, Math.abs(one / sigma[i] - 1)), 0);
  const seconds = await medianSeconds(quick ? 3 : 15, () => impliedVolatilities(device, options));
  const text = "implied volatilities of prices in doubles, 1 thread, relative error";
  report({ case: text, device: cpu, precision: "f64", figure: count / seconds, unit: "volatilities/s", error });
}

interface PeerFit {
  readonly seconds: number;
  readonly rmse: number;
}

/** QuantLib's fits of the same quotes, the fastest of three each, by name. */
function peerFits(quotes: UnderlyingQuotes, note: Context["note"]): ReadonlyMap<string, PeerFit> {
  const fits = new Map<string, PeerFit>();
  const peer = buildPeer("calibration", note);
  if (peer === undefined) return fits;
  const { spot, expiries } = quotes;
  const lines = expiries.flatMap(({ time, forward, logMoneyness, implied }) => [
    `${Math.round(365 * time)} ${Math.log(forward / spot) / time}`,
    ...Array.from(logMoneyness, (k, i) => `${forward * Math.exp(k)} ${implied[i]}`),
  ]);
  const input = `${spot} ${expiries.length} ${expiries[0].logMoneyness.length}\n${lines.join("\n")}\n`;
  for (const line of execFileSync(peer, { input, encoding: "utf8" }).trim().split("\n")) {
    const [name, seconds, rmse] = line.split(" ");
    if (Number(seconds) < (fits.get(name)?.seconds ?? Infinity))
      fits.set(name, { seconds: Number(seconds), rmse: Number(rmse) });
  }
  return fits;
}

/** Fits of one underlying on one thread, warm: the model, its surface and its checks. The error is the RMSE. */
async function measureFits({ report, note, quick, cpu }: Context): Promise<void> {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const times = quick ? 5 : 41;
  const market = dax();
  const peers = peerFits(market, note);
  const surface = ssviQuotes(12, 30, 0.25, -0.5);
  const timed = async (
    name: string,
    quotes: UnderlyingQuotes,
    fit: (quotes: UnderlyingQuotes) => SurfaceFit | Promise<SurfaceFit>,
    peer?: PeerFit,
  ): Promise<void> => {
    const error = rmseOf(quotes, (await fit(quotes)).impliedVolatility);
    const seconds = await medianSeconds(times, async () => void (await fit(quotes)));
    const count = quotes.expiries.reduce((sum, { implied }) => sum + implied.length, 0);
    const beside =
      peer === undefined ? {} : { peers: { [`QuantLib, RMSE ${peer.rmse.toExponential(2)}`]: peer.seconds * 1e3 } };
    const text = `${name}, ${count} quotes, 1 thread, error: RMSE of volatility`;
    report({ case: text, device: cpu, precision: "f64", figure: seconds * 1e3, unit: "ms", error, ...beside });
  };
  for (const starts of [1, 2])
    await timed(
      `Heston from ${starts} start${starts === 1 ? "" : "s"}, DAX`,
      market,
      (quotes) => fitHestonOn(device, quotes, { starts }),
      peers.get("heston"),
    );
  await timed("Andreasen and Huge, DAX", market, fitAndreasenHuge, peers.get("andreasen-huge"));
  await timed("SSVI, 12 expiries of 30", surface, fitSsvi);
  await timed("SVI, 12 expiries of 30", surface, fitSvi);
  await timed("Andreasen and Huge, 12 expiries of 30", surface, fitAndreasenHuge);
  await timed("eSSVI, 12 expiries of 30", surface, fitEssvi);
  await timed("SABR, β = 0.7, 12 expiries of 30", surface, (quotes) => fitSabr(quotes, 0.7));
  await timed("local volatility, 12 expiries of 30", surface, fitLocal);
  await timed("local volatility by its adjoint, 200 × 50 nodes, 12 expiries of 30", surface, fitAdjoint);
  await timed("local volatility by its adjoint, 200 × 50 nodes, DAX", market, fitAdjoint);
}

/** A market of SSVI quotes with options on them, half of them American, a quarter of a year to two years. */
function bookOf(underlyings: number, trades: number): object {
  const entries = Array.from({ length: underlyings }, (_, i) => {
    const { expiries } = ssviQuotes(10, 20, 0.15 + (0.25 * ((7 * i) % 31)) / 31, -0.7 + (0.4 * ((5 * i) % 23)) / 23);
    const quotes = expiries.flatMap(({ time, forward, logMoneyness, implied }) =>
      Array.from(logMoneyness, (k, j) => ({ expiry: time, strike: forward * Math.exp(k), implied: implied[j] })),
    );
    return [`U${i}`, { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: { quotes, fit: "svi" } }];
  });
  const options = Array.from({ length: trades }, (_, i) => ({
    id: `T${i}`,
    underlying: `U${i % underlyings}`,
    payoff: i % 3 === 0 ? "call" : "put",
    strike: 80 + ((7 * i) % 41),
    expiry: Math.round(365 * (0.25 + ((11 * i) % 36) / 20)) / 365,
    ...(i % 2 === 0 ? { exercise: "american" } : {}),
  }));
  const market = { rates: { EUR: 0.03 }, underlyings: Object.fromEntries(entries) };
  return { asOf: "2026-11-20T16:00:00Z", market, trades: options };
}

async function measureCommand({ report, quick, cpu }: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "feynkac-calibration-"));
  const [underlyings, trades] = quick ? [20, 200] : [500, 10_000];
  const [book, output] = [join(folder, "book.json"), join(folder, "out.json")];
  const common = { device: cpu, precision: "f64", unit: "s" } as const;
  const size = `${underlyings} underlyings of 200 quotes`;
  try {
    writeFileSync(book, JSON.stringify(bookOf(underlyings, trades)));
    const { seconds } = await runProgram(program, ["calibrate", book, "--output", output]);
    report({ ...common, case: `feynkac calibrate, ${size}, SVI, from start to exit`, figure: seconds });
    for (const greeks of ["none", "all"]) {
      const priced = await runProgram(program, ["price", book, "--greeks", greeks, "--output", output]);
      const { results } = JSON.parse(readFileSync(output, "utf8")) as { results: readonly { status: string }[] };
      if (results.some(({ status }) => status !== "ok")) throw new Error("a trade was not priced");
      const text = `feynkac price, ${size}, ${trades.toLocaleString("en-US")} trades, Greeks: ${greeks}`;
      report({
        ...common,
        case: `${text}, ${availableParallelism()} threads, from start to exit`,
        figure: priced.seconds,
      });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run(context: Context): Promise<void> {
  await measureImplied(context);
  await measureFits(context);
  await measureCommand(context);
}

export const benchmark: Benchmark = {
  name: "calibration",
  description: "fits of quotes on one core beside QuantLib's, and the whole command for a market of many underlyings",
  run,
};
