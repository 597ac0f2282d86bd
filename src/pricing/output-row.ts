import {
  failedResult,
  labelsOf,
  type PairSensitivity,
  type ParsedTrade,
  type PricedTrade,
  type ScenarioErrorEstimates,
  type Scenarios,
  type ScenarioValues,
  type SensitivityErrorEstimates,
  type Trade,
  type TradeResult,
} from "../book/index.ts";
import { BookError, SpecError } from "../base/errors.ts";
import { roundingError, VolatilityError } from "../pde/fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { Engine } from "./backend.ts";
import {
  type ResultColumns,
  type Several,
  type SeveralSensitivities,
  STATUS,
  WARNING,
} from "./columns/result-columns.ts";
import type { ScenarioCases } from "./columns/scenario-cases.ts";
import { ACCURACY_MISSED, OUT_OF_TIME, SCENARIO_OUTSIDE } from "./guard/warnings.ts";
import type { Settings } from "./options.ts";
import { fitDoubts } from "./fit-doubts.ts";
import { unitWarnings } from "./unit-warnings.ts";

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

/** Returns the result of a trade as users see it; `i` is its index in the batch. */
export function resultOf(rows: OutputRows, trade: Trade, i: number): TradeResult {
  const { results, engine, trades, firstIndex } = rows;
  try {
    if (results.status[i] !== STATUS.priced) throw results.errorOf(i);
    return pricedTrade(rows, trade, i);
  } catch (error) {
    const place = trades[i].index ?? firstIndex + i;
    const labels = { id: trade.id, ...labelsOf(trade) };
    return failedResult(labels, withPlace(error, trade, place), engine.warnings, `trades[${place}]`);
  }
}

/** A volatility that is none is reported at its formula: the trade's own, or its underlying's. */
function withPlace(error: unknown, { volatility, underlying }: Trade, place: number): unknown {
  if (!(error instanceof VolatilityError) || volatility.kind !== "local") return error;
  const owner = volatility === underlying.volatility ? `market.underlyings.${underlying.name}` : `trades[${place}]`;
  return new BookError(`${owner}.volatility.local`, `${error.message}; the formula is "${volatility.expression}"`, {
    cause: error,
  });
}

function pricedTrade(rows: OutputRows, trade: Trade, i: number): PricedTrade {
  const { results, settings, engine, cases } = rows;
  const { greeks } = settings;
  const { device, precision } = engine;
  const value = results.value[i];
  const method = results.methodOf(i);
  if (!Number.isFinite(value))
    throw new SpecError(
      `value: ${value}; the trade's terms or its market are beyond what ${method} can represent in ${precision}` +
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
    errorEstimate: results.errorEstimate[i],
    method,
    seed: results.seeds.get(i),
    precision: results.isOnHost(i) ? "f64" : precision,
    backend: device.backend,
    warnings: warningsOf(rows, trade, i),
  };
  if (several !== undefined) Object.assign(priced, severalOf(several, trade, greeks));
  if (settings.sensitivityErrorEstimates && grid)
    Object.assign(priced, { sensitivityErrorEstimates: sensitivityErrorsOf(results, trade, i, greeks) });
  return cases.scenarios === undefined ? priced : Object.assign(priced, laddersOf(results, cases, cases.scenarios, i));
}

function warningsOf({ results, settings, engine }: OutputRows, trade: Trade, i: number): readonly string[] {
  const warnings = unitWarnings(trade);
  warnings.push(...fitDoubts(trade));
  if (results.methodOf(i) === "knocked-out") warnings.push(KNOCKED_OUT);
  if (results.warnings[i] !== 0) warnings.push(...saidBy(results.warnings[i], settings.accuracy));
  if (isMissed(results, i, settings, engine.precision, trade)) warnings.push(ACCURACY_MISSED);
  warnings.push(...assumptions(results.severalOf(i)), ...engine.warnings);
  return warnings;
}

const KNOCKED_OUT = "a knock-out barrier is breached at asOf: the value is its rebate, or 0";

function isMissed(
  results: ResultColumns,
  i: number,
  { accuracy }: Settings,
  precision: Precision,
  { underlying }: Trade,
): boolean {
  // Where nothing is asked for, f32 does what it can.
  const rounding = accuracy === undefined ? roundingError(precision, underlying.spot, results.value[i]) : 0;
  return results.errorEstimate[i] > results.asked[i] * (1 + 1e-9) + rounding;
}

/** Correlations that the book does not say. */
function assumptions(several: Several | undefined): string[] {
  return (several?.assumed ?? []).map(
    ([a, b]) => `market.correlations does not have ${JSON.stringify([a, b])}: they are taken to be independent`,
  );
}

/** Sensitivities to each of several underlyings, and to pairs of them. */
function severalOf(
  several: SeveralSensitivities | undefined,
  { assets }: Trade,
  greeks: Settings["greeks"],
): Pick<PricedTrade, "sensitivities" | "crossGamma" | "correlation"> {
  if (several === undefined || greeks === "none") return {};
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
  trade: Trade,
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
  };
}

/** Only what was asked for, and null for what is not a number. */
function shown(x: number, wanted: boolean): number | null {
  return wanted && Number.isFinite(x) ? x : null;
}

/** The formulas among a trade's terms, which may not be finite everywhere. */
function asWritten({ payoff, volatility }: Trade): string {
  const formulas = [
    ...(payoff.kind === "expression" ? [`${payoff.place ?? "payoff"}, "${payoff.expression}"`] : []),
    ...(volatility.kind === "local" ? [`the volatility "${volatility.expression}"`] : []),
  ];
  return formulas.length === 0 ? "" : `; look where ${formulas.join(" and ")} may not be finite`;
}

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
    [WARNING.outOfTime, OUT_OF_TIME],
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
    [WARNING.scenarioOutside, SCENARIO_OUTSIDE],
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
