import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "../../.cache/peers");
const source = join(import.meta.dirname, "blas.cpp");
const program = join(cache, "blas");

export interface Blas {
  /** "libopenblas", or "libblas", the reference one. */
  readonly library: string;
  /** Flops a second of a product of two n × n matrices. */
  flops(n: number, precision: "f64" | "f32"): number;
}

/**
 * The machine's BLAS in one thread, OpenBLAS before the reference one; undefined, with the reason noted, where neither
 * is there to build with.
 */
export function openBlas(note: (text: string) => void): Blas | undefined {
  mkdirSync(cache, { recursive: true });
  const library = ["openblas", "blas"].find(
    (name) => spawnSync("g++", ["-O2", source, "-o", program, `-l${name}`]).status === 0,
  );
  if (library === undefined) {
    note("no BLAS here (Debian: apt-get install libopenblas-dev): no peer is measured");
    return undefined;
  }
  note(`peer: lib${library}, one thread`);
  const env = { ...process.env, OPENBLAS_NUM_THREADS: "1" };
  return {
    library: `lib${library}`,
    flops(n, precision) {
      const seconds = Number(execFileSync(program, [precision, String(n), "15"], { env, encoding: "utf8" }));
      return (2 * n ** 3) / seconds;
    },
  };
}
