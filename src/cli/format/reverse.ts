/** Formats a reverse stress test as text. */
import { decimalsFor, formatFixed } from "../../output/formats/index.ts";
import type { LossMultiple } from "../../pricing/index.ts";
import { escapeControls } from "./columns.ts";
import { table } from "./risk.ts";

/** What a reverse stress test has found. */
export interface ReverseStress {
  readonly scenario: string;
  readonly loss: number;
  readonly currency: string;
  /** The largest multiple that was looked at. */
  readonly most: number;
  /** The first multiple with the loss; undefined where none has it. */
  readonly found: LossMultiple | undefined;
  /** The moves at the multiple, or at the largest one. */
  readonly moves: Readonly<Record<string, number>>;
  /** The loss there, what it may be off by, and its parts by group. */
  readonly lost: number;
  readonly errorEstimate: number | null;
  readonly parts: Readonly<Record<string, readonly { readonly name: string; readonly loss: number }[]>>;
}

/** The most parts of one kind that are shown. */
const SHOWN = 10;

/** Returns the multiple at which a book loses an amount, the moves there, and the parts of the loss. */
export function reverseText(answer: ReverseStress, failed: number): string {
  const { scenario, loss, currency, most, found, moves, lost, errorEstimate, parts } = answer;
  const decimals = decimalsFor([loss, lost], 7);
  const amount = (one: number | null): string => formatFixed(one, decimals);
  const digits = (one: number): string => String(Number(one.toPrecision(6)));
  const of = escapeControls(scenario);
  const high = found?.high === undefined ? "any" : digits(found.high);
  const head =
    found === undefined
      ? `no multiple of ${of} up to ${digits(most)} loses ${amount(loss)} ${escapeControls(currency)}\n`
      : `${digits(found.multiple)} × ${of} loses ${amount(loss)} ${escapeControls(currency)}; ` +
        `by the errors of values between ${digits(found.low)} and ${high}\n`;
  const without = failed > 0 ? `without ${failed} trades that have no value\n` : "";
  const at = found === undefined ? `at ${digits(most)}` : "there";
  const there = `the loss ${at} is ${amount(lost)}, with an error of ${amount(errorEstimate)}\n`;
  return [
    head + without + there,
    table(
      ["factor", `move ${at}`],
      Object.entries(moves).map(([name, by]) => [name, digits(by)]),
    ),
    ...Object.entries(parts).map(([by, all]) =>
      table(
        [by, "loss"],
        all.slice(0, SHOWN).map((part) => [part.name, amount(part.loss)]),
      ),
    ),
  ].join("\n");
}
