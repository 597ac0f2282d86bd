/** Removes copies of local variables, of which records and inlined calls leave many. */
import type { Expr, KernelIR, Local, Stmt } from "./ir.ts";
import {
  assignedLocal,
  nestedLists,
  forEachExpr,
  forEachStmt,
  mapSubexpressions,
  mapStatement,
  expressionsOf,
  someExpr,
} from "./visit.ts";

type Assignment = Extract<Stmt, { kind: "assign" }>;

/**
 * Returns a kernel's statements and local variables after copy propagation: a local variable that is a copy of another
 * one is replaced by the other, as long as neither is reassigned. Assignments whose variable is then never read are
 * removed. All computed values stay the same to the bit. Cost: linear in the size of the code, times the nesting depth
 * of its loops.
 */
export function propagateCopies({
  body,
  locals,
}: Pick<KernelIR, "body" | "locals">): Pick<KernelIR, "body" | "locals"> {
  const replaced = new Copies(locals.length).list(body);
  return renumbered(withoutUnread(replaced, locals.length), locals);
}

/** The local variable that another one is a copy of. The versions tell whether either has been assigned since. */
interface Copy {
  readonly of: number;
  readonly ofVersion: number;
  readonly version: number;
}

class Copies {
  private readonly versions: Uint32Array;
  private readonly known: (Copy | undefined)[];
  /** The numbers of the local variables that have been assigned so far, in order. */
  private readonly log: number[] = [];

  constructor(locals: number) {
    this.versions = new Uint32Array(locals);
    this.known = new Array<Copy | undefined>(locals);
  }

  list(statements: readonly Stmt[]): Stmt[] {
    const out: Stmt[] = [];
    for (const statement of statements) {
      const s = this.statement(statement);
      if (!(s.kind === "assign" && isLocal(s.value, s.local))) out.push(s);
    }
    return out;
  }

  private statement(s: Stmt): Stmt {
    if (s.kind === "loop") return this.loop(s);
    const replaced = mapStatement(
      s,
      (e) => this.expression(e),
      (list) => this.branch(list),
    );
    const local = assignedLocal(replaced);
    if (local === null || (replaced.kind === "assign" && isLocal(replaced.value, local))) return replaced;
    this.assign(local);
    if (replaced.kind === "assign" && replaced.value.kind === "local") {
      const of = replaced.value.id;
      this.known[local] = { of, ofVersion: this.versions[of], version: this.versions[local] };
    }
    return replaced;
  }

  /** Processes a branch. After it, the local variables that it assigns have one of two values. */
  private branch(list: readonly Stmt[]): Stmt[] {
    const start = this.log.length;
    const replaced = this.list(list);
    for (let k = start; k < this.log.length; k++) this.versions[this.log[k]]++;
    return replaced;
  }

  /** Processes a loop. The local variables that it assigns may have been assigned before any of its statements runs. */
  private loop(s: Extract<Stmt, { kind: "loop" }>): Stmt {
    const init = this.list(s.init);
    for (const list of [s.body, s.update])
      forEachStmt(list, (inner) => {
        const local = assignedLocal(inner);
        if (local !== null) this.assign(local);
      });
    const test = s.test && this.expression(s.test);
    return { ...s, init, test, body: this.branch(s.body), update: this.branch(s.update) };
  }

  private assign(local: number): void {
    this.versions[local]++;
    this.log.push(local);
  }

  private expression(e: Expr): Expr {
    if (e.kind !== "local") return mapSubexpressions(e, (child) => this.expression(child));
    const copy = this.known[e.id];
    const holds =
      copy !== undefined && copy.version === this.versions[e.id] && copy.ofVersion === this.versions[copy.of];
    return holds ? { ...e, id: copy.of } : e;
  }
}

const isLocal = (e: Expr, id: number): boolean => e.kind === "local" && e.id === id;

/**
 * Tells whether an assignment has no effect other than its value, so that it may be removed. A load may fail, and shows
 * what other work items do.
 */
const isPlain = ({ value }: Assignment): boolean => !someExpr(value, ({ kind }) => kind === "load");

/** Returns the body without those assignments of plain values whose local variables nothing else depends on. */
function withoutUnread(body: readonly Stmt[], locals: number): readonly Stmt[] {
  const isRead = new Uint8Array(locals);
  const sources: number[][] = Array.from({ length: locals }, () => []);
  const pending: number[] = [];
  const read = (local: number): void => {
    if (isRead[local] === 1) return;
    isRead[local] = 1;
    pending.push(local);
  };
  forEachStmt(body, (s) => {
    if (s.kind === "assign" && isPlain(s)) {
      forEachExpr(s.value, (part) => part.kind === "local" && sources[s.local].push(part.id));
    } else for (const e of expressionsOf(s)) forEachExpr(e, (part) => part.kind === "local" && read(part.id));
  });
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) sources[next].forEach(read);
  const kept = (list: readonly Stmt[]): Stmt[] =>
    list.flatMap((s) => {
      if (s.kind === "assign" && isPlain(s) && isRead[s.local] === 0) return [];
      return nestedLists(s).length === 0 ? [s] : [mapStatement(s, (e) => e, kept)];
    });
  return kept(body);
}

/** Returns the body and the local variables without the unused ones; the others are renumbered. */
function renumbered(body: readonly Stmt[], locals: readonly Local[]): Pick<KernelIR, "body" | "locals"> {
  const numbers = new Map<number, number>();
  const numberOf = (local: number): number => {
    let number = numbers.get(local);
    if (number === undefined) numbers.set(local, (number = numbers.size));
    return number;
  };
  const expression = (e: Expr): Expr =>
    e.kind === "local" ? { ...e, id: numberOf(e.id) } : mapSubexpressions(e, expression);
  const list = (statements: readonly Stmt[]): Stmt[] =>
    statements.map((s) => {
      const renamed = mapStatement(s, expression, list);
      if (renamed.kind === "assign") return { ...renamed, local: numberOf(renamed.local) };
      if (renamed.kind === "subgroup") return { ...renamed, result: numberOf(renamed.result) };
      if (renamed.kind === "atomic" && renamed.result !== null) return { ...renamed, result: numberOf(renamed.result) };
      return renamed;
    });
  const renamed = list(body);
  const kept = new Array<Local>(numbers.size);
  for (const [old, number] of numbers) kept[number] = locals[old];
  return { body: renamed, locals: kept };
}
