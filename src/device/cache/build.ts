/** Put here by the package's build (scripts/bundle.js). */
declare const FEYNKAC_BUILD: string | undefined;

/** A hash of all code of the package as it was built; undefined where its sources run, which may change at any time. */
export const buildId = (): string | undefined => (typeof FEYNKAC_BUILD === "undefined" ? undefined : FEYNKAC_BUILD);
