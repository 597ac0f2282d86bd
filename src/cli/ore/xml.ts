/** Reads XML as a tree of elements, by the optional package @xmldom/xmldom. */
import { CliError } from "../failure.ts";

/** An element: its attributes, its child elements, and its text without that of children. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

/** What is used of a node of the document object model. */
interface DomNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly nodeValue: string | null;
  readonly childNodes: ArrayLike<DomNode>;
  readonly attributes?: ArrayLike<{ readonly name: string; readonly value: string }>;
  readonly documentElement?: DomNode | null;
}

interface XmlDom {
  readonly DOMParser: new (options: { readonly onError: (level: string, message: string) => void }) => {
    parseFromString(text: string, type: string): DomNode;
  };
}

const [ELEMENT, TEXT, CDATA] = [1, 3, 4];

/** Parses a document and returns its root. @throws CliError a text that is not XML; a missing package */
export async function parseXml(text: string): Promise<XmlElement> {
  const { DOMParser } = await load();
  let problem: string | undefined;
  const onError = (level: string, message: string): void => {
    if (level !== "warning") problem ??= message.split("\n")[0];
  };
  let root: DomNode | null | undefined;
  try {
    root = new DOMParser({ onError }).parseFromString(text, "text/xml").documentElement;
  } catch (error) {
    problem ??= (error as Error).message.split("\n")[0];
  }
  if (problem !== undefined || root === null || root === undefined)
    throw new CliError(`not XML that can be read: ${problem ?? "there is no element"}`);
  return elementOf(root);
}

/** The package, as a name that the compiler does not look for: it is optional. */
const PARSER: string = "@xmldom/xmldom";

async function load(): Promise<XmlDom> {
  try {
    return (await import(PARSER)) as XmlDom;
  } catch (cause) {
    throw new CliError("XML is read by an optional package: npm install @xmldom/xmldom", { cause });
  }
}

function elementOf({ nodeName, childNodes, attributes = [] }: DomNode): XmlElement {
  const nodes = Array.from(childNodes);
  return {
    name: nodeName,
    attributes: new Map(Array.from(attributes).map(({ name, value }) => [name, value])),
    children: nodes.filter(({ nodeType }) => nodeType === ELEMENT).map(elementOf),
    text: nodes
      .filter(({ nodeType }) => nodeType === TEXT || nodeType === CDATA)
      .map(({ nodeValue }) => nodeValue ?? "")
      .join("")
      .trim(),
  };
}
