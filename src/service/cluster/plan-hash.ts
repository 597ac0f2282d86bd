import { hashOf, type Manifest } from "../runs/index.ts";

/**
 * Returns a hash of everything that determines the results of a run. Manifests with equal hashes give equal result
 * files.
 */
export function planHash({ feynkac, book, market, options, scenarios, scenarioFile, seed, chunks }: Manifest): string {
  const places = chunks.map((chunk) => ({ ...chunk, outcome: undefined }));
  return hashOf(
    JSON.stringify([
      feynkac,
      book.sha256,
      [book.keep ?? [], book.map ?? null],
      market.sha256,
      options,
      scenarios ?? null,
      seed,
      places,
      ...(scenarioFile === undefined ? [] : [scenarioFile.sha256]),
    ]),
  );
}
