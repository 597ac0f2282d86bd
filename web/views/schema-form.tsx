/** A form made from JSON Schema: every form that a book's trade may have, with its errors beside the fields. */
import type { ComponentChildren, VNode } from "preact";

/** The part of JSON Schema that the book's schema uses. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
}

export interface FormProps {
  readonly schema: Schema;
  readonly value: unknown;
  readonly name: string;
  /** Where an error is, from this value on: `strike`, `barriers[0].level`. */
  readonly error?: { readonly path: string; readonly message: string } | undefined;
  readonly onChange: (value: unknown) => void;
}

export function SchemaForm(props: FormProps): VNode {
  const { schema, value } = props;
  if (schema.anyOf !== undefined) return <Variants {...props} options={schema.anyOf} />;
  if (schema.enum !== undefined) return <Choice {...props} options={schema.enum} />;
  switch (schema.type) {
    case "object":
      return <Fields {...props} value={(value ?? {}) as Readonly<Record<string, unknown>>} />;
    case "array":
      return <List {...props} value={(value ?? []) as readonly unknown[]} />;
    default:
      return <Input {...props} />;
  }
}

/** Which of several forms a value has. */
function Variants({ options, ...props }: FormProps & { readonly options: readonly Schema[] }): VNode {
  const at = Math.max(
    options.findIndex((option) => fits(option, props.value)),
    0,
  );
  return (
    <div class="variants">
      <select
        aria-label={`${props.name}: form`}
        value={String(at)}
        onChange={(event) => props.onChange(blank(options[Number(event.currentTarget.value)]))}
      >
        {options.map((option, i) => (
          <option key={i} value={String(i)}>
            {titleOf(option)}
          </option>
        ))}
      </select>
      <SchemaForm {...props} schema={options[at]} />
    </div>
  );
}

function titleOf({ enum: words, type, required, properties, pattern }: Schema & { readonly pattern?: string }): string {
  if (words !== undefined) return words.join(" or ");
  if (type === "object") return required?.[0] ?? Object.keys(properties ?? {})[0] ?? "fields";
  if (type === "array") return "list";
  return type === "string" ? (pattern?.includes("-") === true ? "date" : "text") : (type ?? "value");
}

function fits(schema: Schema, value: unknown): boolean {
  if (schema.enum !== undefined) return schema.enum.includes(value as string);
  if (schema.anyOf !== undefined) return schema.anyOf.some((option) => fits(option, value));
  if (schema.type === "array") return Array.isArray(value);
  if (schema.type !== "object") return typeof value === schema.type;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const known = Object.keys(schema.properties ?? {});
  return Object.keys(value).every((key) => known.includes(key)) && (schema.required ?? []).every((key) => key in value);
}

/** What a form begins with. */
export function blank(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return blank(schema.anyOf[0]);
  switch (schema.type) {
    case "object":
      return Object.fromEntries((schema.required ?? []).map((key) => [key, blank(schema.properties?.[key] ?? {})]));
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => blank(schema.items ?? {}));
    case "number":
      return schema.exclusiveMinimum === undefined ? (schema.minimum ?? 0) : 1;
    default:
      return "";
  }
}

function Choice({ options, value, name, onChange }: FormProps & { readonly options: readonly string[] }): VNode {
  return (
    <select aria-label={name} value={String(value)} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </select>
  );
}

function Input({ schema, value, name, error, onChange }: FormProps): VNode {
  const common = {
    "aria-label": name,
    "aria-invalid": error !== undefined && error.path === "",
    title: schema.description,
    value: typeof value === "string" || typeof value === "number" ? value : "",
  };
  if (schema.type !== "number")
    return <input {...common} type="text" onInput={(event) => onChange(event.currentTarget.value)} />;
  return (
    <input
      {...common}
      type="number"
      step="any"
      onInput={({ currentTarget: { valueAsNumber } }) => {
        if (Number.isFinite(valueAsNumber)) onChange(valueAsNumber);
      }}
    />
  );
}

function inside(error: FormProps["error"], key: string): FormProps["error"] {
  if (error === undefined || !error.path.startsWith(key)) return undefined;
  const rest = error.path.slice(key.length);
  if (rest !== "" && !/^[.[]/.test(rest)) return undefined;
  return { message: error.message, path: rest.replace(/^\./, "") };
}

function Fields({
  schema,
  value,
  name,
  error,
  onChange,
}: FormProps & { readonly value: Readonly<Record<string, unknown>> }): VNode {
  const properties = schema.properties ?? {};
  const shown = Object.keys(properties).filter((key) => key in value || schema.required?.includes(key) === true);
  const hidden = Object.keys(properties).filter((key) => !shown.includes(key));
  return (
    <div class="fieldset" role="group" aria-label={name}>
      {shown.map((key) => (
        <Row
          key={key}
          title={key}
          error={inside(error, key)}
          onRemove={
            schema.required?.includes(key) === true
              ? undefined
              : () => onChange(Object.fromEntries(Object.entries(value).filter(([other]) => other !== key)))
          }
        >
          <SchemaForm
            schema={properties[key]}
            name={key}
            value={value[key]}
            error={inside(error, key)}
            onChange={(changed) => onChange({ ...value, [key]: changed })}
          />
        </Row>
      ))}
      {hidden.length > 0 && (
        <select
          aria-label={`Add to ${name}`}
          class="add"
          value=""
          onChange={({ currentTarget: { value: key } }) => onChange({ ...value, [key]: blank(properties[key]) })}
        >
          <option value="">Add …</option>
          {hidden.map((key) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      )}
    </div>
  );
}

interface RowProps {
  readonly title: string;
  readonly error: FormProps["error"];
  readonly onRemove: (() => void) | undefined;
  readonly children: ComponentChildren;
}

function Row({ title, error, onRemove, children }: RowProps): VNode {
  return (
    <div class={error === undefined ? "form-row" : "form-row wrong"}>
      <span class="name">{title}</span>
      <div class="what">
        {children}
        {error !== undefined && error.path === "" && <p class="bad">{error.message}</p>}
      </div>
      {onRemove !== undefined && (
        <button type="button" class="quiet" aria-label={`Remove ${title}`} onClick={onRemove}>
          ×
        </button>
      )}
    </div>
  );
}

function List({ schema, value, name, error, onChange }: FormProps & { readonly value: readonly unknown[] }): VNode {
  const items = schema.items ?? {};
  return (
    <div class="fieldset" role="group" aria-label={name}>
      {value.map((item, i) => (
        <Row
          key={i}
          title={String(i + 1)}
          error={inside(error, `[${i}]`)}
          onRemove={() => onChange(value.filter((_, other) => other !== i))}
        >
          <SchemaForm
            schema={items}
            name={`${name} ${i + 1}`}
            value={item}
            error={inside(error, `[${i}]`)}
            onChange={(changed) => onChange(value.map((other, k) => (k === i ? changed : other)))}
          />
        </Row>
      ))}
      <button type="button" class="quiet" onClick={() => onChange([...value, blank(items)])}>
        Add to {name}
      </button>
    </div>
  );
}
