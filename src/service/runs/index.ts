/** Runs whose results are stored chunk by chunk. They can be planned, priced, resumed and verified. */
export { RunError, StorageError } from "./error.ts";
export { type Manifest, needManifest, packageName, readManifest, type RunOptions, writeManifest } from "./manifest.ts";
export { addRows, type PartRow, readPart } from "./part.ts";
export { type BookSource as BookPlace, checkBook, openBook, type OpenBook, openPlanned, planRun, type PlanRequest } from "./plan.ts";
export { priceChunks, priceRun, type Pricer, processName, type RunProgress, finishRun } from "./price-run.ts";
export { checkVersion, isSameVersion, type Known, knownPart, knownParts, writePart } from "./receipts.ts";
export { type Difference, Repricer } from "./reprice.ts";
export { fullName, hashOf, isS3, openFile, openStore, type Store } from "./storage/index.ts";
export { readParts, type Verification, verifyRun } from "./verify.ts";
