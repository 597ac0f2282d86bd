/**
 * Fast validation of values by zod schemas, without zod's lists of issues: 1.3 µs instead of 2.3 µs for a simple trade.
 * Values that are rejected here are validated by zod, which describes the problem.
 */
import type * as z from "zod";
import { memoizeBy } from "../../base/memoize.ts";

/** The result of `quickly` for a value that may be invalid. */
export const REFUSED = Symbol("refused");

/** Validates a value and returns the converted value, or `REFUSED` if it may be invalid. */
type Acceptor = (value: unknown) => unknown;

/**
 * Validates a value by a schema, faster than zod does, and returns the converted value. Returns `REFUSED` if the value
 * may be invalid; zod must then find out and describe the problem.
 */
export function quickly<T>(schema: z.ZodType<T>, value: unknown): T | typeof REFUSED {
  return acceptorOf(schema)(value) as T | typeof REFUSED;
}

const acceptorOf = memoizeBy((schema: z.core.$ZodType): Acceptor => made((schema as z.core.$ZodTypes)._zod.def));

/** Returns the acceptor of a schema. For kinds of schemas that books do not contain, it rejects every value. */
function made(def: z.core.$ZodTypes["_zod"]["def"]): Acceptor {
  if (def.type !== "array" && def.checks !== undefined) return refusing;
  switch (def.type) {
    case "unknown":
      return (value) => value;
    case "custom": {
      const { fn } = def;
      return (value) => (fn(value) ? value : REFUSED);
    }
    case "optional": {
      const inner = acceptorOf(def.innerType);
      return (value) => (value === undefined ? undefined : inner(value));
    }
    case "transform":
      return transforming(def.transform);
    case "pipe": {
      const [first, second] = [acceptorOf(def.in), acceptorOf(def.out)];
      return (value) => {
        const between = first(value);
        return between === REFUSED ? REFUSED : second(between);
      };
    }
    case "array":
      return listing(def);
    case "object":
      return def.catchall?._zod.def.type === "never" ? reading(def.shape) : refusing;
    default:
      return refusing;
  }
}

const refusing: Acceptor = () => REFUSED;

/** The number of problems reported by transformations so far. */
let problems = 0;
const CONTEXT = {
  value: undefined,
  issues: [],
  addIssue: () => {
    problems++;
  },
};

function transforming(transform: z.core.$ZodTransformDef["transform"]): Acceptor {
  return (value) => {
    const before = problems;
    const made = transform(value, CONTEXT);
    return problems === before ? made : REFUSED;
  };
}

function listing({ element, checks = [] }: z.core.$ZodArrayDef): Acceptor {
  const item = acceptorOf(element);
  let min = 0;
  for (const { _zod } of checks) {
    if (_zod.def.check !== "min_length") return refusing;
    min = Math.max(min, (_zod.def as z.core.$ZodCheckMinLengthDef).minimum);
  }
  return (value) => {
    if (!Array.isArray(value) || value.length < min) return REFUSED;
    const items: unknown[] = [];
    for (let i = 0; i < value.length; i++) {
      const accepted = item(value[i]);
      if (accepted === REFUSED) return REFUSED;
      items.push(accepted);
    }
    return items;
  };
}

/** The acceptor of objects that have only the fields of `shape`. */
function reading(shape: z.core.$ZodShape): Acceptor {
  const names = Object.keys(shape);
  const acceptors = names.map((name) => acceptorOf(shape[name]));
  const fields: ReadonlySet<string> = new Set(names);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return REFUSED;
    for (const name in value) if (!fields.has(name)) return REFUSED;
    const read: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) {
      const accepted = acceptors[i]((value as Record<string, unknown>)[names[i]]);
      if (accepted === REFUSED) return REFUSED;
      if (accepted !== undefined) read[names[i]] = accepted;
    }
    return read;
  };
}
