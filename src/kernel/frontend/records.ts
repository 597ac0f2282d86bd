/**
 * Records exist only during compilation. A record's fields are values; if they are assigned, they are local variables,
 * as with `let x`.
 *
 * JavaScript passes records by reference. A kernel's body sees the same here, because a record can be changed through
 * one name only: the one with which a new record (an object literal, or the result of a call) was declared. Every other
 * name refers to the same fields. If a record whose fields still change would have to be copied, that is an error.
 */
import type { Expression, Node, ObjectExpression, Property } from "acorn";
import type { Context, Frame, RecordValue, RecordVariable, Scope, Value } from "./context.ts";
import type { DraftStatement } from "./draft.ts";
import { lowerValue, scalarOf } from "./expressions.ts";
import { collectAssigned, fieldsMarker, withoutParentheses } from "./syntax.ts";
import { BOOL, NUMERIC, TypeVariable } from "./types.ts";

/**
 * Lowers an object literal and evaluates its numbers in order. If the record is an argument of a call, `later` lists
 * the arguments that are evaluated after it; otherwise `later` is null.
 */
export function lowerRecord(
  ctx: Context,
  node: ObjectExpression,
  scope: Scope,
  out: DraftStatement[],
  later: readonly Node[] | null = null,
): RecordValue {
  const fields = new Map<string, Value>();
  for (const [k, property] of node.properties.entries()) {
    const name = fieldName(ctx, property);
    const { value: expression } = property as Property;
    const rest = later && [...node.properties.slice(k + 1), ...later];
    const value = rest ? lowerCallArgument(ctx, expression, scope, out, rest) : lowerValue(ctx, expression, scope, out);
    const isLent = rest !== null && value.kind === "record";
    fields.set(name, isLent ? value : fieldValue(ctx, expression, name, value, out));
  }
  return { kind: "record", fields };
}

/**
 * Lowers an argument of a call. The called function reads the fields of a record directly, without a copy, and cannot
 * change them. `later` lists the arguments that are evaluated after this one.
 */
export function lowerCallArgument(
  ctx: Context,
  node: Expression,
  scope: Scope,
  out: DraftStatement[],
  later: readonly Node[],
): Value {
  const inner = withoutParentheses(node);
  if (inner.type === "ObjectExpression") return lowerRecord(ctx, inner, scope, out, later);
  const value = lowerValue(ctx, node, scope, out);
  const owner = value.kind === "record" ? ownerOf(ctx, value) : undefined;
  if (owner?.rebound !== true || owner.frame !== ctx.frame) return value;
  const [root] = owner.name.split(".");
  const assigned = new Set<string>();
  for (const part of later) collectAssigned(part, assigned);
  if (assigned.has(root))
    throw ctx.fail(node, `a later argument assigns ${root}, which is passed here`, "assign it before the call");
  return value;
}

function fieldName(ctx: Context, property: Property | Node): string {
  if (property.type === "SpreadElement")
    throw ctx.fail(property, "spread is not part of the kernel language", "name each field: { a: row.a, … }");
  const { key, computed, kind, method } = property as Property;
  if (kind !== "init" || method)
    throw ctx.fail(property, "a function inside a kernel", "hand it over through `env`, and call it");
  const name = key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";
  if (computed || name === "" || name === "__proto__")
    throw ctx.fail(property, "fields are named one by one", "write { a: …, b: … }");
  return name;
}

function fieldValue(ctx: Context, node: Node, name: string, value: Value, out: DraftStatement[]): Value {
  if (value.kind === "record") return shareRecord(ctx, node, value, out);
  if (value.kind === "array") return namedArray(ctx, name, value);
  return { kind: "scalar", draft: ctx.materialise(node, scalarOf(ctx, node, value), out, name) };
}

/** Returns an array of a declared record under the name of its field, for messages and generated code. */
export function namedArray(ctx: Context, name: string, value: Extract<Value, { kind: "array" }>): Value {
  const { ref } = value.array;
  if (ref.space === "buffer" || value.array.name !== "array") return value;
  const list = ref.space === "private" ? ctx.privates : ctx.workgroups;
  list[ref.id] = { ...list[ref.id], name };
  return { kind: "array", array: { ...value.array, name } };
}

/**
 * Returns the variable that owns a record. Undefined if there is none, or if the function that declares it has already
 * been lowered.
 */
export function ownerOf(ctx: Context, { variable }: RecordValue): RecordVariable | undefined {
  if (variable === undefined) return undefined;
  for (let frame: Frame | null = ctx.frame; frame; frame = frame.caller) if (frame === variable.frame) return variable;
  return undefined;
}

/**
 * Returns a record, and the records in it, as owned by `variable`. Its fields cannot be changed through any other name.
 */
function adopt(ctx: Context, value: RecordValue, variable: RecordVariable): RecordValue {
  if (ownerOf(ctx, value) !== undefined) return value;
  const fields = new Map<string, Value>();
  const inner = { ...variable, fieldsAssigned: false };
  for (const [name, field] of value.fields) {
    const within = { ...inner, name: `${variable.name}.${name}` };
    fields.set(name, field.kind === "record" ? adopt(ctx, field, within) : field);
  }
  return { kind: "record", fields, variable };
}

/**
 * Returns the value of a record for use under a second name or as a field of another record. The record is copied only
 * if it belongs to a `let` variable that is reassigned as a whole; the copy has the current values of the fields.
 */
export function shareRecord(ctx: Context, node: Node, value: RecordValue, out: DraftStatement[]): RecordValue {
  const owner = ownerOf(ctx, value);
  if (owner?.rebound !== true) return value;
  if (owner.fieldsAssigned)
    throw ctx.fail(
      node,
      `${owner.name} is assigned to as a whole and in its fields, so that no second name can stand for it`,
      `copy its fields: { ${[...value.fields.keys()].map((name) => `${name}: ${owner.name}.${name}`).join(", ")} }`,
    );
  return snapshot(ctx, node, value, { ...owner, rebound: false }, out);
}

function snapshot(
  ctx: Context,
  node: Node,
  value: RecordValue,
  variable: RecordVariable,
  out: DraftStatement[],
): RecordValue {
  const fields = new Map<string, Value>();
  for (const [name, field] of value.fields) {
    if (field.kind === "record") fields.set(name, snapshot(ctx, node, field, variable, out));
    else fields.set(name, field.kind === "array" ? field : fieldValue(ctx, node, name, field, out));
  }
  return { kind: "record", fields, variable };
}

/**
 * Declares a variable with a record as its value, and returns this value. `isFresh` is true if the record has no other
 * name: it is an object literal, or the result of a call. `constant` is true for `const`.
 */
export function declareRecordVariable(
  ctx: Context,
  node: Node,
  name: string,
  value: RecordValue,
  out: DraftStatement[],
  { isFresh, constant }: { readonly isFresh: boolean; readonly constant: boolean },
): RecordValue {
  const { assigned } = ctx.frame;
  const [rebound, fieldsAssigned] = [assigned.has(name) && !constant, assigned.has(fieldsMarker(name))];
  const variable: RecordVariable = { name, frame: ctx.frame, rebound, fieldsAssigned };
  const owns = isFresh && ownerOf(ctx, value) === undefined;
  if (rebound) return rebindRecord(ctx, node, value, variable, out, owns);
  if (!owns) return adopt(ctx, shareRecord(ctx, node, value, out), { ...variable, fieldsAssigned: false });
  if (!fieldsAssigned) return adopt(ctx, value, variable);
  const fields = new Map<string, Value>();
  for (const [field, part] of value.fields) {
    const slot = part.kind === "record" || part.kind === "array" ? part : localsFor(ctx, field, part);
    if (slot !== part) assignLocals(ctx, node, slot, part, out);
    fields.set(field, slot);
  }
  return adopt(ctx, { kind: "record", fields }, variable);
}

/**
 * Makes local variables for the fields of a record variable that is later reassigned as a whole, and assigns them the
 * current values of the fields. `owns` is true if the record has no other name.
 */
export function rebindRecord(
  ctx: Context,
  node: Node,
  value: RecordValue,
  variable: RecordVariable,
  out: DraftStatement[],
  owns: boolean,
): RecordValue {
  if (variable.fieldsAssigned && !owns) throw aliased(ctx, node, variable.name);
  const slots = localsFor(ctx, variable.name, value) as RecordValue;
  copyRecord(ctx, node, slots, value, out);
  return adopt(ctx, slots, variable);
}

function aliased(ctx: Context, node: Node, name: string): Error {
  return ctx.fail(
    node,
    `a field of ${name} is assigned to, and ${name} is another name of this record here`,
    `copy its fields: ${name} = { a: row.a, … }`,
  );
}

/** Lowers `name = value` for records. `isFresh` is true if the assigned record has no other name. */
export function assignRecord(
  ctx: Context,
  node: Node,
  target: RecordValue,
  value: Value,
  isFresh: boolean,
  out: DraftStatement[],
): void {
  const { variable } = target;
  const owns = value.kind === "record" && isFresh && ownerOf(ctx, value) === undefined;
  if (variable?.fieldsAssigned === true && !owns) throw aliased(ctx, node, variable.name);
  copyRecord(ctx, node, target, value, out);
}

/**
 * Assigns every field of a record to the local variables in `slots`. @throws KernelError for a record whose fields may
 * still change, because JavaScript would share it
 */
export function copyRecord(ctx: Context, node: Node, slots: Value, value: Value, out: DraftStatement[]): void {
  checkCopyable(ctx, node, value);
  assignLocals(ctx, node, slots, value, out);
}

/**
 * Checks that a record may be copied, which requires that its fields are never assigned. With `isReturned`, a record of
 * the function that returns it may be copied, too. @throws KernelError otherwise
 */
export function checkCopyable(ctx: Context, node: Node, value: Value, isReturned = false): void {
  if (value.kind !== "record") return;
  const owner = ownerOf(ctx, value);
  if (owner?.fieldsAssigned === true && !(isReturned && owner.frame === ctx.frame))
    throw ctx.fail(
      node,
      `fields of ${owner.name} are assigned to, so that it cannot be chosen or assigned as a whole`,
      `copy its fields: { ${[...value.fields.keys()].map((name) => `${name}: ${owner.name}.${name}`).join(", ")} }`,
    );
  for (const field of value.fields.values()) checkCopyable(ctx, node, field, isReturned);
}

/**
 * Returns a value in which every number of another value is a new local variable. Arrays stay the same.
 */
export function localsFor(ctx: Context, name: string, value: Value): Value {
  if (value.kind === "array") return value;
  if (value.kind !== "record")
    return { kind: "local", id: ctx.newLocal(name || "result", new TypeVariable(NUMERIC | BOOL)) };
  return { kind: "record", fields: new Map([...value.fields].map(([key, part]) => [key, localsFor(ctx, key, part)])) };
}

/** Assigns the numbers of a value to the local variables that `localsFor` made. */
export function assignLocals(ctx: Context, node: Node, slots: Value, value: Value, out: DraftStatement[]): void {
  if (slots.kind === "record" && value.kind === "record") {
    checkSameNames(ctx, node, [...slots.fields.keys()], [...value.fields.keys()]);
    for (const [name, slot] of slots.fields) assignLocals(ctx, node, slot, value.fields.get(name)!, out);
  } else if (slots.kind === "record" || value.kind === "record") {
    throw ctx.fail(
      node,
      `a record in one place, ${(slots.kind === "record" ? value : slots).kind === "array" ? "an array" : "a number"} in another`,
      "give values of one kind everywhere: the returns of a function, both sides of ? :, and all that a name is assigned",
    );
  } else if (slots.kind === "array" && value.kind === "array") {
    const [a, b] = [slots.array, value.array];
    if (a.ref.space === b.ref.space && a.ref.id === b.ref.id && a.from === b.from && a.length === b.length) return;
    throw ctx.fail(
      node,
      `the array ${b.name} would take the place of ${a.name}: which array it is, is known at compile time`,
      "copy its elements, or call the function in an if and an else",
    );
  } else {
    const draft = scalarOf(ctx, node, value);
    if (slots.kind !== "local") throw ctx.fail(node, "an array is expected here", "pass an array by its name");
    ctx.unify(node, ctx.local(node, slots.id), draft);
    out.push({ kind: "assign", local: slots.id, value: draft, place: ctx.place(node) });
  }
}

/** Checks that two records have the same field names. */
export function checkSameNames(ctx: Context, node: Node, names: readonly string[], others: readonly string[]): void {
  if (names.length !== others.length || names.some((name) => !others.includes(name)))
    throw ctx.fail(
      node,
      `records with different fields: { ${names.join(", ")} } and { ${others.join(", ")} }`,
      "give the same names everywhere: the returns of a function, both sides of ? :, and all that a name is assigned",
    );
}

/** Returns a function's result after its last assignment, so that its local variables can be read as expressions. */
export function finalResult(ctx: Context, node: Node, value: Value): Value {
  if (value.kind === "local") return { kind: "scalar", draft: ctx.local(node, value.id) };
  if (value.kind !== "record") return value;
  const owner = ownerOf(ctx, value);
  if (owner !== undefined && owner.frame !== ctx.frame) return value;
  const fields = new Map([...value.fields].map(([name, field]) => [name, finalResult(ctx, node, field)]));
  return { kind: "record", fields };
}

/**
 * Lowers `c ? a : b` for two records and returns the result, a copy of a or b. The copy belongs to the variable that
 * owns a or b. `yesOut` and `noOut` receive the assignments of the two branches.
 */
export function chooseRecord(
  ctx: Context,
  node: Node,
  a: RecordValue,
  b: RecordValue,
  yesOut: DraftStatement[],
  noOut: DraftStatement[],
): RecordValue {
  checkSameNames(ctx, node, [...a.fields.keys()], [...b.fields.keys()]);
  const slots = localsFor(ctx, "", a);
  copyRecord(ctx, node, slots, a, yesOut);
  copyRecord(ctx, node, slots, b, noOut);
  const { fields } = finalResult(ctx, node, slots) as RecordValue;
  const owner = ownerOf(ctx, a) ?? ownerOf(ctx, b);
  return { kind: "record", fields, ...(owner && { variable: { ...owner, rebound: false } }) };
}

/** Tells whether an expression, by its syntax, makes a new record that has no other name. */
export function makesRecord(node: Expression): boolean {
  switch (node.type) {
    case "ParenthesizedExpression":
      return makesRecord(node.expression);
    case "SequenceExpression":
      return makesRecord(node.expressions.at(-1)!);
    case "ConditionalExpression":
      return makesRecord(node.consequent) && makesRecord(node.alternate);
    case "YieldExpression":
      return node.delegate;
    default:
      return node.type === "ObjectExpression" || node.type === "CallExpression";
  }
}
