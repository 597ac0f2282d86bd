/** A form made from JSON Schema, in words, with errors beside the fields that they are about. */
import type { ComponentChildren, VNode } from "preact";
import { NumberInput, TextInput, TimeInput } from "./inputs.tsx";
import { blank, type Choice, choicesOf, closest, type FormContext, isShare, isTime } from "./schema.ts";
import { likeness, type Plain, type Schema, titleOf, words } from "./schema.ts";

export interface FormProps {
  readonly schema: Schema;
  readonly value: unknown;
  /** The field's name in the format. */
  readonly name: string;
  readonly context: FormContext;
  /** Where an error is, from this value on: `strike`, `barriers[0].level`. */
  readonly error?: { readonly path: string; readonly message: string } | undefined;
  readonly onChange: (value: unknown) => void;
}

/** Fields whose numbers are amounts in the trade's currency. */
const AMOUNTS = [
  "strike",
  "level",
  "rebate",
  "cash",
  "notional",
  "amount",
  "forward",
  "upfront",
  "marketPrice",
  "price",
];

function unitOf(name: string, schema: Schema, { currency }: FormContext): string | undefined {
  if (isShare(schema)) return "%";
  const { description = "" } = schema;
  if (description.startsWith("business days")) return "business days";
  if (description.startsWith("payments a year")) return "a year";
  if (name === "quantity") return "units";
  return AMOUNTS.includes(name) ? currency : undefined;
}

export function Form(props: FormProps): VNode {
  const { schema, value, name, context, error, onChange } = props;
  const label = titleOf(name);
  const invalid = error?.path === "";
  if (isTime(schema)) return <TimeInput {...{ label, value, invalid, onChange, asOf: context.asOf }} />;
  if (schema.anyOf !== undefined) return <Variants {...props} options={schema.anyOf} />;
  if (schema.enum !== undefined) return <Variants {...props} options={[schema]} />;
  if (schema.prefixItems !== undefined) return <Items {...props} items={schema.prefixItems} />;
  switch ([schema.type].flat()[0]) {
    case "object":
      return schema.properties === undefined ? (
        <Entries {...props} value={(value ?? {}) as Plain} />
      ) : (
        <Fields {...props} value={(value ?? {}) as Plain} />
      );
    case "array":
      return <List {...props} value={(value ?? []) as readonly unknown[]} />;
    case "boolean":
      return <input type="checkbox" aria-label={label} checked={value === true} onChange={toggled(onChange)} />;
    case "number":
    case "integer":
      return (
        <NumberInput
          {...{ label, invalid, onChange }}
          value={typeof value === "number" ? value : undefined}
          scale={isShare(schema) ? 100 : 1}
          unit={unitOf(name, schema, context)}
          minimum={schema.minimum}
          maximum={schema.maximum}
          above={schema.exclusiveMinimum}
          isWhole={schema.type === "integer"}
        />
      );
    default:
      return (
        <TextInput
          {...{ label, value, invalid, onChange }}
          names={name === "id" ? undefined : context.names[name]}
          isLong={schema.description?.startsWith("a formula")}
        />
      );
  }
}

const toggled =
  (onChange: FormProps["onChange"]) =>
  (event: { readonly currentTarget: { readonly checked: boolean } }): void =>
    onChange(event.currentTarget.checked);

/** A value that has one of several forms: a menu of them, and the form that it has below. */
function Variants({ options, ...props }: FormProps & { readonly options: readonly Schema[] }): VNode {
  const { value, name, context, onChange } = props;
  const choices = choicesOf(options);
  const at =
    choices.find(({ word }) => word !== undefined && word === value) ??
    closest(
      choices.filter(({ word }) => word === undefined),
      ({ schema }) => schema,
      value,
    );
  const form = <Form {...props} schema={at?.schema ?? {}} />;
  if (choices.length === 1 && at?.word === undefined) return form;
  return (
    <div class="variants">
      <select
        aria-label={at?.word === undefined ? `${titleOf(name)}: form` : titleOf(name)}
        value={at === undefined ? "" : String(choices.indexOf(at))}
        onChange={(event) => onChange(begun(choices[Number(event.currentTarget.value)], value, context))}
      >
        {at === undefined && <option value="">choose …</option>}
        {choices.map(({ label }, i) => (
          <option key={i} value={String(i)}>
            {label}
          </option>
        ))}
      </select>
      {at !== undefined && at.word === undefined && form}
    </div>
  );
}

/** Another form begins with what it has in common with the one before. */
function begun({ schema, word }: Choice, before: unknown, context: FormContext): unknown {
  const start = word ?? blank(schema, context);
  if (typeof start !== "object" || typeof before !== "object" || before === null || Array.isArray(start)) return start;
  const common = Object.entries(before).filter(([key]) => Object.hasOwn(schema.properties ?? {}, key));
  return { ...start, ...Object.fromEntries(common) };
}

/** The part of an error that is about one field. */
function inside(error: FormProps["error"], key: string): FormProps["error"] {
  if (error === undefined || !error.path.startsWith(key)) return undefined;
  const rest = error.path.slice(key.length);
  return rest === "" || /^[.[]/.test(rest) ? { message: error.message, path: rest.replace(/^\./, "") } : undefined;
}

/** The error of a group that no field in it shows. */
function Above({
  error,
  keys,
}: {
  readonly error: FormProps["error"];
  readonly keys: readonly string[];
}): VNode | null {
  if (error === undefined || keys.some((key) => inside(error, key) !== undefined)) return null;
  return <p class="bad">{error.message}</p>;
}

function Fields({ schema, value, name, error, context, onChange }: FormProps & { readonly value: Plain }): VNode {
  const { properties = {}, required = [] } = schema;
  const shown = Object.keys(properties).filter((key) => Object.hasOwn(value, key) || required.includes(key));
  const hidden = Object.keys(properties).filter((key) => !shown.includes(key));
  return (
    <div class="fieldset" role="group" aria-label={titleOf(name)}>
      <Above error={error} keys={shown} />
      {shown.map((key) => (
        <Row
          key={key}
          title={titleOf(key)}
          isWide={isGroup(properties[key], value[key])}
          error={inside(error, key)}
          onRemove={required.includes(key) ? undefined : () => onChange(without(value, key))}
        >
          <Form
            schema={properties[key]}
            name={key}
            value={value[key]}
            context={context}
            error={inside(error, key)}
            onChange={(changed) => onChange({ ...value, [key]: changed })}
          />
        </Row>
      ))}
      {hidden.length > 0 && (
        <select
          aria-label={`Add to ${words(name)}`}
          class="add"
          value=""
          onChange={({ currentTarget: { value: key } }) =>
            onChange({ ...value, [key]: blank(properties[key], context, key) })
          }
        >
          <option value="">Add …</option>
          {hidden.map((key) => (
            <option key={key} value={key}>
              {words(key)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

const without = (value: Plain, key: string): Plain =>
  Object.fromEntries(Object.entries(value).filter(([other]) => other !== key));

/** Whether a value has fields of its own, which stand below its name. */
function isGroup(schema: Schema, value: unknown): boolean {
  if (isTime(schema) || schema.enum !== undefined) return false;
  if (schema.anyOf !== undefined)
    return schema.anyOf.some((option) => likeness(option, value) > -Infinity && isGroup(option, value));
  return schema.prefixItems !== undefined || ["object", "array"].includes(String(schema.type));
}

interface RowProps {
  readonly title: string;
  readonly isWide: boolean;
  readonly error: FormProps["error"];
  readonly onRemove: (() => void) | undefined;
  readonly children: ComponentChildren;
}

function Row({ title, isWide, error, onRemove, children }: RowProps): VNode {
  return (
    <div class={`form-row${isWide ? " wide" : ""}${error === undefined ? "" : " wrong"}`}>
      <span class="name">{title}</span>
      {onRemove !== undefined && (
        <button type="button" class="quiet" aria-label={`Remove ${title}`} onClick={onRemove}>
          ×
        </button>
      )}
      <div class="what">
        {children}
        {error !== undefined && error.path === "" && !isWide && <p class="bad">{error.message}</p>}
      </div>
    </div>
  );
}

function List({
  schema,
  value,
  name,
  error,
  context,
  onChange,
}: FormProps & { readonly value: readonly unknown[] }): VNode {
  const items = schema.items ?? {};
  const { minItems = 0 } = schema;
  const title = (i: number): string => `${titleOf(name).replace(/s$/, "")} ${i + 1}`;
  return (
    <div class="fieldset" role="group" aria-label={titleOf(name)}>
      <Above error={error} keys={value.map((_, i) => `[${i}]`)} />
      {value.map((item, i) => (
        <Row
          key={i}
          title={isGroup(items, item) ? title(i) : String(i + 1)}
          isWide={isGroup(items, item)}
          error={inside(error, `[${i}]`)}
          onRemove={value.length <= minItems ? undefined : () => onChange(value.filter((_, other) => other !== i))}
        >
          <Form
            schema={items}
            name={name === "underlyings" ? "underlying" : `${name} ${i + 1}`}
            value={item}
            context={context}
            error={inside(error, `[${i}]`)}
            onChange={(changed) => onChange(value.map((other, k) => (k === i ? changed : other)))}
          />
        </Row>
      ))}
      <button type="button" class="quiet add" onClick={() => onChange([...value, blank(items, context)])}>
        Add to {words(name)}
      </button>
    </div>
  );
}

/** A list with a fixed number of items, such as [time, amount], side by side. */
function Items({
  items,
  value,
  name,
  context,
  error,
  onChange,
}: FormProps & { readonly items: readonly Schema[] }): VNode {
  const all = Array.isArray(value) ? (value as readonly unknown[]) : [];
  return (
    <div class="items">
      {items.map((item, i) => (
        <Form
          key={i}
          schema={item}
          name={isTime(item) ? `${name}: time` : `${name}: amount`}
          value={all[i]}
          context={context}
          error={inside(error, `[${i}]`)}
          onChange={(changed) => onChange(items.map((_, k) => (k === i ? changed : all[k])))}
        />
      ))}
    </div>
  );
}

/** An object of values by names that the visitor chooses: tags, data of a script. */
function Entries({ schema, value, name, error, context, onChange }: FormProps & { readonly value: Plain }): VNode {
  const items = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {};
  const isText = Array.isArray(items.type) && items.type.includes("string");
  const rename = (from: string, to: string): void => {
    if (Object.hasOwn(value, to)) return;
    onChange(Object.fromEntries(Object.entries(value).map(([key, item]) => [key === from ? to : key, item])));
  };
  return (
    <div class="fieldset" role="group" aria-label={titleOf(name)}>
      <Above error={error} keys={Object.keys(value)} />
      {Object.entries(value).map(([key, item], i) => (
        <div key={i} class="form-row entry">
          <TextInput label={`${titleOf(name)}: name ${i + 1}`} value={key} onChange={(text) => rename(key, text)} />
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${key}`}
            onClick={() => onChange(without(value, key))}
          >
            ×
          </button>
          <div class="what">
            {isText ? (
              <TextInput
                label={key}
                value={item}
                onChange={(text) =>
                  onChange({
                    ...value,
                    [key]:
                      typeof item === "number" && text !== "" && Number.isFinite(Number(text)) ? Number(text) : text,
                  })
                }
              />
            ) : (
              <Form
                schema={items}
                name={key}
                value={item}
                context={context}
                error={inside(error, key)}
                onChange={(changed) => onChange({ ...value, [key]: changed })}
              />
            )}
          </div>
        </div>
      ))}
      <button
        type="button"
        class="quiet add"
        onClick={() => onChange({ ...value, [freeName(value)]: isText ? "" : blank(items, context) })}
      >
        Add to {words(name)}
      </button>
    </div>
  );
}

function freeName(value: Plain): string {
  for (let i = 1; ; i++) if (!Object.hasOwn(value, `name ${i}`)) return `name ${i}`;
}
