import type { ArrayRef, IndexOp, KernelIR } from "../../ir.ts";
import type { MemorySyntax, Operand } from "../c-like/dialect.ts";
import type { Names } from "../c-like/names.ts";
import type { Helpers } from "./helpers/index.ts";
import { countName, lengthName } from "./parameters.ts";

/**
 * The syntax of loads, stores and arrays in CUDA C++. Pointers are 64 bits wide, as is the sum of a pointer and an
 * `int` or `unsigned` index.
 */
export class CudaMemory implements MemorySyntax {
  readonly #ir: KernelIR;
  readonly #names: Names;
  readonly #helpers: Helpers;

  constructor(ir: KernelIR, names: Names, helpers: Helpers) {
    this.#ir = ir;
    this.#names = names;
    this.#helpers = helpers;
  }

  param(id: number): string {
    const name = this.#names.scalar(id);
    return this.#ir.scalars[id].type === "bool" ? `(${name} != 0)` : name;
  }

  length(array: ArrayRef): string {
    return this.#helpers.call("length", lengthName(this.#names, array));
  }

  load(array: ArrayRef, index: Operand): string {
    return this.element(array, index);
  }

  store(array: ArrayRef, index: Operand, value: string): string {
    return `${this.element(array, index)} = ${value};`;
  }

  index(op: IndexOp): string {
    switch (op) {
      case "globalId":
        return this.#ir.cooperative ? `int(blockIdx.x * ${this.#ir.groupSize}u + threadIdx.x)` : "fk_item";
      case "localId":
        return "int(threadIdx.x)";
      case "groupId":
        return "int(blockIdx.x)";
      case "groupCount":
        return `int(${countName})`;
      case "subgroupLane":
        return "int(threadIdx.x & 31u)";
      case "subgroupSize":
        return "32";
      default:
        return op satisfies never;
    }
  }

  element(array: ArrayRef, { text }: Operand): string {
    return `${this.#names.array(array)}[${text}]`;
  }
}
