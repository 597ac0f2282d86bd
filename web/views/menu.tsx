/** A button that opens a panel below it; Escape, a click elsewhere and a choice close it. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface MenuProps {
  readonly label: string;
  readonly button: ComponentChildren;
  readonly className?: string;
  readonly children: (close: () => void) => ComponentChildren;
}

export function Menu({ label, button, className = "quiet", children }: MenuProps): VNode {
  const open = useSignal(false);
  const root = useRef<HTMLDivElement>(null);
  const close = (): void => {
    open.value = false;
    root.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!open.value) return undefined;
    root.current?.querySelector<HTMLElement>(".panel button, .panel input")?.focus();
    const outside = (event: MouseEvent): void => {
      if (root.current?.contains(event.target as Node) === false) open.value = false;
    };
    document.addEventListener("mousedown", outside);
    return () => document.removeEventListener("mousedown", outside);
  }, [open.value]);
  return (
    <div
      class="menu"
      ref={root}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open.value) close();
        else if (open.value) moveFocus(event);
      }}
    >
      <button
        type="button"
        class={className}
        aria-label={label}
        aria-haspopup="true"
        aria-expanded={open.value}
        onClick={() => (open.value = !open.value)}
      >
        {button}
        <svg class="chevron" viewBox="0 0 12 12" width="10" height="10" aria-hidden="true">
          <path d="M2 4l4 4 4-4" />
        </svg>
      </button>
      {open.value && <div class="panel">{children(close)}</div>}
    </div>
  );
}

function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".panel button")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  all.at((at + step) % all.length)?.focus();
}
