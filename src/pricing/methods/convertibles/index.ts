/** Convertible bonds: by closed forms where they exist, else by finite differences of two coupled equations. */
export { convertibleKind } from "./kind.ts";
