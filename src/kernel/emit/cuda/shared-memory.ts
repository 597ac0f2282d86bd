import type { FixedArray, KernelIR } from "../../ir.ts";
import type { Names } from "../c-like/names.ts";
import { typeName } from "./literals.ts";

/** The bytes of shared memory that a block can have without requesting them at the launch. */
const staticBytes = 48 * 1024;

/** The alignment of every array in bytes. */
const alignment = 16;

/** The declarations of a CUDA kernel's workgroup arrays in shared memory. */
export interface SharedMemory {
  /** The lines of code before the kernel. */
  readonly outside: readonly string[];
  /** The lines of code at the beginning of the kernel's body. */
  readonly inside: readonly string[];
  /** The bytes of dynamic shared memory that a launch must request; 0 if static declarations suffice. */
  readonly dynamicBytes: number;
}

/**
 * Declares a kernel's workgroup arrays in CUDA's shared memory. Up to 48 KiB they are static `__shared__` arrays.
 * Beyond that they are consecutive slices of one dynamic array.
 */
export function sharedMemoryOf(ir: KernelIR, names: Names): SharedMemory {
  const bytes = ir.workgroups.reduce((sum, array) => sum + bytesOf(ir, array), 0);
  return bytes <= staticBytes ? staticArrays(ir, names) : dynamicArrays(ir, names, bytes);
}

function staticArrays(ir: KernelIR, names: Names): SharedMemory {
  const inside = ir.workgroups.map(
    (array, id) =>
      `__shared__ __align__(${alignment}) ${elementType(ir, array)} ${nameOf(names, id)}[${array.length}];`,
  );
  return { outside: [], inside, dynamicBytes: 0 };
}

function dynamicArrays(ir: KernelIR, names: Names, dynamicBytes: number): SharedMemory {
  let offset = 0;
  const inside = ir.workgroups.map((array, id) => {
    const type = elementType(ir, array);
    const line = `${type}* const ${nameOf(names, id)} = reinterpret_cast<${type}*>(fk_shared + ${offset});`;
    offset += bytesOf(ir, array);
    return line;
  });
  return { outside: [`extern __shared__ __align__(${alignment}) unsigned char fk_shared[];`], inside, dynamicBytes };
}

const nameOf = (names: Names, id: number): string => names.array({ space: "workgroup", id });

const elementType = (ir: KernelIR, { element }: FixedArray): string => typeName(element, ir.precision);

function bytesOf({ precision }: KernelIR, { element, length }: FixedArray): number {
  const size = element === "real" && precision === "f64" ? 8 : 4;
  return Math.ceil((size * length) / alignment) * alignment;
}
