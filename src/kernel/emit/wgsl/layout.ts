import type { KernelIR, ScalarType } from "../../ir.ts";
import { type Names, sanitised } from "../c-like/names.ts";

/** One 32-bit word of the uniform block; a device fills it at each launch. */
export type ArgumentWord =
  | { readonly kind: "items" } // work items in all; those beyond never run
  | { readonly kind: "groups" } // workgroups in all
  | { readonly kind: "firstGroup" } // where this piece of a launch starts
  | { readonly kind: "zero" } // 0, unknown to the compiler
  | { readonly kind: "length"; readonly buffer: number }
  | { readonly kind: "scalar"; readonly scalar: number; readonly type: ScalarType }
  | { readonly kind: "scalarLow"; readonly scalar: number }; // the second word of a pair, after its first

/** Lists the words of the struct `Args` in order. All have 32 bits, so that the uniform layout has no padding. */
export function argumentWords(ir: KernelIR): ArgumentWord[] {
  return [
    { kind: "items" },
    { kind: "groups" },
    { kind: "firstGroup" },
    { kind: "zero" },
    ...ir.buffers.map((_, buffer) => ({ kind: "length" as const, buffer })),
    ...ir.scalars.flatMap(({ type }, scalar): ArgumentWord[] => {
      const pair = type === "real" && ir.precision === "f32x2";
      return [{ kind: "scalar", scalar, type }, ...(pair ? [{ kind: "scalarLow", scalar } as const] : [])];
    }),
  ];
}

/** Returns the name of the member for a buffer's length. */
export const lengthName = (ir: KernelIR, buffer: number): string =>
  `${sanitised(ir.buffers[buffer].name)}_length_b${buffer}`;

/**
 * Returns the struct's member for a word, with its type. Booleans cannot be in uniform memory and are passed as u32.
 */
export function memberOf(ir: KernelIR, names: Names, word: ArgumentWord): string {
  switch (word.kind) {
    case "items":
    case "groups":
    case "zero":
      return `${word.kind}: u32`;
    case "firstGroup":
      return "first_group: u32";
    case "length":
      return `${lengthName(ir, word.buffer)}: i32`;
    case "scalar":
      return `${names.scalar(word.scalar)}: ${{ real: "f32", i32: "i32", u32: "u32", bool: "u32" }[word.type]}`;
    case "scalarLow":
      return `${names.scalar(word.scalar)}_low: f32`;
    default:
      return word satisfies never;
  }
}
