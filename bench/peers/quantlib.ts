import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** One pricing by QuantLib. The finite-difference engine takes `tgrid` time steps and `xgrid` nodes. */
export interface Job {
  readonly engine: "fd" | "analytic" | "qdfp" | "heston-fd" | "heston-analytic" | "mc-american" | "mc-asian";
  readonly type: "call" | "put";
  readonly exercise: "american" | "european" | "bermudan";
  readonly spot: number;
  readonly strike: number;
  readonly rate: number;
  readonly yield: number;
  readonly vol?: number;
  /** Of Heston's model. */
  readonly v0?: number;
  readonly kappa?: number;
  readonly theta?: number;
  readonly sigma?: number;
  readonly rho?: number;
  readonly vgrid?: number;
  /** Years; QuantLib rounds it to whole days. */
  readonly maturity: number;
  readonly tgrid?: number;
  readonly xgrid?: number;
  readonly damping?: number;
  /**
   * Of qdfp: one of QuantLib's three schemes ("high" precision by default), one of twice its nodes and iterations, or
   * orders l, m, n, p.
   */
  readonly iteration?: "fast" | "accurate" | "high" | "finer" | readonly number[];
  readonly scheme?:
    | "douglas"
    | "crank-nicolson"
    | "implicit-euler"
    | "tr-bdf2"
    | "craig-sneyd"
    | "modified-craig-sneyd"
    | "hundsdorfer-verwer";
  /** Exponent of a local volatility vol·(S/spot)^(beta − 1); 1 by default. */
  readonly beta?: number;
  readonly dividends?: readonly (readonly [time: number, cash: number])[];
  /** How often it is timed; 0 for the price alone. */
  readonly repetitions?: number;
  /** Of a Bermudan, before its maturity; years, rounded to whole days. */
  readonly dates?: readonly number[];
  /** Of Monte Carlo: paths, those of the regression, steps to maturity, and fixings of an average. */
  readonly paths?: number;
  readonly calibration?: number;
  readonly steps?: number;
  readonly seed?: number;
  readonly fixings?: readonly number[];
  /** Of a double knock-out. */
  readonly lower?: number;
  readonly upper?: number;
}

export interface Answer {
  readonly price: number;
  /** Median seconds of one pricing. */
  readonly seconds: number;
  /** Of mc-american. */
  readonly standardError?: number;
}

const cache = join(import.meta.dirname, "../../.cache/peers");
const flags = ["-O3", "-march=native", "-std=c++17"];
/** The programs: options on underlyings, trades on rates, and fits of quotes. */
export type PeerProgram = "quantlib" | "quantlib-rates" | "calibration";

/** QuantLib as a peer, built on first use; undefined, with the reason noted, where it is not installed. */
export function openQuantLib(note: (text: string) => void): QuantLib | undefined {
  return openProgram<Job>(note, "quantlib");
}

/** One of the programs, as `openQuantLib`. */
export function openProgram<J extends object>(
  note: (text: string) => void,
  name: PeerProgram,
): QuantLib<J> | undefined {
  const program = buildPeer(name, note);
  if (program === undefined) return undefined;
  const quantLib = new QuantLib<J>(program);
  note(
    `${quantLib.version}, the distribution's library; our calls to it built with g++ ${flags.join(" ")}; one thread`,
  );
  return quantLib;
}

/** `bench/peers/<name>.cpp`, built on first use; undefined, with the reason noted, where QuantLib is not installed. */
export function buildPeer(name: PeerProgram, note: (text: string) => void): string | undefined {
  const source = join(import.meta.dirname, `${name}.cpp`);
  const program = join(cache, name);
  if (!existsSync("/usr/include/ql/quantlib.hpp") && spawnSync("quantlib-config", ["--version"]).status !== 0) {
    note("no QuantLib here (Debian: apt-get install libquantlib0-dev): no peer is measured");
    return undefined;
  }
  if (!existsSync(program) || statSync(program).mtimeMs < statSync(source).mtimeMs) {
    mkdirSync(cache, { recursive: true });
    const { status, stderr } = spawnSync("g++", [...flags, source, "-o", program, "-lQuantLib"], { encoding: "utf8" });
    if (status !== 0) {
      note(`QuantLib's program does not build: ${stderr.slice(0, 500)}`);
      return undefined;
    }
  }
  return program;
}

/** QuantLib in a process of its own, which is started once: a job takes less time than a process does to start. */
export class QuantLib<J extends object = Job> implements Disposable {
  readonly version: string;
  private readonly child;
  private readonly lines;

  constructor(program: string) {
    this.version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim();
    this.child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  [Symbol.dispose](): void {
    this.child.stdin.end();
  }

  /** Prices all jobs, in order; one call at a time. @throws Error with QuantLib's message */
  async price(jobs: readonly J[]): Promise<Answer[]> {
    this.child.stdin.write(`${jobs.map(lineOf).join("\n")}\n`);
    const lines: string[] = [];
    // All are read, so that none is left for the next call.
    for (const job of jobs) {
      const { value, done } = await this.lines.next();
      if (done === true) throw new Error(`QuantLib's process has ended, at ${lineOf(job)}`);
      lines.push(value);
    }
    return lines.map((line, i) => answerOf(line, jobs[i]));
  }
}

/** Seconds of the whole command, from a file of jobs, a line each, to a file of answers. @throws Error if it fails */
export async function runJobs(input: string, output: string, name: PeerProgram = "quantlib"): Promise<number> {
  const files = [openSync(input, "r"), openSync(output, "w")];
  try {
    const start = performance.now();
    const child = spawn(join(cache, name), { stdio: [...files, "inherit"] });
    const [status] = (await once(child, "close")) as [number | null];
    if (status !== 0) throw new Error(`QuantLib's program: status ${status}`);
    return (performance.now() - start) / 1e3;
  } finally {
    files.forEach(closeSync);
  }
}

type Term = string | number | readonly (number | readonly number[])[];

/** A job as the program reads it. */
export function lineOf(job: object): string {
  const textOf = (value: Term): string | number =>
    typeof value === "object" ? value.map((one) => [one].flat().join(":")).join(",") : value;
  return Object.entries(job as Readonly<Record<string, Term>>)
    .map(([key, value]) => `${key}=${textOf(value)}`)
    .join(" ");
}

function answerOf(line: string, job: object): Answer {
  if (line.startsWith("error")) throw new Error(`QuantLib: ${line.slice(6)} (${lineOf(job)})`);
  const [price, seconds, , standardError] = line.split(" ").map(Number);
  return standardError === undefined ? { price, seconds } : { price, seconds, standardError };
}
