/** The explanation of why a book is worth more or less than it was. */
export { explainBook } from "./explain-book.ts";
export {
  EXPLAIN_TERMS,
  type ExplainedTrade,
  type ExplainGroupTotals,
  type ExplainMethod,
  type ExplainOptions,
  type ExplainReport,
  type ExplainStatus,
  type ExplainTerm,
  type ExplainTerms,
  type ExplainTotals,
  type MarketMoves,
  type SmileTerm,
  type Sticky,
} from "./types.ts";
