/** The hash of the built code, which the package's build (scripts/bundle.js) inserts. */
declare const FEYNKAC_BUILD: string | undefined;

/**
 * Returns a hash that identifies the package's built code. Undefined when the package runs from its TypeScript sources,
 * which may change at any time.
 */
export const buildId = (): string | undefined => (typeof FEYNKAC_BUILD === "undefined" ? undefined : FEYNKAC_BUILD);
