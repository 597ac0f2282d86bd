import { FeynkacError, BookError } from "../errors.ts";
import type { FailedTrade } from "./types.ts";

/** The result of a trade that could not be priced, from what was thrown. */
export function failedResult(id: string | undefined, error: unknown, warnings: readonly string[] = []): FailedTrade {
  return {
    id: id ?? null,
    status: "error",
    value: null,
    delta: null,
    gamma: null,
    theta: null,
    vega: null,
    rho: null,
    errorEstimate: null,
    method: null,
    precision: null,
    backend: null,
    warnings,
    error: {
      code: error instanceof FeynkacError ? error.code : "INTERNAL",
      ...(error instanceof BookError && error.path !== "" ? { path: error.path } : {}),
      message: error instanceof Error ? error.message : String(error),
    },
  };
}
