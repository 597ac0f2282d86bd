/** Evaluates formulas in f64 on the host. No code is generated, so that it works under any content security policy. */
import { FORMULA_CONSTANTS } from "./formula-names.ts";
import { FORMULA_FUNCTIONS } from "./formula-names.ts";
import { mathFunctions } from "../math/index.ts";
import type { UserFunctions } from "./user-functions.ts";

type Scalar = number | boolean;
/** The values of a subexpression for all `xs`, or one value for all of them. Truth values are 1 and 0. */
type Column = Scalar | Float64Array;

/** A subexpression of a formula that can be evaluated. */
interface Part {
  readonly at: (args: readonly number[]) => Scalar;
  /**
   * Evaluates the subexpression for the `xs` and the other variable of `evaluateColumns`. The returned array belongs to
   * the subexpression, which fills it again the next time.
   */
  readonly column: () => Column;
  /** True if the value depends on a variable other than the one that runs along columns. */
  readonly moves: boolean;
}

const BINARY: Readonly<Record<string, (a: any, b: any) => Scalar>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "**": (a, b) => a ** b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "==": (a, b) => a === b,
  "===": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "!==": (a, b) => a !== b,
};

/** The state of `evaluateColumns`. */
interface Columns {
  readonly xs: Float64Array;
  other: number;
  /** The columns that do not depend on the other variable and are computed once. */
  readonly known: (Column | undefined)[];
  /** The arrays of subexpressions, and of arguments that are single values. */
  readonly buffers: (Float64Array | undefined)[];
}
const NONE: Columns = { xs: new Float64Array(0), other: 0, known: [], buffers: [] };

/** Evaluates a formula in plain JavaScript. Each node of the checked syntax tree becomes a JavaScript function. */
export class FormulaEvaluator {
  private readonly variables: readonly string[];
  private readonly functions: UserFunctions;
  private readonly root: Part;
  private readonly along: number;
  /** The number of subexpressions and arguments so far. */
  private parts = 0;
  private columns: Columns = NONE;
  private kept: Columns | undefined;
  /**
   * True if the formula compares by `==` or `!=`. For these operators the truth value of `S < 100` is not the number 1,
   * which it is in a column.
   */
  private compares = false;

  /** @param along which of the variables runs along the columns of `evaluateColumns`, the first by default */
  constructor(root: any, variables: readonly string[], functions: UserFunctions = {}, along = 0) {
    this.along = along;
    this.variables = variables;
    this.functions = functions;
    this.root = this.part(root);
  }

  at(args: readonly number[]): number {
    return Number(this.root.at(args));
  }

  /**
   * Evaluates a formula f(x, other) of two variables at all `xs` for each of `others` in turn, and calls `visit` with
   * the values; f(other, x) where the second variable runs along columns. The array of values is reused. The values
   * have the same bits as those of `at`. Cost: about 2 ns for each arithmetic operation, in addition to function calls.
   */
  onColumn(
    xs: Float64Array,
    others: Iterable<number>,
    visit: (values: Float64Array, other: number) => void,
    lasting = false,
  ): void {
    const columns = this.kept?.xs === xs ? this.kept : { xs, other: 0, known: [], buffers: [] };
    if (lasting) this.kept = columns;
    for (const other of others) {
      columns.other = other;
      this.columns = columns; // `visit` may have called this method
      const pair = (x: number): [number, number] => (this.along === 0 ? [x, other] : [other, x]);
      const values = this.compares ? xs.map((x) => this.at(pair(x))) : this.root.column();
      visit(typeof values === "object" ? values : xs.map(() => Number(values)), other);
    }
    this.columns = NONE;
  }

  private part(node: any): Part {
    switch (node.type) {
      case "Literal":
        return constant(node.value as number);
      case "Identifier":
        return this.variable(node.name as string);
      case "ParenthesizedExpression":
        return this.part(node.expression);
      case "UnaryExpression":
        return this.unary(node.operator as string, this.part(node.argument));
      case "LogicalExpression": {
        const [left, right] = [this.part(node.left), this.part(node.right)];
        return node.operator === "&&" ? this.choice(left, right, left) : this.choice(left, left, right);
      }
      case "ConditionalExpression":
        return this.choice(this.part(node.test), this.part(node.consequent), this.part(node.alternate));
      case "CallExpression":
        return this.called(node);
      default:
        if (/^[!=]=/.test(node.operator as string)) this.compares = true;
        return this.binary(node.operator as string, this.part(node.left), this.part(node.right));
    }
  }

  private variable(name: string): Part {
    const k = this.variables.indexOf(name);
    if (k < 0) return constant(FORMULA_CONSTANTS[name]);
    const runs = k === this.along;
    return { at: (args) => args[k], column: () => (runs ? this.columns.xs : this.columns.other), moves: !runs };
  }

  private unary(operator: string, a: Part): Part {
    if (operator === "+") return a;
    const f = operator === "-" ? (x: any) => -x : (x: any) => !x;
    return this.function(f, [a], (args) => f(a.at(args)));
  }

  /** Returns the subexpression of `test ? yes : no`. Of single values only the chosen one is evaluated. */
  private choice(test: Part, yes: Part, no: Part): Part {
    const at = (args: readonly number[]): Scalar => (test.at(args) ? yes.at(args) : no.at(args));
    return this.function((chosen, a, b) => (chosen ? a : b), [test, yes, no], at);
  }

  private called(node: any): Part {
    let { callee } = node;
    while (callee.type === "ParenthesizedExpression") callee = callee.expression;
    const name: string = callee.property?.name ?? callee.name;
    if (Object.hasOwn(this.functions, name)) return this.own(this.functions[name], node.arguments);
    const f: (...args: any[]) => number = FORMULA_FUNCTIONS.includes(name) ? (Math as any)[name] : mathFunctions[name];
    const [first, ...rest]: Part[] = node.arguments.map((arg: any) => this.part(arg));
    if (rest.length === 0) return this.function(f, [first], (values) => f(first.at(values)));
    // max and min of more than two are those of two, one after the other.
    return rest.reduce((a, b) => this.function(f, [a, b], (values) => f(a.at(values), b.at(values))), first);
  }

  /**
   * Returns the subexpression of a call of a user's function with any number of arguments, evaluated element by
   * element.
   */
  private own(f: (...args: never) => unknown, nodes: readonly any[]): Part {
    const call = f as (...args: readonly Scalar[]) => Scalar;
    const args = nodes.map((node) => this.part(node));
    const column = (): Column => {
      const given = args.map((arg) => arg.column());
      const at = (i: number): Scalar => call(...given.map((one) => (typeof one === "object" ? one[i] : one)));
      return given.some((one) => typeof one === "object") ? this.columns.xs.map((_, i) => Number(at(i))) : at(0);
    };
    return {
      at: (values) => call(...args.map((arg) => arg.at(values))),
      column,
      moves: args.some(({ moves }) => moves),
    };
  }

  private binary(operator: string, a: Part, b: Part): Part {
    const f = BINARY[operator];
    const at = AT[operator]?.(a.at, b.at) ?? ((args: readonly number[]) => f(a.at(args), b.at(args)));
    return this.function(f, [a, b], at, COLUMNS[operator]);
  }

  /**
   * A function of one to three parts.
   * @param columns does it for whole columns, in place of `f` element by element
   */
  private function(
    f: (...args: any[]) => Scalar,
    args: readonly Part[],
    at: Part["at"],
    columns = (a: Float64Array, b: Float64Array, c: Float64Array, into: Float64Array): void => {
      for (let i = 0; i < into.length; i++) into[i] = Number(f(a[i], b[i], c[i]));
    },
  ): Part {
    const [a, b = NOTHING, c = NOTHING] = args;
    const part = this.parts;
    this.parts += 4;
    const made = (): Column => {
      const [x, y, z] = [a.column(), b.column(), c.column()];
      if (typeof x !== "object" && typeof y !== "object" && typeof z !== "object") return f(x, y, z);
      const into = this.buffer(part);
      columns(this.full(x, part + 1), this.full(y, part + 2), this.full(z, part + 3), into);
      return into;
    };
    if (args.some(({ moves }) => moves)) return { at, column: made, moves: true };
    return { at, column: () => (this.columns.known[part] ??= made()), moves: false };
  }

  private buffer(at: number): Float64Array {
    const { xs, buffers } = this.columns;
    return (buffers[at] ??= new Float64Array(xs.length));
  }

  /** Returns a column with the same value in each element. Mostly the array has this value already. */
  private full(value: Column, at: number): Float64Array {
    if (typeof value === "object") return value;
    const column = this.buffer(at);
    return Object.is(column[0], Number(value)) ? column : column.fill(Number(value));
  }
}

function constant(value: number): Part {
  return { at: () => value, column: () => value, moves: false };
}
const NOTHING = constant(0);

type At = Part["at"];
/** The operations on single values that formulas consist of mostly. A call through `BINARY` would double their cost. */
const AT: Readonly<Record<string, (a: any, b: any) => At>> = {
  "+": (a, b) => (args) => a(args) + b(args),
  "-": (a, b) => (args) => a(args) - b(args),
  "*": (a, b) => (args) => a(args) * b(args),
  "/": (a, b) => (args) => a(args) / b(args),
};

/** The operations on columns. */
const COLUMNS: Readonly<
  Record<string, (a: Float64Array, b: Float64Array, c: Float64Array, into: Float64Array) => void>
> = {
  "+": (a, b, _, into) => {
    for (let i = 0; i < into.length; i++) into[i] = a[i] + b[i];
  },
  "-": (a, b, _, into) => {
    for (let i = 0; i < into.length; i++) into[i] = a[i] - b[i];
  },
  "*": (a, b, _, into) => {
    for (let i = 0; i < into.length; i++) into[i] = a[i] * b[i];
  },
  "/": (a, b, _, into) => {
    for (let i = 0; i < into.length; i++) into[i] = a[i] / b[i];
  },
};
