/**
 * Feynkac: pricing and risk of derivatives on every core and any GPU.
 *
 * `parseBook` reads a book, `openDevice` opens what it is priced on, `priceBook` prices it; `solve` solves an equation
 * of your own. The kernel language stands at "feynkac/kernel", the devices at "feynkac/device".
 */
export * from "./errors.ts";
export { parseBook, readBook, readTrades, Totals } from "./book/index.ts";
export type {
  Barrier,
  Book,
  BookContext,
  BookInput,
  BookReport,
  CurrencyTotals,
  Exercise,
  FailedTrade,
  Market,
  ParsedTrade,
  Payoff,
  PricedTrade,
  Scenarios,
  ScenarioErrorEstimates,
  ScenarioValues,
  Trade,
  TradeError,
  TradeResult,
} from "./book/index.ts";
export { openDevice } from "./device/index.ts";
export type { BackendName, Device, DeviceBuffer, DeviceLimits } from "./device/index.ts";
export { solve } from "./fdm/index.ts";
export type { EntrySolution, EquationProblem, Solution, SolveOptions, SolveProgress } from "./fdm/index.ts";
export {
  EXPLAIN_TERMS,
  explainBook,
  priceBook,
  priceTrades,
  type ExplainedTrade,
  type ExplainMethod,
  type ExplainOptions,
  type ExplainReport,
  type ExplainStatus,
  type ExplainTerm,
  type ExplainTerms,
  type ExplainTotals,
  type Greeks,
  type MarketMoves,
  type Method,
  type PricingOptions,
  type Progress,
} from "./pricing/index.ts";
