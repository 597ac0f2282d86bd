/** The severity of a log entry. */
export type LogLevel = "info" | "warn" | "error";

/** A function that writes a log entry with additional fields. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Returns a log that writes each entry as a JSON object on one line. */
export function jsonLog(write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };
}
