/** The rows to show, and their order. */
import { at, type Column, type Part, type Row, type Table, type Value, word } from "./data";
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
