/**
 * Random kernels, as text: nested conditions and loops over uniform and varying values, breaks, continues, block-scoped
 * locals.
 */

/** A small linear congruential generator: the same kernels on every run. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = (seed * 2654435761 + 12345) >>> 0;
  }

  below(n: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * n);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}

interface Scope {
  readonly ints: readonly string[];
  readonly reals: readonly string[];
  /** Ints that may be assigned: not loop counters. */
  readonly mutable: readonly string[];
  readonly inLoop: boolean;
  readonly depth: number;
  /** Whether all items of a workgroup get here together, so that barriers may stand here; false in kernels without. */
  readonly together: boolean;
  /** Whether they turn the innermost loop together. */
  readonly loopTogether: boolean;
}

/** The body's parameters: `n` a uniform i32, `u` and `k` read-only buffers, `out` and `m` written, `w` private. */
export function randomKernel(seed: number, groupSize?: number): string {
  const together = groupSize !== undefined;
  const writer = new Writer(new Dice(seed));
  const scope: Scope = {
    ints: ["i", "n", "a", "b"],
    reals: ["x", "y"],
    mutable: ["a", "b"],
    inLoop: false,
    depth: 0,
    together,
    loopTogether: together,
  };
  return [
    together
      ? `function* ({ n, u, k, out, m }, gpu) { const SIZE = ${groupSize}; const l = gpu.localId(); const shared = gpu.sharedReal(${groupSize});`
      : "({ n, u, k, out, m }, gpu) => {",
    "const i = gpu.globalId(); const w = gpu.privateReal(12); const q = gpu.privateI32(5);",
    "for (let j = 0; j < 12; j++) w[j] = gpu.real(j); for (let j = 0; j < 5; j++) q[j] = j;",
    "let a = 1; let b = k[i]; let x = 0.5; let y = u[i];",
    ...writer.block(scope, 6),
    "out[i] = x + y; m[i] = a + b; for (let j = 0; j < 12; j++) { out[i] += w[j] * gpu.real(j + 1); } for (let j = 0; j < 5; j++) { m[i] += q[j]; }",
    "}",
  ].join("\n");
}

class Writer {
  private readonly dice: Dice;
  private names = 0;

  constructor(dice: Dice) {
    this.dice = dice;
  }

  block(outer: Scope, size: number): string[] {
    let scope = outer;
    const lines: string[] = [];
    for (let s = 0; s < size; s++) {
      const [line, next] = this.statement(scope);
      lines.push(line);
      scope = next;
    }
    return lines;
  }

  private statement(s: Scope): [string, Scope] {
    const nest = s.depth < 4;
    if (s.together && this.dice.below(4) === 0) return [this.exchange(s), s];
    switch (this.dice.below(nest ? 11 : 6)) {
      case 0:
        return this.declaration(s);
      case 1:
        return [`${this.dice.pick(s.mutable)} = ${this.int(s, 2)};`, s];
      case 2:
        return [`${this.dice.pick(s.reals)} = ${this.real(s, 2)};`, s];
      case 3:
        return [this.store(s), s];
      case 4:
      case 5:
        return [
          s.inLoop && this.dice.below(2) === 0 ? this.leave(s) : `${this.dice.pick(s.reals)} += ${this.real(s, 1)};`,
          s,
        ];
      case 6:
      case 7:
      case 8:
        return [this.condition(s), s];
      case 9:
        return [this.forLoop(s), s];
      default:
        return [this.whileLoop(s), s];
    }
  }

  private declaration(s: Scope): [string, Scope] {
    const name = `v${this.names++}`;
    if (this.dice.below(2) === 0) return [`let ${name} = ${this.real(s, 2)};`, { ...s, reals: [...s.reals, name] }];
    return [`let ${name} = ${this.int(s, 2)};`, { ...s, ints: [...s.ints, name], mutable: [...s.mutable, name] }];
  }

  private store(s: Scope): string {
    const [x, n] = [this.real(s, 1), this.int(s, 1)];
    const stores = [
      `w[${this.index(s, 12, 1)}] = ${x};`,
      `q[${this.index(s, 5, 1)}] = ${n};`,
      `out[i] = ${x};`,
      `m[i] = ${n};`,
    ];
    return this.dice.pick([...stores, stores[0]]);
  }

  /** A barrier, or a look at a neighbour's value. */
  private exchange(s: Scope): string {
    if (this.dice.below(3) === 0) return "yield;";
    return `shared[l] = ${this.real(s, 1)}; yield; ${this.dice.pick(s.reals)} = shared[(l + ${1 + this.dice.below(3)}) % SIZE]; yield;`;
  }

  /** A condition, and whether all items agree on it. */
  private decide(s: Scope, depth: number): [string, boolean] {
    if (s.together && this.dice.below(2) === 0) return [this.dice.pick(["n === 2", "n > 1", "n % 2 === 0"]), true];
    return [this.bool(s, depth), false];
  }

  private leave(s: Scope): string {
    if (s.loopTogether)
      return s.together
        ? `if (${this.dice.pick(["n > 2", "n === 1"])}) ${this.dice.pick(["break", "continue"])};`
        : "x += 1;";
    return `if (${this.bool(s, 1)}) ${this.dice.pick(["break", "continue"])};`;
  }

  private condition(s: Scope): string {
    const [test, agreed] = this.decide(s, 2);
    const inner = { ...s, depth: s.depth + 1, together: s.together && agreed };
    const then = this.block(inner, 1 + this.dice.below(3)).join(" ");
    const otherwise =
      this.dice.below(2) === 0 ? "" : ` else { ${this.block(inner, 1 + this.dice.below(2)).join(" ")} }`;
    return `if (${test}) { ${then} }${otherwise}`;
  }

  private forLoop(s: Scope): string {
    const j = `j${this.names++}`;
    const agreed = s.together && this.dice.below(2) === 0;
    const inner = {
      ...s,
      ints: [...s.ints, j],
      inLoop: true,
      depth: s.depth + 1,
      together: agreed,
      loopTogether: agreed,
    };
    const bound = this.dice.pick(agreed ? ["5", "n"] : ["5", "n", "i % 4", `Math.min(${this.int(s, 0)} & 7, 6)`]);
    return `for (let ${j} = 0; ${j} < ${bound}; ${j}++) { ${this.block(inner, 1 + this.dice.below(3)).join(" ")} }`;
  }

  /** Counts down before anything can skip it, so that it ends. */
  private whileLoop(s: Scope): string {
    const j = `j${this.names++}`;
    const inner = {
      ...s,
      ints: [...s.ints, j],
      inLoop: true,
      depth: s.depth + 1,
      together: false,
      loopTogether: false,
    };
    const body = this.block(inner, 1 + this.dice.below(3)).join(" ");
    return `let ${j} = ${this.dice.pick(["4", "n & 3", "k[i] & 3"])}; while (${j} > 0) { ${j}--; ${body} }`;
  }

  private index(s: Scope, length: number, depth: number): string {
    if (this.dice.below(3) === 0) return String(this.dice.below(length));
    return `((${this.int(s, depth)}) & 0x7fffffff) % ${length}`;
  }

  /** Makes one of several things, and only that one. */
  private one(makers: readonly (() => string)[]): string {
    return this.dice.pick(makers)();
  }

  private int(s: Scope, depth: number): string {
    if (depth === 0) return this.dice.pick([...s.ints, ...s.ints, String(this.dice.below(9)), "k[i]", "gpu.i32(x)"]);
    const a = this.int(s, depth - 1);
    const b = this.int(s, depth - 1);
    return this.one([
      () => a,
      () => `(${a} + ${b})`,
      () => `(${a} - ${b})`,
      () => `Math.imul(${a}, ${b})`,
      () => `(${a} % (${b} | 1))`,
      () => `((${a} / (${b} | 1)) | 0)`,
      () => `(${a} >> (${b} & 3))`,
      () => `(${a} ^ ${b})`,
      () => `Math.max(${a}, ${b})`,
      () => `(${this.bool(s, depth - 1)} ? ${a} : ${b})`,
      () => `q[${this.index(s, 5, depth - 1)}]`,
    ]);
  }

  private real(s: Scope, depth: number): string {
    if (depth === 0)
      return this.dice.pick([
        ...s.reals,
        ...s.reals,
        "0.25",
        "1.5",
        "u[i]",
        "u[n]",
        "(i > 0 ? u[i - 1] : 2.5)",
        "w[3]",
      ]);
    const a = this.real(s, depth - 1);
    const b = this.real(s, depth - 1);
    return this.one([
      () => a,
      () => `(${a} + ${b})`,
      () => `(${a} - ${b})`,
      () => `(${a} * 0.5)`,
      () => `gpu.real(${this.int(s, depth - 1)})`,
      () => `Math.abs(${a})`,
      () => `Math.floor(${a} / 3)`,
      () => `(${this.bool(s, depth - 1)} ? ${a} : ${b})`,
      () => `w[${this.index(s, 12, depth - 1)}]`,
      () => `u[((${this.int(s, 0)}) & 0x7fffffff) % u.length]`,
    ]);
  }

  private bool(s: Scope, depth: number): string {
    if (depth > 1 && this.dice.below(3) === 0)
      return `(${this.bool(s, depth - 1)} ${this.dice.pick(["&&", "||"])} ${this.bool(s, depth - 1)})`;
    return this.one([
      () => `${this.int(s, 0)} < ${this.int(s, 0)}`,
      () => `(${this.int(s, depth)}) % 3 === 0`,
      () => `${this.real(s, 0)} > ${this.real(s, 0)}`,
      () => `n === ${this.dice.below(4)}`,
      () => `${this.dice.pick(s.ints)} !== 2`,
      () => "(i & 1) === 0",
      () => `!(i > ${this.dice.below(20)})`,
    ]);
  }
}
