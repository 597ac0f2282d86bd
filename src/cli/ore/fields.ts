/** The terms of a trade in XML, read by the names of elements. */
import type { XmlElement } from "./xml.ts";

/** The reason for which a trade is left out. */
export class NotImported extends Error {
  override readonly name = "NotImported";
}

/** The children of an element by name. Every method throws `NotImported` for what is missing or of another form. */
export class Fields {
  readonly #element: XmlElement;

  constructor(element: XmlElement) {
    this.#element = element;
  }

  maybe(name: string): Fields | undefined {
    const found = this.#element.children.find((child) => child.name === name);
    return found === undefined ? undefined : new Fields(found);
  }

  inside(name: string): Fields {
    const found = this.maybe(name);
    if (found === undefined) throw new NotImported(`<${this.#element.name}> has no <${name}>`);
    return found;
  }

  /** The first element of this name at any depth. */
  deep(name: string): Fields {
    const search = (element: XmlElement): XmlElement | undefined =>
      element.name === name ? element : element.children.map(search).find((found) => found !== undefined);
    const found = search(this.#element);
    if (found === undefined) throw new NotImported(`<${this.#element.name}> has no <${name}>`);
    return new Fields(found);
  }

  all(name: string): Fields[] {
    return this.#element.children.filter((child) => child.name === name).map((child) => new Fields(child));
  }

  /** Whether there is a child of this name. */
  has(name: string): boolean {
    return this.maybe(name) !== undefined;
  }

  /** Checks that all children that are not empty have one of these names, so that no term is overlooked. */
  onlyKnown(names: readonly string[]): void {
    const other = this.#element.children.find(
      ({ name, text, children }) => !names.includes(name) && (text !== "" || children.length > 0),
    );
    if (other !== undefined) throw new NotImported(`<${other.name}> of <${this.#element.name}> is not known`);
  }

  attribute(name: string): string | undefined {
    return this.#element.attributes.get(name);
  }

  /** A flag, as Y, Yes, true or 1. */
  flag(name: string, usual: boolean): boolean {
    const text = this.optional(name);
    if (text === undefined) return usual;
    if (/^(?:y|yes|true|1)$/i.test(text)) return true;
    if (/^(?:n|no|false|0)$/i.test(text)) return false;
    throw new NotImported(`<${name}>: expected true or false, got ${text}`);
  }

  /** The names and texts of the children that have a text. */
  texts(): (readonly [name: string, text: string])[] {
    return this.#element.children.flatMap(({ name, text }) => (text === "" ? [] : [[name, text] as const]));
  }

  optional(name: string): string | undefined {
    const found = this.maybe(name);
    return found === undefined || found.#element.text === "" ? undefined : found.#element.text;
  }

  text(name: string): string {
    const { text } = this.inside(name).#element;
    if (text === "") throw new NotImported(`<${name}> is empty`);
    return text;
  }

  word<W extends string>(name: string, words: readonly W[], usual?: W): W {
    const text = usual === undefined ? this.text(name) : (this.optional(name) ?? usual);
    const found = words.find((word) => word.toLowerCase() === text.toLowerCase());
    if (found === undefined) throw new NotImported(`<${name}>: expected ${words.join(", ")}, got ${text}`);
    return found;
  }

  number(name: string, usual: number): number {
    return this.maybe(name)?.ownNumber() ?? usual;
  }

  positive(name: string): number {
    return this.inside(name).ownPositive();
  }

  date(name: string): string {
    return this.inside(name).ownDate();
  }

  ownNumber(): number {
    const { name, text } = this.#element;
    const value = Number(text);
    if (text === "" || !Number.isFinite(value)) throw new NotImported(`<${name}>: expected a number, got ${text}`);
    return value;
  }

  ownPositive(): number {
    const value = this.ownNumber();
    if (value > 0) return value;
    throw new NotImported(`<${this.#element.name}>: expected a positive number, got ${value}`);
  }

  /** The date of the element, as 2026-11-20 or 20261120. */
  ownDate(): string {
    const { name, text } = this.#element;
    const [, year, month, day] = /^(\d{4})-?(\d\d)-?(\d\d)$/.exec(text) ?? [];
    if (year === undefined) throw new NotImported(`<${name}>: expected a date, got ${text}`);
    return `${year}-${month}-${day}`;
  }
}
