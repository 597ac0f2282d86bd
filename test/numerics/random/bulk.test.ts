/** The bulk call: the same bits on every device and number of threads, whatever the range; and in both orders. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import type { Device } from "../../../src/device/device.ts";
import { lower } from "../../../src/kernel/index.ts";
import { interpret } from "../../../src/kernel/interpret/index.ts";
import { numberSourceOf } from "../../../src/numerics/random/draws.ts";
import { jumpEntries, tableOf } from "../../../src/numerics/random/generators/skip.ts";
import { GROUP_SIZE, TILE_LENGTH, tiledKernel } from "../../../src/numerics/random/kernels.ts";
import {
  type GeneratorName,
  RandomGenerator,
  randomNumbers,
  type RandomSettings,
  randomSpec,
} from "../../../src/numerics/random/index.ts";
import { GENERATORS } from "../../../src/numerics/random/spec.ts";
import { isSlow } from "../../../tools/device-report/check.ts";
import { disposeAll, openTestDevices, type TestDevice } from "../../support/devices.ts";
import { dealt } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { philoxWords, stepped, STEPPING, take } from "./support.ts";

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));
const reference = new InterpreterDevice();

const NAMES: readonly GeneratorName[] = ["drand48", "mrg32k3a", "xorwow", "philox", "sobol"];
const RANGE = { seed: 20261120, streams: 3, count: 2501, offset: 7 } as const;

type Kind = Pick<RandomSettings, "distribution" | "precision" | "bits" | "method">;
const EXACT: readonly Kind[] = [
  { distribution: "bits" },
  { distribution: "uniform", precision: "f32", bits: 24 },
  { distribution: "uniform", precision: "f64", bits: 24 },
  { distribution: "uniform", precision: "f64", bits: 32 },
  { distribution: "uniform", precision: "f64", bits: 53 },
];
const NORMAL: readonly Kind[] = [
  { distribution: "normal", precision: "f32", bits: 24 },
  { distribution: "normal", precision: "f32", bits: 32 },
  { distribution: "normal", precision: "f64", bits: 32 },
  { distribution: "normal", precision: "f64", bits: 53 },
  { distribution: "normal", method: "box-muller", precision: "f32", bits: 24 },
  { distribution: "normal", method: "box-muller", precision: "f64", bits: 53 },
];
const isThere = (generator: GeneratorName, { bits, method }: Kind): boolean =>
  generator !== "sobol" || (bits !== 53 && method !== "box-muller");
const KINDS = [...EXACT, ...NORMAL];
/** Both orders of the numbers; in `npm test` one after the other. */
const cases = NAMES.flatMap((generator, g) =>
  KINDS.map((kind, k) => ({ generator, kind, orders: dealt(["by-stream", "interleaved"] as const, g + k, 2) })),
).filter(({ generator, kind }) => isThere(generator, kind));

/** One thread has all. Where a kernel takes a second to compile few kinds stand for all, a quarter of them on each. */
function casesOn({ label, device }: TestDevice): typeof cases {
  if (device === undefined || label === "cpu, 1 thread") return cases;
  if (!isSlow({ device })) return [...dealt(cases, 0, 6)];
  const few = [EXACT[0], EXACT[1], EXACT[4], NORMAL[1], NORMAL[5]];
  const own = cases.filter(({ kind }) => few.includes(kind) && offers(device, kind));
  return [...dealt(own, label === "webgpu" ? 0 : 1, 4)];
}
const offers = (device: Device, { precision }: Kind): boolean =>
  precision === undefined || device.precisions.includes(precision);
const title = (kind: Kind): string => Object.values(kind).join(" ");

/** The interpreter's numbers, computed once for all devices. */
const computed = new Map<string, ReturnType<typeof randomNumbers>>();
function expectedOf(settings: RandomSettings & typeof RANGE): ReturnType<typeof randomNumbers> {
  const key = JSON.stringify(settings);
  const found = computed.get(key) ?? randomNumbers({ ...settings, device: reference });
  computed.set(key, found);
  return found;
}

describe.each(devices)("$label: the interpreter's numbers, bit for bit", (one) => {
  const { device, missing } = one;
  afterEach(() => expect(device?.liveBuffers ?? 0).toBe(0));

  for (const { generator, kind, orders } of casesOn(one))
    test(`${generator}, ${title(kind)}`, async (context) => {
      if (device === undefined) return context.skip(missing);
      if (!offers(device, kind)) return context.skip(`${device.name} has no ${kind.precision}`);
      for (const order of orders) {
        const settings = { generator, order, ...kind, ...RANGE };
        const found = await randomNumbers({ ...settings, device });
        const expected = await expectedOf(settings);
        if (kind.distribution === "normal" && device.backend === "webgpu") closeInF32(found, expected);
        else expect(found).toEqual(expected);
      }
    });
});

/** WGSL may divide to 2.5 ulp and contract; ln u near 1 and sin near π magnify that, absolutely by little. */
function closeInF32(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  let worst = 0;
  for (let i = 0; i < expected.length; i++) worst = Math.max(worst, Math.abs(found[i] - expected[i]));
  expect(worst).toBeLessThan(4e-6);
}

describe("numbers are the generator's, by stepping", () => {
  const count = 3000;
  const cpu = devices[0].device!;

  test.each(STEPPING)("%s: words, and streams as blocks", async (generator) => {
    const seed = 99;
    const found = await randomNumbers({ device: cpu, generator, seed, distribution: "bits", count });
    const words = take(stepped(generator, randomSpec({ generator, seed }).state), count + 1000);
    expect([...found]).toEqual(words.slice(0, count));
    const blocks = await randomNumbers({
      device: cpu,
      generator,
      seed,
      distribution: "bits",
      streams: 3,
      blockLength: 1000,
      count: 1000,
    });
    expect([...blocks]).toEqual(words.slice(0, 3000));
  });

  test("philox: words of counters, also beyond 32 bits, and streams as cuRAND's subsequences", async () => {
    const of = { generator: "philox", seed: (7n << 32n) | 5n, distribution: "bits" } as const;
    expect([...(await randomNumbers({ device: cpu, ...of, count: 11 }))]).toEqual(take(philoxWords([5, 7]), 11));
    const far = await randomNumbers({ device: cpu, ...of, offset: 4n * (2n ** 32n - 1n) + 1n, count: 11 });
    expect([...far]).toEqual(take(philoxWords([5, 7], 2n ** 32n - 1n), 12).slice(1));
    const third = await randomNumbers({ device: cpu, ...of, firstStream: 3, count: 4 });
    expect([...third]).toEqual(take(philoxWords([5, 7], 3n << 64n), 4));
  });

  test("uniforms of 53 bits of xorwow come from two words", async () => {
    const words = take(stepped("xorwow", randomSpec({ generator: "xorwow", seed: 1 }).state), 8);
    const u = await randomNumbers({ device: cpu, generator: "xorwow", seed: 1, count: 4 });
    const expected = [0, 1, 2, 3].map((i) => {
      const [high, low] = [words[2 * i], words[2 * i + 1]];
      return ((high >>> 5) * 2 ** 26 + ((low >>> 6) | 1)) * 2 ** -53;
    });
    expect([...u]).toEqual(expected);
  });
});

describe.each(NAMES)("%s: ranges agree where they overlap", (generator) => {
  const cpu = devices[1].device!;

  test.each([...EXACT, ...NORMAL].filter((one) => isThere(generator, one)))(
    "$distribution $bits $method",
    async (kind) => {
      const settings = randomSpec({ generator, seed: 5, streams: 2, ...kind });
      using one = await RandomGenerator.create(cpu, settings);
      const all = await one.generate({ count: 5000, offset: 1 });
      for (const [offset, count] of [
        [0, 1],
        [1, 1],
        [2, 3],
        [3, 1027],
        [1024, 1025],
        [4999, 2],
      ]) {
        const some = await one.generate({ count, offset });
        const skipped = offset === 0 ? 1 : 0;
        for (const stream of [0, 1]) {
          const first = stream * 5000 + offset - 1;
          expect(some.slice(stream * count + skipped, (stream + 1) * count)).toEqual(
            all.slice(first + skipped, first + count),
          );
        }
      }
    },
  );
});

describe("the kernel of GPUs, in tiles", () => {
  test.each([
    ["philox", "bits", 0],
    ["philox", "uniform", 3],
    ["xorwow", "bits", 0],
    ["mrg32k3a", "normal", 1],
  ] as const)("%s, %s, %i numbers into a draw: the direct one's numbers", async (generator, distribution, lead) => {
    const spec = randomSpec({ generator, seed: 3, distribution, bits: 32, streams: 2 });
    const [count, length, parts] = [GROUP_SIZE * TILE_LENGTH + 5, TILE_LENGTH, 2 * GROUP_SIZE];
    const { jumps, blockLength } = GENERATORS[generator];
    const source = numberSourceOf(spec);
    const unit = generator === "philox" ? 4n : 1n;
    const [streams, starts] = [
      { spacing: blockLength / unit, count: 2 },
      { spacing: BigInt(length) / unit, count: parts },
    ];
    const table = tableOf(spec.state, jumpEntries(jumps!, streams, starts), streams, starts);
    const out = distribution === "bits" ? new Uint32Array(2 * count) : new Float64Array(2 * count);
    const first = generator === "philox" ? lead : 0;
    interpret(
      lower(tiledKernel(spec, source), "f64"),
      {
        table,
        streams: 2,
        firstStream: 0,
        lead: first,
        count,
        parts,
        firstPart: 0,
        length,
        used: length,
        guarded: true,
        out,
      },
      { groups: (2 * parts) / GROUP_SIZE },
    );
    expect(out).toEqual(await randomNumbers({ device: reference, ...spec, seed: 3, offset: first, count }));
  });
});

describe("cuRAND's order", () => {
  test("number n is number ⌊n/4096⌋ of subsequence n mod 4096", async () => {
    const of = { generator: "xorwow", seed: 1234, distribution: "bits" } as const;
    const cpu: Device = devices[1].device!;
    const host = await randomNumbers({ device: cpu, ...of, streams: 4096, order: "interleaved", count: 3 });
    for (const n of [0, 1, 4095, 4096, 8191, 8192, 9000]) {
      const [one] = await randomNumbers({
        device: cpu,
        ...of,
        firstStream: n % 4096,
        offset: Math.floor(n / 4096),
        count: 1,
      });
      expect(host[n]).toBe(one);
    }
  });
});
