/** What an analysis of a script's tree finds: where what it does jumps, and which states have few values. */
import { contains, type Expression, partsOf, type Statement } from "./tree.ts";

/** The functions that jump where their argument passes some values. */
const JUMPING: ReadonlySet<string> = new Set(["Math.floor", "Math.ceil", "Math.round", "Math.trunc", "Math.sign"]);

/** A condition that depends on spots, by its event and its position in the event's text. */
export interface Jump {
  readonly event: number;
  readonly position: number;
}

/** What is known about the tree of a script. */
export interface TreeFacts {
  /** The conditions at which what the script does is a discontinuous function of the spots. */
  readonly jumps: readonly Jump[];
  /** The indices of carried numbers whose values are functions of the spots, not only of which conditions held. */
  readonly isReal: ReadonlySet<number>;
}

/**
 * Returns the facts about the events of a script. `spotLike` are the indices of carried numbers that are spots of
 * earlier dates.
 *
 * A number is "real" if a spot enters its value, and "random" if a spot decides which value it has. Both are found by
 * going through all events until nothing changes, since an event reads what others, or itself, have assigned before.
 */
export function factsOf(events: readonly (readonly Statement[])[], spotLike: readonly number[]): TreeFacts {
  const real = new Set<number | string>(spotLike);
  const random = new Set<number | string>(spotLike);
  let jumps: Jump[] = [];
  let mayStop = false;
  const isIn = (set: ReadonlySet<number | string>, expression: Expression): boolean =>
    contains(expression, (one) => {
      if (one.kind === "state") return set.has(one.at);
      return one.kind === "local" ? set.has(one.name) : one.kind === "spot" || one.kind === "rank";
    });
  /** The value of a condition is one of two, so that no spot enters a value through it. */
  const isReal = (expression: Expression): boolean => {
    if (expression.kind === "choice") return isReal(expression.yes) || isReal(expression.no);
    if (expression.kind === "binary" && /^(?:[<>]=?|[=!]==?|&&|\|\|)$/.test(expression.operator)) return false;
    if (expression.kind === "unary" && expression.operator === "!") return false;
    const parts = partsOf(expression);
    return parts.length > 0 ? parts.some(isReal) : isIn(real, expression);
  };
  const visitExpression = (expression: Expression, event: number): void => {
    if (expression.kind === "choice" && isIn(random, expression.test))
      jumps.push({ event, position: expression.position });
    if (expression.kind === "call" && JUMPING.has(expression.callee) && isIn(random, expression))
      jumps.push({ event, position: 0 });
    for (const part of partsOf(expression)) visitExpression(part, event);
  };
  const assign = (to: number | string, value: Expression, isChosen: boolean): void => {
    if (isReal(value)) real.add(to);
    if (isChosen || isIn(random, value)) random.add(to);
  };
  const visit = (statements: readonly Statement[], event: number, isChosen: boolean): void => {
    for (const statement of statements) {
      switch (statement.kind) {
        case "if": {
          visitExpression(statement.test, event);
          const isRandom = isIn(random, statement.test);
          if (isRandom) jumps.push({ event, position: statement.position });
          visit(statement.yes, event, isChosen || isRandom);
          visit(statement.no, event, isChosen || isRandom);
          break;
        }
        case "set":
          visitExpression(statement.value, event);
          assign(statement.at, statement.value, isChosen);
          break;
        case "local":
          visitExpression(statement.value, event);
          assign(statement.name, statement.value, isChosen);
          break;
        case "pay":
          visitExpression(statement.amount, event);
          break;
        case "right":
          visitExpression(statement.value, event);
          break;
        default:
          mayStop ||= isChosen;
      }
    }
  };
  for (let before = -1; before !== real.size + random.size + Number(mayStop);) {
    before = real.size + random.size + Number(mayStop);
    jumps = [];
    events.forEach((statements, event) => visit(statements, event, mayStop));
  }
  return { jumps, isReal: new Set([...real].filter((one) => typeof one === "number")) };
}
