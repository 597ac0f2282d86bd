import type { Expr, KernelIR, Stmt } from "../../ir.ts";
import type { Dialect, StmtOf } from "./dialect.ts";
import { ExpressionPrinter } from "./expressions.ts";
import type { Lines } from "./lines.ts";
import type { Names } from "./names.ts";
import { SourceComments } from "./source-comments.ts";

/** Prints IR statements as text in a C-like language, each preceded by a comment with its source line. */
export class StatementPrinter {
  readonly #dialect: Dialect;
  readonly #names: Names;
  readonly #expressions: ExpressionPrinter;
  readonly #comments: SourceComments;

  constructor(ir: KernelIR, dialect: Dialect, names: Names) {
    this.#dialect = dialect;
    this.#names = names;
    this.#expressions = new ExpressionPrinter(dialect, names);
    this.#comments = new SourceComments(ir.sources);
  }

  printAll(statements: readonly Stmt[], out: Lines): void {
    for (const statement of statements) {
      this.#comments.mark(statement.place, out);
      this.#print(statement, out);
      if (leaves(statement)) return; // what follows is never reached, and compilers warn of it
    }
  }

  #print(s: Stmt, out: Lines): void {
    switch (s.kind) {
      case "assign":
        return out.add(this.#dialect.statements.assign(this.#names.local(s.local), this.#text(s.value, out)));
      case "store":
        return this.#store(s, out);
      case "if":
        return this.#if(s, out);
      case "loop":
        return this.#loop(s, out);
      case "break":
      case "continue":
        return out.add(`${s.kind};`);
      case "barrier":
        return this.#dialect.statements.barrier(s, out);
      case "fetch":
        return this.#dialect.statements.fetch(s, (e) => this.#expressions.operand(e, out), out);
      case "atomic":
        return this.#dialect.statements.atomic(s, (e) => this.#expressions.operand(e, out), out);
      case "subgroup":
        return this.#dialect.statements.subgroup(s, (e) => this.#expressions.operand(e, out), out);
      default:
        return s satisfies never;
    }
  }

  #text(e: Expr, out: Lines): string {
    return this.#expressions.print(e, out);
  }

  #store(s: StmtOf<"store">, out: Lines): void {
    const index = this.#expressions.operand(s.index, out);
    out.add(this.#dialect.memory.store(s.array, index, this.#text(s.value, out)));
  }

  #if(s: StmtOf<"if">, out: Lines): void {
    const condition = this.#dialect.statements.condition(s, this.#text(s.condition, out), out);
    out.add(`if (${condition}) {`);
    out.indented(() => this.printAll(s.then, out));
    if (s.else.length > 0) {
      out.add("} else {");
      out.indented(() => this.printAll(s.else, out));
    }
    out.add("}");
  }

  #loop(s: StmtOf<"loop">, out: Lines): void {
    this.printAll(s.init, out);
    const { test } = s;
    this.#dialect.statements.loop(out, {
      statement: s,
      print: (e, to) => this.#text(e, to),
      test: test === null ? null : (to) => this.#dialect.statements.condition(s, this.#text(test, to), to),
      body: (to) => this.printAll(s.body, to),
      update: s.update.length === 0 ? null : (to) => this.printAll(s.update, to),
    });
  }
}

/** Tells whether the statement after `s` is never reached. */
function leaves(s: Stmt): boolean {
  if (s.kind === "if") return [s.then, s.else].every((branch) => branch.some(leaves));
  return s.kind === "break" || s.kind === "continue";
}
