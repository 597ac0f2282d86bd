import { describe, expect, it } from "vitest";
import { SpecError } from "../../src/base/errors.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";

import {
  bool,
  canonicalText,
  fn,
  i32,
  kernel,
  kernelFromSource,
  lower,
  read,
  real,
  u32,
  userFunction,
  write,
  type Params,
} from "../../src/kernel/index.ts";

/** The canonical text of a body without its header: what the front end made of it. */
function bodyOf(source: string, params: Params, env = {}): string {
  const text = canonicalText(lower(kernelFromSource({ params, env, source }), "f64"));
  return text.slice(text.indexOf("\nlocals")).split("\n").slice(2).join("\n");
}

const IO = { n: i32, x: real, u: read(real), out: write(real) };

describe("lowering", () => {
  it("makes an early return the other branch of what follows", () => {
    expect(bodyOf("({ n, out }, gpu) => { const i = gpu.globalId(); if (i >= n) return; out[i] = 1; }", IO)).toBe(
      ["%0 = globalId", "if not(ge.i32(%0, $0)) {", "buffer1[%0] = real:1", "}", "else {", "}"].join("\n"),
    );
  });

  it("knows a constant by whose name a block calls a variable of its own, as minifiers do", () => {
    const block = "{ let N = x; for (let k = 0; k < n; k++) N = N * 2; out[0] = N + z[0] }";
    const source = (name: string): string =>
      `({ n, x, out }, gpu, { N }) => { const z = gpu.privateReal(N); z[0] = x; ${block.replaceAll("N", name)} }`;
    expect(bodyOf(source("N"), IO, { N: 3 })).toBe(bodyOf(source("M"), IO, { N: 3 }));
    // A parameter that is assigned to, beside such a block, is a variable.
    const assigned = `({ n, x, out }, gpu, { N }) => { N = N + n; ${block} out[1] = gpu.real(N); }`;
    const apart = `({ n, x, out }, gpu, { N }) => { N = N + n; ${block.replaceAll("N", "M")} out[1] = gpu.real(N); }`;
    expect(bodyOf(assigned.replace("z[0]", "0"), IO, { N: 3 })).toBe(bodyOf(apart.replace("z[0]", "0"), IO, { N: 3 }));
  });

  it("unrolls short constant loops, so that indexes are constants", () => {
    const text = bodyOf("({ out }, gpu, { N }) => { for (let i = 0; i < N; i++) out[i] = gpu.real(i) * 0.5; }", IO, {
      N: 3,
    });
    expect(text).toBe(
      [
        "buffer1[i32:0] = mul.real(real:0, real:0.5)",
        "buffer1[i32:1] = mul.real(real:1, real:0.5)",
        "buffer1[i32:2] = mul.real(real:2, real:0.5)",
      ].join("\n"),
    );
  });

  it("keeps long loops, loops that leave, and loops whose counter is assigned", () => {
    for (const body of ["out[i] = 1;", "if (x > 1) break; out[i] = 1;", "out[i] = 1; i += 1;"]) {
      const trips = body === "out[i] = 1;" ? 1000 : 3;
      expect(bodyOf(`({ x, out }) => { for (let i = 0; i < ${trips}; i++) { ${body} } }`, IO)).toContain("loop {");
    }
  });

  it("does not look at branches that a constant rules out", () => {
    expect(
      bodyOf("({ out }, gpu, { FLAG }) => { if (FLAG) { out[0] = undeclared; } else out[0] = 2; }", IO, {
        FLAG: false,
      }),
    ).toBe("buffer1[i32:0] = real:2");
    expect(bodyOf('({ out }, gpu) => { out[0] = gpu.precision === "f32" ? nope : 3; }', IO)).toBe(
      "buffer1[i32:0] = real:3",
    );
  });

  it("gives integer literals the type they meet", () => {
    expect(bodyOf("({ n, x, out }) => { const two = 2; out[two] = x * two; }", IO)).toBe(
      "buffer1[i32:2] = mul.real($1, real:2)",
    );
    expect(bodyOf("({ u, out }) => { let s = 0; s += u[0]; out[0] = s; }", IO)).toBe(
      ["%0 = real:0", "%0 = add.real(%0, buffer0[i32:0])", "buffer1[i32:0] = %0"].join("\n"),
    );
  });

  it("evaluates operands before the effects of later ones", () => {
    // x + (x = 2): the old x is added.
    const text = bodyOf("({ x, out }) => { let a = x; out[0] = a + (a = 2); }", IO);
    expect(text).toBe(["%0 = $1", "%1 = %0", "%0 = real:2", "buffer1[i32:0] = add.real(%1, %0)"].join("\n"));
  });

  it("inlines functions, their early returns and several results", () => {
    const both = fn({
      name: "both",
      params: [real, bool],
      body([x, up]) {
        if (up) return { a: x, b: 1 };
        return { a: -x, b: 2 };
      },
    });
    const k = kernel({
      params: { x: real, out: write(real) },
      env: { both },
      body({ x, out }, _gpu, { both }) {
        const { a, b } = both(x, x > 0);
        out[0] = a * b;
      },
    });
    const text = canonicalText(lower(k, "f64"));
    expect(text).toContain("else {\n%3 = neg($0)\n%1 = %3\n%2 = real:2\n}");
    expect(text.match(/real:2/g)).toHaveLength(1);
  });

  it("leaves loops inside functions by a flag", () => {
    const find = fn({
      params: [i32],
      body([n]) {
        for (let i = 0; i < n; i++) if (i * i > n) return i;
        return -1;
      },
    });
    expect(find(10)).toBe(4);
    const text = bodyOf("({ n, out }, gpu, { find }) => { out[find(n)] = 1; }", IO, { find });
    expect(text).toMatch(/%(\d+) = bool:false[\s\S]*%\1 = bool:true\nbreak[\s\S]*if not\(%\1\)/);
  });

  it("reads what minifiers make of ordinary code", () => {
    const plain =
      "({ n, x, out }, gpu) => { const i = gpu.globalId(); if (i >= n) return; let s = 0; if (x > 1) { s = 2; out[i] = x; } out[i] = s; }";
    const minified = "({n:t,x:e,out:o},r)=>{const n=r.globalId();if(n>=t)return;let l=0;e>1&&(l=2,o[n]=e),o[n]=l}";
    expect(bodyOf(minified, IO)).toBe(bodyOf(plain, IO));
    expect(bodyOf("({n:t,out:o})=>{var e=!0,f=!1;e&&!f?o[0]=1:o[0]=2}", IO)).toBe("buffer1[i32:0] = real:1");
    expect(bodyOf("({n:t,out:o})=>{for(var e=0;t>e;++e)o[e]=1}", IO)).toContain("test gt.i32($0, %0)");
  });

  it("divides integers as JavaScript does when it truncates", () => {
    expect(bodyOf("({ n, out }) => { out[(n / 2) | 0] = 1; }", IO)).toBe(
      "%0 = div.i32($0, i32:2)\nbuffer1[%0] = real:1",
    );
    expect(bodyOf("({ x, out }) => { out[(x / 2) | 0] = 1; }", IO)).toBe(
      "%0 = i32<-real(div.real($1, real:2))\nbuffer1[%0] = real:1",
    );
  });

  it("keeps u32 and i32 apart, with JavaScript's rules for bits", () => {
    const text = bodyOf("({ a, o }) => { o[0] = ((a >>> 7) ^ (a << 3)) >>> 0; }", { a: u32, o: write(u32) });
    expect(text).toBe("buffer0[i32:0] = u32<-i32(xor.i32(i32<-u32(shr.u32($0, u32:7)), shl.i32(i32<-u32($0), i32:3)))");
  });

  it("declares a kernel cooperative when its items need each other", () => {
    const header = (source: string): string =>
      canonicalText(lower(kernelFromSource({ params: IO, source }), "f64")).split("\n")[0];
    expect(header("({ out }, gpu) => { out[gpu.globalId()] = 1; }")).toBe("kernel f64 64 false");
    expect(header("({ out }, gpu) => { out[gpu.groupId()] = 1; }")).toBe("kernel f64 64 true");
    expect(header("function* ({ out }, gpu) { yield; }")).toBe("kernel f64 64 true");
  });
});

describe("functions made by functions", () => {
  it("may nest with the same text, as long as none calls itself", () => {
    const plus = (inner: ReturnType<typeof fn<readonly [typeof real], {}, number>> | null): any =>
      inner === null
        ? fn({ name: "one", params: [real], body: ([x]) => x + 1 })
        : fn({ name: "plus", params: [real], env: { inner }, body: ([x], _gpu, { inner }) => inner(x) + 1 });
    const three = plus(plus(plus(null)));
    expect(three(1)).toBe(4);
    expect(bodyOf("({ x, out }, gpu, { three }) => { out[0] = three(x); }", IO, { three })).toBe(
      [
        "%0 = add.real($1, real:1)",
        "%1 = add.real(%0, real:1)",
        "%2 = add.real(%1, real:1)",
        "buffer1[i32:0] = %2",
      ].join("\n"),
    );
  });
});

describe("user functions", () => {
  const model = userFunction(["t", "S", "kappa"], ({ t, S, kappa }, gpu) => ({
    drift: kappa * S,
    variance: gpu.normalCdf(t) * S * S,
  }));
  const apply = kernel({
    params: { S: real, out: write(real) },
    env: { model },
    body({ S, out }, _gpu, { model }) {
      const { drift, variance } = model(0, S, 3);
      out[0] = drift;
      out[1] = variance;
    },
  });

  it("take their arguments by name, in the order that was declared", () => {
    expect(model(0, 2, 3)).toEqual({ drift: 6, variance: 2 });
    const out = new Float64Array(2);
    interpret(lower(apply, "f64"), { S: 2, out }, { items: 1 });
    expect([...out]).toEqual([6, 2]);
  });

  it("say which names there are when they ask for another", () => {
    const wrong = userFunction(["S"], ({ S, ...rest }: any) => S + rest);
    expect(() => bodyOf("({ out }, gpu, { f }) => { out[0] = f(1); }", IO, { f: wrong })).toThrow(/rest is not part/);
    const unknown = userFunction(["S"], ({ kappa }: any) => kappa);
    expect(() => bodyOf("({ out }, gpu, { f }) => { out[0] = f(1); }", IO, { f: unknown })).toThrow(
      /there is no kappa here[\s\S]*there are: S/,
    );
    expect(() => userFunction(["not a name"], () => 1)).toThrow(SpecError);
  });
});

it("a copy of a variable that one branch changes keeps what the variable was", () => {
  // Written out: y is x; if x > 1, x becomes 10x. What is left of y must not be read from the new x.
  const source = `({ x, out }, gpu) => { let v = x * 2; const before = v; if (v > 1) v = v * 10; out[0] = before; out[1] = v; }`;
  const ir = lower(kernelFromSource({ params: { x: real, out: write(real) }, source }), "f64");
  const run = (x: number): readonly number[] => {
    const out = new Float64Array(2);
    interpret(ir, { x, out }, { items: 1 });
    return [...out];
  };
  expect(run(3)).toEqual([6, 60]);
  expect(run(0.25)).toEqual([0.5, 0.5]);
  // The copy is of a variable that the branch makes a copy in turn.
  const chosen = `({ x, out }, gpu) => { let a = x + 1; let b = x + 2; if (x > 0) b = a; a = a * 100; out[0] = b; out[1] = a; }`;
  const other = lower(kernelFromSource({ params: { x: real, out: write(real) }, source: chosen }), "f64");
  const outs = [1, -1].map((x) => {
    const out = new Float64Array(2);
    interpret(other, { x, out }, { items: 1 });
    return [...out];
  });
  expect(outs).toEqual([
    [2, 200],
    [1, 0],
  ]);
});

it("comparisons of constants are those of JavaScript, at equality too", () => {
  const compared = (op: string, a: number, b: number): number => {
    const source = `({ out }, gpu) => { const p = gpu.privateReal(1); p[0] = ${a} ${op} ${b} ? 1 : 0; out[0] = p[0]; }`;
    const out = new Float64Array(1);
    interpret(lower(kernelFromSource({ params: { out: write(real) }, source }), "f64"), { out }, { items: 1 });
    return out[0];
  };
  const found = ["<", "<=", ">", ">=", "===", "!=="].map((op) => [
    compared(op, 1, 2),
    compared(op, 2, 2),
    compared(op, 3, 2),
  ]);
  expect(found).toEqual([
    [1, 0, 0],
    [1, 1, 0],
    [0, 0, 1],
    [0, 1, 1],
    [0, 1, 0],
    [1, 0, 1],
  ]);
});

it("kernels that differ in the sign of a zero have different texts", () => {
  const text = (value: string): string => bodyOf(`({ out }, gpu) => { out[0] = ${value}; }`, IO);
  expect(text("-0.0")).not.toBe(text("0.0"));
});
