/**
 * Schemas that read values by themselves, in half of the time that zod takes for a simple trade. What they refuse is
 * validated again by zod, which describes the problem: its schema is made where it is needed, since a command would
 * spend more time on making the hundreds of schemas of a book than on pricing a trade.
 */
import * as z from "zod";

/** The result of reading a value that may be invalid. */
export const REFUSED = Symbol("refused");

/** Validates a value and returns the converted value, or `REFUSED` if it may be invalid. */
type Read<T> = (value: unknown) => T | typeof REFUSED;

/** What a conversion gets beside a value: the function that reports a problem. */
export type Context = Pick<z.RefinementCtx, "addIssue">;

/** What JSON Schema tells and zod does not know: alternative forms of a value, or the schema of a record's values. */
export interface Inside {
  readonly forms?: readonly ZodBacked<z.ZodType>[];
  readonly values?: ZodBacked<z.ZodType>;
}

/** The schemas by those of zod that have been made of them. */
const origins = new WeakMap<object, ZodBacked<z.ZodType>>();

/** Returns the schema of which a schema of zod was made. */
export const originOf = (zod: object): ZodBacked<z.ZodType> | undefined => origins.get(zod);

/** A schema whose values zod would validate by a `Z`. */
export class ZodBacked<Z extends z.ZodType> {
  /** Validates a value and returns the converted value, or `REFUSED` if zod must say what is wrong with it. */
  readonly read: Read<z.output<Z>>;
  readonly inside: Inside;
  readonly #make: () => Z;
  #zod: Z | undefined;

  constructor(read: Read<z.output<Z>>, make: () => Z, inside: Inside = {}) {
    this.read = read;
    this.inside = inside;
    this.#make = make;
  }

  /** The schema of zod that accepts, converts and describes the same values. */
  get zod(): Z {
    if (this.#zod === undefined) origins.set((this.#zod = this.#make()), this);
    return this.#zod;
  }

  optional(): ZodBacked<z.ZodOptional<Z>> {
    const { read } = this;
    return new ZodBacked<z.ZodOptional<Z>>(
      (value) => (value === undefined ? undefined : read(value)),
      () => this.zod.optional(),
    );
  }

  transform<U>(
    convert: (value: z.output<Z>, context: Context) => U,
  ): ZodBacked<z.ZodPipe<Z, z.ZodTransform<Awaited<U>, z.output<Z>>>> {
    const { read } = this;
    const converted = converting(convert);
    return new ZodBacked<z.ZodPipe<Z, z.ZodTransform<Awaited<U>, z.output<Z>>>>(
      (value) => {
        const between = read(value);
        return between === REFUSED ? REFUSED : (converted(between) as Awaited<U> | typeof REFUSED);
      },
      () => this.zod.transform(convert),
    );
  }
}

/** A schema that validates a value of type I and converts it to a T. */
export type Schema<T, I = T> = ZodBacked<z.ZodType<T, I>>;

/** The type of values that a schema has converted. */
export type Output<S extends { readonly zod: z.ZodType }> = z.output<S["zod"]>;
/** The type of values that a schema accepts. */
export type Input<S extends { readonly zod: z.ZodType }> = z.input<S["zod"]>;

/** The fields of an object by name. */
export type Shape = Readonly<Record<string, ZodBacked<z.ZodType>>>;

/** The schema of objects with exactly the fields of `shape`. */
export class ObjectSchema<S extends Shape> extends ZodBacked<
  z.ZodObject<{ -readonly [K in keyof S]: S[K]["zod"] }, z.core.$strict>
> {
  readonly shape: S;

  /** `error` describes what is wrong with a value, for zod. */
  constructor(shape: S, error: z.core.$ZodErrorMap) {
    super(
      reading(shape) as Read<never>,
      () =>
        z.strictObject(Object.fromEntries(Object.entries(shape).map(([name, { zod }]) => [name, zod])), {
          error,
        }) as never,
    );
    this.shape = shape;
  }
}

/** The number of problems reported by conversions so far. */
let problems = 0;
const CONTEXT: Context = {
  addIssue: () => {
    problems++;
  },
};

/** Returns the reader of values that a function validates and converts. */
export function converting<T, U>(convert: (value: T, context: Context) => U): (value: T) => U | typeof REFUSED {
  return (value) => {
    const before = problems;
    const made = convert(value, CONTEXT);
    return problems === before ? made : REFUSED;
  };
}

/** Returns the reader of lists with at least `min` items. */
export function listing<T>({ read }: ZodBacked<z.ZodType<T>>, min: number): Read<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length < min) return REFUSED;
    const items: T[] = [];
    for (let i = 0; i < value.length; i++) {
      const accepted = read(value[i]);
      if (accepted === REFUSED) return REFUSED;
      items.push(accepted);
    }
    return items;
  };
}

function reading(shape: Shape): Read<Record<string, unknown>> {
  const names = Object.keys(shape);
  const readers = names.map((name) => shape[name].read);
  const fields: ReadonlySet<string> = new Set(names);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return REFUSED;
    for (const name in value) if (!fields.has(name)) return REFUSED;
    const read: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) {
      const accepted = readers[i]((value as Record<string, unknown>)[names[i]]);
      if (accepted === REFUSED) return REFUSED;
      if (accepted !== undefined) read[names[i]] = accepted;
    }
    return read;
  };
}
