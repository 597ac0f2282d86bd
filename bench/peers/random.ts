import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "../../.cache/peers");
const source = join(import.meta.dirname, "random.c");
const program = join(cache, "random");

export interface RandomPeer {
  /** Uniform doubles per second of a plain C loop; undefined for a generator it lacks. "memset" only writes. */
  perSecond(generator: string, count: number): number | undefined;
}

/** Plain C loops, one thread; undefined, with the reason noted, where there is no compiler. */
export function openRandomPeer(note: (text: string) => void): RandomPeer | undefined {
  mkdirSync(cache, { recursive: true });
  const { status } = spawnSync("cc", ["-O3", "-march=native", source, "-o", program, "-lm"]);
  if (status !== 0) {
    note("no C compiler here: no peer is measured, and no floor");
    return undefined;
  }
  note("peer: plain C loops of the same generators, cc -O3 -march=native, one thread");
  return {
    perSecond(generator, count) {
      if (generator === "sobol") return undefined;
      return count / Number(execFileSync(program, [generator, String(count), "5"], { encoding: "utf8" }));
    },
  };
}

export interface NumpyPeer {
  /** Of numpy's Philox (4×64): numbers per second. */
  perSecond(distribution: "uniform" | "normal", precision: "f64" | "f32", count: number): number;
}

const SCRIPT = `
import sys, time, numpy
method, kind, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
g = numpy.random.Generator(numpy.random.Philox(1))
out = numpy.empty(count, dtype=kind)
run = getattr(g, method)
run(out=out, dtype=out.dtype)
best = 1e9
for _ in range(5):
    start = time.perf_counter()
    run(out=out, dtype=out.dtype)
    best = min(best, time.perf_counter() - start)
print(count / best)
`;

/** numpy, one thread; undefined where it is not installed. */
export function openNumpy(note: (text: string) => void): NumpyPeer | undefined {
  const { status, stdout } = spawnSync("python3", ["-c", "import numpy; print(numpy.__version__)"], {
    encoding: "utf8",
  });
  if (status !== 0) {
    note("no numpy here: it is not measured");
    return undefined;
  }
  note(`peer: numpy ${stdout.trim()}, Philox4x64, one thread`);
  return {
    perSecond(distribution, precision, count) {
      const method = distribution === "uniform" ? "random" : "standard_normal";
      const kind = precision === "f64" ? "float64" : "float32";
      return Number(execFileSync("python3", ["-c", SCRIPT, method, kind, String(count)], { encoding: "utf8" }));
    },
  };
}
