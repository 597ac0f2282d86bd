/** The level of a log line. */
export type LogLevel = "info" | "warn" | "error";

/** A function that writes a log line with fields. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Returns a log of JSON objects, one a line. */
export function jsonLog(write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };
}
