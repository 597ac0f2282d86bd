/** Writes KernelIR in f32 or f32x2 as WGSL. This is a pure translation to text, which needs no device. */
import { PrecisionError } from "../../../base/errors.ts";
import { type FixedArray, type KernelIR, type KernelSignature, signatureOf, type IndexOp } from "../../ir.ts";
import { lowerFetches } from "../../lower-fetches.ts";
import { lowerSubgroups } from "../../lower-subgroups.ts";
import { unrollLoops } from "../../unroll.ts";
import type { Dialect } from "../c-like/dialect.ts";
import { Lines } from "../c-like/lines.ts";
import { namesOf, type Names } from "../c-like/names.ts";
import { StatementPrinter } from "../c-like/statements.ts";
import { Helpers } from "./helpers.ts";
import { argumentWords, memberDeclaration, type ArgumentWord } from "./layout.ts";
import { typeNamesIn } from "./literals.ts";
import { lowHalfDeclarations, privateArrayDeclaration, WgslMemory } from "./memory.ts";
import { WgslOperators } from "./operators.ts";
import { WgslPairOperators } from "./pair-operators.ts";
import { type QuadArrays, quadArraysOf } from "./quads.ts";
import { WgslStatements } from "./statements.ts";
import { expressionsOf, someExpr, someStmt } from "../../visit.ts";

export type { ArgumentWord } from "./layout.ts";

/** The options of `emitWgsl`. */
export interface WgslOptions {
  /**
   * The size of an emulated subgroup, a power of two. Its work items exchange values through workgroup memory, for
   * adapters without subgroups.
   */
  readonly emulatedSubgroup?: number;
}

/** The WGSL source of a kernel, with the information needed to compile and launch it. */
export interface WgslModule {
  /** The signature of the printed kernel, in which subgroup operations may have been replaced. */
  readonly signature: KernelSignature;
  readonly code: string;
  readonly entryPoint: "main";
  /** The 32-bit members of the uniform block at group 0, binding 0, in order. */
  readonly words: readonly ArgumentWord[];
  /** The access to each storage buffer. Buffer i is at group 1, binding i. */
  readonly bindings: readonly ("read-only-storage" | "storage")[];
  /** True if the device needs the WebGPU feature "subgroups". */
  readonly subgroups: boolean;
}

/**
 * Prints a kernel as one WGSL module. A dispatch is limited to 65,535 workgroups along each axis, so workgroups are
 * numbered along x first and then along y. With the argument `firstGroup`, a device can split a launch into several
 * dispatches.
 *
 * Accuracy: division and square root are WGSL's, with 2.5 ulp and the error of 1/inverseSqrt. (SwiftShader rounds both
 * correctly; without a fused multiply-add everywhere, a residual step would not improve them.) The remainder is exact.
 * WGSL lets implementations contract a·b + c and reassociate constants. SwiftShader, which runs SPIRV-Tools' optimiser,
 * was seen to turn (a·c₁)·c₂ into a·(c₁c₂), (a + c₁) + c₂ into a + (c₁+c₂) for constants c₁ and c₂, a/c into a·(1/c),
 * and a·b + b·c into b·(a + c); it keeps (a + b) − a. Arithmetic that must not be changed in this way passes its
 * intermediate results through bits (`fk_hide`). In f32x2 a real is a `vec2f`, and its operations are the functions of
 * pair-helpers.ts, which states their errors.
 * @throws PrecisionError (the IR was lowered for f64)
 */
export function emitWgsl(source: KernelIR, { emulatedSubgroup }: WgslOptions = {}): WgslModule {
  const fetched = lowerFetches(source);
  const ir = unrollLoops(
    emulatedSubgroup === undefined ? fetched : lowerSubgroups(fetched, { size: emulatedSubgroup, barriers: true }),
  );
  if (ir.precision === "f64")
    throw new PrecisionError(`${ir.name}: WGSL has no f64; lower the kernel for f32, or for f32x2, emulated double`);
  const names = namesOf(ir);
  const helpers = new Helpers();
  const quads = quadArraysOf(ir);
  const memory = new WgslMemory(ir, names, quads);
  const operators = ir.precision === "f32x2" ? new WgslPairOperators(helpers) : new WgslOperators(helpers);
  const statements = new WgslStatements(ir, names, memory, operators);
  const body = printBody(ir, names, { operators, memory, statements });
  const words = argumentWords(ir);
  const sections = [
    directives(ir),
    argsStruct(ir, names, words),
    buffers(ir, names),
    workgroupArrays(ir, names, quads, statements.broadcasts),
    lowHalfDeclarations(ir, names),
    ...helpers.definitions(),
    entryPoint(ir, body, statements.lanes),
  ];
  return {
    signature: signatureOf(ir),
    code: `${sections.filter((section) => section !== "").join("\n\n")}\n`,
    entryPoint: "main",
    words,
    bindings: ir.buffers.map((buffer) => (accessOf(buffer) === "read" ? "read-only-storage" : "storage")),
    subgroups: usesSubgroups(ir),
  };
}

function directives(ir: KernelIR): string {
  // Whole workgroups reach every subgroup operation (the front end has checked); WGSL's own proof is too weak.
  return usesSubgroups(ir) ? "enable subgroups;\ndiagnostic(off, subgroup_uniformity);" : "";
}

function argsStruct(ir: KernelIR, names: Names, words: readonly ArgumentWord[]): string {
  const members = words.map((word) => `  ${memberDeclaration(ir, names, word)},`);
  return ["struct Args {", ...members, "}", "@group(0) @binding(0) var<uniform> args: Args;"].join("\n");
}

/** Returns the access mode of a buffer. Atomic accesses need a writable binding, even if the kernel only loads. */
const accessOf = ({ access, atomic }: KernelIR["buffers"][number]): "read" | "read_write" =>
  access === "write" || atomic ? "read_write" : "read";

function elementOf({ precision }: KernelIR, { element, atomic }: Pick<FixedArray, "element" | "atomic">): string {
  const name = typeNamesIn(precision)[element];
  return atomic ? `atomic<${name}>` : name;
}

function buffers(ir: KernelIR, names: Names): string {
  return ir.buffers
    .map((buffer, id) => {
      const name = names.array({ space: "buffer", id });
      return `@group(1) @binding(${id}) var<storage, ${accessOf(buffer)}> ${name}: array<${elementOf(ir, buffer)}>;`;
    })
    .join("\n");
}

function workgroupArrays(ir: KernelIR, names: Names, quads: QuadArrays, broadcasts: boolean): string {
  const arrays = ir.workgroups.map((array, id) => {
    const type = quads.arrays.has(id) ? `vec4f, ${array.length / 4}` : `${elementOf(ir, array)}, ${array.length}`;
    return `var<workgroup> ${names.array({ space: "workgroup", id })}: array<${type}>;`;
  });
  return [...arrays, ...(broadcasts ? ["var<workgroup> fk_flag: u32;"] : [])].join("\n");
}

function printBody(ir: KernelIR, names: Names, dialect: Dialect): Lines {
  const out = new Lines(1);
  ir.privates.forEach((_, id) => out.add(privateArrayDeclaration(ir, names, id)));
  ir.locals.forEach(({ type }, id) => out.add(dialect.statements.declare(type, names.local(id))));
  new StatementPrinter(ir, dialect, names).printAll(ir.body, out);
  return out;
}

function entryPoint(ir: KernelIR, body: Lines, lanes: readonly string[]): string {
  const subgroups = usesSubgroups(ir);
  const out = new Lines();
  out.add(`@compute @workgroup_size(${ir.groupSize})`, "fn main(");
  out.add("  @builtin(workgroup_id) fk_workgroup: vec3u,", "  @builtin(num_workgroups) fk_dispatched: vec3u,");
  out.add("  @builtin(local_invocation_index) fk_local: u32,");
  if (subgroups)
    out.add("  @builtin(subgroup_invocation_id) fk_lane: u32,", "  @builtin(subgroup_size) fk_subgroup_size: u32,");
  out.add(") {", "  let fk_group = args.first_group + fk_workgroup.x + fk_workgroup.y * fk_dispatched.x;");
  if (ir.cooperative) out.add("  if (fk_group >= args.groups) { return; }");
  if (!ir.cooperative || usesIndex(ir, "globalId"))
    out.add(`  let fk_global = fk_group * ${ir.groupSize}u + fk_local;`);
  if (!ir.cooperative) out.add("  if (fk_global >= args.items) { return; }");
  if (subgroups) out.add("  let fk_lanes = subgroupAdd(1u);"); // the last subgroup may be a partial one
  for (const lane of lanes) out.add(`  ${lane}`);
  out.append(body);
  out.add("}");
  return out.toString();
}

/** Tells whether a kernel reads the index `op` of its work items, such as "globalId". */
function usesIndex(ir: KernelIR, op: IndexOp): boolean {
  return someStmt(ir.body, (s) =>
    expressionsOf(s).some((e) => someExpr(e, (inner) => inner.kind === "index" && inner.op === op)),
  );
}

/** Tells whether the kernel uses subgroup operations. */
function usesSubgroups(ir: KernelIR): boolean {
  return (
    someStmt(ir.body, (s) => s.kind === "subgroup") || usesIndex(ir, "subgroupLane") || usesIndex(ir, "subgroupSize")
  );
}
