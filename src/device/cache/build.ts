/** Put here by the package's build (scripts/bundle.js). */
declare const FEYNKAC_BUILD: string | undefined;

/** Returns a hash of the package's built code; undefined where its sources run, which may change at any time. */
export const buildId = (): string | undefined => (typeof FEYNKAC_BUILD === "undefined" ? undefined : FEYNKAC_BUILD);
