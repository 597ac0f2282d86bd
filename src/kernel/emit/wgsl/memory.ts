import type { ArrayRef, IndexOp, KernelIR } from "../../ir.ts";
import type { Memory, Operand } from "../c-like/dialect.ts";
import type { Names } from "../c-like/names.ts";
import { lengthName } from "./layout.ts";

const indexNames: Readonly<Record<IndexOp, string>> = {
  globalId: "i32(fk_global)",
  localId: "i32(fk_local)",
  groupId: "i32(fk_group)",
  groupCount: "i32(args.groups)",
  subgroupLane: "i32(fk_lane)",
  subgroupSize: "i32(fk_subgroup_size)",
};

export class WgslMemory implements Memory {
  readonly #ir: KernelIR;
  readonly #names: Names;

  constructor(ir: KernelIR, names: Names) {
    this.#ir = ir;
    this.#names = names;
  }

  param(id: number): string {
    const name = `args.${this.#names.scalar(id)}`;
    return this.#ir.scalars[id].type === "bool" ? `(${name} != 0u)` : name;
  }

  length({ id }: ArrayRef): string {
    return `args.${lengthName(this.#ir, id)}`;
  }

  load(array: ArrayRef, index: Operand): string {
    const element = this.element(array, index);
    return this.#isAtomic(array) ? `atomicLoad(&${element})` : element;
  }

  store(array: ArrayRef, index: Operand, value: string): string {
    const element = this.element(array, index);
    return this.#isAtomic(array) ? `atomicStore(&${element}, ${value});` : `${element} = ${value};`;
  }

  index(op: IndexOp): string {
    return indexNames[op];
  }

  element(array: ArrayRef, index: Operand): string {
    return `${this.#names.array(array)}[${this.#checked(array, index)}]`;
  }

  /** A constant index outside a fixed array is a compile-time error in WGSL, even in code that never runs. */
  #checked(array: ArrayRef, { text, constant }: Operand): string {
    if (constant === undefined) return text;
    const length = array.space === "buffer" ? 2 ** 31 : this.#fixed(array).length;
    return Number(constant) >= 0 && Number(constant) < length ? text : `(${text} ^ i32(args.zero))`;
  }

  #fixed({ space, id }: ArrayRef) {
    return space === "private" ? this.#ir.privates[id] : this.#ir.workgroups[id];
  }

  #isAtomic({ space, id }: ArrayRef): boolean {
    return space === "buffer" ? this.#ir.buffers[id].atomic : space === "workgroup" && this.#ir.workgroups[id].atomic;
  }
}
