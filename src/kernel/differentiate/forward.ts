/** Forward mode: tangents are computed beside the values, statement by statement, in several directions at once. */
import type { Draft, DraftStatement } from "../frontend/draft.ts";
import type { ExpressionBuilder, DraftDerivative } from "./algebra.ts";
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

/**
 * The tangents in one direction: the tangents of local variables by number, and the tangents of arrays by `keyOfArray`.
 */
export interface DirectionTangents {
  readonly locals: Map<number, Draft>;
  readonly arrays: Map<string, TangentArray>;
}

const SHADOW_REMEDY = "name it in `of`, too, and pass an array for its tangents";
const LINEAR_COLLECTIVES: readonly string[] = ["shuffle", "shuffleUp", "shuffleDown", "shuffleXor", "broadcast", "add"];

/** The differentiation of a list of statements in forward mode. */
export class ForwardDifferentiation {
  private readonly make: ExpressionBuilder;
  private readonly directions: readonly DirectionTangents[];
  /** What depends on the inputs in some direction. */
  private readonly active: ActiveVariables = { locals: new Set(), arrays: new Set() };
  private readonly linearisation: Linearisation;

  /** @param directions the tangents of the inputs; those of all that depends on them are added */
  constructor(make: ExpressionBuilder, directions: readonly DirectionTangents[]) {
    this.make = make;
    this.directions = directions;
    this.linearisation = new Linearisation(make, { active: this.active, isReverse: false });
  }

  /** Returns the statements together with those that compute the tangents. */
  transformed(statements: readonly DraftStatement[]): DraftStatement[] {
    for (const [k, direction] of this.directions.entries()) this.declareTangents(statements, direction, k);
    return this.list(statements);
  }

  /** Returns the tangent of an expression in each direction. */
  tangents(d: Draft, out: DraftStatement[]): readonly DraftDerivative[] {
    const linear = this.linearisation.of(d, out);
    return this.directions.map((direction) => this.tangent(linear, direction, out));
  }

  /** Makes the variables and arrays for the tangents of what the statements compute from the inputs. */
  private declareTangents(
    statements: readonly DraftStatement[],
    { locals, arrays }: DirectionTangents,
    k: number,
  ): void {
    const active: ActiveVariables = { locals: new Set(locals.keys()), arrays: new Set(arrays.keys()) };
    propagateActivity(statements, active);
    for (const id of active.locals) {
      this.active.locals.add(id);
      if (!locals.has(id)) locals.set(id, this.make.local(this.make.newLocal(`${this.make.ctx.locals[id].name}_${k}`)));
    }
    for (const key of active.arrays) {
      this.active.arrays.add(key);
      if (!arrays.has(key)) arrays.set(key, { ref: this.make.shadow(key, String(k), SHADOW_REMEDY) });
    }
  }

  private list(statements: readonly DraftStatement[]): DraftStatement[] {
    const out: DraftStatement[] = [];
    for (const s of statements) this.statement(s, out);
    return out;
  }

  private statement(s: DraftStatement, out: DraftStatement[]): void {
    switch (s.kind) {
      case "assign": {
        const linear = this.linearisation.of(s.value, out);
        // The tangents come first: they may need the variable's old value.
        this.assignTangents(s.local, (direction) => this.tangent(linear, direction, out), out);
        out.push({ ...s, value: linear.value });
        break;
      }
      case "store":
        this.store(s, out);
        break;
      case "if":
        out.push({ ...s, then: this.list(s.then), else: this.list(s.else) });
        break;
      case "loop":
        out.push({ ...s, init: this.list(s.init), body: this.list(s.body), update: this.list(s.update) });
        break;
      case "subgroup":
        this.collective(s, out);
        break;
      case "fetch":
        if (this.active.arrays.has(keyOfArray(s.from)))
          throw this.refused("gpu.fetch copies an array that has tangents", "copy its elements in a loop");
        out.push(s);
        break;
      case "call":
        out.push(s);
        this.call(s, out);
        break;
      default:
        out.push(s);
    }
  }

  /** Assigns the tangents of a local variable in the directions in which it has any. */
  private assignTangents(
    local: number,
    of: (direction: DirectionTangents) => DraftDerivative,
    out: DraftStatement[],
  ): void {
    for (const direction of this.directions) {
      const tangent = direction.locals.get(local);
      if (tangent?.kind === "local") this.make.assign(tangent.id, of(direction) ?? this.make.constant(0), out);
    }
  }

  private store(s: Extract<DraftStatement, { kind: "store" }>, out: DraftStatement[]): void {
    if (!this.active.arrays.has(keyOfArray(s.array))) return void out.push(s);
    const linear = this.linearisation.of(s.value, out);
    const index = this.make.keep(s.index, out, "i");
    for (const direction of this.directions) {
      const tangents = direction.arrays.get(keyOfArray(s.array));
      if (tangents === undefined) continue;
      const value = this.tangent(linear, direction, out) ?? this.make.constant(0);
      out.push({ ...s, array: tangents.ref, index: this.make.shifted(index, tangents.offset), value });
    }
    out.push({ ...s, index, value: linear.value });
  }

  private collective(s: Extract<DraftStatement, { kind: "subgroup" }>, out: DraftStatement[]): void {
    if (!this.active.locals.has(s.result)) return void out.push(s);
    if (!LINEAR_COLLECTIVES.includes(s.op))
      throw this.refused(`the subgroup's ${s.op} depends on the inputs and has no tangent`, "exchange values instead");
    const linear = this.linearisation.of(s.value, out);
    const tangents = this.directions.map((direction) => {
      const result = direction.locals.get(s.result);
      const value = this.make.keep(this.tangent(linear, direction, out) ?? this.make.constant(0), out);
      return result?.kind === "local" ? [{ ...s, value, result: result.id }] : [];
    });
    out.push({ ...s, value: linear.value }, ...tangents.flat());
  }

  /** Appends the tangents of a call's result. */
  private call(s: Extract<DraftStatement, { kind: "call" }>, out: DraftStatement[]): void {
    const active = s.args.map((arg) => isActive(arg, this.active));
    if (!active.includes(true)) return;
    const partials = partialsOf(this.make, s, active, out);
    const tangent = ({ locals }: DirectionTangents): DraftDerivative =>
      s.args.reduce<DraftDerivative>((total, arg, k) => {
        const change = active[k] && arg.kind === "local" ? locals.get(arg.id) : undefined;
        return make.add(total, change && make.guarded(change, partials[k]!));
      }, undefined);
    const { make } = this;
    this.assignTangents(s.result, tangent, out);
  }

  private tangent({ rule }: LinearisedExpr, direction: DirectionTangents, out: DraftStatement[]): DraftDerivative {
    if (rule === undefined) return undefined;
    const { make } = this;
    switch (rule.kind) {
      case "local":
        return direction.locals.get(rule.id);
      case "load": {
        const tangents = direction.arrays.get(keyOfArray(rule.array));
        return tangents && make.load(tangents.ref, make.shifted(rule.index, tangents.offset));
      }
      case "sum":
        return rule.terms.reduce<DraftDerivative>((total, { of, times }) => {
          const tangent = this.tangent(of, direction, out);
          return make.add(total, tangent && times(tangent, out));
        }, undefined);
      case "choice":
        return make.select(rule.condition, this.tangent(rule.a, direction, out), this.tangent(rule.b, direction, out));
      default:
        return rule satisfies never;
    }
  }

  private refused(what: string, remedy: string): Error {
    return this.make.ctx.fail(this.make.node, what, remedy);
  }
}
