/**
 * The notation of tables of foreign functions. Every function of the driver and of NVRTC that is used returns a status,
 * an int; a table gives the types of its arguments.
 *
 * Handles, device pointers, host pointers and sizes are all 64-bit integers here: that is how they are passed on every
 * platform CUDA has, and as plain numbers (addresses stay below 2⁵³) they cost no allocation. Only results come as
 * BigInt, out of the word that a call has filled in.
 */
import { DeviceUnavailableError } from "../../../base/errors.ts";
import type { ForeignFunction, ForeignLibrary } from "./koffi.ts";

interface ArgumentTypes {
  /** A handle, a pointer given as its address, a size. */
  readonly u64: number;
  readonly u32: number;
  readonly i32: number;
  /** A zero-terminated string. */
  readonly text: string;
  /** Memory of JavaScript's. */
  readonly data: ArrayBufferView | ArrayBuffer;
}

type Signature = readonly (keyof ArgumentTypes)[];

/** A table of the signatures of a library's functions, by name. */
export type Table = Readonly<Record<string, Signature>>;

type ArgumentsOf<S extends Signature> = { readonly [K in keyof S]: ArgumentTypes[S[K]] };

/** A function of a library that has been bound to its signature `S`. It returns the function's integer result. */
export interface Call<S extends Signature> {
  (...args: ArgumentsOf<S>): number;
  async(...args: [...ArgumentsOf<S>, (error: Error | null, status: number) => void]): void;
  /** True where the library lacks the function; calling it throws. */
  readonly absent?: true;
}

/** The functions of a library that have been bound to the signatures in `T`. */
export type Calls<T extends Table> = { readonly [N in keyof T]: Call<T[N]> };

const KOFFI_TYPES = { u64: "uint64", u32: "uint32", i32: "int", text: "str", data: "void *" } as const;

/** Binds the functions of a library to the signatures in a table. A missing function fails only when it is called. */
export function bindFunctions<T extends Table>(library: ForeignLibrary, what: string, table: T): Calls<T> {
  const entries = Object.entries(table).map(([name, args]) => {
    const types = args.map((type) => KOFFI_TYPES[type]);
    return [name, find(library, what, name, types)] as const;
  });
  return Object.fromEntries(entries) as unknown as Calls<T>;
}

function find(library: ForeignLibrary, what: string, name: string, types: readonly string[]): ForeignFunction {
  try {
    return library.func(name, "int", types);
  } catch (cause) {
    const missing = (): never => {
      throw new DeviceUnavailableError(`CUDA: ${what} has no function ${name}; install a newer one`, { cause });
    };
    return Object.assign(missing, { async: missing, absent: true });
  }
}
