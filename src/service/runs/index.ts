/** Runs whose results are stored chunk by chunk. They can be planned, priced, resumed and verified. */
export { RunError, StorageError } from "./error.ts";
export {
  type Manifest,
  requireManifest,
  packageIdentity,
  readManifest,
  type RunOptions,
  writeManifest,
} from "./manifest.ts";
export { addRowsToTotals, type ResultRow, readResultFile } from "./result-file.ts";
export { type BookSource, checkBook, openBook, type OpenBook, openRunBook, planRun, type PlanRequest } from "./plan.ts";
export { scenarioFileOf, scenarioHash } from "./scenario-file.ts";
export { priceChunks, priceRun, type Pricer, processName, type RunProgress, finishRun } from "./price-run.ts";
export {
  checkVersion,
  isSameVersion,
  type Receipts,
  readReceiptOf,
  readReceipts,
  writeChunkResults,
} from "./receipts.ts";
export { type RepricingDifference, Repricer } from "./reprice.ts";
export { absoluteName, hashOf, isS3, openFile, openStore, type Store } from "./storage/index.ts";
export { readChunkResults, type Verification, verifyRun } from "./verify.ts";
