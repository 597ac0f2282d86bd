/** Builds real expressions while a kernel is lowered, without the terms that are zero by construction. */
import type { Node } from "acorn";
import type { Context } from "../frontend/context.ts";
import type { Draft, DraftShape, DraftStatement } from "../frontend/draft.ts";
import { typeVariable } from "../frontend/types.ts";
import type { ArrayRef, CompareOp, IntrinsicOp } from "../ir.ts";

const MAX_CLEARED_ONE_BY_ONE = 64;

/** The expression of a derivative while a kernel is lowered; undefined if the derivative is zero by construction. */
export type DraftDerivative = Draft | undefined;

/**
 * A builder of the expressions of which derivatives consist. Error messages about these expressions show the position
 * of `node`.
 */
export class ExpressionBuilder {
  readonly ctx: Context;
  readonly node: Node;

  constructor(ctx: Context, node: Node) {
    this.ctx = ctx;
    this.node = node;
  }

  private real(shape: DraftShape): Draft {
    return this.ctx.draft(this.node, typeVariable("real"), shape);
  }

  constant(value: number): Draft {
    return this.real({ kind: "const", value });
  }

  newLocal(name: string): number {
    return this.ctx.newLocal(name, typeVariable("real"));
  }

  /** Evaluates an expression here, unless it is a constant, a parameter or a local variable already. */
  keep(draft: Draft, out: DraftStatement[], name = "t"): Draft {
    return isLeaf(draft) ? draft : this.ctx.settle(this.node, draft, out, name);
  }

  neg(a: Draft): Draft {
    if (a.kind === "unary" && a.op === "neg") return a.a;
    // A literal that becomes a run-time value stays as it is written.
    const folds = a.kind === "const" && a.origin === undefined;
    return folds ? this.constant(-(a.value as number)) : this.real({ kind: "unary", op: "neg", a });
  }

  add(a: DraftDerivative, b: DraftDerivative): DraftDerivative {
    if (a === undefined || b === undefined) return a ?? b;
    if (b.kind === "unary" && b.op === "neg") return this.real({ kind: "binary", op: "sub", a, b: b.a });
    return this.real({ kind: "binary", op: "add", a, b });
  }

  mul(a: Draft, b: Draft): Draft {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const)
      if (one.kind === "const" && Math.abs(one.value as number) === 1) return one.value === 1 ? other : this.neg(other);
    return this.real({ kind: "binary", op: "mul", a, b });
  }

  div(a: Draft, b: Draft): Draft {
    return this.real({ kind: "binary", op: "div", a, b });
  }

  load(array: ArrayRef, index: Draft): Draft {
    return this.real({ kind: "load", array, index });
  }

  /** An index that is moved by an offset. */
  shifted(index: Draft, offset: Draft | undefined): Draft {
    if (offset === undefined) return index;
    this.ctx.unify(this.node, offset, index);
    return this.ctx.draft(this.node, index.type, { kind: "binary", op: "add", a: index, b: offset });
  }

  /** The difference of two indices at which parts of arrays begin, 0 by default; undefined where they are the same. */
  distance(from: Draft | undefined, to: Draft | undefined): Draft | undefined {
    if (from === to || isSame(from, to)) return undefined;
    if (from === undefined) return to;
    const a = to ?? this.ctx.draft(this.node, from.type, { kind: "const", value: 0 });
    return this.ctx.draft(this.node, from.type, { kind: "binary", op: "sub", a, b: from });
  }

  local(id: number): Draft {
    return this.ctx.local(this.node, id);
  }

  intrinsic(op: IntrinsicOp, ...args: readonly Draft[]): Draft {
    return this.real({ kind: "intrinsic", op, args });
  }

  compare(op: CompareOp, a: Draft, b: Draft): Draft {
    return this.ctx.draft(this.node, typeVariable("bool"), { kind: "compare", op, a, b });
  }

  /** `condition ? a : b`, where an absent operand is zero. */
  select(condition: Draft, a: DraftDerivative, b: DraftDerivative): DraftDerivative {
    if (a === undefined && b === undefined) return undefined;
    return this.real({ kind: "select", condition, a: a ?? this.constant(0), b: b ?? this.constant(0) });
  }

  /**
   * A product that is zero where one of its factors is, though the other is infinite or NaN. The full truncation of a
   * variance, √max(v, 0), has an infinite slope and no change for v < 0; 1/(1 + exp(−x)) has the opposite far below 0.
   */
  guarded(a: Draft, b: Draft): Draft {
    if ([a, b].some(({ kind, value }: Draft & { value?: unknown }) => kind === "const" && value !== 0))
      return this.mul(a, b);
    const zero = this.constant(0);
    const [noA, noB] = [this.compare("eq", a, zero), this.compare("eq", b, zero)];
    const condition = this.ctx.draft(this.node, typeVariable("bool"), { kind: "logical", op: "or", a: noA, b: noB });
    return this.real({ kind: "select", condition, a: zero, b: this.mul(a, b), product: [a, b] });
  }

  /**
   * Makes a private or workgroup array of the shape of another one, whose tangents or adjoints it holds. `remedy` is
   * for buffers, of which there are no others.
   */
  shadow(key: string, suffix: string, remedy: string): ArrayRef {
    const { ctx, node } = this;
    const [space, number] = key.split(" ") as [ArrayRef["space"], string];
    if (space === "buffer")
      throw ctx.fail(
        node,
        `the array ${ctx.buffers[Number(number)].name} is given values that depend on the inputs`,
        remedy,
      );
    const arrays = space === "private" ? ctx.privates : ctx.workgroups;
    const { name, element, length } = arrays[Number(number)];
    return { space, id: arrays.push({ name: `${name}_${suffix}`, element, length }) - 1 };
  }

  /** Sets a private array to zero. */
  clear(array: ArrayRef, out: DraftStatement[]): void {
    const { ctx, node } = this;
    const place = ctx.place(node);
    const { length } = ctx.privates[array.id];
    const integer = (value: number): Draft => ctx.draft(node, typeVariable("i32"), { kind: "const", value });
    const zero = (index: Draft): DraftStatement => ({ kind: "store", array, index, value: this.constant(0), place });
    // With constant indices alone, an array stays in registers.
    if (length <= MAX_CLEARED_ONE_BY_ONE) return void out.push(...Array.from({ length }, (_, k) => zero(integer(k))));
    const local = ctx.newLocal("i", typeVariable("i32"));
    const i = ctx.local(node, local);
    const next = ctx.draft(node, i.type, { kind: "binary", op: "add", a: i, b: integer(1) });
    out.push({
      kind: "loop",
      init: [{ kind: "assign", local, value: integer(0), place }],
      test: this.compare("lt", i, integer(length)),
      body: [zero(i)],
      update: [{ kind: "assign", local, value: next, place }],
      place,
    });
  }

  assign(local: number, value: Draft, out: DraftStatement[]): void {
    out.push({ kind: "assign", local, value, place: this.ctx.place(this.node) });
  }
}

function isSame(a: Draft | undefined, b: Draft | undefined): boolean {
  if (a?.kind === "const" && b?.kind === "const") return a.value === b.value;
  return a?.kind === "local" && b?.kind === "local" && a.id === b.id;
}

/** Tells whether an expression is a leaf: a constant, a parameter or a local variable. */
export const isLeaf = ({ kind }: Draft): boolean => kind === "const" || kind === "param" || kind === "local";
