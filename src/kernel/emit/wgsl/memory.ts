import type { ArrayRef, FixedArray, IndexOp, KernelIR } from "../../ir.ts";
import type { MemorySyntax, Operand } from "../c-like/dialect.ts";
import type { Names } from "../c-like/names.ts";
import { lengthName } from "./layout.ts";
import { typeNamesIn } from "./literals.ts";
import type { QuadArrays } from "./quads.ts";

const indexNames: Readonly<Record<IndexOp, string>> = {
  globalId: "i32(fk_global)",
  localId: "i32(fk_local)",
  groupId: "i32(fk_group)",
  groupCount: "i32(args.groups)",
  subgroupLane: "i32(fk_lane)",
  subgroupSize: "i32(fk_subgroup_size)",
};

/**
 * Tells whether a private array holds pairs of f32. It is then two arrays: the high parts in the function address
 * space, the low parts in the private one. Every implementation has room for 8 KiB in each of them, and therefore for
 * as many pairs as f32.
 */
const isSplit = ({ precision }: KernelIR, { element }: Pick<FixedArray, "element">): boolean =>
  element === "real" && precision === "f32x2";

const lowName = (name: string): string => `${name}_low`;

/** Returns the module-scope declarations of private arrays that hold the low f32 of each emulated double (`f32x2`). */
export function lowHalfDeclarations(ir: KernelIR, names: Names): string {
  return ir.privates
    .map((array, id) => ({ array, name: lowName(names.array({ space: "private", id })) }))
    .filter(({ array }) => isSplit(ir, array))
    .map(({ array, name }) => `var<private> ${name}: array<f32, ${array.length}>;`)
    .join("\n");
}

/** Returns the declaration of a private array inside the function. In f32x2 it holds the high f32 of each element. */
export function privateArrayDeclaration(ir: KernelIR, names: Names, id: number): string {
  const array = ir.privates[id];
  const type = isSplit(ir, array) ? "f32" : typeNamesIn(ir.precision)[array.element];
  return `var ${names.array({ space: "private", id })}: array<${type}, ${array.length}>;`;
}

/** The syntax of loads, stores and arrays in WGSL. */
export class WgslMemory implements MemorySyntax {
  readonly #ir: KernelIR;
  readonly #names: Names;
  readonly #quads: QuadArrays;

  constructor(ir: KernelIR, names: Names, quads: QuadArrays) {
    this.#ir = ir;
    this.#names = names;
    this.#quads = quads;
  }

  param(id: number): string {
    const name = `args.${this.#names.scalar(id)}`;
    const { type } = this.#ir.scalars[id];
    if (type === "real" && this.#ir.precision === "f32x2") return `vec2f(${name}, ${name}_low)`;
    return type === "bool" ? `(${name} != 0u)` : name;
  }

  length({ id }: ArrayRef): string {
    return `args.${lengthName(this.#ir, id)}`;
  }

  load(array: ArrayRef, index: Operand): string {
    const halves = this.#halves(array, index);
    if (halves !== undefined) return `vec2f(${halves.join(", ")})`;
    const quad = this.#quad(array, index);
    if (quad !== undefined) return `vec4f(${quad.vector}).${quad.component}`;
    const element = this.element(array, index);
    return this.#isAtomic(array) ? `atomicLoad(&${element})` : element;
  }

  store(array: ArrayRef, index: Operand, value: string): string {
    const halves = this.#halves(array, index);
    if (halves !== undefined) return `{ let fk_pair = ${value}; ${halves[0]} = fk_pair.x; ${halves[1]} = fk_pair.y; }`;
    const quad = this.#quad(array, index);
    if (quad !== undefined) return `${quad.vector}.${quad.component} = ${value};`;
    const element = this.element(array, index);
    return this.#isAtomic(array) ? `atomicStore(&${element}, ${value});` : `${element} = ${value};`;
  }

  index(op: IndexOp): string {
    return indexNames[op];
  }

  element(array: ArrayRef, index: Operand): string {
    return `${this.#names.array(array)}[${this.#checked(array, index)}]`;
  }

  /** The vector that holds an element of an array of `vec4f`, and its component there; loads take the whole vector. */
  #quad(array: ArrayRef, index: Operand): { readonly vector: string; readonly component: string } | undefined {
    if (array.space !== "workgroup" || !this.#quads.arrays.has(array.id) || index.source === undefined)
      return undefined;
    const component = this.#quads.component(index.source);
    const suffix = index.type === "u32" ? "u" : "i";
    // The multiple of four itself, so that neighbours' accesses are the same to whoever looks for common expressions.
    const text = this.#checked(array, index);
    const first = component === 0 ? text : `(${text} - ${component}${suffix})`;
    return { vector: `${this.#names.array(array)}[${first} >> 2u]`, component: "xyzw"[component] };
  }

  /** A constant index outside a fixed array is a compile-time error in WGSL, even in code that never runs. */
  #checked(array: ArrayRef, { text, constant }: Operand): string {
    if (constant === undefined) return text;
    const length = array.space === "buffer" ? 2 ** 31 : this.#fixed(array).length;
    return Number(constant) >= 0 && Number(constant) < length ? text : `(${text} ^ i32(args.zero))`;
  }

  /**
   * The words of an element of a private array of pairs, whose low words are an array of their own; see
   * `lowHalfDeclarations`.
   */
  #halves(array: ArrayRef, index: Operand): readonly [string, string] | undefined {
    if (array.space !== "private" || !isSplit(this.#ir, this.#ir.privates[array.id])) return undefined;
    const at = this.#checked(array, index);
    const name = this.#names.array(array);
    return [`${name}[${at}]`, `${lowName(name)}[${at}]`];
  }

  #fixed({ space, id }: ArrayRef) {
    return space === "private" ? this.#ir.privates[id] : this.#ir.workgroups[id];
  }

  #isAtomic({ space, id }: ArrayRef): boolean {
    return space === "buffer" ? this.#ir.buffers[id].atomic : space === "workgroup" && this.#ir.workgroups[id].atomic;
  }
}
