/** The statements of a compiled script as text of the kernel language. */
import { ALIVE, PAID } from "./names.ts";
import type { DatedColumn, Program } from "./program.ts";
import { contains, type Expression, partsOf, type Statement } from "./tree.ts";

/**
 * Returns the kernel statements of one date: they read the spots `spots`, carry `running` (`Program.running`), and read
 * the numbers of the data `p`, from index `Program.running` on, those of the date `q` (`Program.columns`), and the
 * discount factor to the date `discount`.
 */
export function dateText(program: Program): string {
  const { events, initialAt, lastAt, stops, letters, rightAt } = program;
  const start =
    initialAt === undefined
      ? []
      : [
          `if (${happens(program, "start")}) {`,
          ...letters.map((_, k) => `running[${initialAt + k}] = spots[${k}];`),
          ...(lastAt === undefined ? [] : letters.map((_, k) => `running[${lastAt + k}] = spots[${k}];`)),
          "}",
        ];
  const texts = events.map(({ body }, event) => {
    const isAlive = stops ? ` && running[${ALIVE}] > 0.5` : "";
    const ranks = body.some(usesRanks) ? sortedPerformances(program) : [];
    const inner = [...ranks, ...new Emitter(program, event).list(body)];
    return `if (${happens(program, event)}${isAlive}) {\n${inner.join("\n")}\n}`;
  });
  if (rightAt === undefined) return [...start, ...texts].join("\n");
  return [`running[${rightAt}] = 0;`, ...start, ...texts, ...(stops ? lastChance(rightAt) : [])].join("\n");
}

/** A right of a date on which the trade stops is used there, or never: nothing comes that it could wait for. */
const lastChance = (rightAt: number): readonly string[] => [
  `if (running[${ALIVE}] < 0.5) {`,
  `if (running[${rightAt}] * (running[${rightAt + 1}] - running[${PAID}]) > 0) {`,
  `running[${PAID}] = running[${rightAt + 1}];`,
  "}",
  `running[${rightAt}] = 0;`,
  "}",
];

const happens = (program: Program, event: number | "start"): string =>
  `q[${columnOf(program, (one) => one.kind === "happens" && one.event === event)}] > 0.5`;

const columnOf = ({ columns }: Program, is: (one: DatedColumn) => boolean): number => columns.findIndex(is);

/** Declares r0, r1 …, the performances S/S0 from the largest down, by exchanges of neighbours. */
function sortedPerformances({ letters, initialAt }: Program): readonly string[] {
  const count = letters.length;
  const lines = letters.map((_, k) => `let r${k} = spots[${k}] / running[${initialAt! + k}];`);
  for (let end = count - 1; end > 0; end--)
    for (let k = 0; k < end; k++)
      lines.push(
        `const x${end}_${k} = Math.max(r${k}, r${k + 1});`,
        `r${k + 1} = Math.min(r${k}, r${k + 1});`,
        `r${k} = x${end}_${k};`,
      );
  return lines;
}

function usesRanks(statement: Statement): boolean {
  const isRank = (one: Expression): boolean => one.kind === "rank";
  switch (statement.kind) {
    case "if":
      return contains(statement.test, isRank) || [...statement.yes, ...statement.no].some(usesRanks);
    case "set":
    case "local":
    case "right":
      return contains(statement.value, isRank);
    case "pay":
      return contains(statement.amount, isRank);
    default:
      return false;
  }
}

/**
 * Returns the side of a holder's right. Where the script pays nothing else and the issuer has no right, going on is
 * never worth less than 0, so that there is a right where it pays: continuation values are only regressed on such
 * paths.
 */
function holds({ sites, rights, rightAt }: Program): string {
  const isAll = sites.length === 0 && rights.every(({ of }) => of === "exercise");
  return isAll ? `(running[${rightAt! + 1}] > 0.0 ? 1.0 : 0.0)` : "1.0";
}

/** Tells whether a statement may stop the trade. */
const mayStop = (statement: Statement): boolean =>
  statement.kind === "stop" || (statement.kind === "if" && [...statement.yes, ...statement.no].some(mayStop));

class Emitter {
  readonly #program: Program;
  readonly #event: number;

  constructor(program: Program, event: number) {
    this.#program = program;
    this.#event = event;
  }

  /** What follows a statement that may stop the trade runs only where it has not. */
  list(statements: readonly Statement[]): readonly string[] {
    const stop = statements.findIndex(mayStop);
    if (stop < 0) return statements.flatMap((one) => this.#statement(one));
    const before = statements.slice(0, stop + 1).flatMap((one) => this.#statement(one));
    const after = statements.slice(stop + 1);
    if (after.length === 0 || statements[stop].kind === "stop") return before;
    return [...before, `if (running[${ALIVE}] > 0.5) {`, ...this.list(after), "}"];
  }

  #statement(statement: Statement): readonly string[] {
    switch (statement.kind) {
      case "set":
        return [`running[${statement.at}] = ${this.#carried(statement.value)};`];
      case "local": {
        const { isNew, name, value } = statement;
        return [`${isNew ? "let " : ""}${name} = ${this.#text(value)};`];
      }
      case "if": {
        const { test, yes, no } = statement;
        const otherwise = no.length === 0 ? [] : ["} else {", ...this.list(no)];
        return [`if (${this.#text(test)}) {`, ...this.list(yes), ...otherwise, "}"];
      }
      case "pay": {
        const { amount, site } = statement;
        const { rate } = this.#program.sites[site];
        const column = columnOf(this.#program, (one) => one.kind === "delay" && one.site === site);
        const factor = column < 0 ? "discount" : `discount * q[${column}]`;
        const spot = rate === undefined ? "" : ` ${rate.power > 0 ? "*" : "/"} spots[${rate.asset}]`;
        return [`running[${PAID}] = running[${PAID}] + (${this.#text(amount)}) * ${factor}${spot};`];
      }
      case "stop":
        return [`running[${ALIVE}] = 0;`];
      case "right": {
        // Of several values on a date the best one counts, for the side whose right it is.
        const at = this.#program.rightAt!;
        const [side, best] = statement.of === "exercise" ? [holds(this.#program), "Math.max"] : ["-1.0", "Math.min"];
        const stopped = `running[${PAID}] + (${this.#text(statement.value)}) * discount`;
        return [
          `running[${at + 1}] = running[${at}] == 0 ? ${stopped} : ${best}(running[${at + 1}], ${stopped});`,
          `running[${at}] = ${side};`,
        ];
      }
      default:
        return statement satisfies never;
    }
  }

  /** A flag is carried as 1 or 0. */
  #carried(value: Expression): string {
    return this.#isTruth(value) ? `(${this.#text(value)} ? 1.0 : 0.0)` : this.#text(value);
  }

  #isTruth(value: Expression): boolean {
    switch (value.kind) {
      case "truth":
        return true;
      case "unary":
        return value.operator === "!";
      case "binary":
        return /^(?:[<>]=?|[=!]==?|&&|\|\|)$/.test(value.operator);
      case "choice":
        return this.#isTruth(value.yes);
      case "state":
        return this.#isFlag(value.at);
      case "local":
        return value.isTruth;
      default:
        return false;
    }
  }

  #isFlag(at: number): boolean {
    return this.#program.states.some((one) => one.type === "truth" && at >= one.at && at < one.at + one.count);
  }

  #text(expression: Expression): string {
    const parts = partsOf(expression).map((part) => this.#text(part));
    switch (expression.kind) {
      case "number":
        return numberText(expression.value);
      case "truth":
        return String(expression.value);
      case "spot":
        return `spots[${expression.asset}]`;
      case "rank":
        return `r${expression.place}`;
      case "state":
        return this.#isFlag(expression.at) ? `(running[${expression.at}] > 0.5)` : `running[${expression.at}]`;
      case "data": {
        const { scalars, running } = this.#program;
        const at = scalars.findIndex(({ name, part }) => name === expression.name && part === expression.part);
        return `p[${running + at}]`;
      }
      case "dated": {
        const isOwn = (one: DatedColumn): boolean =>
          one.kind === "dated" && one.event === this.#event && one.name === expression.name;
        return `q[${columnOf(this.#program, isOwn)}]`;
      }
      case "time":
        return `q[${columnOf(this.#program, ({ kind }) => kind === "time")}]`;
      case "local":
        return expression.name;
      case "unary":
        return `(${expression.operator}${parts[0]})`;
      case "binary":
        return `(${parts[0]} ${expression.operator} ${parts[1]})`;
      case "choice":
        return `(${parts[0]} ? ${parts[1]} : ${parts[2]})`;
      case "call":
        return `${expression.callee}(${parts.join(", ")})`;
      default:
        return expression satisfies never;
    }
  }
}

/** A number as a real of the kernel language, in which 1 is one of either kind. */
const numberText = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));
