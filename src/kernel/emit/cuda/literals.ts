import type { Precision, ScalarType } from "../../ir.ts";

/** Returns the C++ type of a scalar in a precision. */
export function typeName(type: ScalarType, precision: Precision): "double" | "float" | "int" | "unsigned" | "bool" {
  if (type === "real") return precision === "f64" ? "double" : "float";
  return ({ i32: "int", u32: "unsigned", bool: "bool" } as const)[type];
}

/** Returns a C++ literal that reads back as the same value, bit for bit. */
export function literal(type: ScalarType, value: number | boolean, precision: Precision): string {
  if (typeof value === "boolean" || type === "bool") return String(Boolean(value));
  if (type === "real") return precision === "f64" ? doubleLiteral(value) : floatLiteral(Math.fround(value));
  if (type === "u32") return `${value >>> 0}u`;
  const n = value | 0;
  if (n === -(2 ** 31)) return "(-2147483647 - 1)"; // the digits of INT_MIN alone are out of range
  return inParentheses(String(n));
}

function doubleLiteral(value: number): string {
  if (Number.isNaN(value)) return "__longlong_as_double(0x7ff8000000000000ll)";
  if (!Number.isFinite(value)) return `__longlong_as_double(0x${value < 0 ? "f" : "7"}ff0000000000000ll)`;
  return inParentheses(decimal(value, String(value)));
}

function floatLiteral(value: number): string {
  if (Number.isNaN(value)) return "__uint_as_float(0x7fc00000u)";
  if (!Number.isFinite(value)) return `__uint_as_float(0x${value < 0 ? "ff" : "7f"}800000u)`;
  return inParentheses(`${decimal(value, shortest(value))}f`);
}

/** `text`, the digits of `value`, as a C++ literal of a real. */
function decimal(value: number, text: string): string {
  if (Object.is(value, -0)) return "-0.0";
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** The shortest decimal that reads back as the f32 `value`. */
function shortest(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

const inParentheses = (text: string): string => (text.startsWith("-") ? `(${text})` : text);
