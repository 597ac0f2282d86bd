/**
 * Feynkac prices derivatives and computes their risk, on every core of the CPU and on any GPU.
 *
 * `parseBook` reads a book, `openDevice` opens a device, and `priceBook` prices the book on it. `solve` solves an
 * equation of your own. The entry `feynkac/kernel` has the kernel language, `feynkac/device` the devices.
 */
export type { RelativeAccuracy } from "./base/accuracy.ts";
export * from "./base/errors.ts";
export { parseBook, readBook, readHeader, readTrades, Totals } from "./book/index.ts";
export type {
  AnyTrade,
  Barrier,
  Book,
  BookContext,
  BookHeader,
  BookInput,
  BookReport,
  ConvertibleTrade,
  ForwardTrade,
  LinearTrade,
  CurrencyTotals,
  Exercise,
  FailedTrade,
  GroupTotals,
  Market,
  MarketInput,
  ParsedTrade,
  Payoff,
  PricedTrade,
  RatesTrade,
  Scenarios,
  ScenariosInput,
  ScenarioErrorEstimates,
  ScenarioValues,
  SensitivityErrorEstimates,
  Tags,
  Trade,
  TradeError,
  TradeInput,
  TradeLabels,
  TradeResult,
  UnderlyingTotals,
} from "./book/index.ts";
export { openDevice } from "./device/index.ts";
export type { BackendName, Device, DeviceBuffer, DeviceLimits } from "./device/index.ts";
export { solve } from "./pde/fdm/index.ts";
export type { EntrySolution, EquationProblem, Solution } from "./pde/fdm/index.ts";
export {
  EXPLAIN_TERMS,
  explainBook,
  priceBook,
  priceTrades,
  type ExplainedTrade,
  type ExplainGroupTotals,
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
  type BookProgress,
  type PricingOptions,
  type SmileTerm,
  type Sticky,
} from "./pricing/index.ts";
