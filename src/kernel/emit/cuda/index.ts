/** Writes KernelIR as CUDA C++ for NVRTC. This is a pure translation to text, which needs no device. */
import { PrecisionError } from "../../../base/errors.ts";
import { type KernelIR, type KernelSignature, signatureOf } from "../../ir.ts";
import { Lines } from "../c-like/lines.ts";
import { namesOf, type Names } from "../c-like/names.ts";
import { StatementPrinter } from "../c-like/statements.ts";
import { Helpers } from "./helpers/index.ts";
import { typeName } from "./literals.ts";
import { CudaMemory } from "./memory.ts";
import { CudaOperators } from "./operators.ts";
import {
  alignmentAssumption,
  countName,
  type CudaParameter,
  declarationOf,
  entryPointOf,
  parametersOf,
} from "./parameters.ts";
import { type SharedMemory, sharedMemoryOf } from "./shared-memory.ts";
import { CudaStatements } from "./statements.ts";

export { cudaIntrinsics } from "./intrinsics.ts";
export type { CudaParameter } from "./parameters.ts";

/** The options of `emitCuda`. */
export interface CudaOptions {
  /**
   * The treatment of a·b + c. "contract" lets the compiler fuse it into one operation with one rounding. With "exact"
   * every operation rounds, so that f64 results have the CPU's bits, except subgroup sums of reals, whose order depends
   * on the subgroup's size. The generated code is the same; only the compiler's options differ.
   */
  readonly fma?: "contract" | "exact";
}

/** The CUDA C++ source of a kernel, with the information needed to compile and launch it. */
export interface CudaSource {
  readonly signature: KernelSignature;
  /** The translation unit, without `#include`. */
  readonly code: string;
  /** The `extern "C"` name of the kernel. */
  readonly entryPoint: string;
  /** The kernel's parameters in order. */
  readonly parameters: readonly CudaParameter[];
  /** The number of threads of a block. */
  readonly groupSize: number;
  /**
   * The bytes of dynamic shared memory that a launch must request. It is 0 up to 48 KiB, which the code declares as
   * static arrays.
   */
  readonly dynamicSharedBytes: number;
  /** The options for NVRTC or nvcc, without the GPU architecture. */
  readonly compilerOptions: readonly string[];
}

/**
 * Prints a kernel as one CUDA translation unit with one `extern "C"` function. The grid is one-dimensional. It has
 * ceil(count / groupSize) blocks for `count` work items, and `count` blocks for the `count` workgroups of a cooperative
 * kernel.
 *
 * Subgroups are warps. Array indexes are not checked. Buffers must not overlap if one of them is written. Arrays are
 * loaded element by element. Workgroup arrays start at multiples of 16 bytes, so that nvcc merges loads of consecutive
 * elements when it knows the first index to be a multiple of 4 (f32) or 2 (f64).
 * @throws PrecisionError (the IR was lowered for neither f64 nor f32)
 */
export function emitCuda(ir: KernelIR, { fma = "contract" }: CudaOptions = {}): CudaSource {
  if (ir.precision !== "f64" && ir.precision !== "f32")
    throw new PrecisionError(`${ir.name}: CUDA has no use for ${ir.precision}; lower the kernel for f64 or f32`);
  const names = namesOf(ir);
  const helpers = new Helpers(ir);
  const parameters = parametersOf(ir);
  const shared = sharedMemoryOf(ir, names);
  const body = printBody(ir, names, helpers);
  const sections = [helpers.definitions(), shared.outside.join("\n"), entryPoint(ir, names, parameters, shared, body)];
  return {
    signature: signatureOf(ir),
    code: `${sections.filter((section) => section !== "").join("\n\n")}\n`,
    entryPoint: entryPointOf(ir),
    parameters,
    groupSize: ir.groupSize,
    dynamicSharedBytes: shared.dynamicBytes,
    compilerOptions: compilerOptions(fma),
  };
}

/**
 * Returns compiler options for IEEE arithmetic, whatever the compiler's defaults are, and without warnings, because
 * generated code declares more than it uses.
 */
function compilerOptions(fma: "contract" | "exact"): string[] {
  const contracts = fma === "contract";
  return [
    "--std=c++17",
    `--fmad=${contracts}`,
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--disable-warnings",
    ...(contracts ? [] : ["-DFK_EXACT"]),
  ];
}

function printBody(ir: KernelIR, names: Names, helpers: Helpers): Lines {
  const memory = new CudaMemory(ir, names, helpers);
  const statements = new CudaStatements(ir, names, memory, helpers);
  const dialect = { operators: new CudaOperators(ir, helpers), memory, statements };
  const out = new Lines(1);
  ir.privates.forEach(({ element, length }, id) =>
    out.add(`${typeName(element, ir.precision)} ${names.array({ space: "private", id })}[${length}];`),
  );
  out.add(...declarations(ir, names));
  new StatementPrinter(ir, dialect, names).printAll(ir.body, out);
  return out;
}

/**
 * Returns declarations of the local variables, without values. Consecutive variables of one type share lines of
 * moderate length.
 */
function declarations(ir: KernelIR, names: Names): string[] {
  const lines: { readonly type: string; text: string }[] = [];
  ir.locals.forEach((local, id) => {
    const [type, name] = [typeName(local.type, ir.precision), names.local(id)];
    const last = lines.at(-1);
    if (last?.type === type && last.text.length + name.length < 100) last.text += `, ${name}`;
    else lines.push({ type, text: `${type} ${name}` });
  });
  return lines.map(({ text }) => `${text};`);
}

function entryPoint(
  ir: KernelIR,
  names: Names,
  parameters: readonly CudaParameter[],
  shared: SharedMemory,
  body: Lines,
): string {
  const out = new Lines();
  const list = parameters.map((parameter) => `  ${declarationOf(ir, names, parameter)}`);
  out.add(`extern "C" __global__ void __launch_bounds__(${launchBounds(ir)}) ${entryPointOf(ir)}(`);
  out.add(list.join(",\n"), ") {");
  out.indented(() => {
    out.add(...ir.buffers.map((_, id) => alignmentAssumption(ir, names, id)));
    if (!ir.cooperative) out.add(...item(ir));
    out.add(...shared.inside);
  });
  out.append(body);
  out.add("}");
  return out.toString();
}

const launchBounds = ({ groupSize, residentGroups }: KernelIR): string =>
  residentGroups === undefined ? String(groupSize) : `${groupSize}, ${residentGroups}`;

/**
 * Returns code that computes the work item's number. It is unsigned at first, because the last block may reach beyond
 * 2³¹.
 */
const item = ({ groupSize }: KernelIR): string[] => [
  `if (blockIdx.x * ${groupSize}u + threadIdx.x >= ${countName}) return;`,
  `const int fk_item = int(blockIdx.x * ${groupSize}u + threadIdx.x);`,
];
