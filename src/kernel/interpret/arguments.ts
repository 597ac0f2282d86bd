/** Binds the arguments of a launch to the kernel's parameters. */
import { ShapeError } from "../../base/errors.ts";
import { type ElementType, hostRealType, type KernelIR, type Precision, type ScalarType } from "../ir.ts";

/** The typed arrays that the interpreter takes as buffers. */
export type HostNumbers = Float64Array | Float32Array | Int32Array | Uint32Array;

/** The arguments of an interpreted launch by name: scalars, and buffers as typed arrays, which are changed in place. */
export type InterpreterArguments = Readonly<Record<string, number | boolean | HostNumbers>>;

/**
 * The size of an interpreted launch: `items` is the number of work items of an ordinary kernel, `groups` the number of
 * workgroups of a cooperative kernel, whose work items have barriers or share memory.
 */
export type InterpreterSize = { readonly items: number } | { readonly groups: number };

const ARRAY_OF = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

/** Returns a new array for `length` elements of a kernel's array in `precision`. */
export function newArray(element: ElementType, precision: Precision, length: number): HostNumbers {
  return new ARRAY_OF[element === "real" ? hostRealType(precision) : element](length);
}

function inRange(value: number, type: ScalarType): boolean {
  if (type === "i32") return (value | 0) === value;
  if (type === "u32") return value >>> 0 === value;
  return true;
}

function bindScalar(ir: KernelIR, name: string, type: ScalarType, value: unknown): number {
  const expected = type === "bool" ? "boolean" : "number";
  if (typeof value !== expected) {
    throw new ShapeError(
      `kernel "${ir.name}": argument ${name}: expected a ${expected} (${type}), got ${describe(value)}`,
    );
  }
  const number = Number(value);
  if (!inRange(number, type)) throw new ShapeError(`kernel "${ir.name}": argument ${name}: ${number} is not a ${type}`);
  return type === "real" && ir.precision === "f32" ? Math.fround(number) : number;
}

function bindBuffer(ir: KernelIR, name: string, element: ElementType, value: unknown): HostNumbers {
  const expected = ARRAY_OF[element === "real" ? hostRealType(ir.precision) : element];
  if (value instanceof expected) return value;
  throw new ShapeError(`kernel "${ir.name}": argument ${name}: expected a ${expected.name}, got ${describe(value)}`);
}

function describe(value: unknown): string {
  if (typeof value === "object" && value !== null) return `a ${value.constructor.name}`;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "nothing";
}

/** The arguments of an interpreted launch, checked and in the order of the kernel's parameters. */
export interface BoundArguments {
  readonly scalars: readonly number[];
  readonly buffers: readonly HostNumbers[];
}

/**
 * Checks the arguments of a launch and puts them in the order of the kernel's parameters. @throws ShapeError (an
 * argument missing or of the wrong type)
 */
export function bindArguments(ir: KernelIR, args: InterpreterArguments): BoundArguments {
  return {
    scalars: ir.scalars.map(({ name, type }) => bindScalar(ir, name, type, args[name])),
    buffers: ir.buffers.map(({ name, element }) => bindBuffer(ir, name, element, args[name])),
  };
}

/**
 * Returns the number of work items to run. @throws ShapeError (not a whole number, or items for a cooperative kernel)
 */
export function itemCount(ir: KernelIR, size: InterpreterSize): number {
  const wanted = ir.cooperative ? "groups" : "items";
  const count = (size as { readonly items?: number; readonly groups?: number })[wanted];
  if (count === undefined || !Number.isInteger(count) || count < 0) {
    const kind = ir.cooperative ? "cooperative" : "not cooperative";
    throw new ShapeError(
      `kernel "${ir.name}" is ${kind}: its size is { ${wanted}: a whole number }, got ${JSON.stringify(size)}`,
    );
  }
  return ir.cooperative ? count * ir.groupSize : count;
}
