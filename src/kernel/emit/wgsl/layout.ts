import type { KernelIR, ScalarType } from "../../ir.ts";
import { type Names, identifierFrom } from "../c-like/names.ts";

/** One 32-bit member of the uniform block that passes a launch's arguments to the shader. */
export type ArgumentWord =
  | { readonly kind: "items" } // the number of work items; invocations beyond it return at once
  | { readonly kind: "groups" } // the number of workgroups of the launch
  | { readonly kind: "firstGroup" } // the first workgroup of this dispatch within the launch
  | { readonly kind: "zero" } // the number 0, which the compiler cannot know
  | { readonly kind: "length"; readonly buffer: number }
  | { readonly kind: "scalar"; readonly scalar: number; readonly type: ScalarType }
  | { readonly kind: "scalarLow"; readonly scalar: number }; // the low f32 of a pair, after its high one

/** Returns the members of the uniform block `Args` in order. All have 32 bits, so that the block has no padding. */
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

/** Returns the name of the member of the uniform block that holds a buffer's length. */
export const lengthName = (ir: KernelIR, buffer: number): string =>
  `${identifierFrom(ir.buffers[buffer].name)}_length_b${buffer}`;

/**
 * Returns the WGSL declaration of a member of the uniform block. Booleans are not allowed in uniform memory and are
 * passed as u32.
 */
export function memberDeclaration(ir: KernelIR, names: Names, word: ArgumentWord): string {
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
