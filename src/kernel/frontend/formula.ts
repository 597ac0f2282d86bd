/** Formulas: kernel functions from strings, as books and web pages carry them: "0.2 + 0.1*exp(-S/100)". */
import { parseExpressionAt, type Node } from "acorn";

import { KernelError } from "../../base/errors.ts";
import { type FunctionOf, type FunctionSpec, type KernelFunction, real, type ScalarDeclaration } from "../language.ts";
import { mathFunctions } from "../math/index.ts";
import { declareFunction, type EntryFunction } from "../declared.ts";
import { FormulaEvaluator } from "./formula-evaluate.ts";
import { FORMULA_CONSTANTS, FORMULA_FUNCTIONS } from "./formula-names.ts";
import { type DeclaredFunctions, declaredFunctions, type UserFunctions } from "./user-functions.ts";
import { liftNumbers } from "./formula-shape.ts";
import { errorWithCaret } from "./source.ts";
import { describeNode } from "./syntax.ts";

/**
 * The functions that take two arguments or more. A call with one argument is an error, because a 0 was probably
 * forgotten.
 */
const VARIADIC = ["max", "min"];
/** The names of arguments in the remedies of error messages. */
const LETTERS = "abcdefghijklmnop".split("");
const MAX_LENGTH = 10_000;
const MAX_DEPTH = 200;

const BINARY = new Set(["+", "-", "*", "/", "%", "**", "<", "<=", ">", ">=", "==", "!=", "===", "!=="]);
const LOGICAL = new Set(["&&", "||"]);
const COMPARISONS = new Set(["<", "<=", ">", ">=", "==", "!=", "===", "!=="]);
const DECIMAL = /^(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const UNARY = new Set(["-", "+", "!"]);

/**
 * Makes a kernel function of real variables from the text of an arithmetic expression. The expression may have + − * /
 * % ** (or ^ for powers), comparisons, `a ? b : c`, the functions of `Math` and of the kernel language without a
 * prefix, `pi`, `e` and numbers.
 *
 * @param text the expression, of at most 10,000 characters.
 * @param variables the names of the variables, in the order of the function's arguments.
 * @param name the formula's name in error messages.
 * @param functions your own functions that the formula may call, by name.
 * @throws KernelError with the position in the formula, a caret and a remedy.
 *
 * @example
 * import { formula } from "feynkac/kernel";
 *
 * console.log(formula("max(S - 100, 0)", ["S"])(110)); // 10
 * @stable
 */
export function formula(
  text: string,
  variables: readonly string[],
  name = "formula",
  functions?: UserFunctions,
): KernelFunction<readonly ScalarDeclaration<"real">[], number> {
  return new FormulaWriter(text, variables, name, declaredFunctions(functions)).declare(formula);
}

/** The `FormulaWriter` of each formula. */
const writers = new WeakMap<object, FormulaWriter>();

/** A formula whose numbers have become further arguments after its variables. */
export interface LiftedFormula {
  readonly call: KernelFunction<readonly ScalarDeclaration<"real">[], number>;
  /** The values of the extracted numbers. */
  readonly values: readonly number[];
}

/**
 * Returns a formula whose numbers have become arguments. Formulas that differ only in these numbers have the same
 * `call.source`. Exponents, 0, ±½, ±1 and ±2 stay constants; see `liftLiterals`. The result is undefined if `fn` is not
 * a formula.
 */
export function liftFormula(fn: FunctionSpec): LiftedFormula | undefined {
  return writers.get(fn)?.shape();
}

/**
 * Evaluates a function f(x, other) of two reals at all `xs` for each of `others` in turn. For each it calls `visit`
 * with the column of values f(xs[i], other) and with `other`. The array of values is reused. The values have the same
 * bits as those of separate calls of `fn`. Cost: about 2 ns for each operation of a formula. Subexpressions that do not
 * contain `other` are computed once.
 *
 * @param areFixed whether the elements of `xs` never change. Such subexpressions are then cached for consecutive calls
 * with the same array.
 */
export function evaluateColumns(
  fn: FunctionOf<(x: number, other: number) => number>,
  xs: Float64Array,
  others: Iterable<number>,
  visit: (values: Float64Array, other: number) => void,
  areFixed = false,
): void {
  const writer = writers.get(fn);
  if (writer !== undefined) return writer.evaluator.onColumn(xs, others, visit, areFixed);
  for (const other of others)
    visit(
      xs.map((x) => fn(x, other)),
      other,
    );
}

/**
 * Returns the row of values f(x, others[i]) of a function of two reals, with the same bits as those of separate calls
 * of `fn`. Cost: as `evaluateColumns`; subexpressions that contain x alone are computed once.
 */
export function evaluateRow(
  fn: FunctionOf<(x: number, other: number) => number>,
  x: number,
  others: Float64Array,
): Float64Array {
  const writer = writers.get(fn);
  if (writer === undefined) return others.map((other) => fn(x, other));
  let row = others;
  writer.rowEvaluator.onColumn(others, [x], (values) => (row = values));
  return row;
}

/** Returns those of the given variables that a formula uses. */
export function formulaVariables(text: string, variables: readonly string[]): ReadonlySet<string> {
  const writer = new FormulaWriter(text, variables);
  writer.write();
  return writer.used;
}

/**
 * Returns the text of a formula in which each variable is replaced by a formula in parentheses. `by` has the formulas
 * by the names of the variables. @throws KernelError
 */
export function substituteVariables(text: string, by: Readonly<Record<string, string>>): string {
  const writer = new FormulaWriter(text, Object.keys(by));
  writer.write();
  const given = text.replaceAll("^", "**");
  let [written, from] = ["", 0];
  for (const { start, end, name } of writer.places.toSorted((a, b) => a.start - b.start)) {
    written += `${given.slice(from, start)}(${by[name]})`;
    from = end;
  }
  return written + given.slice(from);
}

/**
 * Returns the text of an error and its position in a formula, without the formula's name, for callers that name the
 * formula themselves.
 */
export function formulaMessage({ place, message }: KernelError): string {
  if (place?.what === undefined) return message;
  return `${place.line === 1 ? "" : `line ${place.line}, `}column ${place.column}: ${place.what}`;
}

class FormulaWriter {
  readonly used = new Set<string>();
  /** The positions of the variables in the text (with ** in place of ^), in the order in which they are visited. */
  readonly places: { readonly start: number; readonly end: number; readonly name: string }[] = [];
  private readonly text: string;
  private readonly variables: readonly string[];
  private readonly formulaName: string;
  private readonly root: any;
  private readonly functions: DeclaredFunctions;
  private made: FormulaEvaluator | undefined;
  private madeForRows: FormulaEvaluator | undefined;

  /** @param root a syntax tree to use instead of that of `text` */
  constructor(
    text: string,
    variables: readonly string[],
    name = "formula",
    functions: DeclaredFunctions = {},
    root?: unknown,
  ) {
    this.text = text;
    this.functions = functions;
    this.variables = variables;
    this.formulaName = name;
    if (text.length > MAX_LENGTH)
      throw new KernelError(`${name}: ${text.length} characters, expected at most ${MAX_LENGTH}`);
    this.root = root ?? this.parse();
  }

  write(): string {
    return this.visit(this.root, 0);
  }

  declare(entry: EntryFunction): LiftedFormula["call"] {
    const written = this.write();
    const own = Object.keys(this.functions);
    const source = `([${this.variables.join(", ")}], gpu${own.length > 0 ? `, { ${own.join(", ")} }` : ""}) => ${written}`;
    const { evaluator } = this;
    const run = (...args: number[]): number => evaluator.at(args);
    const params = this.variables.map(() => real);
    const declared = declareFunction<typeof params, number>({
      run,
      functionName: this.text,
      params,
      env: this.functions,
      source,
      entry,
    });
    writers.set(declared, this);
    return declared;
  }

  get evaluator(): FormulaEvaluator {
    return (this.made ??= new FormulaEvaluator(this.root, this.variables, this.functions));
  }

  /** The evaluator whose columns the second variable runs along. */
  get rowEvaluator(): FormulaEvaluator {
    return (this.madeForRows ??= new FormulaEvaluator(this.root, this.variables, this.functions, 1));
  }

  shape(): LiftedFormula {
    const { root, values } = liftNumbers(this.root, this.variables);
    const variables = [...this.variables, ...values.map((_, k) => `$${k}`)];
    const writer = new FormulaWriter(this.text, variables, this.formulaName, this.functions, root);
    return { call: writer.declare(liftFormula), values };
  }

  private parse(): Node {
    // ^ is how most people write a power; JavaScript's exclusive or has no use on reals.
    const text = this.text.replaceAll("^", "**");
    try {
      const node = parseExpressionAt(text, 0, { ecmaVersion: 2023, preserveParens: true });
      const rest = text.slice(node.end).search(/\S/);
      if (rest < 0) return node;
      throw this.error(node.end + rest, "the formula ends before this", "write one expression");
    } catch (error) {
      if (error instanceof KernelError) throw error;
      const { pos = 0, message } = error as { pos?: number; message: string };
      throw this.error(pos, unreadable(text, pos, message), "write an arithmetic expression");
    }
  }

  /**
   * Returns the text of an expression in the kernel language, with functions and constants under the names that kernels
   * know.
   */
  private visit(node: any, depth: number): string {
    if (depth > MAX_DEPTH) throw this.error(node.start, "the formula is nested too deeply", "shorten it");
    const inner = (child: any): string => this.visit(child, depth + 1);
    switch (node.type) {
      case "Literal":
        if (typeof node.value === "number") return String(this.number(node));
        break;
      case "Identifier":
        return this.name(node);
      // Kept in the tree only because a formula that is one pair of parentheses would end before the second.
      case "ParenthesizedExpression":
        return inner(node.expression);
      case "UnaryExpression":
        if (UNARY.has(node.operator)) return `(${node.operator} ${inner(node.argument)})`;
        break;
      case "BinaryExpression":
        this.checkChain(node);
        if (BINARY.has(node.operator)) return `(${inner(node.left)} ${node.operator} ${inner(node.right)})`;
        break;
      case "LogicalExpression":
        if (LOGICAL.has(node.operator)) return `(${inner(node.left)} ${node.operator} ${inner(node.right)})`;
        break;
      case "ConditionalExpression":
        return `(${inner(node.test)} ? ${inner(node.consequent)} : ${inner(node.alternate)})`;
      case "CallExpression":
        return this.call(node, inner);
      default:
        break;
    }
    throw this.error(
      node.start,
      `${describeNode(node)} is not part of a formula`,
      "use arithmetic, comparisons, a ? b : c and functions",
    );
  }

  private name(node: any): string {
    if (this.variables.includes(node.name)) {
      this.used.add(node.name);
      this.places.push(node);
      return node.name;
    }
    if (Object.hasOwn(FORMULA_CONSTANTS, node.name)) return String(FORMULA_CONSTANTS[node.name]);
    throw this.error(node.start, `${node.name} is unknown`, `the variables are ${this.variables.join(", ")}`);
  }

  /**
   * Checks a number. JavaScript reads 0100 as 64, 0x10 as 16 and 1e400 as infinity, none of which the author of a
   * formula means.
   */
  private number(node: any): number {
    if (!DECIMAL.test(node.raw)) {
      const digits = node.raw.replaceAll("_", "").replace(/^0+(?=\d)/, "");
      const remedy = /^[\d.]+$/.test(digits) ? `write ${digits}` : `write ${node.value}`;
      throw this.error(node.start, `${node.raw} is not a decimal number`, remedy);
    }
    if (!Number.isFinite(node.value))
      throw this.error(node.start, `${node.raw} is too large`, `the largest number is ${Number.MAX_VALUE}`);
    return node.value;
  }

  /**
   * Rejects chained comparisons such as `S < 100 < 120`, of which JavaScript would compare the truth value 0 or 1 with
   * 120.
   */
  private checkChain({ operator, left }: any): void {
    if (!COMPARISONS.has(operator) || left.type !== "BinaryExpression" || !COMPARISONS.has(left.operator)) return;
    const remedy = `write a ${left.operator} b && b ${operator} c, or parentheses if a truth is to be compared`;
    throw this.error(left.start, `a ${left.operator} b ${operator} c does not compare b with both`, remedy);
  }

  private call(node: any, inner: (child: any) => string): string {
    const callee = this.callee(node.callee);
    const name = callee.replace(/^\w+\./, "");
    const got = node.arguments.length;
    const more = VARIADIC.includes(name);
    const own = Object.hasOwn(this.functions, name) ? this.functions[name] : mathFunctions[name];
    const wanted = more ? 2 : FORMULA_FUNCTIONS.includes(name) ? 1 : (own.params as readonly unknown[]).length;
    if (more ? got < wanted : got !== wanted) {
      const what = `${name} takes ${wanted} ${more ? "arguments or more" : wanted === 1 ? "argument" : "arguments"}`;
      const remedy = `write ${name}(${wanted === 2 ? "a, b" : LETTERS.slice(0, wanted).join(", ")})`;
      throw this.error(node.start, `${what}, got ${got}`, remedy);
    }
    return `${callee}(${node.arguments.map(inner).join(", ")})`;
  }

  private callee(node: any): string {
    if (node.type === "ParenthesizedExpression") return this.callee(node.expression);
    const isMath = node.type === "MemberExpression" && !node.computed && node.object.name === "Math";
    const name: string = isMath ? node.property.name : node.type === "Identifier" ? node.name : "";
    if (FORMULA_FUNCTIONS.includes(name)) return `Math.${name}`;
    if (Object.hasOwn(mathFunctions, name)) return name in Math ? `Math.${name}` : `gpu.${name}`;
    if (name !== "" && Object.hasOwn(this.functions, name)) return name;
    const known = [...FORMULA_FUNCTIONS, ...Object.keys(mathFunctions), ...Object.keys(this.functions)]
      .toSorted()
      .join(", ");
    throw this.error(
      node.start,
      `${name || "what is called here"} is an unknown function`,
      `the functions are ${known}`,
    );
  }

  private error(position: number, what: string, remedy: string): KernelError {
    // A ^ was read as **.
    let at = 0;
    for (let read = 0; read < position; at++) read += this.text[at] === "^" ? 2 : 1;
    const line = this.text.slice(0, at).split("\n").length;
    const column = at - this.text.lastIndexOf("\n", at - 1);
    return errorWithCaret(this.formulaName, this.text, undefined, line, column, what, remedy);
  }
}

/** Returns an error that says why the parser stopped at `position`. */
function unreadable(text: string, position: number, message: string): string {
  if (text.slice(position).trim() === "") return "the formula ends too early";
  if (message.startsWith("Not enough stack")) return "the formula is nested too deeply";
  const character = String.fromCodePoint(text.codePointAt(position) as number);
  if (text.startsWith("**", position) && !text.startsWith("**", position - 2))
    return "a power of what has a minus before it: write -(2^2), or (-2)^2";
  if (message.startsWith("Assigning"))
    return "two signs in a row: a space or parentheses between them make two of them";
  return /^Unexpected (token|character)/.test(message)
    ? `unexpected ${text.startsWith("**", position) ? "^" : character}`
    : message.replace(/ \(\d+:\d+\)$/, "");
}
