import type { ArrayRef, KernelIR, ScalarType } from "../../ir.ts";
import { operands, someExpr, someStmt } from "../../visit.ts";
import { type Names, sanitised } from "../c-like/names.ts";
import { typeName } from "./literals.ts";

/** A parameter of the generated function. Each is naturally aligned. */
export type CudaParameter =
  /** u32: work items, or workgroups of a cooperative kernel. */
  | { readonly kind: "count" }
  /** The device pointer. */
  | { readonly kind: "buffer"; readonly buffer: number }
  /** i64: its elements. Only of buffers whose length the kernel asks for. */
  | { readonly kind: "length"; readonly buffer: number }
  /** Reals have 8 bytes in f64, 4 in f32; a bool is a 4-byte 0 or 1. */
  | { readonly kind: "scalar"; readonly scalar: number; readonly type: ScalarType; readonly bytes: 4 | 8 };

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
    operands(s).some((e) => someExpr(e, (inner) => inner.kind === "length" && inner.array.id === buffer)),
  );
}

export const countName = "fk_count";

export const lengthName = (names: Names, array: ArrayRef): string => `${names.array(array)}_length`;

export function declarationOf(ir: KernelIR, names: Names, parameter: CudaParameter): string {
  switch (parameter.kind) {
    case "count":
      return `const unsigned ${countName}`;
    case "buffer": {
      const { element, access } = ir.buffers[parameter.buffer];
      const type = `${access === "read" ? "const " : ""}${typeName(element, ir.precision)}`;
      return `${type}* __restrict__ ${names.array({ space: "buffer", id: parameter.buffer })}`;
    }
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

/** `fk_` and the kernel's name, as C++ allows it. */
export const entryPointOf = (ir: KernelIR): string => `fk_${sanitised(ir.name)}`;
