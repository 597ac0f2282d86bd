import type { KernelIR } from "../../../ir.ts";

/** A CUDA helper function: its source text, and the names of the helpers that it calls. */
export interface HelperText {
  /** The helpers that this one calls. */
  readonly needs: readonly string[];
  readonly text: string | ((ir: KernelIR) => string);
}

/** The texts of CUDA helper functions by name. */
export type HelperTexts = Readonly<Record<string, HelperText>>;

const prefix = "static __device__ __forceinline__";

/** Returns the text of an inline CUDA device function. A body of one statement is on the line of the signature. */
export function deviceFunctionText(signature: string, ...body: readonly string[]): string {
  if (body.length === 1) return `${prefix} ${signature} { ${body[0]} }`;
  return [`${prefix} ${signature} {`, ...body.map((line) => `  ${line}`), "}"].join("\n");
}

/** Returns a CUDA helper function that calls no other helpers. */
export const inlineHelper = (signature: string, ...body: readonly string[]): HelperText => ({
  needs: [],
  text: deviceFunctionText(signature, ...body),
});
