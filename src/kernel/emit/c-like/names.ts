import type { ArrayRef, KernelIR } from "../../ir.ts";

/**
 * The names of variables and arrays in the generated code. Each name is that of the kernel's source followed by the
 * number of the variable or array. Names are therefore unique and readable, and no name is a reserved word of the
 * target language, because no reserved word ends in `_` and a number.
 */
export interface Names {
  local(id: number): string;
  scalar(id: number): string;
  array(array: ArrayRef): string;
  /** Returns a fresh name for a temporary. */
  temporary(): string;
}

const suffixOfSpace = { buffer: "b", private: "p", workgroup: "w" } as const;

/** Returns the valid identifier that consists of the letters, digits and inner underscores of a name. */
export function identifierFrom(name: string): string {
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
    local: (id) => `${identifierFrom(ir.locals[id].name)}_${id}`,
    scalar: (id) => `${identifierFrom(ir.scalars[id].name)}_s${id}`,
    array: ({ space, id }) => `${identifierFrom(arraysOf[space][id].name)}_${suffixOfSpace[space]}${id}`,
    temporary: () => `fk_t${temporaries++}`,
  };
}
