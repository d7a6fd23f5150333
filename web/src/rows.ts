/** The rows to show, and their order. */
import { at, type Column, interval, number, type Part, type Row, type Table, type Value, word } from "./data";
import type { View } from "./view";

/** Labels by which rows can be filtered and grouped. */
export const labels = ["language", "protocol", "verdict"] as const;
export type Label = (typeof labels)[number];

/** The label of a row. */
export function label(table: Table, row: Row, label: Label): string {
  return label === "verdict" ? row.verdict : word(table, row, label);
}

/** The values of a label, if rows differ in it. */
export function choices(table: Table, of: Label): string[] {
  const all = [...new Set(table.rows.map((row) => label(table, row, of)))].filter(Boolean).sort();
  return all.length > 1 ? all : [];
}

/** The rows of the view, in its order. */
export function chosen(part: Part, view: View): Row[] {
  const { table } = part;
  const text = (view.get("q") ?? "").toLowerCase();
  const kept = table.rows.filter((row) =>
    row.entry.toLowerCase().includes(text) &&
    labels.every((of) => !view.get(of) || label(table, row, of) === view.get(of)),
  );
  const column = at(table.columns, view.get("sort"));
  if (column < 0) return kept;
  const sign = view.get("order") === "descending" ? -1 : 1;
  return kept.toSorted((a, b) => sorted(a.values[column] ?? null, b.values[column] ?? null, sign));
}

/** Whether filters hide rows. */
export function filtered(part: Part, view: View): boolean {
  return chosen(part, view).length < part.table.rows.length;
}

/** The end of a figure's axis: the largest figure of all rows, and the largest interval of the ranked ones. */
export function axisEnd({ table }: Part, rows: Row[], column: Column | undefined): number {
  if (column === undefined) return 0;
  const ends = rows.filter((row) => row.ranked).map((row) => interval(column, row)?.[1] ?? 0);
  const figures = rows.map((row) => number(table, row, column.key) ?? 0);
  return Math.max(...ends, ...figures, 0);
}

/** Which of the rows shown is fastest: places of different rows that overlap leave it open. */
export function fastestShown(part: Part, view: View): string {
  const { table } = part;
  const rows = chosen(part, view).filter((row) => row.ranked);
  const place = (row: Row, key: string) => number(table, row, key) ?? Infinity;
  const ahead = Math.min(...rows.map((row) => place(row, "place_worst")));
  const names = rows.filter((row) => place(row, "place_best") <= ahead).map((row) => row.name);
  if (names.length === 0) return "No row shown is ranked";
  if (names.length === 1) return `Of the rows shown, ${names[0]} is fastest`;
  return `Of the rows shown, ${names.slice(0, -1).join(", ")} or ${names.at(-1)} is fastest: this run can't tell`;
}

/** Unknown values come last in either order. */
function sorted(a: Value, b: Value, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b));
}

/** Rates are better high, everything else low: the better end comes first when a column is chosen. */
export function firstOrder(column: Column): "ascending" | "descending" {
  return column.unit === "1/s" ? "descending" : "ascending";
}
