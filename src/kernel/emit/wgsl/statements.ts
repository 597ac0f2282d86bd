import type { AtomicOp, Expr, KernelIR, ScalarType, SubgroupOp } from "../../ir.ts";
import type { LoopParts, Operand, OperatorSyntax, StatementSyntax, StmtOf } from "../c-like/dialect.ts";
import type { Lines } from "../c-like/lines.ts";
import type { Names } from "../c-like/names.ts";
import { type TypeNames, typeNamesIn } from "./literals.ts";
import type { WgslMemory } from "./memory.ts";
import { conditionsToBroadcast } from "./uniformity.ts";

const atomics = {
  add: "atomicAdd",
  min: "atomicMin",
  max: "atomicMax",
  and: "atomicAnd",
  or: "atomicOr",
  xor: "atomicXor",
  exchange: "atomicExchange",
} as const satisfies Partial<Record<AtomicOp, string>>;

const reductions = { add: "subgroupAdd", min: "subgroupMin", max: "subgroupMax" } as const satisfies Partial<
  Record<SubgroupOp, string>
>;

type Shuffle = Exclude<SubgroupOp, keyof typeof reductions>;

type Print = (expression: Expr) => Operand;

/** The syntax of statements in WGSL. */
export class WgslStatements implements StatementSyntax {
  readonly #types: TypeNames;
  readonly #names: Names;
  readonly #memory: WgslMemory;
  readonly #operators: OperatorSyntax;
  readonly #toBroadcast: ReadonlySet<StmtOf<"if"> | StmtOf<"loop">>;
  readonly #writesBuffers: boolean;
  /** Lanes that shuffles by constant distances read, and the names they go by. */
  readonly #lanes = new Map<string, string>();

  constructor(ir: KernelIR, names: Names, memory: WgslMemory, operators: OperatorSyntax) {
    this.#types = typeNamesIn(ir.precision);
    this.#names = names;
    this.#memory = memory;
    this.#operators = operators;
    this.#toBroadcast = conditionsToBroadcast(ir);
    this.#writesBuffers = ir.buffers.some(({ access, atomic }) => access === "write" || atomic);
  }

  /** True after `condition` has used the workgroup variable `fk_flag`. */
  get broadcasts(): boolean {
    return this.#toBroadcast.size > 0;
  }

  /**
   * The declarations at the beginning of the kernel of the lane numbers that shuffles by constant distances read.
   * Computing them at each shuffle would take three instructions in each iteration of a time loop.
   */
  get lanes(): readonly string[] {
    return [...this.#lanes].map(([lane, name]) => `let ${name} = ${lane};`);
  }

  declare(type: ScalarType, name: string, value?: string): string {
    return `var ${name}: ${this.#types[type]}${value === undefined ? "" : ` = ${value}`};`;
  }

  assign(name: string, value: string): string {
    return `${name} = ${value};`;
  }

  loop(out: Lines, { test, body, update }: LoopParts): void {
    out.block("loop {", () => {
      if (test !== null) out.add(`if (!${test(out)}) { break; }`);
      body(out);
      if (update !== null) out.block("continuing {", () => update(out));
    });
  }

  barrier(_: StmtOf<"barrier">, out: Lines): void {
    out.add("workgroupBarrier();");
    if (this.#writesBuffers) out.add("storageBarrier();");
  }

  fetch(): void {
    throw new Error("internal: fetches are lowered before they are printed");
  }

  atomic(s: StmtOf<"atomic">, print: Print, out: Lines): void {
    const element = `&${this.#memory.element(s.array, print(s.index))}`;
    const value = s.value === null ? "" : print(s.value).text;
    const result = s.result === null ? "" : `${this.#names.local(s.result)} = `;
    switch (s.op) {
      case "load":
        return out.add(`${result === "" ? "_ = " : result}atomicLoad(${element});`);
      case "store":
        return out.add(`atomicStore(${element}, ${value});`);
      case "compareExchange":
        return this.#compareExchange(element, print(s.expected!).text, value, result, out);
      default:
        return out.add(`${result}${atomics[s.op]}(${element}, ${value});`);
    }
  }

  /** WGSL has only the weak form, which may fail although the values agree; then it is tried again. */
  #compareExchange(element: string, expected: string, value: string, result: string, out: Lines): void {
    const [wanted, tried] = [this.#names.temporary(), this.#names.temporary()];
    out.block("loop {", () => {
      out.add(`let ${wanted} = ${expected};`);
      out.add(`let ${tried} = atomicCompareExchangeWeak(${element}, ${wanted}, ${value});`);
      if (result !== "") out.add(`${result}${tried}.old_value;`);
      out.add(`if (${tried}.exchanged || ${tried}.old_value != ${wanted}) { break; }`);
    });
  }

  subgroup(s: StmtOf<"subgroup">, print: Print, out: Lines): void {
    const operand = print(s.value);
    const value = operand.text;
    const result = this.#names.local(s.result);
    if (s.op === "add" || s.op === "min" || s.op === "max") {
      if (operand.type === "real" && this.#types.real === "vec2f") return this.#reducePairs(s.op, value, result, out);
      return out.add(`${result} = ${reductions[s.op]}(${value});`);
    }
    out.add(`${result} = subgroupShuffle(${value}, ${this.#source(s, s.op, print(s.operand!), out)});`);
  }

  /**
   * The lane that is read. Beyond the subgroup's last item, or its own run, each reads itself; a lane below 0 is a huge
   * u32.
   */
  #source({ width }: StmtOf<"subgroup">, op: Shuffle, operand: Operand, out: Lines): string {
    const lane = sourceLane(op, operand.text);
    const near = (source: string): string => (width === undefined ? "" : ` && (${source} ^ fk_lane) < ${width}u`);
    const chosen = (source: string): string => `select(fk_lane, ${source}, ${source} < fk_lanes${near(source)})`;
    if (operand.constant === undefined) {
      const source = this.#names.temporary();
      out.add(`let ${source} = ${lane};`);
      return chosen(source);
    }
    const known = chosen(lane);
    const name = this.#lanes.get(known) ?? this.#names.temporary();
    this.#lanes.set(known, name);
    return name;
  }

  /**
   * WGSL reduces no pairs: each lane takes up the lane 1, 2, 4 … above, if there is one, and the first then has them
   * all.
   */
  #reducePairs(op: keyof typeof reductions, value: string, result: string, out: Lines): void {
    const [step, other] = [this.#names.temporary(), this.#names.temporary()];
    const real = (text: string): Operand => ({ text, type: "real", constant: undefined });
    out.add(`${result} = ${value};`);
    out.block(`for (var ${step} = 1u; ${step} < fk_lanes; ${step} = ${step} * 2u) {`, () => {
      out.add(`let ${other} = subgroupShuffleDown(${result}, ${step});`);
      const combined = this.#operators.binary(op, real(result), real(other));
      out.add(`if (fk_lane + ${step} < fk_lanes) { ${result} = ${combined}; }`);
    });
    out.add(`${result} = subgroupBroadcastFirst(${result});`);
  }

  condition(s: StmtOf<"if"> | StmtOf<"loop">, text: string, out: Lines): string {
    if (!this.#toBroadcast.has(s)) return text;
    out.add(`if (fk_local == 0u) { fk_flag = u32(${text}); }`);
    return "(workgroupUniformLoad(&fk_flag) != 0u)";
  }
}

function sourceLane(op: Shuffle, operand: string): string {
  const lane = `bitcast<u32>(${operand})`;
  switch (op) {
    case "shuffle":
    case "broadcast":
      return lane;
    case "shuffleUp":
      return `(fk_lane - ${lane})`;
    case "shuffleDown":
      return `(fk_lane + ${lane})`;
    case "shuffleXor":
      return `(fk_lane ^ ${lane})`;
    default:
      return op satisfies never;
  }
}
