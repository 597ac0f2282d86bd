/**
 * Sensitivities of random trades in two factors beside known ones, and whether their error estimates hold: differences
 * of quadrature, the closed form of Heston's model, and American options on a geometric mean, which is one asset.
 */
import { type PricedTrade, parseBook, SENSITIVITIES, type TradeResult } from "../../../src/book/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { type Method, priceBook } from "../../../src/pricing/index.ts";
import type { Lognormal } from "../closed-forms.ts";
import { bookOf, type Contract } from "../contract.ts";
import { contractOf, drawHeston } from "../heston-properties.ts";
import { Random } from "../random.ts";
import { type AssetsTrade, drawAssets, drawPayoff, FAMILIES, rounded } from "./families.ts";
import { type AssetsMarket, europeanValue } from "./oracles.ts";
import { averageValue, lookbackValue } from "./path-oracles.ts";
import { assetsBook } from "./price.ts";

/** A sensitivity, what it should be, and the error estimate of it. */
export interface CheckedSensitivity {
  readonly family: string;
  readonly name: string;
  readonly trade: unknown;
  readonly value: number;
  readonly exact: number;
  readonly uncertainty: number;
  readonly estimate: number | null;
}

export interface SensitivityOptions {
  readonly device: Device;
  readonly count: number;
  readonly seed: number;
  /** Families whose names begin so; all by default. */
  readonly only?: string;
}

/** Error in units of the estimate; infinite where there is none. */
export const excessOf = ({ value, exact, uncertainty, estimate }: CheckedSensitivity): number =>
  estimate === null
    ? Number.POSITIVE_INFINITY
    : Math.max(Math.abs(value - exact) - uncertainty, 0) / Math.max(estimate, 1e-12);

export async function checkSensitivities(options: SensitivityOptions): Promise<readonly CheckedSensitivity[]> {
  const { only = "" } = options;
  const checked: CheckedSensitivity[] = [];
  for (const [name, check] of CHECKS) if (name.startsWith(only)) checked.push(...(await check(options)));
  return checked;
}

const CHECKS = [
  ["Heston, European", (options) => underHeston(options, "Heston, European", "adi")],
  ["two assets, European", (options) => ofTwoAssets(options, "two assets, European", "adi")],
  ["two assets, early exercise", ofGeometric],
  ["paths, Heston", (options) => underHeston(options, "paths, Heston", "montecarlo")],
  ["paths, two assets", (options) => ofTwoAssets(options, "paths, two assets", "montecarlo")],
  ["paths, a barrier", (options) => ofTwoAssets(options, "paths, a barrier", "montecarlo", withBarrier)],
  ["paths, averages", ofAverages],
  ["paths, lookbacks", ofLookbacks],
] as const satisfies readonly (readonly [
  string,
  (options: SensitivityOptions) => Promise<readonly CheckedSensitivity[]>,
])[];

async function price(book: object, device: Device, method: Method, accuracy?: number): Promise<readonly PricedTrade[]> {
  const settings = {
    device,
    method,
    sensitivityErrorEstimates: true,
    ...(accuracy === undefined ? {} : { accuracy: { relative: accuracy } }),
  };
  const { results } = await priceBook(parseBook(JSON.stringify(book)), settings);
  return results.map((result: TradeResult) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

async function underHeston(
  { device, count, seed }: SensitivityOptions,
  family: string,
  method: Method,
): Promise<CheckedSensitivity[]> {
  const random = new Random(seed);
  const contracts = Array.from({ length: count }, () => {
    const market = drawHeston(random);
    const strike = rounded(market.spot * Math.exp(random.uniform(-0.5, 0.5) * Math.min(market.width, 0.8)));
    return contractOf(market, random.choice(["call", "put"] as const), strike);
  });
  const book = bookOf(contracts);
  const [found, exact] = [await price(book, device, method), await price(book, device, "auto")];
  return found.flatMap((one, i) =>
    SENSITIVITIES.map((name) => ({
      family,
      name,
      trade: contracts[i],
      value: one[name]!,
      exact: exact[i][name]!,
      uncertainty: exact[i].sensitivityErrorEstimates?.[name] ?? 0,
      estimate: one.sensitivityErrorEstimates?.[name] ?? null,
    })),
  );
}

/** A sensitivity of a trade on two assets, by its path in a result. */
interface Wanted {
  readonly name: string;
  readonly of: (source: Pick<PricedTrade, "sensitivities" | "crossGamma" | "correlation" | "rho" | "theta">) => number;
  readonly exact: { readonly value: number; readonly uncertainty: number };
}

async function ofTwoAssets(
  { device, count, seed }: SensitivityOptions,
  family: string,
  method: Method,
  vary: (random: Random, trade: AssetsTrade) => AssetsTrade = (_, trade) => trade,
): Promise<CheckedSensitivity[]> {
  const random = new Random(seed);
  const trades = Array.from({ length: count }, () => {
    const market = drawAssets(random, 2);
    const { payoff, strike } = drawPayoff(random, market);
    return vary(random, { market, payoff, strike, exact: 0 });
  });
  const found = await price(assetsBook(trades), device, method);
  return found.flatMap((one, i) =>
    wantedOf(trades[i], `U${i}x`).map(({ name, of, exact }) => ({
      family,
      name,
      trade: trades[i],
      value: of(one),
      exact: exact.value,
      uncertainty: exact.uncertainty,
      estimate: of(one.sensitivityErrorEstimates!),
    })),
  );
}

/** Differences of quadrature over a step and twice the step, extrapolated; what is left is about their distance. */
function wantedOf({ market, payoff, strike, barriers = [] }: AssetsTrade, prefix: string): Wanted[] {
  const [barrier] = barriers;
  const valueOf = (moved: AssetsMarket): number => {
    if (barrier === undefined) return europeanValue(moved, payoff as never, strike!);
    const side = barrier.type.startsWith("up") ? "up" : "down";
    const out = europeanValue(moved, payoff as never, strike!, { first: { side, level: barrier.level } });
    return barrier.type.endsWith("out") ? out : europeanValue(moved, payoff as never, strike!) - out;
  };
  const { assets, correlations, rate, expiry } = market;
  const withAsset = (from: AssetsMarket, i: number, part: object): AssetsMarket => ({
    ...from,
    assets: from.assets.map((asset, k) => (k === i ? { ...asset, ...part } : asset)),
  });
  const slope = (h: number, at: (x: number) => AssetsMarket) =>
    refined((step) => (valueOf(at(step)) - valueOf(at(-step))) / (2 * step), h);
  const bend = (h: number, at: (x: number) => AssetsMarket) =>
    refined((step) => (valueOf(at(step)) - 2 * valueOf(market) + valueOf(at(-step))) / step ** 2, h);
  const spotAt = (from: AssetsMarket, i: number, x: number) => withAsset(from, i, { spot: assets[i].spot + x });
  const steps = assets.map(({ spot, volatility }, i) =>
    Math.min(
      0.05 * spot * Math.min(volatility * Math.sqrt(expiry), 1),
      i === 0 && barrier !== undefined ? 0.2 * Math.abs(spot - barrier.level) : Infinity,
    ),
  );
  const ofAsset = [0, 1].flatMap((i): Wanted[] => {
    const own = (key: "delta" | "gamma" | "vega") => (source: Parameters<Wanted["of"]>[0]) =>
      source.sensitivities![`${prefix}${i}`][key]!;
    const { volatility } = assets[i];
    return [
      { name: `delta ${i + 1}`, of: own("delta"), exact: slope(steps[i], (x) => spotAt(market, i, x)) },
      { name: `gamma ${i + 1}`, of: own("gamma"), exact: bend(steps[i], (x) => spotAt(market, i, x)) },
      {
        name: `vega ${i + 1}`,
        of: own("vega"),
        exact: slope(0.02 * volatility, (x) => withAsset(market, i, { volatility: volatility + x })),
      },
    ];
  });
  const rho = correlations[0][1];
  const cross = refined((part) => {
    const at = (a: number, b: number): number =>
      valueOf(spotAt(spotAt(market, 0, a * part * steps[0]), 1, b * part * steps[1]));
    return (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * part ** 2 * steps[0] * steps[1]);
  }, 1);
  return [
    ...ofAsset,
    { name: "cross gamma", of: (source) => source.crossGamma![0][2], exact: cross },
    {
      name: "correlation",
      of: (source) => source.correlation![0][2],
      exact: slope(0.02 * (1 - Math.abs(rho)), (x) => ({
        ...market,
        correlations: [
          [1, rho + x],
          [rho + x, 1],
        ],
      })),
    },
    { name: "rho", of: (source) => source.rho!, exact: slope(1e-3, (x) => ({ ...market, rate: rate + x })) },
    {
      name: "theta",
      of: (source) => source.theta!,
      exact: slope(0.01 * expiry, (x) => ({ ...market, expiry: expiry - x })),
    },
  ];
}

/** What rounding leaves of a slope that is 0. */
const ROUNDING = 1e-10;

function refined(difference: (step: number) => number, h: number): { value: number; uncertainty: number } {
  const [fine, coarse] = [difference(h), difference(2 * h)];
  return {
    value: (4 * fine - coarse) / 3,
    uncertainty: 0.2 * Math.abs(fine - coarse) + 1e-6 * Math.abs(fine) + ROUNDING,
  };
}

/** A continuous barrier on the first asset, half a percent to twenty away. */
function withBarrier(random: Random, trade: AssetsTrade): AssetsTrade {
  const { spot } = trade.market.assets[0];
  const distance = random.logUniform(0.005, 0.2);
  const side = random.choice(["up", "down"] as const);
  const level = rounded(spot * (side === "up" ? 1 + distance : 1 - distance));
  const { market, payoff, strike } = trade;
  const out = europeanValue(market, payoff as never, strike!, { first: { side, level } });
  const all = europeanValue(market, payoff as never, strike!);
  // A small difference of two quadratures is not known well.
  const kind = random.chance(0.5) && all - out > 0.1 * all ? "in" : "out";
  return { ...trade, barriers: [{ type: `${side}-and-${kind}`, level, asset: 0 }] };
}

/** A trade on one asset, and its value as a function of the market. */
interface OnPath {
  readonly contract: Contract & { readonly average?: object; readonly lookback?: object };
  readonly model: Lognormal;
  /** The value, some years later. */
  readonly at: (model: Lognormal, later: number) => number;
  /** The step of differences in the spot. */
  readonly step: number;
}

function drawModel(random: Random): Lognormal {
  const [volatility, expiry] = [random.logUniform(0.08, 0.6), random.logUniform(0.05, 3)];
  return {
    spot: 100,
    rate: rounded(random.uniform(0, 0.08)),
    yield: rounded(random.uniform(0.001, 0.05)),
    volatility: rounded(volatility),
    expiry: rounded(expiry),
  };
}

async function onPaths(
  { device, count, seed }: SensitivityOptions,
  family: string,
  draw: (random: Random, model: Lognormal) => OnPath,
): Promise<CheckedSensitivity[]> {
  const random = new Random(seed);
  const all = Array.from({ length: count }, () => draw(random, drawModel(random)));
  const book = bookOf(all.map(({ contract }) => contract));
  const trades = book.trades.map((trade, i) => ({
    ...trade,
    ...(({ average, lookback }) => ({ average, lookback }))(all[i].contract),
  }));
  const found = await price({ ...book, trades }, device, "montecarlo");
  return found.flatMap((one, i) => {
    const { model, at, step } = all[i];
    const slope = (h: number, value: (x: number) => number) => refined((by) => (value(by) - value(-by)) / (2 * by), h);
    const spotAt = (x: number): number => at({ ...model, spot: model.spot + x }, 0);
    const exact = {
      delta: slope(step, spotAt),
      gamma: refined((by) => (spotAt(by) - 2 * spotAt(0) + spotAt(-by)) / by ** 2, step),
      // Forward: fixings are on dates to come.
      theta: refined((by) => (at(model, by) - at(model, -by)) / (2 * by), 1e-3 * firstOf(all[i])),
      vega: slope(1e-3 * model.volatility, (x) => at({ ...model, volatility: model.volatility + x }, 0)),
      rho: slope(1e-4, (x) => at({ ...model, rate: model.rate + x }, 0)),
    };
    return SENSITIVITIES.map((name) => ({
      family,
      name,
      trade: all[i].contract,
      value: one[name]!,
      exact: exact[name].value,
      uncertainty: exact[name].uncertainty,
      estimate: one.sensitivityErrorEstimates?.[name] ?? null,
    }));
  });
}

const firstOf = ({ contract: { average, expiry } }: OnPath): number =>
  (average as { readonly dates: readonly number[] } | undefined)?.dates[0] ?? expiry;

/** Averages of one to twelve fixings, the first soon or late, some paid long after the last. */
function ofAverages(options: SensitivityOptions): Promise<CheckedSensitivity[]> {
  return onPaths(options, "paths, averages", (random, drawn) => {
    const count = random.choice([1, 2, 3, 4, 12]);
    const first = drawn.expiry * random.choice([0.002, 0.05, 1 / count]);
    const last = drawn.expiry * random.choice([1, 1, 0.1]);
    const dates = Array.from({ length: count }, (_, k) =>
      count === 1 ? last : Math.min(first, 0.3 * last) + ((last - Math.min(first, 0.3 * last)) * k) / (count - 1),
    );
    const [model, right] = [drawn, random.choice(["call", "put"] as const)];
    const width = model.volatility * Math.sqrt(last / 2);
    const strike = rounded(100 * Math.exp(random.uniform(-1, 1) * width));
    const contract = { ...model, payoff: right, strike, average: { kind: "arithmetic", dates } };
    const at = (moved: Lognormal, later: number): number =>
      averageValue(
        { ...moved, expiry: moved.expiry - later },
        right,
        strike,
        dates.map((t) => t - later),
      );
    return { contract, model, at, step: 1e-2 * 100 * model.volatility * Math.sqrt(dates[0]) };
  });
}

/** Lookbacks from an extremum that has just been set to one that is 10 % away. */
function ofLookbacks(options: SensitivityOptions): Promise<CheckedSensitivity[]> {
  return onPaths(options, "paths, lookbacks", (random, model) => {
    const right = random.choice(["call", "put"] as const);
    const isFloating = random.chance(0.5);
    const isMaximum = (right === "call") !== isFloating;
    const distance = random.logUniform(1e-4, 0.1);
    const extremum = rounded(100 * (isMaximum ? 1 + distance : 1 - distance));
    const strike = isFloating ? undefined : rounded(random.uniform(85, 115));
    const contract = {
      ...model,
      payoff: right,
      ...(strike === undefined ? {} : { strike }),
      lookback: { strike: isFloating ? "floating" : "fixed", monitoring: "continuous", extremum },
    };
    const at = (moved: Lognormal, later: number): number =>
      lookbackValue({ ...moved, expiry: moved.expiry - later }, { right, strike, extremum });
    // Beyond the level the formula is the value no longer, but goes on smoothly.
    return { contract, model, at, step: 0.02 * 100 * model.volatility * Math.sqrt(model.expiry) };
  });
}

/** f(G) of G = Π Sᵢ^wᵢ: ∂V/∂Sᵢ = f′·wᵢG/Sᵢ, ∂²V/∂Sᵢ² = f″·(wᵢG/Sᵢ)² + f′·wᵢ(wᵢ − 1)G/Sᵢ². */
async function ofGeometric({ device, count, seed }: SensitivityOptions): Promise<CheckedSensitivity[]> {
  const family = FAMILIES.find(({ name }) => name === "two assets, early exercise")!;
  const random = new Random(seed);
  const trades: AssetsTrade[] = [];
  while (trades.length < count) {
    const one = family.draw(random);
    if ("kind" in one.payoff) trades.push(one);
  }
  const contracts = trades.flatMap(({ exact }) => (typeof exact === "number" ? [] : [exact.contract]));
  const found = await price(assetsBook(trades), device, "adi");
  const exact = await price(bookOf(contracts), device, "auto", 1e-6);
  return found.flatMap((one, t) => {
    const { market, payoff } = trades[t];
    const { weights } = payoff as { readonly weights: readonly number[] };
    const { spot: G } = contracts[t];
    const { delta, gamma, theta, sensitivityErrorEstimates: errors } = exact[t];
    const checked = (name: string, value: number, is: number, uncertainty: number, estimate: number | null) => ({
      family: "two assets, early exercise",
      name,
      trade: trades[t],
      value,
      exact: is,
      uncertainty,
      estimate,
    });
    const estimates = one.sensitivityErrorEstimates!;
    return [
      checked("theta", one.theta!, theta!, errors!.theta ?? 0, estimates.theta),
      ...market.assets.flatMap(({ spot }, i) => {
        const [own, is] = [one.sensitivities![`U${t}x${i}`], estimates.sensitivities![`U${t}x${i}`]];
        const [first, second] = [(weights[i] * G) / spot, (weights[i] * (weights[i] - 1) * G) / spot ** 2];
        const bend = gamma! * first ** 2 + delta! * second;
        const unsure = (errors!.gamma ?? 0) * first ** 2 + (errors!.delta ?? 0) * Math.abs(second);
        return [
          checked(`delta ${i + 1}`, own.delta!, delta! * first, (errors!.delta ?? 0) * first, is.delta),
          checked(`gamma ${i + 1}`, own.gamma!, bend, unsure, is.gamma),
        ];
      }),
    ];
  });
}

/** One line for each family and sensitivity. */
export function sensitivityTable(all: readonly CheckedSensitivity[]): string {
  const groups = new Map<string, CheckedSensitivity[]>();
  for (const one of all) {
    const key = `${one.family} | ${one.name}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups]
    .map(([key, list]) => {
      const ratios = list.map(excessOf);
      const within = `${((100 * ratios.filter((ratio) => ratio <= 1).length) / list.length).toFixed(1)} %`;
      return [key, list.length, within, Math.max(...ratios).toFixed(2)].join(" | ");
    })
    .join("\n");
}
