import type { Expr } from "../../ir.ts";
import type { Dialect, Operand } from "./dialect.ts";
import type { Lines } from "./lines.ts";
import type { Names } from "./names.ts";
import { subexpressions } from "../../visit.ts";
import { memoizeBy } from "../../../base/memoize.ts";

/**
 * The largest depth of a printed expression. Compilers of shading languages limit it (Tint: 512, counting parentheses).
 */
const maxHeight = 48;

/** The number of operations in an operand of `select` beyond which a branch is cheaper than evaluating the operand. */
const worthJumping = 24;

type ExprOf<K extends Expr["kind"]> = Extract<Expr, { readonly kind: K }>;

/**
 * Prints IR expressions as text in a C-like language. Constructs that the language lacks inside an expression (a lazy
 * `select` around loads, an expression that is nested too deeply) become statements in `out`, printed before the
 * statement that contains the expression.
 */
export class ExpressionPrinter {
  readonly #dialect: Dialect;
  readonly #names: Names;

  constructor(dialect: Dialect, names: Names) {
    this.#dialect = dialect;
    this.#names = names;
  }

  operand(e: Expr, out: Lines): Operand {
    const text = this.#node(e, out);
    const constant = e.kind === "const" ? e.value : undefined;
    return { text: this.#spilled(e, text, out), type: e.type, constant, source: e };
  }

  print(e: Expr, out: Lines): string {
    return this.operand(e, out).text;
  }

  #spilled(e: Expr, text: string, out: Lines): string {
    if (heightOf(e) === 0 || heightOf(e) % maxHeight !== 0) return text;
    const name = this.#names.temporary();
    out.add(this.#dialect.statements.declare(e.type, name, text));
    return name;
  }

  #node(e: Expr, out: Lines): string {
    const { operators, memory } = this.#dialect;
    switch (e.kind) {
      case "const":
        return operators.constant(e.type, e.value);
      case "local":
        return this.#names.local(e.id);
      case "param":
        return memory.param(e.id);
      case "length":
        return memory.length(e.array);
      case "index":
        return memory.index(e.op);
      case "load":
        return memory.load(e.array, this.operand(e.index, out));
      case "unary":
        return operators.unary(e.op, this.#operands([e.a], out)[0]);
      case "convert":
        return operators.convert(e.type, this.#operands([e.a], out)[0]);
      case "intrinsic":
        return operators.intrinsic(e.op, this.#operands(e.args, out));
      case "binary":
      case "compare":
        return this.#infix(e, out);
      case "logical":
        return this.#logical(e, out);
      case "select":
        return this.#select(e, out);
      default:
        return e satisfies never;
    }
  }

  #infix(e: ExprOf<"binary"> | ExprOf<"compare">, out: Lines): string {
    const [a, b] = this.#operands([e.a, e.b], out);
    return e.kind === "binary"
      ? this.#dialect.operators.binary(e.op, a, b)
      : this.#dialect.operators.compare(e.op, a, b);
  }

  /**
   * Prints the operands. If all are literals, the first is made opaque, so that nothing is evaluated at compile time.
   */
  #operands(args: readonly Expr[], out: Lines): Operand[] {
    const operands = args.map((arg) => this.operand(arg, out));
    if (operands.some(({ constant }) => constant === undefined)) return operands;
    const [{ type, text }, ...rest] = operands;
    return [{ type, text: this.#dialect.operators.opaque(type, text), constant: undefined }, ...rest];
  }

  #logical(e: ExprOf<"logical">, out: Lines): string {
    const a = this.print(e.a, out);
    const prelude = out.fork();
    const b = this.print(e.b, prelude);
    if (prelude.isEmpty) return `(${a} ${e.op === "and" ? "&&" : "||"} ${b})`;
    const name = this.#names.temporary();
    out.add(this.#dialect.statements.declare("bool", name, a));
    this.#branch(out, e.op === "and" ? name : `!${name}`, name, prelude, b);
    return name;
  }

  #select(e: ExprOf<"select">, out: Lines): string {
    const condition = this.print(e.condition, out);
    const preludes = [out.fork(), out.fork()];
    const [a, b] = [this.print(e.a, preludes[0]), this.print(e.b, preludes[1])];
    const plain = preludes.every(({ isEmpty }) => isEmpty);
    if (plain && (this.#dialect.operators.lazySelect || this.#isCheap(e)))
      return this.#dialect.operators.select(condition, a, b);
    const name = this.#names.temporary();
    out.add(this.#dialect.statements.declare(e.type, name));
    this.#branch(out, condition, name, preludes[0], a, () =>
      out.block("else {", () => this.#fill(out, name, preludes[1], b)),
    );
    return name;
  }

  #isCheap(e: ExprOf<"select">): boolean {
    return [e.a, e.b].every((branch) => !makesLoads(branch) && sizeOf(branch) <= worthJumping);
  }

  /** Prints `if (condition) { prelude; name = value; }`, and then what `otherwise` prints. */
  #branch(out: Lines, condition: string, name: string, prelude: Lines, value: string, otherwise?: () => void): void {
    out.block(`if (${condition}) {`, () => this.#fill(out, name, prelude, value));
    otherwise?.();
  }

  #fill(out: Lines, name: string, prelude: Lines, value: string): void {
    out.appendIndented(prelude);
    out.add(this.#dialect.statements.assign(name, value));
  }
}

interface Shape {
  readonly height: number;
  readonly size: number;
  readonly loads: boolean;
}

const shapeOf = memoizeBy((e: Expr): Shape => {
  const inner = subexpressions(e).map(shapeOf);
  return {
    height: inner.reduce((height, child) => Math.max(height, child.height + 1), 0),
    size: inner.reduce((size, child) => size + child.size, 1),
    loads: e.kind === "load" || inner.some(({ loads }) => loads),
  };
});

/** The number of operations on the longest path from an expression to a leaf. */
const heightOf = (e: Expr): number => shapeOf(e).height;
/** The number of nodes of an expression. */
const sizeOf = (e: Expr): number => shapeOf(e).size;
/** Tells whether an expression loads from memory. */
const makesLoads = (e: Expr): boolean => shapeOf(e).loads;
