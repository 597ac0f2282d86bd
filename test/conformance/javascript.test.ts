/** The interpreter against the kernels' own source, run as plain JavaScript: an independent check of the front end. */
import { describe, expect, test } from "vitest";
import type { HostArray } from "../../src/device/device.ts";
import { runAsJavaScript } from "../support/javascript.ts";
import { arraysOf, type HostArguments } from "./case.ts";
import { cases } from "./cases/index.ts";
import { differences } from "./compare.ts";
import { inInterpreter } from "./run.ts";

const copied = (args: HostArguments): Record<string, number | boolean | HostArray> =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "object" ? value.slice() : value]),
  );

describe("plain JavaScript in f64 gives what the interpreter gives", () => {
  for (const spec of cases) {
    if (spec.precisions?.includes("f64") === false) continue;
    test(spec.name, (context) => {
      if (spec.notJavaScript !== undefined) return context.skip(spec.notJavaScript);
      const args = copied(spec.args(arraysOf("f64")));
      const expected = inInterpreter(spec, "f64", args);
      runAsJavaScript(spec.kernel, args, spec.size);
      const found = Object.keys(expected).flatMap((name) =>
        differences(name, args[name] as HostArray, expected[name], spec.javaScript),
      );
      expect(found).toEqual([]);
    });
  }
});
