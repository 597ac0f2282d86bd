/**
 * Compiles statements to functions of a work item. Statements that may wait for the rest of the workgroup are
 * generators, which stop at each barrier and subgroup operation; all others are plain functions.
 */
import type { Expr, Place, Stmt, AtomicOp, ScalarType } from "../ir.ts";
import { checkAccess, compileExpr, type CompiledExpr, arrayLocator, type CompileScope } from "./expressions.ts";
import { faultError } from "./faults.ts";
import type { Item } from "./item.ts";
import { binaryOperator } from "./arithmetic.ts";

/** The completion of a statement: normal ("next"), or by `break` or `continue`. */
export type Completion = "next" | "break" | "continue";

/** A statement at which a work item waits for the other items of its workgroup. */
export type CollectiveStmt = Extract<Stmt, { kind: "barrier" | "subgroup" }>;

type Plain = (item: Item) => Completion;
type Waiting = (item: Item) => Generator<CollectiveStmt, Completion, void>;
/**
 * A statement that the interpreter has compiled. `waits` is true if it contains a barrier or a subgroup operation, and
 * `run` then is a generator.
 */
export type CompiledStmt =
  | { readonly waits: false; readonly run: Plain }
  | {
      readonly waits: true;
      readonly run: Waiting;
      readonly collective?: { readonly at: CollectiveStmt; offer: Offer };
    };
/** A function that sets the number which an item gives to others before it waits. */
type Offer = (item: Item) => void;

function plain(run: Plain): CompiledStmt {
  return { waits: false, run };
}

function assign(scope: CompileScope, place: Place, local: number, value: Expr): CompiledStmt {
  const evaluate = compileExpr(scope, place, value);
  return plain((item) => {
    setLocal(item, local, evaluate(item));
    return "next";
  });
}

/** Assigns a value to a local variable of a work item and marks the variable as initialised. */
export function setLocal(item: Item, local: number, value: number): void {
  item.locals[local] = value;
  item.assigned[local] = 1;
}

function store(scope: CompileScope, stmt: Extract<Stmt, { kind: "store" }>): CompiledStmt {
  const locate = arrayLocator(scope, stmt.array);
  const index = compileExpr(scope, stmt.place, stmt.index);
  const value = compileExpr(scope, stmt.place, stmt.value);
  return plain((item) => {
    const array = locate(item);
    const i = index(item);
    const stored = value(item);
    checkAccess(scope, stmt.place, item, array, i, "write", false);
    array.values[i] = stored;
    return "next";
  });
}

/** Compiles an asynchronous copy. It reads the values at once, and makes them available when they arrive. */
function fetch(scope: CompileScope, stmt: Extract<Stmt, { kind: "fetch" }>): CompiledStmt {
  const { place, words } = stmt;
  const [locate, locateFrom] = [arrayLocator(scope, stmt.array), arrayLocator(scope, stmt.from)];
  const [index, fromIndex] = [compileExpr(scope, place, stmt.index), compileExpr(scope, place, stmt.fromIndex)];
  return plain((item) => {
    const [array, from] = [locate(item), locateFrom(item)];
    const [to, first] = [index(item), fromIndex(item)];
    if (to % words !== 0 || first % words !== 0)
      throw faultError(
        scope.ir,
        place,
        item,
        `fetches ${words} elements from ${first} to ${to}: not multiples of ${words}`,
      );
    const values = Array.from({ length: words }, (_, k) => {
      checkAccess(scope, place, item, from, first + k, "read", true);
      checkAccess(scope, place, item, array, to + k, "write", false);
      array.await(to + k);
      return from.values[first + k];
    });
    item.fetches[item.fetches.length - 1].push({ array, index: to, values });
    return "next";
  });
}

function atomic(scope: CompileScope, stmt: Extract<Stmt, { kind: "atomic" }>): CompiledStmt {
  const { op, place, result } = stmt;
  const compile = (e: Expr | null): CompiledExpr => (e === null ? () => 0 : compileExpr(scope, place, e));
  const locate = arrayLocator(scope, stmt.array);
  const [index, value, expected] = [compile(stmt.index), compile(stmt.value), compile(stmt.expected)];
  const needsValue = op !== "store" && !(op === "exchange" && result === null);
  const combine = atomicOperator(op, stmt.value?.type ?? "i32");
  return plain((item) => {
    const array = locate(item);
    const i = index(item);
    const [operand, comparand] = [value(item), expected(item)];
    checkAccess(scope, place, item, array, i, op === "load" ? "atomicRead" : "atomicWrite", needsValue);
    const old = array.values[i];
    if (op !== "load") array.values[i] = combine(old, operand, comparand);
    if (result !== null) setLocal(item, result, old);
    return "next";
  });
}

function choice(scope: CompileScope, stmt: Extract<Stmt, { kind: "if" }>): CompiledStmt {
  const condition = compileExpr(scope, stmt.place, stmt.condition);
  const then = compileBlock(scope, stmt.then);
  const otherwise = compileBlock(scope, stmt.else);
  if (!then.waits && !otherwise.waits) {
    return plain((item) => (condition(item) === 0 ? otherwise.run(item) : then.run(item)));
  }
  return {
    waits: true,
    *run(item) {
      const step = condition(item) === 0 ? otherwise : then;
      return step.waits ? yield* step.run(item) : step.run(item);
    },
  };
}

/**
 * Runs a compiled statement as a generator. Statements that cannot wait are run without one where possible, because
 * every resumption passes through all nested generators.
 */
export function* runStatement(step: CompiledStmt, item: Item): Generator<CollectiveStmt, Completion, void> {
  return step.waits ? yield* step.run(item) : step.run(item);
}

function loop(scope: CompileScope, stmt: Extract<Stmt, { kind: "loop" }>): CompiledStmt {
  const proceeds = loopTest(scope, stmt);
  const [init, body, update] = [stmt.init, stmt.body, stmt.update].map((block) => compileBlock(scope, block));
  if (init.waits || body.waits || update.waits) return waitingLoop(init, proceeds, body, update);
  return plain((item) => {
    for (init.run(item); proceeds(item); update.run(item)) {
      if (body.run(item) === "break") break;
    }
    return "next";
  });
}

function waitingLoop(
  init: CompiledStmt,
  proceeds: (item: Item) => boolean,
  body: CompiledStmt,
  update: CompiledStmt,
): CompiledStmt {
  return {
    waits: true,
    *run(item) {
      if (init.waits) yield* init.run(item);
      else init.run(item);
      while (proceeds(item)) {
        const flow = body.waits ? yield* body.run(item) : body.run(item);
        if (flow === "break") break;
        if (update.waits) yield* update.run(item);
        else update.run(item);
      }
      return "next";
    },
  };
}

function loopTest(scope: CompileScope, { test, place }: Extract<Stmt, { kind: "loop" }>): (item: Item) => boolean {
  const evaluate = test === null ? () => 1 : compileExpr(scope, place, test);
  return (item) => {
    if (item.iterationsLeft-- <= 0)
      throw faultError(scope.ir, place, item, "has made too many loop iterations: the loop seems not to end");
    return evaluate(item) !== 0;
  };
}

/**
 * Compiles a subgroup operation. The item computes the number that it gives to others, then waits; the workgroup does
 * the rest.
 */
function subgroup(scope: CompileScope, stmt: Extract<Stmt, { kind: "subgroup" }>): CompiledStmt {
  const value = compileExpr(scope, stmt.place, stmt.value);
  const operand = stmt.operand === null ? () => 0 : compileExpr(scope, stmt.place, stmt.operand);
  return collective(stmt, (item) => {
    item.offered = value(item);
    item.operand = operand(item);
  });
}

function collective(at: CollectiveStmt, offer: Offer): CompiledStmt {
  return {
    waits: true,
    collective: { at, offer },
    *run(item) {
      offer(item);
      yield at;
      return "next";
    },
  };
}

function compileStmt(scope: CompileScope, stmt: Stmt): CompiledStmt {
  switch (stmt.kind) {
    case "assign":
      return assign(scope, stmt.place, stmt.local, stmt.value);
    case "store":
      return store(scope, stmt);
    case "if":
      return choice(scope, stmt);
    case "loop":
      return loop(scope, stmt);
    case "break":
      return plain(() => "break");
    case "continue":
      return plain(() => "continue");
    case "barrier":
      return collective(stmt, () => {});
    case "fetch":
      return fetch(scope, stmt);
    case "atomic":
      return atomic(scope, stmt);
    case "subgroup":
      return subgroup(scope, stmt);
    default:
      throw new TypeError(`IR: unknown statement ${(stmt satisfies never as Stmt).kind}`);
  }
}

/** Compiles a list of statements to JavaScript functions for the interpreter. */
export function compileBlock(scope: CompileScope, stmts: readonly Stmt[]): CompiledStmt {
  const steps = stmts.map((stmt) => compileStmt(scope, stmt));
  const runs: Plain[] = [];
  for (const step of steps) if (!step.waits) runs.push(step.run);
  if (runs.length === steps.length) return plainBlock(runs);
  return steps.length === 1 ? steps[0] : waitingBlock(steps);
}

function plainBlock(runs: readonly Plain[]): CompiledStmt {
  return plain((item) => {
    for (const run of runs) {
      const flow = run(item);
      if (flow !== "next") return flow;
    }
    return "next";
  });
}

function waitingBlock(steps: readonly CompiledStmt[]): CompiledStmt {
  return {
    waits: true,
    *run(item) {
      for (const step of steps) {
        if (!step.waits) {
          const flow = step.run(item);
          if (flow !== "next") return flow;
        } else if (step.collective !== undefined) {
          // Most waits, without a generator of their own.
          step.collective.offer(item);
          yield step.collective.at;
        } else {
          const flow = yield* step.run(item);
          if (flow !== "next") return flow;
        }
      }
      return "next";
    },
  };
}

/**
 * The function that computes the new value of an element in an atomic operation from its old value and the operands.
 */
type Combine = (old: number, value: number, expected: number) => number;

/** Returns the interpreter's function for an atomic operation. */
function atomicOperator(op: AtomicOp, type: ScalarType): Combine {
  switch (op) {
    case "load":
      return (old) => old;
    case "store":
    case "exchange":
      return (_, value) => value;
    case "compareExchange":
      return (old, value, expected) => (old === expected ? value : old);
    default: {
      const combine = binaryOperator(op, type, (x) => x); // never on reals, so nothing is rounded
      return (old, value) => combine(old, value); // Math.min would look at a third argument
    }
  }
}
