import {
  type AnyTrade,
  failedResult,
  labelsOf,
  type PairSensitivity,
  type ParsedTrade,
  type PricedTrade,
  type ScenarioErrorEstimates,
  type Scenarios,
  type ScenarioValues,
  type SensitivityErrorEstimates,
  type TradeResult,
} from "../book/index.ts";
import { BookError, SpecError } from "../base/errors.ts";
import { VolatilityError } from "../pde/fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { Engine } from "./backend.ts";
import {
  type ResultColumns,
  type ScenarioCases,
  type SeveralFactorResult,
  type SeveralSensitivities,
  STATUS,
  WARNING,
} from "./columns/result-columns.ts";
import type { Settings } from "./options.ts";
import type { TradeKind } from "./plan/kind.ts";
import { roundingError } from "./plan/method.ts";

/** A priced batch from which results are made. */
export interface OutputRows {
  readonly trades: readonly ParsedTrade[];
  /** The index of its first trade in the run. */
  readonly firstIndex: number;
  readonly results: ResultColumns;
  readonly cases: ScenarioCases;
  readonly settings: Settings;
  readonly engine: Engine;
}

/** Returns the result of a trade of a kind as users see it; `i` is its index in the batch. */
export function resultOf(rows: OutputRows, trade: AnyTrade, kind: TradeKind, i: number): TradeResult {
  const { results, engine, trades, firstIndex } = rows;
  try {
    if (results.status[i] !== STATUS.priced) throw results.errorOf(i);
    return pricedTrade(rows, trade, kind, i);
  } catch (error) {
    const place = trades[i].index ?? firstIndex + i;
    const labels = { id: trade.id, ...labelsOf(trade) };
    return failedResult(labels, withPlace(error, trade, place), engine.warnings, `trades[${place}]`);
  }
}

/** A volatility that is none is reported at its formula: the trade's own, or its underlying's. */
function withPlace(error: unknown, trade: AnyTrade, place: number): unknown {
  if (!(error instanceof VolatilityError) || !("volatility" in trade)) return error;
  const { volatility, underlying } = trade;
  if (volatility.kind !== "local") return error;
  const owner = volatility === underlying.volatility ? `market.underlyings.${underlying.name}` : `trades[${place}]`;
  return new BookError(`${owner}.volatility.local`, `${error.message}; the formula is "${volatility.expression}"`, {
    cause: error,
  });
}

function pricedTrade(rows: OutputRows, trade: AnyTrade, kind: TradeKind, i: number): PricedTrade {
  const { results, settings, engine, cases } = rows;
  const { greeks } = settings;
  const own = results.own.get(i);
  const { precision, backend } = own?.computed ?? {
    precision: results.isOnHost(i) ? "f64" : engine.precision,
    backend: engine.device.backend,
  };
  const value = results.value[i];
  const method = results.methodOf(i);
  const errorEstimate = results.errorEstimate[i];
  if (!Number.isFinite(value) || !Number.isFinite(errorEstimate))
    throw new SpecError(
      `${Number.isFinite(value) ? `errorEstimate: ${errorEstimate}` : `value: ${value}`}; the trade's terms or its market are beyond what ${method} can represent in ${own?.computed?.precision ?? engine.precision}` +
        asWritten(trade),
    );
  const several = results.severalOf(i);
  const grid = greeks !== "none";
  const all = greeks === "all";
  const { underlying, currency, quantity, tags } = labelsOf(trade);
  // One literal of one shape: objects that are spread into it cost more than all the rest.
  const priced: PricedTrade = {
    id: trade.id,
    underlying,
    currency,
    quantity,
    tags,
    status: "ok",
    value,
    delta: shown(results.delta[i], grid),
    gamma: shown(results.gamma[i], grid),
    theta: shown(results.theta[i], grid),
    vega: shown(results.vega[i], all),
    rho: shown(results.rho[i], all),
    errorEstimate,
    method,
    seed: results.seeds.get(i),
    precision,
    backend,
    warnings: warningsOf(rows, trade, kind, i),
  };
  if (own !== undefined) Object.assign(priced, own.figures);
  if (several !== undefined) Object.assign(priced, severalOf(several, trade, greeks));
  const knowsErrors = own === undefined || own.figureErrors !== undefined;
  if (settings.sensitivityErrorEstimates && grid && knowsErrors)
    Object.assign(priced, { sensitivityErrorEstimates: sensitivityErrorsOf(results, trade, i, greeks) });
  return cases.scenarios === undefined ? priced : Object.assign(priced, laddersOf(results, cases, cases.scenarios, i));
}

function warningsOf(
  { results, settings, engine }: OutputRows,
  trade: AnyTrade,
  kind: TradeKind,
  i: number,
): readonly string[] {
  const warnings = [...kind.warnings(trade), ...kind.doubts(trade)];
  if (results.methodOf(i) === "knocked-out") warnings.push(KNOCKED_OUT);
  if (results.warnings[i] !== 0) warnings.push(...saidBy(results.warnings[i], settings.accuracy));
  if (isMissed(results, i, settings, engine.precision, trade)) warnings.push(ACCURACY_MISSED);
  warnings.push(...(results.own.get(i)?.notes ?? []), ...assumptions(results.severalOf(i)), ...engine.warnings);
  return warnings;
}

const KNOCKED_OUT = "a knock-out barrier is breached at asOf: the value is its rebate, or 0";

function isMissed(
  results: ResultColumns,
  i: number,
  { accuracy }: Settings,
  precision: Precision,
  trade: AnyTrade,
): boolean {
  const value = results.value[i];
  const scale = "underlying" in trade ? trade.underlying.spot : value;
  // Where nothing is asked for, f32 does what it can.
  const rounding = accuracy === undefined ? roundingError(precision, scale, value) : 0;
  return results.errorEstimate[i] > results.targetErrors[i] * (1 + 1e-9) + rounding;
}

/** Correlations that the book does not say. */
function assumptions(several: SeveralFactorResult | undefined): string[] {
  return (several?.assumed ?? []).map(
    ([a, b]) => `market.correlations does not have ${JSON.stringify([a, b])}: they are taken to be independent`,
  );
}

/** Sensitivities to each of several underlyings, and to pairs of them. */
function severalOf(
  several: SeveralSensitivities | undefined,
  trade: AnyTrade,
  greeks: Settings["greeks"],
): Pick<PricedTrade, "sensitivities" | "crossGamma" | "correlation"> {
  if (several === undefined || greeks === "none") return {};
  const assets = "assets" in trade ? trade.assets : undefined;
  const all = greeks === "all";
  const finite = (pairs: readonly PairSensitivity[]): readonly PairSensitivity[] =>
    pairs.filter(([, , value]) => Number.isFinite(value));
  const sensitivities = (assets ?? []).map(({ underlying: { name } }, i) => {
    const { delta, gamma, vega } = several.assets[i];
    return [name, { delta, gamma, vega: all ? vega : null }] as const;
  });
  return {
    ...(assets === undefined
      ? {}
      : { sensitivities: Object.fromEntries(sensitivities), crossGamma: finite(several.crossGamma) }),
    ...(all && several.correlation.length > 0 ? { correlation: finite(several.correlation) } : {}),
  };
}

function sensitivityErrorsOf(
  results: ResultColumns,
  trade: AnyTrade,
  i: number,
  greeks: Settings["greeks"],
): SensitivityErrorEstimates {
  const all = greeks === "all";
  const { delta, gamma, theta, vega, rho } = results.sensitivityErrors;
  return {
    delta: shown(delta[i], true),
    gamma: shown(gamma[i], true),
    theta: shown(theta[i], true),
    vega: shown(vega[i], all),
    rho: shown(rho[i], all),
    ...severalOf(results.severalOf(i)?.errors, trade, greeks),
    ...results.own.get(i)?.figureErrors,
  };
}

/** Only what was asked for, and null for what is not a number. */
function shown(x: number, wanted: boolean): number | null {
  return wanted && Number.isFinite(x) ? x : null;
}

/** The formulas among a trade's terms, which may not be finite everywhere. */
function asWritten(trade: AnyTrade): string {
  const payoff = "payoff" in trade ? trade.payoff : undefined;
  const volatility = "volatility" in trade ? trade.volatility : undefined;
  const formulas = [
    ...(payoff?.kind === "expression" ? [`${payoff.place ?? "payoff"}, "${payoff.expression}"`] : []),
    ...(volatility?.kind === "local" ? [`the volatility "${volatility.expression}"`] : []),
  ];
  return formulas.length === 0 ? "" : `; look where ${formulas.join(" and ")} may not be finite`;
}

/** Said by every result whose error estimate is above what was asked for; other warnings may say why. */
const ACCURACY_MISSED = "the accuracy that was asked for is not reached: errorEstimate is larger";

/** Warnings by their bits. */
function saidBy(bits: number, accuracy: number | undefined): string[] {
  const messages: readonly (readonly [number, string])[] = [
    [
      WARNING.roughVolatility,
      "volatility is 0, or jumps, where the spot may come: the scheme is of first order, see errorEstimate",
    ],
    [
      WARNING.bentAtSpot,
      "the value has a kink or a jump at the spot, where it has no delta: delta is the mean of the slopes on both " +
        "sides",
    ],
    [WARNING.driftDominates, "drift dominates diffusion: the scheme is of first order, see errorEstimate"],
    [WARNING.inaccurate, "the finest grid was reached before the accuracy: see errorEstimate"],
    [WARNING.outOfTime, "the time of a trade was over before the accuracy was reached: see errorEstimate"],
    [WARNING.pathsLimited, "the limit of paths was reached before the accuracy: see errorEstimate"],
    [
      WARNING.leverageBias,
      "particles and steps of stochastic local volatility leave more than the accuracy: see errorEstimate",
    ],
    [WARNING.stepsLimited, "the limit of time steps was reached before the accuracy: see errorEstimate"],
    [WARNING.treeLimited, "the limit of the tree's points was reached before the accuracy: see errorEstimate"],
    [
      WARNING.treeForgets,
      "the dates are too close for a tree in two factors: the value is not converged, and errorEstimate is no bound; " +
        "take fewer dates, or one factor",
    ],
    [
      WARNING.smileMissed,
      "the local volatility does not give back the fitted smile to the accuracy: European values differ, see " +
        "errorEstimate",
    ],
    [
      WARNING.scenarioOutside,
      "values of scenarios that no such payoff can have are left out (null): ask for another accuracy or method",
    ],
    [WARNING.beyondF32, `accuracy ${accuracy ?? "as by default"} of the spot is beyond f32: see errorEstimate`],
  ];
  return messages.filter(([bit]) => (bits & bit) !== 0).map(([, message]) => message);
}

function laddersOf(
  { scenarioValues, scenarioErrors }: ResultColumns,
  cases: ScenarioCases,
  scenarios: Scenarios,
  i: number,
): { scenarios: ScenarioValues; scenarioErrorEstimates: ScenarioErrorEstimates } {
  const { count, spots } = cases;
  return {
    scenarios: cases.ladder(scenarios, scenarioValues, i * count * spots),
    scenarioErrorEstimates: cases.estimates(scenarios, scenarioErrors, i * count),
  };
}
