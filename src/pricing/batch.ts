import {
  failedResult,
  type ParsedTrade,
  type PricedTrade,
  type Scenarios,
  type Trade,
  type TradeResult,
} from "../book/index.ts";
import { BookError, SpecError } from "../errors.ts";
import { type Arena, largestNodes, needsItems, type OneFactorProblem, VolatilityError } from "../fdm/index.ts";
import { Turns } from "../turns.ts";
import type { Engine } from "./backend.ts";
import { type BlackScholesTrade, blackScholesTrade, blackScholesValuations } from "./black-scholes.ts";
import { deterministicValuation } from "./deterministic.ts";
import { lessLastDividends } from "./expiry-dividend.ts";
import { FdmTrade, fdmValuations } from "./fdm.ts";
import type { Settings } from "./options.ts";
import { type Cases, casesOf, isDeterministic, type Valuation } from "./plan.ts";

/** What a batch is priced with. */
export interface BatchSetting extends Settings {
  readonly engine: Engine;
  readonly scenarios: Scenarios | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What is left to do for a batch once its trades have been looked at. */
interface Prepared {
  readonly results: TradeResult[];
  readonly closed: { readonly index: number; readonly trade: BlackScholesTrade }[];
  readonly solved: { readonly index: number; readonly plan: FdmTrade }[];
}

/**
 * Prices trades together: each by the cheapest method that is exact for it, those of one method in common launches. What
 * one trade throws is that trade's result; what the device throws is thrown.
 */
export function priceBatch(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: BatchSetting,
): Promise<TradeResult[]> {
  const { engine, scenarios, signal } = setting;
  return engine.withSolver(async (solver) => {
    const { results, closed, solved } = await prepare(trades, firstIndex, setting, solver.arena);
    const [closedValues, readers] = await both(
      blackScholesValuations(
        closed.map(({ trade }) => trade),
        scenarios,
        engine,
      ),
      fdmValuations(
        solved.map(({ plan }) => plan),
        solver,
        signal,
      ),
    );
    const settleAt = (index: number, value: () => Valuation): void =>
      settle(results, index, { trade: tradeAt(trades, index), place: firstIndex + index }, setting, value);
    closed.forEach(({ index }, i) => settleAt(index, () => closedValues[i]));
    solved.forEach(({ index }, i) => settleAt(index, readers[i]));
    return results;
  });
}

/** What two jobs give; they have both ended when this does, even if one fails. */
async function both<A, B>(a: Promise<A>, b: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([a, b]);
  return [await a, await b];
}

/** @throws the signal's reason */
async function prepare(
  trades: readonly ParsedTrade[],
  firstIndex: number,
  setting: BatchSetting,
  arena: Arena,
): Promise<Prepared> {
  const turns = new Turns(setting.signal);
  const prepared: Prepared = { results: new Array<TradeResult>(trades.length), closed: [], solved: [] };
  for (let index = 0; index < trades.length; index++) {
    if (turns.due) await turns.take();
    const parsed = trades[index];
    if (!parsed.ok) prepared.results[index] = failedResult(parsed.id, parsed.error);
    else
      settle(prepared.results, index, { trade: parsed.trade, place: firstIndex + index }, setting, () =>
        prepareTrade(parsed.trade, index, firstIndex, setting, arena, prepared),
      );
  }
  return prepared;
}

/** The valuation of a trade that needs no device; any other joins those that are closed or solved. */
function prepareTrade(
  trade: Trade,
  index: number,
  firstIndex: number,
  setting: BatchSetting,
  arena: Arena,
  { closed, solved }: Prepared,
): Valuation | undefined {
  const cases = casesOf(trade, firstIndex + index, setting.scenarios);
  const exact = setting.method === "auto" ? blackScholesTrade(trade, cases) : undefined;
  if (exact !== undefined && cases[0].problem.expiry > 0) closed.push({ index, trade: exact });
  else if (cases.every((one) => one === undefined || isDeterministic(one.problem)))
    return deterministicValuation(cases, setting.scenarios);
  else solved.push({ index, plan: plan(cases, setting, arena) });
  return undefined;
}

function tradeAt(trades: readonly ParsedTrade[], index: number): Trade {
  const parsed = trades[index];
  if (!parsed.ok) throw parsed.error;
  return parsed.trade;
}

/** The one that wants most memory of those that a problem may come to. */
function schemeOf({ american, exerciseTimes, knockIns }: OneFactorProblem): "policy" | "dates" | "none" {
  return american || knockIns !== undefined ? "policy" : exerciseTimes !== undefined ? "dates" : "none";
}

function plan(cases: Cases, setting: BatchSetting, arena: Arena): FdmTrade {
  const { device, precision } = setting.engine;
  const splits = cases.some((one) => one !== undefined && needsItems(one.problem)) ? (["item"] as const) : undefined;
  const maxNodes = largestNodes(device, precision, schemeOf(cases[0].problem), splits);
  const solved = cases.map((one) => one && lessLastDividends(one)) as unknown as Cases;
  return new FdmTrade(solved, { scenarios: setting.scenarios, settings: setting, precision, maxNodes }, arena);
}

/** Runs `value`; its valuation, if there is one yet, or what it throws becomes the trade's result. */
function settle(
  results: TradeResult[],
  index: number,
  { trade, place }: { readonly trade: Trade; readonly place: number },
  setting: BatchSetting,
  value: () => Valuation | undefined,
): void {
  try {
    const valuation = value();
    if (valuation !== undefined) results[index] = pricedTrade(trade, valuation, setting);
  } catch (error) {
    results[index] = failedResult(trade.id, withPlace(error, trade, place), setting.engine.warnings);
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

/** Methods that need no device, and work in f64. */
const ON_THE_HOST: readonly string[] = ["payoff", "deterministic", "knocked-out"];

function pricedTrade(trade: Trade, valuation: Valuation, setting: BatchSetting): PricedTrade {
  const { value, errorEstimate, method, warnings, scenarios, scenarioErrorEstimates } = valuation;
  const { device, precision } = setting.engine;
  if (!Number.isFinite(value))
    throw new SpecError(
      `value: ${value}; the trade's terms or its market are beyond what ${method} can represent in ${precision}${asWritten(trade)}`,
    );
  return {
    id: trade.id,
    status: "ok",
    value,
    ...reported(valuation, setting),
    errorEstimate,
    method,
    precision: ON_THE_HOST.includes(method) ? "f64" : precision,
    backend: device.backend,
    warnings: [...warnings, ...setting.engine.warnings],
    ...(scenarios === undefined ? {} : { scenarios, scenarioErrorEstimates }),
  };
}

/** The formulas among a trade's terms, which may not be finite everywhere. */
function asWritten({ payoff, volatility }: Trade): string {
  const formulas = [
    ...(payoff.kind === "expression" ? [`${payoff.place ?? "payoff"}, "${payoff.expression}"`] : []),
    ...(volatility.kind === "local" ? [`the volatility "${volatility.expression}"`] : []),
  ];
  return formulas.length === 0 ? "" : `; look where ${formulas.join(" and ")} may not be finite`;
}

type Sensitivities = Pick<PricedTrade, "delta" | "gamma" | "theta" | "vega" | "rho">;

/** Only what was asked for, and null for what is not a number. */
function reported(valuation: Valuation, { greeks }: BatchSetting): Sensitivities {
  const shown = (x: number | null, wanted: boolean): number | null =>
    wanted && x !== null && Number.isFinite(x) ? x : null;
  const grid = greeks !== "none";
  return {
    delta: shown(valuation.delta, grid),
    gamma: shown(valuation.gamma, grid),
    theta: shown(valuation.theta, grid),
    vega: shown(valuation.vega, greeks === "all"),
    rho: shown(valuation.rho, greeks === "all"),
  };
}
