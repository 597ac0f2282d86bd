import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Bug } from "./bug.ts";
import type { Outcome } from "./copy.ts";

/** What tests said, with a bug or, with none, of the sources as they are. */
interface Row extends Outcome {
  readonly tests: readonly string[];
  readonly bug?: Omit<Bug, "tests">;
}

/** What became of a bug. "failed" says nothing of it: its tests fail without it, too. */
export type Fate = "found" | "survives" | "failed";

const keyOf = ({ tests, bug }: Omit<Row, "seconds">): string =>
  [...tests, ...(bug === undefined ? [] : [bug.file, bug.from, bug.to])].join("\n");

const withoutTests = ({ file, from, to }: Bug): Omit<Bug, "tests"> => ({ file, from, to });

/** What tests have said so far. It is kept in a file, if one is given, which is written whenever tests have ended. */
export class Results {
  readonly #path: string | undefined;
  readonly #rows = new Map<string, Row>();

  constructor(path?: string) {
    this.#path = path;
    if (path === undefined || !existsSync(path)) return;
    for (const row of JSON.parse(readFileSync(path, "utf8")) as Row[]) this.#rows.set(keyOf(row), row);
  }

  of(bug: Bug): Outcome | undefined {
    return this.#rows.get(keyOf({ tests: bug.tests, bug: withoutTests(bug) }));
  }

  without(tests: readonly string[]): Outcome | undefined {
    return this.#rows.get(keyOf({ tests }));
  }

  /** Undefined until the tests have ended with the bug and without it. */
  fateOf(bug: Bug): Fate | undefined {
    const [outcome, usual] = [this.of(bug), this.without(bug.tests)];
    if (outcome === undefined || usual === undefined) return undefined;
    if (usual.failure !== undefined) return "failed";
    return outcome.failure === undefined ? "survives" : "found";
  }

  addWithout(tests: readonly string[], outcome: Outcome): void {
    this.#add({ ...outcome, tests });
  }

  add(bug: Bug, outcome: Outcome): void {
    this.#add({ ...outcome, tests: bug.tests, bug: withoutTests(bug) });
  }

  /** Forgets what tests said of a bug and without it, as they are others now. */
  forget(bug: Bug): void {
    this.#rows.delete(keyOf({ tests: bug.tests, bug: withoutTests(bug) }));
    this.#rows.delete(keyOf({ tests: bug.tests }));
  }

  #add(row: Row): void {
    this.#rows.set(keyOf(row), row);
    if (this.#path === undefined) return;
    // A program that is killed leaves the file as it was.
    const next = `${this.#path}.next`;
    writeFileSync(next, `${JSON.stringify([...this.#rows.values()], null, 1)}\n`);
    renameSync(next, this.#path);
  }
}
