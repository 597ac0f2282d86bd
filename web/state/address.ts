/** The address is the state: a small book or an equation travels in the part behind #, which no server sees. */
import { effect } from "@preact/signals";
import { EXAMPLES, openExample } from "./examples.ts";
import { ask, book, notice, openPlain, playCode, type Tab, tab, TABS } from "./store.ts";

interface Shared {
  readonly book?: unknown;
  readonly play?: string;
}

/** Longer addresses are cut by mail programs and chats. */
const MAX_LENGTH = 16_000;

/** Copies an address that has the book or the equation in it. */
export async function share(state: Shared): Promise<void> {
  const packed = await pack(JSON.stringify(state));
  if (packed.length > MAX_LENGTH) {
    notice.value = "This book is too large for a link. Save it as a file instead.";
    return;
  }
  const { origin, pathname } = location;
  const address = `${origin}${pathname}#s=${packed}`;
  history.replaceState(undefined, "", address);
  try {
    await navigator.clipboard.writeText(address);
    notice.value = "The link has been copied. It holds everything; nothing was sent anywhere.";
  } catch {
    notice.value = "The link is now the address of this page.";
  }
  setTimeout(() => (notice.value = undefined), 6000);
}

/** Copies an address of the book as it stands, with its edits. */
export async function shareBook(): Promise<void> {
  const file = await ask("There is no link", "export", "book");
  if (file !== undefined) await share({ book: JSON.parse(await file.bytes.text()) });
}

/** Opens what the address says, or else the first example. */
export async function openAddress(): Promise<void> {
  const parts = new URLSearchParams(location.hash.slice(1));
  const wanted = parts.get("view") as Tab | null;
  if (wanted !== null && TABS.includes(wanted)) tab.value = wanted;
  const packed = parts.get("s");
  const shared = packed === null ? {} : await readShared(packed);
  if (shared.play !== undefined) {
    playCode.value = shared.play;
    tab.value = "Playground";
  }
  if (shared.book !== undefined) return openPlain("shared.json", shared.book);
  const example = EXAMPLES.find(({ name }) => name === parts.get("example")) ?? EXAMPLES[0];
  return openExample(example);
}

/** Keeps the address in step with the tab and the example. */
export function keepAddress(): void {
  effect(() => {
    const [view, name] = [tab.value, book.value?.name.replace(/\.json$/, "")];
    if (location.hash.startsWith("#s=")) return;
    const parts = new URLSearchParams();
    if (name !== undefined && name !== EXAMPLES[0].name && EXAMPLES.some((example) => example.name === name))
      parts.set("example", name);
    if (view !== "Book") parts.set("view", view);
    history.replaceState(undefined, "", parts.size === 0 ? location.pathname : `#${parts}`);
  });
}

async function readShared(packed: string): Promise<Shared> {
  try {
    return JSON.parse(await unpack(packed)) as Shared;
  } catch {
    notice.value = "The link is not complete: what it held could not be read. The example is shown instead.";
    return {};
  }
}

async function pack(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCodePoint(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpack(packed: string): Promise<string> {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}
