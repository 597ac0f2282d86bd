/**
 * Turns private arrays that are indexed by constants only into local variables, which need no memory and no addresses.
 */
import type { ArrayRef, Expr, KernelIR, Stmt } from "./ir.ts";
import { forEachExpr, forEachStmt, mapSubexpressions, mapStatement, expressionsOf } from "./visit.ts";

/** The largest length of an array that becomes local variables: the number of axes of an equation, and some more. */
const MAX_LENGTH = 16;

type Parts = Pick<KernelIR, "body" | "locals" | "privates">;

/**
 * Returns a kernel in which each private array that has at most 16 elements and is indexed by constants only is
 * replaced by one local variable for each element. All computed values stay the same to the bit. An element that is
 * read before it is written is undefined with and without the replacement. Cost: linear in the size of the code.
 */
export function scalariseSmallArrays({ body, locals, privates }: Parts): Parts {
  const kept = privates.map(({ length }) => length > MAX_LENGTH);
  if (!kept.includes(false)) return { body, locals, privates };
  const note = (array: ArrayRef, index: Expr): void => {
    if (array.space === "private" && index.kind !== "const") kept[array.id] = true;
  };
  forEachStmt(body, (s) => {
    if ("array" in s) note(s.array, s.index);
    if (s.kind === "fetch") note(s.from, s.fromIndex);
    for (const e of expressionsOf(s)) forEachExpr(e, (part) => part.kind === "load" && note(part.array, part.index));
  });
  const own = [...locals];
  const firsts = privates.map(({ name, element, length }, id) => {
    const first = own.length;
    if (!kept[id]) for (let k = 0; k < length; k++) own.push({ name: `${name}${k}`, type: element });
    return first;
  });
  const numbers = privates.map((_, id) => kept.slice(0, id).filter((one) => one).length);
  const localOf = ({ space, id }: ArrayRef, index: Expr): number | undefined =>
    space === "private" && !kept[id] && index.kind === "const" ? firsts[id] + (index.value as number) : undefined;
  const moved = (array: ArrayRef): ArrayRef =>
    array.space === "private" ? { space: "private", id: numbers[array.id] } : array;
  const expression = (e: Expr): Expr => {
    if (e.kind !== "load" && e.kind !== "length") return mapSubexpressions(e, expression);
    if (e.kind === "length") return { ...e, array: moved(e.array) };
    const id = localOf(e.array, e.index);
    if (id !== undefined) return { kind: "local", type: e.type, id };
    return { ...e, array: moved(e.array), index: expression(e.index) };
  };
  const list = (statements: readonly Stmt[]): Stmt[] =>
    statements.map((s) => {
      if (s.kind === "store") {
        const local = localOf(s.array, s.index);
        if (local !== undefined) return { kind: "assign", local, value: expression(s.value), place: s.place };
      }
      const mapped = mapStatement(s, expression, list);
      return "array" in mapped ? { ...mapped, array: moved(mapped.array) } : mapped;
    });
  return { body: list(body), locals: own, privates: privates.filter((_, id) => kept[id]) };
}
