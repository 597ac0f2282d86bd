/**
 * Reverse mode: values first, then the adjoints backwards through the statements.
 *
 * Each statement is rewritten so that the values which its derivative needs stay in variables of their own, and leaves
 * a step behind. The steps are then run from the last to the first. In a loop with a known number of rounds, these
 * variables become arrays with an element for each round.
 *
 * An array has an array of adjoints. A load adds to the element's adjoint, and a store takes it and leaves zero. What
 * an array held before a store is not restored: the values that adjoints need are in variables.
 */
import { type Draft, type DraftStatement, forEachDraft } from "../frontend/draft.ts";
import { typeVariable } from "../frontend/types.ts";
import type { Place } from "../ir.ts";
import { type ExpressionBuilder, isLeaf } from "./algebra.ts";
import {
  type ActiveVariables,
  isActive,
  keyOfArray,
  type LinearisedExpr,
  Linearisation,
  propagateActivity,
  type TangentArray,
} from "./linearise.ts";
import { partialsOf } from "./partials.ts";

/** Appends the statements that take the adjoints of a statement's results to those of its operands. */
type Step = (out: DraftStatement[], isNested: boolean) => void;

/** The largest number of values that a loop may keep for its way back. */
const MAX_KEPT = 16_384;

/** A loop on its way back: the number of its rounds at most, and those run so far, forwards and backwards. */
interface Round {
  readonly rounds: number;
  readonly forward: Draft;
  readonly backward: Draft;
}

/** The differentiation of a list of statements in reverse mode. */
export class ReverseDifferentiation {
  private readonly make: ExpressionBuilder;
  private readonly active: ActiveVariables;
  private readonly linearisation: Linearisation;
  /** The variable that holds the adjoint of each local variable, by the number of the latter. */
  private readonly adjoints = new Map<number, number>();
  /** The array that holds the adjoints of each active array, by `keyOfArray`. */
  private readonly arrays: Map<string, TangentArray>;
  /** The adjoints that have to be zero before the first step. */
  private readonly zeroed: number[] = [];
  /** The statements that set the adjoints of the function's own arrays to zero. */
  private readonly cleared: DraftStatement[] = [];
  private readonly steps: Step[] = [];
  /** The loops around the step that is being run, from the outermost one. */
  private readonly around: Round[] = [];

  /**
   * @param inputs the local variables whose adjoints are wanted
   * @param arrays the arrays whose adjoints are wanted, by `keyOfArray`, and the arrays that hold these
   */
  constructor(make: ExpressionBuilder, inputs: readonly number[], arrays: ReadonlyMap<string, TangentArray>) {
    this.make = make;
    this.arrays = new Map(arrays);
    this.active = { locals: new Set(inputs), arrays: new Set(arrays.keys()) };
    this.linearisation = new Linearisation(make, { active: this.active, isReverse: true });
  }

  /** Returns the statements, rewritten so that all values that the adjoints need are kept. */
  forward(statements: readonly DraftStatement[]): DraftStatement[] {
    propagateActivity(statements, this.active);
    for (const key of this.active.arrays)
      if (!this.arrays.has(key)) {
        const ref = this.make.shadow(key, "adjoints", "name it in `of`, too, and pass an array for its adjoints");
        this.arrays.set(key, { ref });
        this.make.clear(ref, this.cleared);
      }
    return this.list(statements, this.steps);
  }

  /**
   * Returns the statements that compute the adjoints of the inputs.
   * @param results expressions of the statements, and their adjoints
   */
  backward(results: readonly (readonly [Draft, Draft])[]): DraftStatement[] {
    const out: DraftStatement[] = [];
    for (const [result, adjoint] of results) this.push(this.linearisation.of(result, out), adjoint, out, false);
    for (const step of this.steps.toReversed()) step(out, false);
    const zeros: DraftStatement[] = [];
    for (const id of this.zeroed) this.make.assign(id, this.make.constant(0), zeros);
    return [...zeros, ...this.cleared, ...out];
  }

  /** Returns the adjoint of a local variable after `backward`. */
  adjointOf(local: number): Draft {
    const id = this.adjoints.get(local);
    return id === undefined ? this.make.constant(0) : this.make.local(id);
  }

  private list(statements: readonly DraftStatement[], steps: Step[]): DraftStatement[] {
    const out: DraftStatement[] = [];
    for (const s of statements) this.statement(s, out, steps);
    return out;
  }

  private statement(s: DraftStatement, out: DraftStatement[], steps: Step[]): void {
    switch (s.kind) {
      case "assign": {
        const linear = this.linearisation.of(s.value, out);
        out.push({ ...s, value: linear.value });
        if (this.active.locals.has(s.local))
          steps.push((back, isNested) => this.assigned(s.local, linear, back, isNested));
        return;
      }
      case "call":
        out.push(s);
        if (this.active.locals.has(s.result)) steps.push((back, isNested) => this.called(s, back, isNested));
        return;
      case "store":
        return this.stored(s, out, steps);
      case "if":
        return this.branch(s, out, steps);
      case "loop":
        return this.loop(s, out, steps);
      case "break":
      case "continue":
        throw this.refused(s.place, "break, continue or return in a loop", "write if … else, or use tangent(…)");
      default:
        throw this.refused(
          s.place,
          `${WORDS[s.kind]} in a function with a gradient`,
          "return the values, or use tangent(…)",
        );
    }
  }

  private assigned(local: number, linear: LinearisedExpr, out: DraftStatement[], isNested: boolean): void {
    const adjoint = this.taken(local, out, isNested);
    if (adjoint !== undefined) this.push(linear, adjoint, out, isNested);
  }

  private stored(s: Extract<DraftStatement, { kind: "store" }>, out: DraftStatement[], steps: Step[]): void {
    const adjoints = this.arrays.get(keyOfArray(s.array));
    if (adjoints === undefined) return void out.push(s);
    const { make } = this;
    const linear = this.linearisation.of(s.value, out);
    const index = this.linearisation.lasting(s.index, out);
    out.push({ ...s, index, value: linear.value });
    const at = make.shifted(index, adjoints.offset);
    steps.push((back, isNested) => {
      const adjoint = make.ctx.settle(make.node, make.load(adjoints.ref, at), back, "adjoint");
      back.push({ ...s, array: adjoints.ref, index: at, value: make.constant(0) });
      this.push(linear, adjoint, back, isNested);
    });
  }

  private called(s: Extract<DraftStatement, { kind: "call" }>, out: DraftStatement[], isNested: boolean): void {
    const adjoint = this.taken(s.result, out, isNested);
    if (adjoint === undefined) return;
    const active = s.args.map((arg) => isActive(arg, this.active));
    const partials = partialsOf(this.make, s, active, out);
    for (const [k, arg] of s.args.entries())
      if (active[k] && arg.kind === "local")
        this.accumulate(arg.id, this.make.guarded(adjoint, partials[k]!), out, isNested);
  }

  /** Returns the adjoint of a variable that is about to get its value, on the way back; it is zero before. */
  private taken(local: number, out: DraftStatement[], isNested: boolean): Draft | undefined {
    const id = this.adjoints.get(local);
    if (id === undefined) return undefined;
    const adjoint = this.make.local(id);
    if (!isNested && this.make.ctx.settled.has(local)) return adjoint;
    const taken = this.make.ctx.settle(this.make.node, adjoint, out, "adjoint");
    this.make.assign(id, this.make.constant(0), out);
    return taken;
  }

  private branch(s: Extract<DraftStatement, { kind: "if" }>, out: DraftStatement[], steps: Step[]): void {
    const condition =
      s.condition.kind === "const" ? s.condition : this.make.ctx.settle(this.make.node, s.condition, out, "c");
    const [thenSteps, elseSteps]: [Step[], Step[]] = [[], []];
    out.push({ ...s, condition, then: this.list(s.then, thenSteps), else: this.list(s.else, elseSteps) });
    if (thenSteps.length + elseSteps.length === 0) return;
    steps.push((back) => {
      const [yes, no] = [thenSteps, elseSteps].map((list) => backwards(list)) as [DraftStatement[], DraftStatement[]];
      back.push({ kind: "if", condition, then: yes, else: no, place: s.place });
    });
  }

  private loop(s: Extract<DraftStatement, { kind: "loop" }>, out: DraftStatement[], steps: Step[]): void {
    const inner: Step[] = [];
    const init = this.list(s.init, steps);
    // The test, the body and the update make a round; its steps come back in one go.
    const body = this.list([...s.body, ...s.update], inner);
    if (inner.length === 0) return void out.push(...init, { ...s, init: [], body, update: [] });
    if (s.rounds === undefined)
      throw this.refused(
        s.place,
        "a loop with an unknown number of rounds",
        "give it constant bounds, or use tangent(…)",
      );
    const forward = this.counter("round");
    const backward = this.counter("back");
    const { rounds, place } = s;
    const before = [forward.set(this.integer(0))];
    out.push(...init, { ...s, init: before, body, update: [forward.step("add")] });
    steps.push((back) => {
      for (const id of assignedIn(body)) if (this.active.locals.has(id)) this.accumulated(id, true);
      this.around.push({ rounds, forward: forward.value, backward: backward.value });
      const inwards = backwards(inner);
      const restored = this.keep(before, body, inwards, place);
      this.around.pop();
      back.push({
        kind: "loop",
        init: [backward.set(forward.value)],
        test: this.make.compare("gt", backward.value, this.integer(0)),
        body: [backward.step("sub"), ...restored, ...inwards],
        update: [],
        place,
      });
    });
  }

  private integer(value: number): Draft {
    return this.make.ctx.draft(this.make.node, typeVariable("i32"), { kind: "const", value });
  }

  /** Makes a local variable that counts rounds, and the statements that set it and move it by one. */
  private counter(name: string) {
    const { ctx, node } = this.make;
    const local = ctx.newLocal(name, typeVariable("i32"));
    const value = ctx.local(node, local);
    const set = (to: Draft): DraftStatement => ({ kind: "assign", local, value: to, place: ctx.place(node) });
    const step = (op: "add" | "sub"): DraftStatement =>
      set(ctx.draft(node, value.type, { kind: "binary", op, a: value, b: this.integer(1) }));
    return { value, set, step };
  }

  /**
   * Stores, at the end of a loop's body, the variables that its way back reads, in arrays with an element for each
   * round. Returns the statements that take them out again.
   * @param before the statements before the first round
   */
  private keep(
    before: DraftStatement[],
    body: DraftStatement[],
    inwards: readonly DraftStatement[],
    place: Place,
  ): DraftStatement[] {
    const { make, around } = this;
    const read = new Set<number>();
    forEachDraft(inwards, (d) => void (d.kind === "local" && read.add(d.id)));
    const own = new Set(assignedIn(inwards));
    const kept = [...new Set(assignedIn(body))].filter((id) => read.has(id) && !own.has(id));
    const length = around.reduce((total, { rounds }) => total * rounds, 1);
    if (kept.length * length > MAX_KEPT)
      throw this.refused(place, `a loop that keeps ${kept.length * length} values for its way back`, "use tangent(…)");
    const binary = (op: "add" | "mul", a: Draft, b: Draft): Draft =>
      make.ctx.draft(make.node, typeVariable("i32"), { kind: "binary", op, a, b });
    const index = (side: "forward" | "backward"): Draft =>
      around
        .slice(1)
        .reduce((at, one) => binary("add", binary("mul", at, this.integer(one.rounds)), one[side]), around[0][side]);
    return kept.map((id) => {
      const { name, type } = make.ctx.locals[id];
      const resolved = type.resolve();
      type.unify(typeVariable(resolved));
      const element = resolved === "bool" ? "i32" : resolved;
      const array = {
        space: "private",
        id: make.ctx.privates.push({ name: `${name}Kept`, element, length }) - 1,
      } as const;
      const value = make.ctx.local(make.node, id);
      // A variable of a branch may have no value yet when it is stored.
      const none = make.ctx.draft(make.node, type, { kind: "const", value: resolved === "bool" ? false : 0 });
      before.push({ kind: "assign", local: id, value: none, place });
      const flag = typeVariable("i32");
      const stored: Draft =
        resolved === "bool"
          ? make.ctx.draft(make.node, flag, {
              kind: "select",
              condition: value,
              a: this.integer(1),
              b: this.integer(0),
            })
          : value;
      body.push({ kind: "store", array, index: index("forward"), value: stored, place });
      const load = make.ctx.draft(make.node, resolved === "bool" ? flag : type, {
        kind: "load",
        array,
        index: index("backward"),
      });
      const loaded = resolved === "bool" ? make.compare("ne", load, this.integer(0)) : load;
      return { kind: "assign", local: id, value: loaded, place };
    });
  }

  /** Adds an adjoint times the partial derivatives of an expression to the adjoints of its variables. */
  private push({ rule }: LinearisedExpr, adjoint: Draft, out: DraftStatement[], isNested: boolean): void {
    if (rule === undefined) return;
    const { make } = this;
    switch (rule.kind) {
      case "local":
        return this.accumulate(rule.id, adjoint, out, isNested);
      case "sum": {
        const shared = rule.terms.length > 1 ? make.keep(adjoint, out, "adjoint") : adjoint;
        for (const { of, times } of rule.terms) this.push(of, times(shared, out), out, isNested);
        return;
      }
      case "choice": {
        const shared = isLeaf(adjoint) ? adjoint : make.keep(adjoint, out, "adjoint");
        if (rule.isBranch) {
          const [yes, no] = [rule.a, rule.b].map((side) => {
            const list: DraftStatement[] = [];
            this.push(side, shared, list, true);
            return list;
          });
          out.push({ kind: "if", condition: rule.condition, then: yes, else: no, place: make.ctx.place(make.node) });
          return;
        }
        this.push(rule.a, make.select(rule.condition, shared, undefined)!, out, isNested);
        this.push(rule.b, make.select(rule.condition, undefined, shared)!, out, isNested);
        return;
      }
      case "load": {
        const { ref, offset } = this.arrays.get(keyOfArray(rule.array))!;
        const index = make.shifted(rule.index, offset);
        const value = make.add(make.load(ref, index), adjoint)!;
        out.push({ kind: "store", array: ref, index, value, place: make.ctx.place(make.node) });
        return;
      }
      default:
        rule satisfies never;
    }
  }

  private accumulate(local: number, change: Draft, out: DraftStatement[], isNested: boolean): void {
    const isFirst = !this.adjoints.has(local);
    const id = this.accumulated(local, isNested);
    const { make } = this;
    make.assign(id, isFirst && !isNested ? change : make.add(make.local(id), change)!, out);
  }

  private accumulated(local: number, needsZero: boolean): number {
    let id = this.adjoints.get(local);
    if (id === undefined) {
      id = this.make.newLocal(`${this.make.ctx.locals[local].name}_adjoint`);
      this.adjoints.set(local, id);
      if (needsZero) this.zeroed.push(id);
    }
    return id;
  }

  private refused(place: Place, what: string, remedy: string): Error {
    const { ctx, node } = this.make;
    return ctx.fail(node, `${what} has no adjoint (${ctx.units[place.source].name}, line ${place.line})`, remedy);
  }
}

/** Runs steps from the last to the first, inside of a branch or a loop. */
function backwards(steps: readonly Step[]): DraftStatement[] {
  const out: DraftStatement[] = [];
  for (const step of steps.toReversed()) step(out, true);
  return out;
}

/** The local variables that statements assign, in order. */
function assignedIn(statements: readonly DraftStatement[]): number[] {
  return statements.flatMap((s) => {
    if (s.kind === "assign") return [s.local];
    if (s.kind === "call") return [...assignedIn(s.body), s.result];
    if (s.kind === "if") return [...assignedIn(s.then), ...assignedIn(s.else)];
    if (s.kind === "loop") return [s.init, s.body, s.update].flatMap(assignedIn);
    return [];
  });
}

const WORDS: Readonly<Record<string, string>> = {
  atomic: "an atomic operation",
  barrier: "a barrier",
  subgroup: "an exchange between work items",
  fetch: "gpu.fetch",
};
