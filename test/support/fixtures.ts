/** Reads the files of `test/fixtures`, from the checkout or from a bundle that has them beside it. */
import { existsSync, readFileSync } from "node:fs";

/** @param path inside `test/fixtures`: "math/exp.json" */
export function readFixture(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, folder()), "utf8"));
}

function folder(): URL {
  const beside = new URL("fixtures/", import.meta.url);
  return existsSync(beside) ? beside : new URL("../fixtures/", import.meta.url);
}
