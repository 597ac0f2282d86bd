/** The tree of a script: typed expressions and statements of single numbers, however the script is written. */

/** An expression whose value is one number or one truth value. */
export type Expression =
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "truth"; readonly value: boolean }
  /** The spot of an underlying, by index. */
  | { readonly kind: "spot"; readonly asset: number }
  /** The performance S/S0 at a place when all are sorted, the largest at place 0. */
  | { readonly kind: "rank"; readonly place: number }
  /** A number that is carried from event to event, by its index (`Program.running`). */
  | { readonly kind: "state"; readonly at: number }
  /** A number of the data; `part` is the underlying of data that have one for each, 0 for others. */
  | { readonly kind: "data"; readonly name: string; readonly part: number }
  /** The number of a list of the data that belongs to the date of the event. */
  | { readonly kind: "dated"; readonly name: string }
  /** The time of the event in years from `asOf`. */
  | { readonly kind: "time" }
  | { readonly kind: "local"; readonly name: string; readonly isTruth: boolean }
  | { readonly kind: "unary"; readonly operator: "-" | "!"; readonly of: Expression }
  | { readonly kind: "binary"; readonly operator: string; readonly left: Expression; readonly right: Expression }
  /** `position` is that of the condition in the event's text, for reports of jumps. */
  | {
      readonly kind: "choice";
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
      readonly position: number;
    }
  /** A call of a function of the kernel language, by its name there. */
  | { readonly kind: "call"; readonly callee: string; readonly args: readonly Expression[] };

/** A statement of an event. */
export type Statement =
  | { readonly kind: "set"; readonly at: number; readonly value: Expression }
  | { readonly kind: "local"; readonly name: string; readonly value: Expression; readonly isNew: boolean }
  | {
      readonly kind: "if";
      readonly test: Expression;
      readonly yes: readonly Statement[];
      readonly no: readonly Statement[];
      /** The position of the condition in the event's text, for reports of jumps. */
      readonly position: number;
    }
  /** A payment to the holder; `site` is the index of the call of `pay` in the script. */
  | { readonly kind: "pay"; readonly site: number; readonly amount: Expression }
  | { readonly kind: "stop" }
  /** The holder's right to end the trade for a value (exercise), or the issuer's (call). */
  | { readonly kind: "right"; readonly of: "exercise" | "call"; readonly value: Expression };

/** Returns the expressions of which an expression consists. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "unary":
      return [expression.of];
    case "binary":
      return [expression.left, expression.right];
    case "choice":
      return [expression.test, expression.yes, expression.no];
    case "call":
      return expression.args;
    default:
      return [];
  }
}

/** Tells whether an expression, or one that it contains, passes a test. */
export const contains = (expression: Expression, test: (one: Expression) => boolean): boolean =>
  test(expression) || partsOf(expression).some((part) => contains(part, test));
