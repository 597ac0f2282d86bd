import type { AtomicOp, Expr, KernelIR, ScalarType, SubgroupOp } from "../../ir.ts";
import type { LoopParts, Operand, StatementSyntax, StmtOf } from "../c-like/dialect.ts";
import type { Lines } from "../c-like/lines.ts";
import type { Names } from "../c-like/names.ts";
import type { HelperName, Helpers } from "./helpers/index.ts";
import { hasFullWarps } from "./helpers/subgroups.ts";
import { typeName } from "./literals.ts";
import type { CudaMemory } from "./memory.ts";
import { isWorthUnrolling } from "../../unroll.ts";

/**
 * Prints a loop. If its test and its update are single expressions, they become the head of a `for` statement.
 * Otherwise the update is printed at the top of the loop's body and skipped in the first iteration. In both forms
 * `continue` executes the update.
 */
function printLoop(names: Names, parts: LoopParts, out: Lines): void {
  const test = testOf(parts, out);
  const update = updateOf(names, parts, out);
  if (test === undefined || update === undefined) return printGeneral(names, parts, out);
  if (isWorthUnrolling(parts.statement)) out.add("#pragma unroll");
  out.block(headOf(test, update), () => parts.body(out));
}

function headOf(test: string, update: string): string {
  if (update !== "") return `for (; ${test}; ${update}) {`;
  return test === "" ? "while (true) {" : `while (${test}) {`;
}

/** Returns the test as one expression; undefined if it needs statements before it. */
function testOf({ statement: { test }, print }: LoopParts, out: Lines): string | undefined {
  const prelude = out.fork();
  const text = test === null ? "" : print(test, prelude);
  return prelude.isEmpty ? text : undefined;
}

/** Returns the update as one expression of assignments; undefined if that is impossible. */
function updateOf(names: Names, { statement: { update }, print }: LoopParts, out: Lines): string | undefined {
  const prelude = out.fork();
  const texts = update.map((s) =>
    s.kind === "assign" ? `${names.local(s.local)} = ${print(s.value, prelude)}` : null,
  );
  return prelude.isEmpty && !texts.includes(null) ? texts.join(", ") : undefined;
}

/**
 * Prints a loop with its update at the top of its body, skipped in the first iteration, so that `continue` reaches it.
 */
function printGeneral(names: Names, { test, body, update }: LoopParts, out: Lines): void {
  const again = names.temporary();
  out.block(`for (bool ${again} = false;; ${again} = true) {`, () => {
    if (update !== null) out.block(`if (${again}) {`, () => update(out));
    if (test !== null) out.add(`if (!${test(out)}) break;`);
    body(out);
  });
}

const atomics = {
  add: "atomicAdd",
  min: "atomicMin",
  max: "atomicMax",
  and: "atomicAnd",
  or: "atomicOr",
  xor: "atomicXor",
  exchange: "atomicExch",
} as const satisfies Partial<Record<AtomicOp, string>>;

type Exchange = Exclude<SubgroupOp, "add" | "min" | "max">;
type Print = (expression: Expr) => Operand;

/** The syntax of statements in CUDA C++. */
export class CudaStatements implements StatementSyntax {
  readonly #ir: KernelIR;
  readonly #names: Names;
  readonly #memory: CudaMemory;
  readonly #helpers: Helpers;

  constructor(ir: KernelIR, names: Names, memory: CudaMemory, helpers: Helpers) {
    this.#ir = ir;
    this.#names = names;
    this.#memory = memory;
    this.#helpers = helpers;
  }

  declare(type: ScalarType, name: string, value?: string): string {
    return `${typeName(type, this.#ir.precision)} ${name}${value === undefined ? "" : ` = ${value}`};`;
  }

  assign(name: string, value: string): string {
    return `${name} = ${value};`;
  }

  loop(out: Lines, parts: LoopParts): void {
    printLoop(this.#names, parts, out);
  }

  barrier({ fetches }: StmtOf<"barrier">, out: Lines): void {
    if (fetches !== undefined) out.add(`${this.#helpers.named("await_fetches")}<${fetches}>();`);
    out.add("__syncthreads();");
  }

  /** Prints an asynchronous copy in pieces of at most 16 bytes, the maximum of one hardware instruction. */
  fetch({ array, index, from, fromIndex, words }: StmtOf<"fetch">, print: Print, out: Lines): void {
    const size = this.#ir.workgroups[array.id].element === "real" && this.#ir.precision === "f64" ? 8 : 4;
    const bytes = Math.min(16, words * size);
    const to = this.#names.array(array);
    const [at, source] = [print(index).text, `&${this.#memory.element(from, print(fromIndex))}`];
    for (let word = 0; word < words; word += bytes / size) {
      const [path, there] = word === 0 ? [at, source] : [`${at} + ${word}`, `${source} + ${word}`];
      out.add(`${this.#helpers.call(`fetch_${bytes}` as HelperName, to, path, there)};`);
    }
  }

  atomic(s: StmtOf<"atomic">, print: Print, out: Lines): void {
    const element = `&${this.#memory.element(s.array, print(s.index))}`;
    const result = s.result === null ? "" : `${this.#names.local(s.result)} = `;
    const values = [s.expected, s.value].filter((e) => e !== null).map((e) => print(e).text);
    out.add(`${result}${this.#operation(s.op, [element, ...values])};`);
  }

  #operation(op: AtomicOp, args: readonly string[]): string {
    switch (op) {
      case "load":
        return this.#helpers.call("atomic_load", ...args);
      case "store":
        return this.#helpers.call("atomic_store", ...args);
      case "compareExchange":
        return `atomicCAS(${args.join(", ")})`;
      default:
        return `${atomics[op]}(${args.join(", ")})`;
    }
  }

  subgroup(s: StmtOf<"subgroup">, print: Print, out: Lines): void {
    const value = print(s.value).text;
    out.add(`${this.#names.local(s.result)} = ${this.#collective(s, value, print)};`);
  }

  #collective({ op, operand, result, width }: StmtOf<"subgroup">, value: string, print: Print): string {
    switch (op) {
      case "add":
        return this.#helpers.call(`reduce_add_${this.#ir.locals[result].type}` as HelperName, value);
      case "min":
      case "max":
        return this.#helpers.call(`reduce_${op}`, value);
      default:
        return this.#exchange(op, value, print(operand!), width ?? 32);
    }
  }

  /**
   * CUDA's own shuffles take distances up to 31 and leave open what an absent lane says: they serve constants in full
   * warps.
   */
  #exchange(op: Exchange, value: string, { text, constant }: Operand, width: number): string {
    const distance = Number(constant ?? -1);
    if (distance >= 0 && distance < 32 && hasFullWarps(this.#ir))
      return `${shuffles[op]}(0xffffffffu, ${value}, ${distance}${width < 32 ? `, ${width}` : ""})`;
    const source = sourceLane(op, `unsigned(${text})`);
    const lane = "(threadIdx.x & 31u)";
    const near = `(((${source}) ^ ${lane}) < ${width}u ? (${source}) : ${lane})`;
    return this.#helpers.call("shuffle", value, width < 32 ? near : source);
  }

  /** Returns the condition itself, because CUDA allows barriers under any condition that is uniform at run time. */
  condition(_: StmtOf<"if"> | StmtOf<"loop">, text: string): string {
    return text;
  }
}

/**
 * The shuffle operations of CUDA. If the source lane is outside the warp, `up` and `down` give the item its own value.
 */
const shuffles = {
  shuffle: "__shfl_sync",
  broadcast: "__shfl_sync",
  shuffleUp: "__shfl_up_sync",
  shuffleDown: "__shfl_down_sync",
  shuffleXor: "__shfl_xor_sync",
} as const satisfies Record<Exchange, string>;

/** Returns the expression of the source lane, as an unsigned number: a lane below 0 becomes very large. */
function sourceLane(op: Exchange, operand: string): string {
  switch (op) {
    case "shuffle":
    case "broadcast":
      return operand;
    case "shuffleUp":
      return `(threadIdx.x & 31u) - ${operand}`;
    case "shuffleDown":
      return `(threadIdx.x & 31u) + ${operand}`;
    case "shuffleXor":
      return `(threadIdx.x & 31u) ^ ${operand}`;
    default:
      return op satisfies never;
  }
}
