/**
 * The canonical text of a kernel. It is equal for two kernels exactly when they compute the same, so that it can be the
 * key of caches.
 */
import type { Expr, KernelIR, Stmt } from "./ir.ts";

/** Formats a number such that −0 and 0 differ and NaN equals itself. */
function number(value: number): string {
  if (Object.is(value, -0)) return "-0";
  return String(value); // shortest text that reads back as the same double
}

/**
 * Returns a text that is equal for two kernels exactly when they perform the same computation. The names of local
 * variables, positions in the source and unused declarations do not affect it.
 */
export function canonicalText(ir: KernelIR): string {
  const out: string[] = [
    `kernel ${ir.precision} ${ir.groupSize} ${ir.cooperative}${ir.residentGroups === undefined ? "" : ` ${ir.residentGroups}`}`,
    ...ir.scalars.map((p) => `scalar ${p.name} ${p.type}`),
    ...ir.buffers.map((b) => `buffer ${b.name} ${b.element} ${b.access} ${b.atomic}`),
    ...ir.privates.map((a) => `private ${a.element} ${a.length}`),
    ...ir.workgroups.map((a) => `workgroup ${a.element} ${a.length} ${a.atomic}`),
    `locals ${ir.locals.map((l) => l.type).join(" ")}`,
  ];
  writeStatements(ir.body, out);
  return out.join("\n");
}

function writeStatements(statements: readonly Stmt[], out: string[]): void {
  for (const s of statements) writeStatement(s, out);
}

function block(label: string, statements: readonly Stmt[], out: string[]): void {
  out.push(`${label} {`);
  writeStatements(statements, out);
  out.push("}");
}

function writeStatement(s: Stmt, out: string[]): void {
  switch (s.kind) {
    case "assign":
      out.push(`%${s.local} = ${text(s.value)}`);
      return;
    case "store":
      out.push(`${s.array.space}${s.array.id}[${text(s.index)}] = ${text(s.value)}`);
      return;
    case "if":
      block(`if ${text(s.condition)}`, s.then, out);
      block("else", s.else, out);
      return;
    case "loop":
      block("loop", s.init, out);
      out.push(`test ${s.test ? text(s.test) : "true"}`);
      block("body", s.body, out);
      block("update", s.update, out);
      return;
    case "atomic": {
      const operands = [s.index, s.expected, s.value].map((e) => (e ? text(e) : "_")).join(" ");
      out.push(`%${s.result ?? "_"} = atomic ${s.op} ${s.array.space}${s.array.id} ${operands}`);
      return;
    }
    case "subgroup":
      out.push(
        `%${s.result} = subgroup ${s.op} ${text(s.value)} ${s.operand ? text(s.operand) : "_"}${s.width === undefined ? "" : ` in ${s.width}`}`,
      );
      return;
    case "fetch":
      out.push(`fetch ${s.words} ${s.array.id}[${text(s.index)}] = ${s.from.id}[${text(s.fromIndex)}]`);
      return;
    case "barrier":
      out.push(s.fetches === undefined ? s.kind : `${s.kind} ${s.fetches}`);
      return;
    case "break":
    case "continue":
      out.push(s.kind);
      return;
    default:
      s satisfies never;
  }
}

function text(e: Expr): string {
  switch (e.kind) {
    case "const":
      return `${e.type}:${typeof e.value === "number" ? number(e.value) : e.value}`;
    case "local":
      return `%${e.id}`;
    case "param":
      return `$${e.id}`;
    case "length":
      return `length(${e.array.space}${e.array.id})`;
    case "load":
      return `${e.array.space}${e.array.id}[${text(e.index)}]`;
    case "unary":
      return `${e.op}(${text(e.a)})`;
    case "binary":
    case "compare":
    case "logical":
      return `${e.op}.${e.a.type}(${text(e.a)}, ${text(e.b)})`;
    case "select":
      return `select(${text(e.condition)}, ${text(e.a)}, ${text(e.b)})`;
    case "convert":
      return `${e.type}<-${e.a.type}(${text(e.a)})`;
    case "intrinsic":
      return `${e.op}.${e.type}(${e.args.map(text).join(", ")})`;
    case "index":
      return e.op;
    default:
      return e satisfies never;
  }
}
