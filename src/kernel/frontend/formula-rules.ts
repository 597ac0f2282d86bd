/** The rules that formulas and scripts share: their operators, numbers, functions, and what is a mistake in them. */
import type { FunctionResult, RealFunction } from "../language.ts";
import type { KernelError } from "../../base/errors.ts";
import { mathFunctions } from "../math/index.ts";
import { FORMULA_FUNCTIONS } from "./formula-names.ts";

/** Returns the error of a mistake: its position in the text that was parsed, what is wrong, and the remedy. */
export type Fail = (position: number, what: string, remedy: string) => KernelError;

/** The binary operators of numbers. */
export const BINARY = new Set(["+", "-", "*", "/", "%", "**", "<", "<=", ">", ">=", "==", "!=", "===", "!=="]);
/** The operators of truth values. */
export const LOGICAL = new Set(["&&", "||"]);
/** The operators that compare numbers. */
export const COMPARISONS = new Set(["<", "<=", ">", ">=", "==", "!=", "===", "!=="]);
/** The operators of one operand. */
export const UNARY = new Set(["-", "+", "!"]);

const DECIMAL = /^(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/**
 * The functions that take two arguments or more. A call with one argument is an error, because a 0 was probably
 * forgotten.
 */
const VARIADIC = ["max", "min"];
/** The names of arguments in the remedies of error messages. */
const LETTERS = "abcdefghijklmnop".split("");

/**
 * Returns a text with ** in place of ^, which is how most people write a power; JavaScript's exclusive or has no use on
 * reals.
 */
export const withPowers = (text: string): string => text.replaceAll("^", "**");

/** Returns the line and column in a text of a position in the text `withPowers`. */
export function placeInFormula(text: string, position: number): { readonly line: number; readonly column: number } {
  let at = 0;
  for (let read = 0; read < position; at++) read += text[at] === "^" ? 2 : 1;
  return { line: text.slice(0, at).split("\n").length, column: at - text.lastIndexOf("\n", at - 1) };
}

/**
 * Returns the value of a number. JavaScript reads 0100 as 64, 0x10 as 16 and 1e400 as infinity, none of which the
 * author of a formula means. @throws the error of `fail`
 */
export function decimalOf(node: any, fail: Fail): number {
  if (!DECIMAL.test(node.raw)) {
    const digits = node.raw.replaceAll("_", "").replace(/^0+(?=\d)/, "");
    const remedy = /^[\d.]+$/.test(digits) ? `write ${digits}` : `write ${node.value}`;
    throw fail(node.start, `${node.raw} is not a decimal number`, remedy);
  }
  if (!Number.isFinite(node.value))
    throw fail(node.start, `${node.raw} is too large`, `the largest number is ${Number.MAX_VALUE}`);
  return node.value;
}

/**
 * Rejects chained comparisons such as `S < 100 < 120`, of which JavaScript would compare the truth value 0 or 1 with
 * 120. @throws the error of `fail`
 */
export function refuseChain({ operator, left }: any, fail: Fail): void {
  if (!COMPARISONS.has(operator) || left.type !== "BinaryExpression" || !COMPARISONS.has(left.operator)) return;
  const remedy = `write a ${left.operator} b && b ${operator} c, or parentheses if a truth is to be compared`;
  throw fail(left.start, `a ${left.operator} b ${operator} c does not compare b with both`, remedy);
}

/** The functions by name that a formula may call in addition to those of the language. */
export type OwnFunctions = Readonly<Record<string, RealFunction<FunctionResult>>>;

/**
 * Returns the name, as kernels know it, of the function that a call expression calls, once the number of its arguments
 * is right. @throws the error of `fail`
 */
export function calleeOf(node: any, own: OwnFunctions, fail: Fail): string {
  const callee = nameOf(node.callee, own, fail);
  const name = callee.replace(/^\w+\./, "");
  const got = node.arguments.length;
  const more = VARIADIC.includes(name);
  const called = Object.hasOwn(own, name) ? own[name] : mathFunctions[name];
  const wanted = more ? 2 : FORMULA_FUNCTIONS.includes(name) ? 1 : (called.params as readonly unknown[]).length;
  if (more ? got < wanted : got !== wanted) {
    const what = `${name} takes ${wanted} ${more ? "arguments or more" : wanted === 1 ? "argument" : "arguments"}`;
    const remedy = `write ${name}(${wanted === 2 ? "a, b" : LETTERS.slice(0, wanted).join(", ")})`;
    throw fail(node.start, `${what}, got ${got}`, remedy);
  }
  return callee;
}

function nameOf(node: any, own: OwnFunctions, fail: Fail): string {
  if (node.type === "ParenthesizedExpression") return nameOf(node.expression, own, fail);
  const isMath = node.type === "MemberExpression" && !node.computed && node.object.name === "Math";
  const name: string = isMath ? node.property.name : node.type === "Identifier" ? node.name : "";
  if (FORMULA_FUNCTIONS.includes(name)) return `Math.${name}`;
  if (Object.hasOwn(mathFunctions, name)) return name in Math ? `Math.${name}` : `gpu.${name}`;
  if (name !== "" && Object.hasOwn(own, name)) return name;
  const known = [...FORMULA_FUNCTIONS, ...Object.keys(mathFunctions), ...Object.keys(own)].toSorted().join(", ");
  throw fail(node.start, `${name || "what is called here"} is an unknown function`, `the functions are ${known}`);
}

/** Returns an error that says why the parser stopped at `position` in a text that is a `what`. */
export function unreadable(text: string, position: number, message: string, what: string): string {
  if (text.slice(position).trim() === "") return `the ${what} ends too early`;
  if (message.startsWith("Not enough stack")) return `the ${what} is nested too deeply`;
  const character = String.fromCodePoint(text.codePointAt(position) as number);
  if (text.startsWith("**", position) && !text.startsWith("**", position - 2))
    return "a power of what has a minus before it: write -(2^2), or (-2)^2";
  if (message.startsWith("Assigning"))
    return "two signs in a row: a space or parentheses between them make two of them";
  return /^Unexpected (token|character)/.test(message)
    ? `unexpected ${text.startsWith("**", position) ? "^" : character}`
    : message.replace(/ \(\d+:\d+\)$/, "");
}
