/** Books: their format, how they are read, and the types of pricing results. */
export {
  parseBook,
  readBook,
  readTrades,
  readWholeBook,
  type BookHeader,
  contextOf,
  readHeader,
  readMarketFile,
  underMarket,
  hashOfId,
  SeenIds,
} from "./book.ts";
export {
  type ChunkedBook,
  type ChunkedFormat,
  type ChunkPosition,
  type CostOf,
  cutBook,
  openChunkedBook,
  type RowsAt,
} from "./chunks/index.ts";
export { columnTerms, kindOfTerm } from "./column-terms.ts";
export { type ColumnMap, type TableOptions, tagsOf, UnknownColumnsError } from "./columns.ts";
export { readCsv } from "./csv.ts";
export { describeTrade, underlyingsOf } from "./describe.ts";
export { formatOfName, formatOfText, type InputFormat } from "./format.ts";
export { forwardAt } from "./carry.ts";
export type { CheckReport, MarketCalibration, UnderlyingCalibration } from "./calibrate.ts";
export type { QuotedSmile } from "./quoted-smile.ts";
export { fitsOf, hasQuotes, type MarketFits, movedUnderlying, quotedSmile, quoteInputs } from "./moved-quotes.ts";
export {
  creditInputs,
  curveInputs,
  curveInputsOf,
  dividendDates,
  functionInputs,
  inputsOf,
  linearInputs,
  type MovableInput,
  volatilityInputs,
} from "./market-inputs.ts";
export { METHOD_NAMES, type MethodName } from "./methods.ts";
export { parseJson } from "./json.ts";
export { didYouMean, formatPath, quote } from "./names.ts";
export { asParquet, type RandomAccess, readParquet } from "./parquet.ts";
export { namesBarrier, wordOf } from "./meant-terms.ts";
export { type BookStream, readNdjson } from "./ndjson.ts";
export { decodeText, readWholeText } from "./text.ts";
export {
  type BookInput,
  type ConvertibleInput,
  type ForwardInput,
  type CreditInput,
  bookJsonSchema,
  type MarketInput,
  type NamedScenarioInput,
  type ScenariosInput,
  type TradeInput,
} from "./schema/index.ts";
export { type HistoryOptions, scenariosOfHistory } from "./scenario-history.ts";
export { readCsvRows, readParquetRows, scenariosOfRows, type TableRows } from "./scenario-rows.ts";
export {
  type NewSheet,
  placeOfSheet,
  readTradeSheet,
  readWorkbook,
  type Sheet,
  type SheetCell,
  type SheetRow,
  startsAsWorkbook,
  writeWorkbook,
} from "./spreadsheet.ts";
export {
  columnOf,
  EVERY,
  FACTOR_KINDS,
  type FactorKind,
  factorKey,
  isRelative,
  maturitiesOf,
  type ScenarioFactor,
  type ScenarioTable,
} from "./scenario-table.ts";
export { currencyOf, failedResult, labelsOf, namesAndWeights, unreadResult } from "./results.ts";
export { SENSITIVITIES, type SensitivityName } from "./result-types.ts";
export { MS_PER_YEAR } from "./time.ts";
export { spotsOf, totalledByLabels, type TotalledTrade, type TradeCounts } from "./totalled.ts";
export { groupOf, Totals } from "./totals.ts";
export type * from "./linear-types.ts";
export type * from "./rates-types.ts";
export type * from "./result-types.ts";
export type * from "./script-types.ts";
export type * from "./types.ts";
export {
  FIGURE_FIELDS,
  NAMED_SCENARIO_FIELDS,
  REPORTING_FIELDS,
  type FieldType,
  placeText,
  RESULT_COLUMNS,
  RESULT_FIELDS,
  RESULT_NUMBERS,
  SCENARIO_FIELDS,
} from "./result-fields.ts";
export type * from "./convertible-types.ts";
export { passScriptDates } from "./script-life.ts";
export { checkScripts, type ScriptCheck } from "./check-scripts.ts";
