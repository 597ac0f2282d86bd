import type { KernelIR } from "../../../ir.ts";

export interface HelperText {
  /** Helpers that this one calls. */
  readonly needs: readonly string[];
  readonly text: string | ((ir: KernelIR) => string);
}

export type HelperTexts = Readonly<Record<string, HelperText>>;

const prefix = "static __device__ __forceinline__";

/** A function of one statement, or of several, a line each. */
export function definition(signature: string, ...body: readonly string[]): string {
  if (body.length === 1) return `${prefix} ${signature} { ${body[0]} }`;
  return [`${prefix} ${signature} {`, ...body.map((line) => `  ${line}`), "}"].join("\n");
}

export const inline = (signature: string, ...body: readonly string[]): HelperText => ({
  needs: [],
  text: definition(signature, ...body),
});
