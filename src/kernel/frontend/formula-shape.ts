/** Replaces the numbers of a formula by variables. */
import { FORMULA_CONSTANTS } from "./formula-names.ts";
import { isLiftable } from "./literals.ts";

/** The functions that are evaluated here if their arguments are numbers, as the front end does. */
const FOLDED: Readonly<Record<string, (...args: number[]) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  floor: Math.floor,
  max: Math.max,
  min: Math.min,
  sqrt: Math.sqrt,
  trunc: Math.trunc,
};
const COMPARISON = /^(?:[<>]=?|[=!]==?)$/;

/**
 * Returns a formula's syntax tree in which numbers are replaced by variables `$0`, `$1`, …, with the values of these
 * numbers. They are the numbers that `liftLiterals` would replace, but that function would have to lower the formula.
 * `variables` are the names of the formula's own variables.
 */
export function liftNumbers(
  root: any,
  variables: readonly string[],
): { readonly root: any; readonly values: number[] } {
  const values: number[] = [];

  /** The value of a constant expression; undefined for any other expression. */
  const folded = (node: any): number | undefined => {
    switch (node.type) {
      case "Literal":
        return node.value as number;
      case "Identifier":
        return variables.includes(node.name as string) ? undefined : FORMULA_CONSTANTS[node.name];
      case "ParenthesizedExpression":
        return folded(node.expression);
      case "UnaryExpression": {
        const value = node.operator === "!" ? undefined : folded(node.argument);
        return value === undefined || node.operator === "+" ? value : -value;
      }
      case "BinaryExpression":
        return binary(node.operator as string, folded(node.left), folded(node.right));
      case "CallExpression": {
        const args: (number | undefined)[] = node.arguments.map(folded);
        const f = FOLDED[nameOf(node)];
        return f === undefined || args.includes(undefined) ? undefined : f(...(args as number[]));
      }
      default:
        return undefined;
    }
  };

  const lift = (node: any): any => {
    const value = folded(node);
    if (value !== undefined) {
      if (!isLiftable(value)) return node;
      return { type: "Identifier", name: `$${values.push(value) - 1}`, start: node.start };
    }
    /** Lifts a subexpression unless it is constant. Where the code depends on a number, it must remain a number. */
    const unlessNumber = (child: any): any => (folded(child) === undefined ? lift(child) : child);
    switch (node.type) {
      case "ParenthesizedExpression":
        return lift(node.expression);
      case "UnaryExpression":
        return { ...node, argument: lift(node.argument) };
      case "BinaryExpression": {
        const { left, right, operator } = node;
        const isTruth =
          COMPARISON.test(operator as string) && folded(left) !== undefined && folded(right) !== undefined;
        if (isTruth) return node;
        return { ...node, left: lift(left), right: operator === "**" ? unlessNumber(right) : lift(right) };
      }
      case "LogicalExpression":
        return { ...node, left: unlessNumber(node.left), right: unlessNumber(node.right) };
      case "ConditionalExpression":
        return {
          ...node,
          test: unlessNumber(node.test),
          consequent: lift(node.consequent),
          alternate: lift(node.alternate),
        };
      case "CallExpression": {
        const [first, ...rest] = node.arguments;
        return { ...node, arguments: [lift(first), ...rest.map(nameOf(node) === "pow" ? unlessNumber : lift)] };
      }
      default:
        return node;
    }
  };

  return { root: lift(root), values };
}

function binary(operator: string, a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "**":
      return a ** b;
    default:
      return undefined;
  }
}

/** Returns the name of the function that a call expression calls, without parentheses and `Math`. */
function nameOf({ callee }: any): string {
  let called = callee;
  while (called.type === "ParenthesizedExpression") called = called.expression;
  return called.property?.name ?? called.name;
}
