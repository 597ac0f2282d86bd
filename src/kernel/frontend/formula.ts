/** Formulas: kernel functions from strings, as books and web pages carry them: "0.2 + 0.1*exp(-S/100)". */
import { parseExpressionAt, type Node } from "acorn";

import { KernelError } from "../../base/errors.ts";
import { type FunctionOf, type FunctionSpec, type KernelFunction, real, type ScalarDeclaration } from "../language.ts";
import { declareFunction, type EntryFunction } from "../declared.ts";
import { FormulaEvaluator } from "./formula-evaluate.ts";
import { FORMULA_CONSTANTS } from "./formula-names.ts";
import {
  BINARY,
  calleeOf,
  decimalOf,
  type Fail,
  LOGICAL,
  placeInFormula,
  refuseChain,
  UNARY,
  unreadable,
  withPowers,
} from "./formula-rules.ts";
import { type DeclaredFunctions, declaredFunctions, type UserFunctions } from "./user-functions.ts";
import { liftNumbers } from "./formula-shape.ts";
import { errorWithCaret } from "./source.ts";
import { describeNode } from "./syntax.ts";

const MAX_LENGTH = 10_000;
const MAX_DEPTH = 200;

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
  private readonly fail: Fail = (...mistake) => this.error(...mistake);
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
    const text = withPowers(this.text);
    try {
      const node = parseExpressionAt(text, 0, { ecmaVersion: 2023, preserveParens: true });
      const rest = text.slice(node.end).search(/\S/);
      if (rest < 0) return node;
      throw this.error(node.end + rest, "the formula ends before this", "write one expression");
    } catch (error) {
      if (error instanceof KernelError) throw error;
      const { pos = 0, message } = error as { pos?: number; message: string };
      throw this.error(pos, unreadable(text, pos, message, "formula"), "write an arithmetic expression");
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
        if (typeof node.value === "number") return String(decimalOf(node, this.fail));
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
        refuseChain(node, this.fail);
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

  private call(node: any, inner: (child: any) => string): string {
    return `${calleeOf(node, this.functions, this.fail)}(${node.arguments.map(inner).join(", ")})`;
  }

  private error(position: number, what: string, remedy: string): KernelError {
    const { line, column } = placeInFormula(this.text, position);
    return errorWithCaret(this.formulaName, this.text, undefined, line, column, what, remedy);
  }
}
