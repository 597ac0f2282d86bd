import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bug } from "./bug.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What the tests of a folder read. */
const COPIED = ["bench", "bin", "docs", "examples", "schema", "scripts", "src", "test", "tools", "web"] as const;
const FILES = [
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
  "README.md",
  "CHANGELOG.md",
  "FEATURES.md",
  "LIMITATIONS.md",
  "ARCHITECTURE.md",
];

/**
 * Linux's program that gives a process some of the cores: the threads of all workers together are then not too many.
 */
const canPin = spawnSync("taskset", ["-V"]).status === 0;

/** What tests say: the first that fails, if one does. */
export interface Outcome {
  readonly failure?: string | undefined;
  readonly seconds: number;
}

/** How a command has ended. */
interface End {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** It was killed because it took too long. */
  readonly isLate: boolean;
}

/** Processes that are killed may still write for a moment: what is to be removed is looked at again then. */
const REMOVED = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const;

/** A report of the test runner, as far as it is read. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** A copy of the sources and the tests, in which bugs are planted. */
export class Copy implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "feynkac-planted-"));
  readonly #cores: string;
  readonly #limit: number;
  readonly #end: number;

  /** `limit` is the time that tests may take in seconds, and `end` the time by the clock at which they are killed. */
  constructor(core: number, limit: number, end: number) {
    for (const path of [...COPIED, ...FILES]) {
      if (existsSync(join(root, path))) cpSync(join(root, path), join(this.#folder, path), { recursive: true });
    }
    for (const path of ["node_modules", "dist"]) symlinkSync(join(root, path), join(this.#folder, path));
    const all = availableParallelism();
    this.#cores = `${core % all},${(core + 1) % all}`;
    this.#limit = limit;
    this.#end = end;
  }

  /** Runs tests with a bug. @throws Error if the bug cannot be planted */
  async runWith({ file, from, to, tests }: Bug): Promise<Outcome> {
    const path = join(this.#folder, "src", file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, changed(text, { file, from, to }));
    try {
      return await this.run(tests);
    } finally {
      writeFileSync(path, text);
    }
  }

  /** Runs tests until one fails. @throws Error if something else ends them, such as a lack of memory */
  async run(tests: readonly string[]): Promise<Outcome> {
    const report = join(this.#folder, "report.json");
    rmSync(report, { force: true });
    const own = ["--bail", "1", "--maxWorkers", "1", "--reporter", "json", "--outputFile", report];
    const command = [process.execPath, "node_modules/vitest/vitest.mjs", "run", ...own, ...tests];
    if (canPin) command.unshift("taskset", "-c", this.#cores);
    const begin = performance.now();
    const { status, signal, isLate } = await this.#endOf(command);
    const seconds = Math.round((performance.now() - begin) / 1000);
    // Each state of the sources is compiled once.
    rmSync(join(this.#folder, ".cache"), REMOVED);
    if (isLate && performance.now() >= this.#end) throw new Error("no time was left");
    if (isLate) return { failure: "takes too long", seconds };
    if (status === 0) return { failure: undefined, seconds };
    if (signal !== null) throw new Error(`the tests were ended by ${signal}`);
    return { failure: existsSync(report) ? this.#firstOf(report) : "does not compile", seconds };
  }

  /**
   * Waits for the end of a command, which is killed with what it started when it takes too long. It has ended then,
   * too: nothing writes to the copy any more but what it started, for the moment that the system takes to end that.
   */
  #endOf([program, ...rest]: readonly string[]): Promise<End> {
    const child = spawn(program, rest, { cwd: this.#folder, stdio: "ignore", detached: true });
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(
        () => {
          isLate = true;
          killGroup(child.pid);
        },
        Math.min(1000 * this.#limit, Math.max(this.#end - performance.now(), 0)),
      );
      child.on("error", reject).on("exit", (status, signal) => {
        clearTimeout(timer);
        killGroup(child.pid);
        resolve({ status, signal, isLate });
      });
    });
  }

  #firstOf(report: string): string {
    const { testResults } = readReport(report);
    for (const { name, status, message, assertionResults } of testResults) {
      const path = name.slice(name.lastIndexOf("/test/") + 1);
      const failed = assertionResults.find((result) => result.status === "failed");
      if (failed !== undefined) return `${path}: ${failed.fullName}`;
      if (status === "failed") return `${path}: ${message.split("\n")[0]}`;
    }
    return "an error outside of the tests";
  }

  [Symbol.dispose](): void {
    try {
      rmSync(this.#folder, REMOVED);
    } catch {
      // What is left in the folder of temporary files must not end the other copies.
    }
  }
}

/** Kills the processes that a command has started. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // They have all ended.
  }
}

/** @throws Error if the runner was ended before it had written its report */
function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch (cause) {
    throw new Error("the report of the tests is not whole", { cause });
  }
}

/** Why a bug cannot be planted, if it cannot: the sources, or the tests, have changed since it was drawn. */
export function faultOf(bug: Bug): string | undefined {
  const missing = bug.tests.find((test) => !existsSync(join(root, test)));
  if (missing !== undefined) return `there is no ${missing}`;
  const path = join(root, "src", bug.file);
  if (!existsSync(path)) return `there is no src/${bug.file}`;
  try {
    changed(readFileSync(path, "utf8"), bug);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The text of a file with a bug. @throws Error unless the text to change is there once */
export function changed(text: string, { file, from, to }: Omit<Bug, "tests">): string {
  if (text.split(from).length !== 2) throw new Error(`src/${file}: expected "${from}" once`);
  return text.replace(from, () => to);
}
