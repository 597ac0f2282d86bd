/** Logs for machines: one JSON object a line. */
export type LogLevel = "info" | "warn" | "error";

export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export function jsonLog(write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };
}
