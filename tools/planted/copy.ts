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
  readonly failure: string | undefined;
  readonly seconds: number;
}

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

  constructor(core: number, limit: number) {
    for (const path of [...COPIED, ...FILES]) {
      if (existsSync(join(root, path))) cpSync(join(root, path), join(this.#folder, path), { recursive: true });
    }
    for (const path of ["node_modules", "dist"]) symlinkSync(join(root, path), join(this.#folder, path));
    const all = availableParallelism();
    this.#cores = `${core % all},${(core + 1) % all}`;
    this.#limit = limit;
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

  /** Runs tests until one fails. */
  async run(tests: readonly string[]): Promise<Outcome> {
    const report = join(this.#folder, "report.json");
    rmSync(report, { force: true });
    const own = ["--bail", "1", "--maxWorkers", "1", "--reporter", "json", "--outputFile", report];
    const command = [process.execPath, "node_modules/vitest/vitest.mjs", "run", ...own, ...tests];
    if (canPin) command.unshift("taskset", "-c", this.#cores);
    const begin = performance.now();
    const status = await this.#end(command);
    const seconds = Math.round((performance.now() - begin) / 1000);
    // Each state of the sources is compiled once.
    rmSync(join(this.#folder, ".cache"), { recursive: true, force: true });
    if (status === 0) return { failure: undefined, seconds };
    if (status === "killed") return { failure: "takes too long", seconds };
    return { failure: existsSync(report) ? this.#firstOf(report) : "does not compile", seconds };
  }

  /** Waits for the end of a command, which is killed with what it started when it takes too long. */
  #end([program, ...rest]: readonly string[]): Promise<number | "killed" | null> {
    const child = spawn(program, rest, { cwd: this.#folder, stdio: "ignore", detached: true });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        resolve("killed");
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      }, 1000 * this.#limit);
      child.on("error", reject).on("exit", (status) => {
        clearTimeout(timer);
        resolve(status);
      });
    });
  }

  #firstOf(report: string): string {
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
    for (const { name, status, message, assertionResults } of testResults) {
      const path = name.slice(name.lastIndexOf("/test/") + 1);
      const failed = assertionResults.find((result) => result.status === "failed");
      if (failed !== undefined) return `${path}: ${failed.fullName}`;
      if (status === "failed") return `${path}: ${message.split("\n")[0]}`;
    }
    return "an error outside of the tests";
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** The text of a file with a bug. @throws Error unless the text to change is there once */
export function changed(text: string, { file, from, to }: Omit<Bug, "tests">): string {
  if (text.split(from).length !== 2) throw new Error(`src/${file}: expected "${from}" once`);
  return text.replace(from, () => to);
}
