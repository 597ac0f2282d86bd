/** What the names of an event mean, and what the whole script is found to use. */
import { KernelError } from "../../base/errors.ts";
import type { DataKinds } from "./input.ts";
import type { State } from "./names.ts";
import type { EventSource } from "./source.ts";
import type { Expression } from "./tree.ts";

/** The value of an expression: a number or a truth value, or one for each underlying. */
export interface Value {
  readonly type: "number" | "truth";
  readonly isEach: boolean;
  readonly parts: readonly Expression[];
}

/** A call of `pay`: its event, when it is paid, and in which currency. */
export interface PaySite {
  readonly event: number;
  /** The name of the date, or of the list of dates, of the data on which it is paid; undefined for the event's own. */
  readonly on: string | undefined;
  /** The currency; undefined for that of the trade. */
  readonly currency: string | undefined;
  /** What converts it to the currency of the trade; undefined where it is in that. */
  readonly rate: Conversion | undefined;
}

/** An exchange rate: the spot of an underlying, by index, to the power 1 or −1. */
export interface Conversion {
  readonly asset: number;
  readonly power: 1 | -1;
}

/** The exchange rate of a currency in which a script pays. */
export interface PaidRate extends Conversion {
  readonly currency: string;
}

/** What a script has been found to use. */
export interface Usage {
  readonly sites: PaySite[];
  readonly rights: { readonly event: number; readonly of: "exercise" | "call" }[];
  /** The names of lists by event, in the order of their first use. */
  readonly dated: string[][];
  /** The numbers of the data, in the order of their first use. */
  readonly scalars: { readonly name: string; readonly part: number }[];
  usesInitial: boolean;
  usesLast: boolean;
  usesTime: boolean;
  stops: boolean;
  /** The number of local values, which gives each a name of its own. */
  locals: number;
  nodes: number;
}

/** Scripts with more expressions than this, counted once for each underlying, would compile for minutes. */
const MAX_NODES = 20_000;

/** A mistake of a script: what is wrong, and the index of its event if it is in one. */
export interface ScriptMistake {
  readonly event: number | undefined;
  readonly error: Error;
}

/** The mistakes of a script that is checked to its end, not only to the first of them. */
export interface Findings {
  readonly mistakes: ScriptMistake[];
  /** Adds a name that nothing has to the data; false where it is a mistake. */
  readonly assume: (name: string, kind: "number" | "date") => boolean;
}

/** A local value of an event. */
interface Local {
  readonly value: Value;
  readonly isConstant: boolean;
}

/** The context of a script's events: its underlyings, states and data. */
export interface ScriptNames {
  readonly letters: readonly string[];
  readonly states: readonly State[];
  readonly data: DataKinds;
  /** The names of data that are dates, because events happen or payments are made on them. */
  readonly dates: ReadonlySet<string>;
  /** The indices of the first initial fixing and of the first of `last` among the carried numbers. */
  readonly initialAt: number;
  readonly lastAt: number;
  /** The mistakes that have been found; undefined where the first one is thrown. */
  readonly found: Findings | undefined;
  /** The exchange rates of the currencies in which it pays, but for that of the trade. */
  readonly paid: readonly PaidRate[];
}

/** The names that are visible in an event. */
export class EventScope {
  readonly source: EventSource;
  readonly event: number;
  readonly names: ScriptNames;
  readonly usage: Usage;
  readonly #locals: Map<string, Local>[] = [new Map()];
  readonly #loops = new Map<string, number>();

  constructor(source: EventSource, event: number, names: ScriptNames, usage: Usage) {
    this.source = source;
    this.event = event;
    this.names = names;
    this.usage = usage;
  }

  /** The names of the underlyings in the script. */
  get letters(): readonly string[] {
    return this.names.letters;
  }

  /** Counts an expression or a statement. @throws KernelError where there are too many */
  count(node: any): void {
    if (++this.usage.nodes <= MAX_NODES) return;
    throw this.source.error(node.start, `the script has more than ${MAX_NODES} expressions`, "shorten it");
  }

  /**
   * Runs `read`, which reads a statement or the whole event. Where mistakes are collected, that of a statement is kept,
   * the statement is left out, and what it declares is a number. @throws KernelError where none are collected
   */
  tolerant<T>(node: any, read: () => readonly T[]): readonly T[] {
    const { found } = this.names;
    try {
      return read();
    } catch (error) {
      if (found === undefined || !(error instanceof KernelError)) throw error;
      found.mistakes.push({ event: this.event, error });
      const [scope] = this.#locals.slice(-1);
      const value: Value = { type: "number", isEach: false, parts: [{ kind: "number", value: 0 }] };
      for (const { id } of node?.declarations ?? []) scope.set(id.name as string, { value, isConstant: false });
      return [];
    }
  }

  /** Tells whether a name that nothing has may be taken for one of the data. */
  assumes(name: string, kind: "number" | "date"): boolean {
    return this.names.found?.assume(name, kind) === true;
  }

  /** Records that initial fixings are read. */
  useInitial(): void {
    this.usage.usesInitial = true;
  }

  /** Returns the value of a name; undefined where it has none here. @throws KernelError for data that cannot be read */
  named(name: string, position: number): Value | undefined {
    const local = this.#local(name);
    if (local !== undefined) return local.value;
    if (this.#loops.has(name))
      throw this.source.error(position, `${name} is an underlying, no number`, `write S[${name}] or S0[${name}]`);
    switch (name) {
      case "S":
        return this.#each((asset) => ({ kind: "spot", asset }));
      case "S0":
        this.useInitial();
        return this.#each((asset) => ({ kind: "state", at: this.names.initialAt + asset }));
      case "last":
        this.usage.usesLast = true;
        this.useInitial();
        return this.#each((asset) => ({ kind: "state", at: this.names.lastAt + asset }));
      case "t":
        this.usage.usesTime = true;
        return { type: "number", isEach: false, parts: [{ kind: "time" }] };
      default:
        return this.state(name) ?? this.#data(name, position);
    }
  }

  /** Returns the value of a state; undefined where the script has none of this name. */
  state(name: string): Value | undefined {
    const state = this.names.states.find((one) => one.name === name);
    if (state === undefined) return undefined;
    const parts = Array.from({ length: state.count }, (_, k): Expression => ({ kind: "state", at: state.at + k }));
    return { type: state.type, isEach: state.isEach, parts };
  }

  #each(of: (asset: number) => Expression): Value {
    return { type: "number", isEach: true, parts: this.letters.map((_, asset) => of(asset)) };
  }

  #data(name: string, position: number): Value | undefined {
    const { data, dates } = this.names;
    const kind = data.get(name);
    if (kind === undefined) return undefined;
    if (kind === "date" || kind === "dates" || dates.has(name))
      throw this.source.error(position, `${name} is a date, no number`, "write t for the event's time in years");
    const number: Value["type"] = "number";
    if (kind === "numbers") {
      const names = this.usage.dated[this.event];
      if (!names.includes(name)) names.push(name);
      return { type: number, isEach: false, parts: [{ kind: "dated", name }] };
    }
    const count = kind === "each" ? this.letters.length : 1;
    const parts = Array.from({ length: count }, (_, part): Expression => {
      const { scalars } = this.usage;
      if (!scalars.some((one) => one.name === name && one.part === part)) scalars.push({ name, part });
      return { kind: "data", name, part };
    });
    return { type: number, isEach: kind === "each", parts };
  }

  /** Returns the index of the underlying that a member expression names, as in S.A or S[x]. @throws KernelError */
  assetOf({ property, computed }: any): number {
    const name: unknown = computed && property.type === "Literal" ? property.value : property.name;
    const loop = computed && typeof name === "string" ? this.#loops.get(name) : undefined;
    const isLetter = !computed || property.type === "Literal";
    const index = loop ?? (isLetter ? this.letters.indexOf(String(name)) : -1);
    if (index >= 0) return index;
    throw this.source.error(
      property.start,
      `${typeof name === "string" ? name : "this"} is no underlying`,
      `the underlyings are ${this.letters.join(", ")}; for (x in S) { … } runs over them as S[x]`,
    );
  }

  /** Returns the error of a name that nothing has. */
  unknown(name: string, position: number): Error {
    const { states, data, dates } = this.names;
    const known = [
      ...states.map((one) => one.name),
      ...[...data].flatMap(([one, kind]) => (dates.has(one) || kind.startsWith("date") ? [] : [one])),
    ];
    const remedy = known.length === 0 ? "" : `; known are ${known.join(", ")}`;
    return this.source.error(position, `${name} is unknown`, `add it to "state" or to the trade's "data"${remedy}`);
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast((names) => names.has(name))?.get(name);
  }

  /** Tells whether a name is a local value, and whether it may be assigned. */
  localOf(name: string): Local | undefined {
    return this.#local(name);
  }

  /** Declares a local value, and returns the names of its parts. @throws KernelError where the name is taken */
  declare(name: string, { type, isEach, parts }: Value, isConstant: boolean, position: number): readonly string[] {
    const scope = this.#locals[this.#locals.length - 1];
    const taken =
      scope.has(name) || this.#loops.has(name) || this.state(name) !== undefined || this.names.data.has(name);
    if (taken) throw this.source.error(position, `${name} has a meaning already`, "choose another name");
    const number = this.usage.locals++;
    const names = parts.map((_, k) => `v${number}_${k}`);
    const isTruth = type === "truth";
    const value = { type, isEach, parts: names.map((local): Expression => ({ kind: "local", name: local, isTruth })) };
    scope.set(name, { value, isConstant });
    return names;
  }

  /** Runs `read` inside of a block, whose local values end with it. */
  inBlock<T>(read: () => T): T {
    this.#locals.push(new Map());
    try {
      return read();
    } finally {
      this.#locals.pop();
    }
  }

  /** Runs `read` with a name that stands for an underlying. */
  inLoop<T>(name: string, asset: number, read: () => T): T {
    this.#loops.set(name, asset);
    try {
      return this.inBlock(read);
    } finally {
      this.#loops.delete(name);
    }
  }

  /** Tells whether a name stands for an underlying here. */
  isLoop(name: string): boolean {
    return this.#loops.has(name);
  }
}
