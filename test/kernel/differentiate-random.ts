/**
 * Random functions of three reals, as the text of a kernel function and as a program that runs in 50 digits: variables
 * that are assigned again, branches, loops, records, calls of functions with and without a derivative of their own.
 */
import { Decimal } from "decimal.js";
import { fn, functionFromSource, type KernelFunction, real } from "../../src/kernel/index.ts";
import { Random } from "./fuzz-inputs.ts";

const D = Decimal.clone({ precision: 50 });
type Values = Map<string, Decimal>;
type Expression = { readonly text: string; readonly of: (values: Values) => Decimal };
type Statement = { readonly text: string; readonly run: (values: Values) => void };

/** erf by its series, whose terms stay small for the arguments that the generator makes. */
function erf(x: Decimal): Decimal {
  let term = x;
  let sum = x;
  for (let n = 1; term.abs().gt("1e-48"); n++) {
    term = term.mul(x).mul(x).neg().div(n);
    sum = sum.add(term.div(2 * n + 1));
  }
  return sum.mul(2).div(D.acos(-1).sqrt());
}

/** A function that declares its derivative. */
const declared = fn({
  name: "declared",
  params: [real, real],
  body: ([x, y]) => Math.sin(x) * y,
  derivative: [
    fn({ params: [real, real, real], body: ([x, y]) => Math.cos(x) * y }),
    fn({ params: [real, real, real], body: ([x]) => Math.sin(x) }),
  ],
});
/** A function by named parameters, which returns a record. */
const turned = fn({
  name: "turned",
  params: { x: real, y: real },
  body({ x, y }) {
    const c = Math.cos(x);
    return { a: c * y, b: Math.sin(x) - y * 0.5 };
  },
});

/** Functions of one argument, which is made to lie where they are smooth. */
const ONE: readonly (readonly [(a: string) => string, (a: Decimal) => Decimal])[] = [
  [(a) => `Math.exp(-(${a}) * (${a}))`, (a) => a.mul(a).neg().exp()],
  [(a) => `Math.log(1.5 + (${a}) * (${a}))`, (a) => a.mul(a).add(1.5).ln()],
  [(a) => `Math.log1p((${a}) ** 2)`, (a) => a.mul(a).add(1).ln()],
  [(a) => `Math.expm1(Math.tanh(${a}))`, (a) => a.tanh().exp().sub(1)],
  [(a) => `Math.sqrt(0.7 + (${a}) * (${a}))`, (a) => a.mul(a).add(0.7).sqrt()],
  [(a) => `Math.cbrt(2 + Math.sin(${a}))`, (a) => a.sin().add(2).cbrt()],
  [(a) => `Math.sin(${a})`, (a) => a.sin()],
  [(a) => `Math.cos(${a})`, (a) => a.cos()],
  [(a) => `Math.tan(0.3 * Math.sin(${a}))`, (a) => a.sin().mul(0.3).tan()],
  [(a) => `Math.asin(0.9 * Math.cos(${a}))`, (a) => a.cos().mul(0.9).asin()],
  [(a) => `Math.acos(0.9 * Math.sin(${a}))`, (a) => a.sin().mul(0.9).acos()],
  [(a) => `Math.atan(${a})`, (a) => a.atan()],
  [(a) => `Math.atan2(${a}, 1.3)`, (a) => a.div(1.3).atan()],
  [(a) => `Math.tanh(${a})`, (a) => a.tanh()],
  [(a) => `Math.sinh(Math.sin(${a}))`, (a) => a.sin().sinh()],
  [(a) => `Math.cosh(Math.cos(${a}))`, (a) => a.cos().cosh()],
  [(a) => `(1.2 + Math.sin(${a})) ** 2.5`, (a) => a.sin().add(1.2).pow(2.5)],
  [(a) => `(1.2 + Math.sin(${a})) ** Math.cos(${a})`, (a) => a.sin().add(1.2).pow(a.cos())],
  [(a) => `Math.sin(${a}) ** 3`, (a) => a.sin().pow(3)],
  [(a) => `1 / (1.5 + Math.cos(${a}))`, (a) => a.cos().add(1.5).pow(-1)],
  [(a) => `gpu.reciprocal(1.5 + Math.cos(${a}))`, (a) => a.cos().add(1.5).pow(-1)],
  [(a) => `gpu.erf(Math.sin(${a}))`, (a) => erf(a.sin())],
  [(a) => `gpu.erfc(Math.sin(${a}))`, (a) => new D(1).sub(erf(a.sin()))],
  [
    (a) => `gpu.normalCdf(Math.sin(${a}))`,
    (a) =>
      erf(a.sin().div(new D(2).sqrt()))
        .add(1)
        .div(2),
  ],
  [(a) => `gpu.normalPdf(${a})`, (a) => a.mul(a).div(-2).exp().div(D.acos(-1).mul(2).sqrt())],
  [(a) => `Math.abs(${a})`, (a) => a.abs()],
  [(a) => `gpu.positivePart(${a})`, (a) => D.max(a, 0)],
  [(a) => `Math.log2(2 + Math.sin(${a}))`, (a) => a.sin().add(2).log(2)],
  [(a) => `Math.log10(2 + Math.sin(${a}))`, (a) => a.sin().add(2).log(10)],
  [(a) => `gpu.real(gpu.ldexp(Math.sin(${a}), -1))`, (a) => a.sin().div(2)],
  [(a) => `gpu.copysign(Math.sin(${a}), -1)`, (a) => a.sin().abs().neg()],
  [(a) => `(${a} % 0.83)`, (a) => a.mod(0.83)],
];

/** A random function of `x0`, `x1` and `x2`, with the record of its results `{ a, b }`. */
export interface RandomFunction {
  readonly source: string;
  readonly f: KernelFunction<readonly [typeof real, typeof real, typeof real], { a: number; b: number }>;
  /** The results in 50 digits. */
  exact(x: readonly Decimal[]): { a: Decimal; b: Decimal };
}

class Writer {
  private readonly random: Random;
  private names = 0;

  constructor(random: Random) {
    this.random = random;
  }

  number(): number {
    return (this.random.below(400) - 200) / 97;
  }

  expression(names: readonly string[], depth: number): Expression {
    const { random } = this;
    if (depth === 0 || random.below(6) === 0) {
      if (random.below(4) === 0) {
        const value = this.number();
        return { text: `(${value})`, of: () => new D(value) };
      }
      const name = random.pick(names);
      return { text: name, of: (values) => values.get(name)! };
    }
    const a = this.expression(names, depth - 1);
    if (random.below(2) === 0) {
      const [text, of] = random.pick(ONE);
      return { text: text(a.text), of: (values) => of(a.of(values)) };
    }
    const b = this.expression(names, depth - 1);
    switch (random.below(8)) {
      case 0:
        return { text: `(${a.text} + ${b.text})`, of: (v) => a.of(v).add(b.of(v)) };
      case 1:
        return { text: `(${a.text} - ${b.text})`, of: (v) => a.of(v).sub(b.of(v)) };
      case 2:
      case 3:
        return { text: `Math.sin(${a.text} * ${b.text})`, of: (v) => a.of(v).mul(b.of(v)).sin() };
      case 4:
        return { text: `(${a.text} / (1.1 + ${b.text} * ${b.text}))`, of: (v) => a.of(v).div(b.of(v).pow(2).add(1.1)) };
      case 5: {
        const name = random.pick(["min", "max"] as const);
        return { text: `Math.${name}(${a.text}, ${b.text})`, of: (v) => D[name](a.of(v), b.of(v)) };
      }
      case 6: {
        const c = this.expression(names, depth - 1);
        return {
          text: `(${a.text} < ${b.text} ? ${c.text} : ${a.text})`,
          of: (v) => (a.of(v).lt(b.of(v)) ? c.of(v) : a.of(v)),
        };
      }
      default:
        return { text: `declared(${a.text}, ${b.text})`, of: (v) => a.of(v).sin().mul(b.of(v)) };
    }
  }

  private assignment(names: readonly string[], depth: number): Statement {
    const name = this.random.pick(names);
    const value = this.expression(names, depth);
    return { text: `${name} = Math.tanh(${value.text});`, run: (v) => void v.set(name, value.of(v).tanh()) };
  }

  block(names: readonly string[], size: number, depth: number): Statement[] {
    let known = names;
    const statements: Statement[] = [];
    for (let k = 0; k < size; k++) {
      const [statement, declared] = this.statement(known, depth);
      statements.push(statement);
      known = [...known, ...declared];
    }
    return statements;
  }

  private statement(names: readonly string[], depth: number): [Statement, string[]] {
    const { random } = this;
    const run = (list: readonly Statement[]) => (v: Values) => list.forEach((one) => one.run(v));
    const textOf = (list: readonly Statement[]): string => list.map(({ text }) => text).join(" ");
    const kind = random.below(depth > 0 ? 8 : 5);
    if (kind < 2) return [this.assignment(names, 2), []];
    if (kind < 4) {
      const name = `t${this.names++}`;
      const value = this.expression(names, 2);
      return [{ text: `let ${name} = ${value.text};`, run: (v) => void v.set(name, value.of(v)) }, [name]];
    }
    if (kind === 4) {
      const name = `r${this.names++}`;
      const [x, y] = [this.expression(names, 1), this.expression(names, 1)];
      const target = random.pick(names);
      return [
        {
          text: `const ${name} = turned({ x: ${x.text}, y: ${y.text} }); ${target} = ${name}.a - 0.3 * ${name}.b;`,
          run(v) {
            const [a, b] = [x.of(v), y.of(v)];
            v.set(
              target,
              a
                .cos()
                .mul(b)
                .sub(a.sin().sub(b.mul(0.5)).mul(0.3)),
            );
          },
        },
        [],
      ];
    }
    if (kind === 5) {
      const i = `i${this.names++}`;
      const rounds = random.pick([2, 3, 33, 35]);
      const inner = this.block(names, 1 + random.below(2), rounds > 5 ? 0 : depth - 1);
      return [
        {
          text: `for (let ${i} = 0; ${i} < ${rounds}; ${i}++) { ${textOf(inner)} }`,
          run: (v) => {
            for (let k = 0; k < rounds; k++) run(inner)(v);
          },
        },
        [],
      ];
    }
    const [a, b] = [this.expression(names, 1), this.expression(names, 1)];
    const yes = this.block(names, 1 + random.below(3), depth - 1);
    const no = random.below(2) === 0 ? [] : this.block(names, 1 + random.below(2), depth - 1);
    return [
      {
        text: `if (${a.text} > ${b.text}) { ${textOf(yes)} } else { ${textOf(no)} }`,
        run: (v) => run(a.of(v).gt(b.of(v)) ? yes : no)(v),
      },
      [],
    ];
  }
}

export function randomFunction(seed: number): RandomFunction {
  const random = new Random(seed * 2_654_435 + 1);
  for (let k = 0; k < 8; k++) random.below(2);
  const writer = new Writer(random);
  const names = ["x", "y", "z"];
  const statements = writer.block(names, 3 + random.below(4), 2);
  const [a, b] = [writer.expression(names, 2), writer.expression(names, 2)];
  const source = [
    "([x0, x1, x2], gpu, { declared, turned }) => {",
    "let x = x0; let y = x1; let z = x2;",
    ...statements.map(({ text }) => text),
    `return { a: ${a.text}, b: ${b.text} };`,
    "}",
  ].join("\n");
  const f = functionFromSource<readonly [typeof real, typeof real, typeof real], { a: number; b: number }>({
    name: `random ${seed}`,
    params: [real, real, real],
    env: { declared, turned },
    source,
  });
  return {
    source,
    f,
    exact(at) {
      const values: Values = new Map(names.map((name, k) => [name, new D(at[k])]));
      for (const statement of statements) statement.run(values);
      return { a: a.of(values), b: b.of(values) };
    },
  };
}

/** ∂(a, b)/∂x_k by central differences in 50 digits. */
export function exactSlope(f: RandomFunction, x: readonly number[], k: number): { a: number; b: number } {
  const h = new D("1e-16");
  const moved = (sign: number) =>
    f.exact(x.map((value, j) => (j === k ? new D(value).add(h.mul(sign)) : new D(value))));
  const [up, down] = [moved(1), moved(-1)];
  return { a: up.a.sub(down.a).div(h.mul(2)).toNumber(), b: up.b.sub(down.b).div(h.mul(2)).toNumber() };
}
