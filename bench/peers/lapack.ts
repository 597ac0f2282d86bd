import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "../../.cache/peers");
const source = join(import.meta.dirname, "lapack.c");
const program = join(cache, "lapack");
const flags = ["-O3", "-march=native"];

/** Contiguous systems, `batch` of `rows` rows. */
export interface LapackSystems {
  readonly rows: number;
  readonly batch: number;
  readonly lower: Float64Array;
  readonly diagonal: Float64Array;
  readonly upper: Float64Array;
  readonly rhs: Float64Array;
}

/** Solves a batch by LAPACK's dgtsv on one thread: the solutions, and the median seconds of the calls. */
export type Dgtsv = (
  systems: LapackSystems,
  repetitions: number,
) => { readonly x: Float64Array; readonly seconds: number };

/** Debian's LAPACK as a peer, built on first use; undefined, with the reason noted, where it is not installed. */
export function openLapack(note: (text: string) => void): Dgtsv | undefined {
  if (!existsSync(program) || statSync(program).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync(cache, { recursive: true });
    const { status, stderr } = spawnSync("gcc", [...flags, source, "-o", program, "-llapack"], { encoding: "utf8" });
    if (status !== 0) {
      note(
        `no LAPACK here (Debian: apt-get install liblapack-dev): no peer is measured. ${(stderr ?? "").slice(0, 300)}`,
      );
      return undefined;
    }
  }
  note(
    "LAPACK: dgtsv of the distribution's library, one call a system, one thread; its copies of the input are not timed",
  );
  return dgtsv;
}

function dgtsv({ rows, batch, lower, diagonal, upper, rhs }: LapackSystems, repetitions: number): ReturnType<Dgtsv> {
  const input = Buffer.concat(
    [lower, diagonal, upper, rhs].map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength),
    ),
  );
  const args = [rows, batch, repetitions].map(String);
  const { status, stdout, stderr } = spawnSync(program, args, { input, maxBuffer: 2 ** 31 });
  if (status !== 0) throw new Error(`LAPACK: status ${status}: ${stderr.toString()}`);
  return { x: new Float64Array(new Uint8Array(stdout).buffer), seconds: Number(stderr.toString()) };
}
