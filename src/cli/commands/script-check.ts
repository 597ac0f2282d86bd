import { checkScripts, parseJson, type ScriptCheck } from "../../book/index.ts";
import { placeInFormula } from "../../kernel/index.ts";
import { EXIT_STATUS } from "../failure.ts";
import type { Terminal } from "../terminal.ts";
import { inFile, readText } from "../whole-file.ts";

/**
 * Runs `feynkac script check`, which checks scripts and says what is in them. @returns the exit status, 1 if a script
 * has a mistake @throws CliError a file that cannot be used
 */
export async function checkScriptFile(path: string, format: "table" | "json", terminal: Terminal): Promise<number> {
  const checks = await inFile(path, async () => checkScripts(parseJson(await readText(path, terminal))));
  const found = checks.map(contentsOf);
  const mistakes = checks.reduce((sum, one) => sum + one.mistakes.length, 0);
  terminal.stdout.write(
    format === "json" ? `${JSON.stringify({ scripts: found }, undefined, 2)}\n` : found.map(textOf).join("\n"),
  );
  const count = (n: number, what: string): string => `${n} ${n === 1 ? what : `${what}s`}`;
  terminal.stderr.write(`${count(checks.length, "script")}, ${count(mistakes, "mistake")}\n`);
  return mistakes > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
}

/** What a check says of a script, as JSON has it. Events are counted from 1. */
interface Contents {
  readonly where: string;
  readonly name: string | undefined;
  readonly mistakes: readonly { readonly event?: number; readonly message: string }[];
  readonly underlyings?: readonly string[];
  readonly data?: Readonly<Record<string, string>>;
  /** The data that nothing describes, so that their kinds are assumed. */
  readonly assumed?: readonly string[];
  readonly events?: readonly { readonly on: unknown }[];
  readonly payments?: readonly { readonly event: number; readonly on?: string; readonly currency?: string }[];
  readonly states?: readonly { readonly name: string; readonly values: string; readonly initial: number | string }[];
  readonly jumps?: readonly { readonly event: number; readonly line: number; readonly column: number }[];
  readonly rights?: readonly { readonly event: number; readonly of: "holder" | "issuer" }[];
  readonly stops?: boolean;
}

function contentsOf({ where, name, mistakes: found, script, program, data, assumed }: ScriptCheck): Contents {
  const mistakes = found.map(({ event, message }) => ({
    ...(event === undefined ? {} : { event: event + 1 }),
    message,
  }));
  if (program === undefined || script === undefined) return { where, name, mistakes };
  const { letters, states, sites, jumps, rights, stops } = program;
  return {
    where,
    name,
    mistakes,
    underlyings: letters,
    data: Object.fromEntries(data),
    assumed,
    events: script.events.map(({ on }) => ({ on })),
    payments: sites.map(({ event, on, currency }) => ({
      event: event + 1,
      ...(on === undefined ? {} : { on }),
      ...(currency === undefined ? {} : { currency }),
    })),
    states: states.map((state) => ({ name: state.name, values: state.values, initial: state.initial })),
    jumps: jumps.map(({ event, position }) => ({
      event: event + 1,
      ...placeInFormula(script.events[event].do, position),
    })),
    rights: rights.map(({ event, of }) => ({ event: event + 1, of: of === "exercise" ? "holder" : "issuer" })),
    stops,
  };
}

function textOf(one: Contents): string {
  const title = [one.where, one.name === undefined ? "" : `(${one.name})`].filter((text) => text !== "").join(" ");
  const lines = one.mistakes.map(({ message }) => `${title === "" ? "" : `${title}: `}${message}\n`);
  if (one.underlyings === undefined) return lines.join("");
  const { data = {}, assumed = [], events = [], payments = [], states = [], jumps = [], rights = [] } = one;
  const listed: readonly (readonly [string, string])[] = [
    ["underlyings", one.underlyings.join(", ")],
    [
      "data",
      Object.entries(data)
        .map(([name, kind]) => `${name} (${kind}${assumed.includes(name) ? ", assumed" : ""})`)
        .join(", "),
    ],
    [
      "dates",
      events.map(({ on }, k) => `event ${k + 1} on ${Array.isArray(on) ? on.join(", ") : String(on)}`).join("; "),
    ],
    ["payments", payments.map(paymentText).join("; ")],
    ["states", states.map(({ name, values, initial }) => `${name} (${values}, from ${initial})`).join(", ")],
    ["jumps", jumps.map(({ event, line, column }) => `event ${event}, line ${line}, column ${column}`).join("; ")],
    ["rights", rights.map(({ event, of }) => `of the ${of} in event ${event}`).join("; ")],
    ["ends early", one.stops === true ? "yes, by stop()" : ""],
  ];
  const body = listed.map(([name, text]) => `  ${name.padEnd(12)} ${text === "" ? "none" : text}\n`);
  return [...lines, `${title === "" ? "script" : title}${lines.length === 0 ? ": no mistakes" : ""}\n`, ...body].join(
    "",
  );
}

function paymentText({ event, on, currency }: NonNullable<Contents["payments"]>[number]): string {
  return `event ${event} pays ${on === undefined ? "at once" : `on ${on}`}${currency === undefined ? "" : ` in ${currency}`}`;
}
