/** Arrays that a kernel declares, and atomic operations. */
import type { Expression, Node } from "acorn";
import type { AtomicOp } from "../ir.ts";
import { checkedIndex } from "./access.ts";
import type { ArrayValue, Context, Scope, Value } from "./context.ts";
import type { Draft, DraftStatement } from "./draft.ts";
import { lowerOperands, lowerValue } from "./expressions.ts";
import { checkedArguments } from "./intrinsics.ts";
import { NUMERIC, typeVariable } from "./types.ts";

/** The members of `gpu` that declare arrays: the address space and the element type of the declared array, by name. */
export const ARRAYS: Readonly<
  Record<string, { readonly space: "private" | "workgroup"; readonly element: "real" | "i32" | "u32" }>
> = {
  privateReal: { space: "private", element: "real" },
  privateI32: { space: "private", element: "i32" },
  privateU32: { space: "private", element: "u32" },
  sharedReal: { space: "workgroup", element: "real" },
  sharedI32: { space: "workgroup", element: "i32" },
  sharedU32: { space: "workgroup", element: "u32" },
};

/** The atomic operations by the names of `gpu`'s members. */
export const ATOMICS: Readonly<Record<string, AtomicOp>> = {
  atomicAdd: "add",
  atomicMin: "min",
  atomicMax: "max",
  atomicAnd: "and",
  atomicOr: "or",
  atomicXor: "xor",
  atomicExchange: "exchange",
  atomicCompareExchange: "compareExchange",
  atomicLoad: "load",
  atomicStore: "store",
};

/** Declares a private or workgroup array. */
export function declareArray(
  ctx: Context,
  node: Node,
  name: string,
  { space, element }: { space: "private" | "workgroup"; element: "real" | "i32" | "u32" },
  operands: readonly Draft[],
): Value {
  const [size] = checkedArguments(ctx, node, `gpu.${name}`, operands, [NUMERIC]);
  const length = lengthOf(ctx, node, size);
  const list = space === "private" ? ctx.privates : ctx.workgroups;
  if (space === "workgroup") ctx.cooperative = true;
  list.push({ name: "array", element, length });
  return {
    kind: "array",
    array: { ref: { space, id: list.length - 1 }, name: "array", element, length, writable: true },
  };
}

/**
 * Lowers a call of `gpu.part`, which returns a part of a workgroup array or of a buffer: the elements from a
 * run-time index on.
 */
export function lowerPart(
  ctx: Context,
  node: Node,
  args: readonly Expression[],
  scope: Scope,
  out: DraftStatement[],
): Value {
  if (args.length !== 2 && args.length !== 3)
    throw ctx.fail(node, `gpu.part takes 3 arguments, or 2 of a buffer, got ${args.length}`);
  const object = lowerValue(ctx, args[0], scope, out);
  const space = args.length === 3 ? "workgroup" : "buffer";
  if (object.kind !== "array" || object.array.ref.space !== space)
    throw ctx.fail(
      args[0],
      `gpu.part takes a ${space === "buffer" ? "buffer and an index" : "shared array first"}`,
      "write gpu.part(shared, from, length), or gpu.part(buffer, from)",
    );
  const { array } = object;
  const [from, size] = lowerOperands(ctx, args.slice(1), scope, out);
  const length = size === undefined ? null : lengthOf(ctx, args[2], size);
  if (length !== null && length > array.length!)
    throw ctx.fail(args[2], `a part of ${length} elements of ${array.name}, which has ${array.length}`);
  const start = ctx.materialise(node, checkedIndex(ctx, args[1], array, from), out, "from");
  return { kind: "array", array: { ...array, length, from: start } };
}

function lengthOf(ctx: Context, node: Node, size: Draft): number {
  if (size.kind !== "const")
    throw ctx.fail(
      node,
      "the length of an array is known only at run time",
      "take it from env: lengths are compile-time constants",
    );
  const length = size.value as number;
  if (!Number.isInteger(length) || length < 1 || length > 2 ** 24)
    throw ctx.fail(node, `the length of an array is ${length}`, "use a whole number from 1 to 16,777,216");
  return length;
}

/** Lowers an atomic operation. */
export function lowerAtomic(
  ctx: Context,
  node: Node,
  name: string,
  args: readonly Expression[],
  scope: Scope,
  out: DraftStatement[],
): Value {
  const op = ATOMICS[name];
  const count = op === "load" ? 2 : op === "compareExchange" ? 4 : 3;
  if (args.length !== count) throw ctx.fail(node, `gpu.${name} takes ${count} arguments, got ${args.length}`);
  const object = lowerValue(ctx, args[0], scope, out);
  if (object.kind !== "array")
    throw ctx.fail(args[0], `gpu.${name} takes an array first`, `write gpu.${name}(counts, i, …)`);
  const { array } = object;
  checkAtomicArray(ctx, args[0], name, array);
  const [at, ...operands] = lowerOperands(ctx, args.slice(1), scope, out);
  const index = checkedIndex(ctx, args[1], array, at);
  const element = typeVariable(array.element);
  operands.forEach((operand, k) => ctx.unifyTypes(args[k + 2], operand.type, element, operand));
  ctx.atomics.add(`${array.ref.space} ${array.ref.id}`);
  const result = op === "store" ? null : ctx.newLocal("old", typeVariable(array.element));
  const [expected, value] = op === "compareExchange" ? [operands[0], operands[1]] : [null, operands[0] ?? null];
  out.push({ kind: "atomic", op, array: array.ref, index, value, expected, result, place: ctx.place(node) });
  return result === null ? { kind: "nothing" } : { kind: "scalar", draft: ctx.local(node, result) };
}

function checkAtomicArray(ctx: Context, node: Node, name: string, array: ArrayValue): void {
  if (array.element === "real")
    throw ctx.fail(node, `gpu.${name} on an array of reals`, "atomics work on i32 and u32 arrays");
  if (array.ref.space === "private")
    throw ctx.fail(node, `gpu.${name} on a private array`, "only buffers and shared arrays are seen by others");
  if (!array.writable)
    throw ctx.fail(
      node,
      `gpu.${name} on ${array.name}, which is declared with read(…)`,
      `declare it with write(${array.element})`,
    );
}
