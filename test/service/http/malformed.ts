/** Requests that are wrong in many ways, from a seed. */
import { connect } from "node:net";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Values that stand where another kind is expected, or at the edge of what is allowed. */
const VALUES: readonly Json[] = [
  null,
  true,
  "",
  "x",
  -1,
  0,
  1e308,
  5e-324,
  [],
  {},
  [null],
  [[[]]],
  { a: { b: {} } },
  "\u0000",
  "\ud800",
  "9999-99-99",
  "-999999999-01-01T00:00:00Z",
];

/** Text that JSON does not allow, or that means more than it can hold. */
const JUNK = ["NaN", "1e999", "-", "[".repeat(5000), '{"a":'.repeat(2000), "\\u12", "\u0000", '{"__proto__":{"x":1}}'];

const METHODS = ["POST", "PUT", "GET", "DELETE", "PATCH"];
const PATHS = ["/price", "/explain", "/market", "/health", "/nowhere", "/price?x=%zz", "//price", "/..%2f"];
const TYPES = ["application/json", "text/plain", "application/x-ndjson", "application/json; charset=klingon", ""];

/** Lines that no HTTP client sends. */
const RAW = [
  "GET\r\n\r\n",
  "\u0000\u0001\u0002\r\n\r\n",
  "POST /price HTTP/9.9\r\nhost: x\r\n\r\n",
  "POST /price HTTP/1.1\r\n\r\n",
  "POST /price HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n",
  "POST /price HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n{}",
  "POST /price HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n",
  `GET /health HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(40_000)}\r\n\r\n`,
];

export interface Target {
  readonly url: string;
  /** Bodies that are right, by the path that takes them. */
  readonly right: Readonly<Record<string, unknown>>;
  /** A number from 0 to 1. */
  readonly next: () => number;
}

/** Sends one request. @returns the status of the answer; undefined where the connection was closed without one */
export async function sendMalformed({ url, right, next }: Target): Promise<number | undefined> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)];
  const path = pick(Object.keys(right));
  const whole = JSON.stringify(right[path]);
  const method = path === "/market" ? "PUT" : "POST";
  const send = async (to: string, how: string, type: string, body: string | Uint8Array): Promise<number> => {
    const init = {
      method: how,
      ...(how === "GET" ? {} : { body: body as BodyInit }),
      headers: { "content-type": type },
    };
    const response = await fetch(url + to, init);
    await response.arrayBuffer();
    return response.status;
  };
  const kind = next();
  if (kind < 0.5)
    return send(path, method, TYPES[0], JSON.stringify(withOther(right[path] as Json, pick(VALUES), next)));
  const at = Math.floor(next() * whole.length);
  const cut = whole.slice(at + Math.floor(next() * 6));
  if (kind < 0.75) return send(path, method, TYPES[0], whole.slice(0, at) + (next() < 0.5 ? pick(JUNK) : "") + cut);
  if (kind < 0.85) {
    const bytes = Uint8Array.from({ length: 1 + Math.floor(next() * 300) }, () => 256 * next());
    return send(path, method, TYPES[0], bytes);
  }
  if (kind < 0.95) return send(pick(PATHS), pick(METHODS), pick(TYPES), next() < 0.5 ? whole : cut);
  return sendRaw(url, pick(RAW));
}

/** A copy in which one part, at a random depth, is another value, or one field has another name. */
function withOther(value: Json, other: Json, next: () => number): Json {
  const isLeaf = typeof value !== "object" || value === null;
  const keys = isLeaf ? [] : Object.keys(value);
  if (keys.length === 0 || next() < 0.15) return other;
  const key = keys[Math.floor(next() * keys.length)];
  if (Array.isArray(value)) return value.map((one, i) => (String(i) === key ? withOther(one, other, next) : one));
  const fields = { ...(value as Record<string, Json>) };
  const changed = withOther(fields[key], other, next);
  if (next() < 0.9) return { ...fields, [key]: changed };
  delete fields[key];
  return { ...fields, [`${key}x`]: changed };
}

/** Writes text to the service's socket, and ends. */
function sendRaw(url: string, text: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.end(text, "latin1"));
    socket.setEncoding("latin1").on("data", (part: string) => (answer += part));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer === "" ? undefined : Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])));
  });
}
