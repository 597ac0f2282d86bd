import type { Expr, KernelIR, Stmt } from "../../ir.ts";
import type { StmtOf } from "../c-like/dialect.ts";
import { nestedLists, subexpressions, someLoopExit, someStmt } from "../../visit.ts";

type Conditional = StmtOf<"if"> | StmtOf<"loop">;

/**
 * Returns the conditions on which it depends whether a barrier is reached, and which WGSL's own rules cannot prove
 * uniform although the front end has. The emitter broadcasts the value of such a condition from the first work item.
 * Conditions that decide only about exchanges within a subgroup are not included: a WGSL directive
 * (`subgroup_uniformity`) removes the need of a proof for them, and a broadcast costs two barriers.
 *
 * The analysis ignores the order of assignments. Whatever it finds uniform is therefore also uniform by WGSL's finer
 * rules.
 */
export function conditionsToBroadcast(ir: KernelIR): ReadonlySet<Conditional> {
  const found = new Set<Conditional>();
  if (!ir.cooperative) return found;
  const analysis = new Analysis(ir);
  while (analysis.pass()); // each pass only adds varying locals, so this ends
  for (const s of analysis.decisive) if (!analysis.isUniform(conditionOf(s))) found.add(s);
  return found;
}

const literalTrue: Expr = { kind: "const", type: "bool", value: true };
const conditionOf = (s: Conditional): Expr => (s.kind === "if" ? s.condition : (s.test ?? literalTrue));
const bodyOf = (s: Conditional): readonly Stmt[] => nestedLists(s).flat();

class Analysis {
  /** The conditions on which a barrier depends. */
  readonly decisive = new Set<Conditional>();
  readonly #ir: KernelIR;
  readonly #varying = new Set<number>();
  #changed = false;

  constructor(ir: KernelIR) {
    this.#ir = ir;
    this.#findDecisive(ir.body, false);
  }

  /** Marks the locals that vary as a result of those marked so far. Returns whether there were any. */
  pass(): boolean {
    this.#changed = false;
    this.#visitAll(this.#ir.body, true);
    return this.#changed;
  }

  isUniform(e: Expr): boolean {
    switch (e.kind) {
      case "local":
        return !this.#varying.has(e.id);
      case "index":
        return e.op === "groupId" || e.op === "groupCount";
      case "load":
        return this.#isReadOnly(e) && this.isUniform(e.index);
      default:
        return subexpressions(e).every((child) => this.isUniform(child));
    }
  }

  #isReadOnly({ array }: Extract<Expr, { kind: "load" }>): boolean {
    if (array.space !== "buffer") return false;
    const { access, atomic } = this.#ir.buffers[array.id];
    return access === "read" && !atomic;
  }

  /** An `if` around a barrier; a loop around one; and any `if` that leaves such a loop. */
  #findDecisive(statements: readonly Stmt[], inDecisiveLoop: boolean): void {
    for (const s of statements) {
      if (s.kind !== "if" && s.kind !== "loop") continue;
      const inner = bodyOf(s);
      const meets = containsBarrier(inner);
      if (meets || (s.kind === "if" && inDecisiveLoop && leavesLoop(inner))) this.decisive.add(s);
      this.#findDecisive(inner, s.kind === "loop" ? meets : inDecisiveLoop);
    }
  }

  #visitAll(statements: readonly Stmt[], uniformFlow: boolean): void {
    for (const s of statements) this.#visit(s, uniformFlow);
  }

  #visit(s: Stmt, uniformFlow: boolean): void {
    if (s.kind === "assign" && !(uniformFlow && this.isUniform(s.value))) this.#vary(s.local);
    if ((s.kind === "atomic" || s.kind === "subgroup") && s.result !== null) this.#vary(s.result);
    if (s.kind !== "if" && s.kind !== "loop") return;
    const together = this.decisive.has(s) || (this.isUniform(conditionOf(s)) && !this.#diverges(s));
    this.#visitAll(bodyOf(s), uniformFlow && together);
  }

  /** Tells whether some items may leave this loop, or an iteration of it, before others. */
  #diverges(s: Conditional): boolean {
    return s.kind === "loop" && this.#leavesApart(s.body);
  }

  #leavesApart(statements: readonly Stmt[]): boolean {
    return statements.some(
      (s) =>
        s.kind === "if" && ((leavesLoop(bodyOf(s)) && !this.isUniform(s.condition)) || this.#leavesApart(bodyOf(s))),
    );
  }

  #vary(local: number): void {
    if (this.#varying.has(local)) return;
    this.#varying.add(local);
    this.#changed = true;
  }
}

const containsBarrier = (list: readonly Stmt[]): boolean => someStmt(list, ({ kind }) => kind === "barrier");

/** Tells whether a list contains a `break` or `continue` of the loop around it. */
const leavesLoop = (list: readonly Stmt[]): boolean => someLoopExit(list, () => true);
