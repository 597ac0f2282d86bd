/** Inputs of a form: a number with its unit and its bounds, a text, a time, a word. What is not valid is not passed on. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";

export interface NumberInputProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly onChange: (value: number) => void;
  /** 100 where the number is shown in percent. */
  readonly scale?: number;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** The bound that a number must be above. */
  readonly above?: number | undefined;
  readonly isWhole?: boolean;
  readonly unit?: string | undefined;
  readonly invalid?: boolean;
}

/** A number. What is out of bounds stays in its field, with the reason below it, and changes nothing. */
export function NumberInput(props: NumberInputProps): VNode {
  const { label, value, onChange, scale = 1, unit, invalid = false } = props;
  const written = value === undefined ? "" : String(Number((value * scale).toPrecision(15)));
  const draft = useSignal(written);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    // An undone value replaces what is in the field; the writing of the same number, as 5. or 5.0, stays.
    if (Number(draft.value) !== Number(written) || draft.value === "") draft.value = written;
    problem.value = undefined;
  }, [written]);
  const isWrong = invalid || problem.value !== undefined;
  return (
    <div class="input">
      <div class="with-unit">
        <input
          type="text"
          inputMode="decimal"
          aria-label={unit === undefined ? label : `${label}, ${unit}`}
          aria-invalid={isWrong}
          value={draft.value}
          onInput={({ currentTarget }) => {
            draft.value = currentTarget.value;
            const typed = Number(currentTarget.value.replace("−", "-"));
            problem.value = currentTarget.value.trim() === "" ? "a number is needed" : refusal(typed, props);
            const scaled = Number((typed / scale).toPrecision(15));
            if (problem.value === undefined && scaled !== value) onChange(scaled);
          }}
        />
        {unit !== undefined && <small aria-hidden="true">{unit}</small>}
      </div>
      {problem.value !== undefined && (
        <p class="bad" role="status">
          {problem.value}
        </p>
      )}
    </div>
  );
}

/** Why a typed number is refused. Bounds are shown in the unit in which it is typed. */
function refusal(typed: number, { scale = 1, minimum, maximum, above, isWhole }: NumberInputProps): string | undefined {
  if (!Number.isFinite(typed)) return "this is not a number";
  if (isWhole === true && !Number.isInteger(typed)) return "a whole number is needed";
  const shown = (bound: number): string => (bound * scale).toLocaleString("en-US");
  if (above !== undefined && typed <= above * scale) return `a number above ${shown(above)} is needed`;
  if (minimum !== undefined && typed < minimum * scale) return `at least ${shown(minimum)} is needed`;
  return maximum !== undefined && typed > maximum * scale ? `at most ${shown(maximum)} is possible` : undefined;
}

export interface TextInputProps {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: string) => void;
  /** Names to choose from. */
  readonly names?: readonly string[] | undefined;
  readonly invalid?: boolean;
  /** A formula has several lines. */
  readonly isLong?: boolean | undefined;
}

export function TextInput({
  label,
  value,
  onChange,
  names = [],
  invalid = false,
  isLong = false,
}: TextInputProps): VNode {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  const common = { "aria-label": label, "aria-invalid": invalid };
  if (names.length > 0)
    return (
      <select {...common} value={text} onChange={(event) => onChange(event.currentTarget.value)}>
        {[...new Set([text, ...names])].sort().map((name) => (
          <option key={name} value={name}>
            {name === "" ? "choose …" : name}
          </option>
        ))}
      </select>
    );
  const input = (event: { readonly currentTarget: { readonly value: string } }): void =>
    onChange(event.currentTarget.value);
  return isLong ? (
    <textarea {...common} rows={Math.min(text.split("\n").length + 1, 8)} value={text} onInput={input} />
  ) : (
    <input {...common} type="text" value={text} onInput={input} />
  );
}

const YEAR = 365 * 86_400_000;
const TIME_FORMS = { date: "on", tenor: "in", years: "years" } as const;
type TimeForm = keyof typeof TIME_FORMS;

export interface TimeInputProps {
  readonly label: string;
  readonly value: unknown;
  readonly asOf: string;
  readonly onChange: (value: string | number) => void;
  readonly invalid?: boolean;
}

/** A time: a date from a picker, a tenor such as 18M, or a number of years. */
export function TimeInput({ label, value, asOf, onChange, invalid = false }: TimeInputProps): VNode {
  const form: TimeForm = typeof value === "number" ? "years" : /^\d{4}-/.test(String(value)) ? "date" : "tenor";
  const text = typeof value === "string" ? value : "";
  const pick = (picked: TimeForm): void => {
    const years = yearsOf(value, asOf);
    if (picked === "years") onChange(Number(years.toFixed(4)));
    else if (picked === "tenor") onChange(`${Math.max(Math.round(12 * years), 1)}M`);
    else onChange(new Date(Date.parse(asOf) + years * YEAR).toISOString().slice(0, 10));
  };
  return (
    <div class="time">
      <select
        aria-label={`${label}: as a date, a tenor or years`}
        value={form}
        onChange={(event) => pick(event.currentTarget.value as TimeForm)}
      >
        {Object.entries(TIME_FORMS).map(([name, word]) => (
          <option key={name} value={name}>
            {word}
          </option>
        ))}
      </select>
      {form === "years" ? (
        <NumberInput label={label} value={value as number} minimum={-1000} maximum={1000} {...{ invalid, onChange }} />
      ) : form === "date" ? (
        <input
          type="date"
          aria-label={label}
          aria-invalid={invalid}
          value={text.slice(0, 10)}
          title={text.length > 10 ? text : undefined}
          onInput={({ currentTarget }) => {
            if (currentTarget.value !== "") onChange(currentTarget.value + text.slice(10));
          }}
        />
      ) : (
        <TextInput label={label} value={value} {...{ invalid, onChange }} />
      )}
    </div>
  );
}

/** Years from asOf, near enough to propose another way of writing a time. */
function yearsOf(value: unknown, asOf: string): number {
  if (typeof value === "number") return value;
  const text = String(value);
  if (/^\d{4}-/.test(text)) return (Date.parse(text) - Date.parse(asOf)) / YEAR || 1;
  const parts = [...text.matchAll(/(\d+)([YMWD])/gi)];
  const unit: Readonly<Record<string, number>> = { Y: 1, M: 1 / 12, W: 7 / 365, D: 1 / 365 };
  return parts.reduce((sum, [, count, name]) => sum + Number(count) * unit[name.toUpperCase()], 0) || 1;
}
