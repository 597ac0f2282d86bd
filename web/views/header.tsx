/** The bar at the top: name, device, colours. */
import type { VNode } from "preact";
import { choice, device, openDevice, TABS, tab, type Theme, theme } from "../state/store.ts";
import type { DeviceChoice } from "../engine/protocol.ts";
import { Menu } from "./menu.tsx";

export function Header(): VNode {
  return (
    <header class="bar">
      <a class="brand" href="#" aria-label="Feynkac, start">
        <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
          <rect width="32" height="32" rx="7" />
          <path d="M5 25C12 25 12 8 16 8s4 17 11 17" />
        </svg>
        <span>Feynkac</span>
      </a>
      <nav class="tabs" aria-label="Parts of the page">
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            aria-current={tab.value === name ? "page" : undefined}
            onClick={() => (tab.value = name)}
          >
            {name}
          </button>
        ))}
      </nav>
      <div class="spacer" />
      <DeviceMenu />
      <ThemeButton />
    </header>
  );
}

const CHOICES: readonly { readonly choice: DeviceChoice; readonly label: string; readonly about: string }[] = [
  { choice: { backend: "cpu", precision: "f64" }, label: "CPU, double precision", about: "the most exact" },
  { choice: { backend: "cpu", precision: "f32" }, label: "CPU, single precision", about: "faster, 7 digits" },
  { choice: { backend: "webgpu", precision: "f32" }, label: "GPU, single precision", about: "WebGPU, for long books" },
  { choice: { backend: "webgpu", precision: "f64" }, label: "GPU, emulated double", about: "WebGPU, 14 digits" },
];

function DeviceMenu(): VNode {
  const opened = device.value;
  const current = choice.value;
  const name =
    opened === undefined ? "Starting …" : `${opened.name.replace(", WebAssembly SIMD", "")} · ${opened.precision}`;
  return (
    <Menu label={`Device: ${name}`} button={<span class="device">{name}</span>}>
      {(close) => (
        <>
          <ul role="menu" aria-label="Where to compute">
            {CHOICES.map(({ choice: one, label, about }) => {
              const checked = one.backend === current.backend && one.precision === current.precision;
              const pick = async (): Promise<void> => {
                close();
                await openDevice(one);
              };
              return (
                <li role="none" key={label}>
                  <button type="button" role="menuitemradio" aria-checked={checked} onClick={() => void pick()}>
                    <b>{label}</b>
                    <small>{about}</small>
                  </button>
                </li>
              );
            })}
          </ul>
          <p class="hint">{threadsNote(opened?.parallel ?? globalThis.crossOriginIsolated)}</p>
        </>
      )}
    </Menu>
  );
}

function threadsNote(isParallel: boolean): string {
  return isParallel
    ? "The CPU uses every core."
    : "The CPU uses one thread here: the server of this page does not send the two headers that let threads share " +
        "memory (Cross-Origin-Opener-Policy: same-origin, Cross-Origin-Embedder-Policy: require-corp).";
}

const NEXT: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const ICONS: Readonly<Record<Theme, string>> = {
  system: "M4 5h16v10H4zM9 19h6M12 15v4",
  light:
    "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
  dark: "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z",
};

function ThemeButton(): VNode {
  const { value } = theme;
  const label = `Colours: ${value === "system" ? "as the system" : value}; change to ${NEXT[value]}`;
  return (
    <button type="button" class="icon" aria-label={label} title={label} onClick={() => (theme.value = NEXT[value])}>
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path d={ICONS[value]} />
      </svg>
    </button>
  );
}
