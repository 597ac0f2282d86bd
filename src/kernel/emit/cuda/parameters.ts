import type { ArrayRef, Expr, KernelIR, ScalarType } from "../../ir.ts";
import { expressionsOf, someExpr, someStmt } from "../../visit.ts";
import { type Names, identifierFrom } from "../c-like/names.ts";
import { typeName } from "./literals.ts";

/** A parameter of the generated CUDA function. Each is aligned to its own size. */
export type CudaParameter =
  /** A u32: the number of work items, or of workgroups of a cooperative kernel. */
  | { readonly kind: "count" }
  /** A buffer's device pointer. */
  | { readonly kind: "buffer"; readonly buffer: number }
  /** An i64: a buffer's number of elements. It exists only if the kernel reads the length. */
  | { readonly kind: "length"; readonly buffer: number }
  /** A scalar argument. Reals have 8 bytes in f64 and 4 in f32; a bool is a 4-byte 0 or 1. */
  | { readonly kind: "scalar"; readonly scalar: number; readonly type: ScalarType; readonly bytes: 4 | 8 };

/** Returns the parameters of the generated CUDA function, in order. */
export function parametersOf(ir: KernelIR): CudaParameter[] {
  return [
    { kind: "count" },
    ...ir.buffers.map((_, buffer) => ({ kind: "buffer", buffer }) as const),
    ...ir.buffers.flatMap((_, buffer) => (usesLength(ir, buffer) ? [{ kind: "length", buffer } as const] : [])),
    ...ir.scalars.map(({ type }, scalar) => {
      const bytes = type === "real" && ir.precision === "f64" ? 8 : 4;
      return { kind: "scalar", scalar, type, bytes } as const;
    }),
  ];
}

function usesLength(ir: KernelIR, buffer: number): boolean {
  return someStmt(ir.body, (s) =>
    expressionsOf(s).some((e) => someExpr(e, (inner) => inner.kind === "length" && inner.array.id === buffer)),
  );
}

/** The name of the CUDA function's parameter for the number of work items or workgroups. */
export const countName = "fk_count";

/** Returns the name of the CUDA function's parameter for the length of an array. */
export const lengthName = (names: Names, array: ArrayRef): string => `${names.array(array)}_length`;

/** Returns the C++ declaration of a parameter of the generated CUDA function. */
export function declarationOf(ir: KernelIR, names: Names, parameter: CudaParameter): string {
  switch (parameter.kind) {
    case "count":
      return `const unsigned ${countName}`;
    case "buffer":
      return bufferDeclaration(ir, names, parameter.buffer);
    case "length":
      return `const long long ${lengthName(names, { space: "buffer", id: parameter.buffer })}`;
    case "scalar": {
      const type = parameter.type === "bool" ? "int" : typeName(parameter.type, ir.precision);
      return `const ${type} ${names.scalar(parameter.scalar)}`;
    }
    default:
      return parameter satisfies never;
  }
}

/**
 * Returns the C++ statement by which the compiler may assume that a buffer starts at an aligned address. It can then
 * merge loads of consecutive elements that start at a multiple of 16 bytes.
 */
export function alignmentAssumption(ir: KernelIR, names: Names, id: number): string {
  const name = names.array({ space: "buffer", id });
  return `${name} = (${pointerType(ir, id)})__builtin_assume_aligned(${name}, 16);`;
}

function pointerType(ir: KernelIR, id: number): string {
  const { element, access } = ir.buffers[id];
  return `${access === "read" ? "const " : ""}${typeName(element, ir.precision)}*`;
}

function bufferDeclaration(ir: KernelIR, names: Names, id: number): string {
  return `${pointerType(ir, id)}${isExchanged(ir, id) ? "" : " __restrict__"} ${names.array({ space: "buffer", id })}`;
}

/**
 * Tells whether work items may read from a buffer what others have written before a barrier. nvcc assumes that nothing
 * else writes through a `__restrict__` pointer, and may use a value loaded before `__syncthreads()` after it (seen in
 * CUDA 13.0; LLVM's `noalias` includes other threads, too: llvm/llvm-project#211507).
 */
function isExchanged(ir: KernelIR, id: number): boolean {
  if (!ir.cooperative || ir.buffers[id].access === "read") return false;
  const refers = ({ space, id: other }: ArrayRef): boolean => space === "buffer" && other === id;
  const loads = (e: Expr): boolean => someExpr(e, (inner) => inner.kind === "load" && refers(inner.array));
  return someStmt(ir.body, (s) => (s.kind === "atomic" && refers(s.array)) || expressionsOf(s).some(loads));
}

/** Returns the name of the generated CUDA function: `fk_` and the kernel's name reduced to a C++ identifier. */
export const entryPointOf = (ir: KernelIR): string => `fk_${identifierFrom(ir.name)}`;
