import type { ArrayRef, KernelIR } from "../../ir.ts";

/**
 * The names of generated code: each is the source's name followed by the number of the thing named, so that names are
 * unique, readable, and never a reserved word of a target (no reserved word ends in `_` and a number).
 */
export interface Names {
  local(id: number): string;
  scalar(id: number): string;
  array(array: ArrayRef): string;
  /** Returns a fresh name for a temporary. */
  temporary(): string;
}

const suffixOfSpace = { buffer: "b", private: "p", workgroup: "w" } as const;

/** Reduces a source name to letters, digits and inner underscores. */
export function sanitised(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_]/g, "_")
    .replace(/_{2,}/g, "_")
    .replace(/^_+|_+$/g, "");
  return /^[A-Za-z]/.test(plain) ? plain : `v${plain}`;
}

/** Returns the names for the generated code of a kernel. */
export function namesOf(ir: KernelIR): Names {
  const arraysOf = { buffer: ir.buffers, private: ir.privates, workgroup: ir.workgroups } as const;
  let temporaries = 0;
  return {
    local: (id) => `${sanitised(ir.locals[id].name)}_${id}`,
    scalar: (id) => `${sanitised(ir.scalars[id].name)}_s${id}`,
    array: ({ space, id }) => `${sanitised(arraysOf[space][id].name)}_${suffixOfSpace[space]}${id}`,
    temporary: () => `fk_t${temporaries++}`,
  };
}
