/** The bulk call's kernels: every generator's words and uniforms are the same bits everywhere. */
import type { Precision } from "../../../src/kernel/index.ts";
import { numberSourceOf } from "../../../src/numerics/random/draws.ts";
import { jumpEntries, tableOf } from "../../../src/numerics/random/generators/skip.ts";
import { directKernel, GROUP_SIZE, TILE_LENGTH, tiledKernel } from "../../../src/numerics/random/kernels.ts";
import { type GeneratorName, type RandomSettings, randomSpec } from "../../../src/numerics/random/index.ts";
import { GENERATORS } from "../../../src/numerics/random/spec.ts";
import { sobolTableOf } from "../../../src/numerics/random/sobol/sobol.ts";
import type { ConformanceCase, Tolerance } from "../case.ts";

const STREAMS = 3;
const LENGTH = TILE_LENGTH;

/** Direction numbers of three dimensions, so that nothing has to be loaded. */
const ROWS = Uint32Array.from(
  [1, 3, 7].flatMap((polynomial) => {
    const v: number[] = [];
    for (let k = 0; k < 32; k++) {
      if (polynomial === 1 || k === 0) v.push((1 << (31 - k)) >>> 0);
      else if (polynomial === 3) v.push((v[k - 1] ^ (v[k - 1] >>> 1)) >>> 0);
      else v.push(k === 1 ? (3 << 30) >>> 0 : (v[k - 2] ^ (v[k - 2] >>> 2) ^ v[k - 1]) >>> 0);
    }
    return v;
  }),
);

interface Options {
  readonly precisions: readonly Precision[];
  readonly webgpu?: Tolerance;
  readonly tiled?: boolean;
}

function randomCase(settings: Omit<RandomSettings, "seed">, options: Options): ConformanceCase {
  const spec = randomSpec({ seed: 20261120, streams: STREAMS, ...settings });
  const { generator, distribution } = spec;
  const source = numberSourceOf(spec);
  const { tiled = false } = options;
  const parts = tiled ? GROUP_SIZE : 70;
  const count = parts * LENGTH - 3;
  const { jumps, blockLength } = GENERATORS[generator];
  const unit = generator === "philox" ? 4n : 1n;
  const streams = { spacing: blockLength / unit, count: STREAMS };
  const starts = { spacing: (BigInt(LENGTH) / BigInt(source.group)) * BigInt(source.steps), count: parts };
  const table = (): Uint32Array =>
    jumps === undefined
      ? sobolTableOf({ rows: ROWS, offset: 5, partLength: LENGTH, seed: 9n })
      : tableOf(spec.state, jumpEntries(jumps, streams, starts), streams, starts);
  const size = { streams: STREAMS, firstStream: 0, lead: 0, count, parts, firstPart: 0, length: LENGTH, used: LENGTH };
  // Software adapters take their time to compile a kernel whose turns are many in one.
  const unroll = distribution === "bits" ? TILE_LENGTH : source.group;
  return {
    name: `random numbers: ${generator}, ${distribution} ${spec.bits}${tiled ? ", in tiles" : ""}`,
    kernel: tiled ? tiledKernel(spec, source) : directKernel(spec, source, unroll),
    size: tiled ? { groups: (STREAMS * parts) / GROUP_SIZE } : { items: STREAMS * parts },
    args: ({ zeros }) => {
      const out = distribution === "bits" ? new Uint32Array(STREAMS * count) : zeros(STREAMS * count);
      return { table: table(), ...size, guarded: true, out };
    },
    precisions: options.precisions,
    ...(options.webgpu === undefined ? {} : { webgpu: options.webgpu }),
    ...(tiled ? { notJavaScript: "a workgroup shares memory" } : {}),
  };
}

const NAMES: readonly GeneratorName[] = ["drand48", "mrg32k3a", "xorwow", "philox", "sobol"];
const OF_QUOTIENTS: Tolerance = {
  ulps: 32,
  absolute: 1e-6,
  because: "WGSL divides to 2.5 ulp and may contract",
};

export const randomCases: readonly ConformanceCase[] = [
  ...NAMES.map((generator) => randomCase({ generator, distribution: "bits" }, { precisions: ["f32"] })),
  ...NAMES.map((generator) => randomCase({ generator, bits: 24, precision: "f32" }, { precisions: ["f32", "f64"] })),
  ...NAMES.map((generator) => randomCase({ generator, bits: 32 }, { precisions: ["f64"] })),
  ...NAMES.filter((generator) => generator !== "sobol").map((generator) =>
    randomCase({ generator, bits: 53 }, { precisions: ["f64"] }),
  ),
  ...(["f32", "f64"] as const).map((precision) =>
    randomCase(
      { generator: "philox", distribution: "normal", precision },
      { precisions: [precision], webgpu: OF_QUOTIENTS },
    ),
  ),
  ...NAMES.map((generator) =>
    randomCase({ generator, distribution: "bits", order: "by-stream" }, { precisions: ["f32"], tiled: true }),
  ),
  randomCase({ generator: "philox", bits: 53 }, { precisions: ["f64"], tiled: true }),
];
