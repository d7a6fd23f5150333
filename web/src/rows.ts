/** Filters and sorts the rows of a table. */
import { columnIndex, type Column, interval, numberOf, type Part, type Row, type Table, type Value, textOf } from "./data";
import type { View } from "./view";

/** Labels that filter and group rows. */
export const labels = ["language", "protocol", "verdict"] as const;
export type Label = (typeof labels)[number];

export function label(table: Table, row: Row, name: Label): string {
  return name === "verdict" ? row.verdict : textOf(table, row, name);
}

/** The values of a label, or none if all rows have the same. */
export function labelValues(table: Table, name: Label): string[] {
  const all = [...new Set(table.rows.map((row) => label(table, row, name)))].filter(Boolean).sort();
  return all.length > 1 ? all : [];
}

/** The rows that pass the filters, in the chosen order. */
export function visibleRows(part: Part, view: View): Row[] {
  const { table } = part;
  const text = (view.get("q") ?? "").toLowerCase();
  const kept = table.rows.filter((row) =>
    row.entry.toLowerCase().includes(text) &&
    labels.every((name) => !view.get(name) || label(table, row, name) === view.get(name)),
  );
  const column = columnIndex(table.columns, view.get("sort"));
  if (column < 0) return kept;
  const sign = view.get("order") === "descending" ? -1 : 1;
  return kept.toSorted((a, b) => compareValues(a.values[column] ?? null, b.values[column] ?? null, sign));
}

/** True if filters hide rows. */
export function isFiltered(part: Part, view: View): boolean {
  return visibleRows(part, view).length < part.table.rows.length;
}

/** The end of a figure's axis: the largest figure, or the upper end of a ranked row's interval if that is larger. */
export function axisMax({ table }: Part, rows: Row[], column: Column | undefined): number {
  if (column === undefined) return 0;
  const ends = rows.filter((row) => row.ranked).map((row) => interval(column, row)?.[1] ?? 0);
  const figures = rows.map((row) => numberOf(table, row, column.key) ?? 0);
  return Math.max(...ends, ...figures, 0);
}

/** Which of the visible rows is fastest: several, if their ranges of places overlap. */
export function filteredHeadline(part: Part, view: View): string {
  const { table } = part;
  const rows = visibleRows(part, view).filter((row) => row.ranked);
  const place = (row: Row, key: string) => numberOf(table, row, key) ?? Infinity;
  const leaderWorst = Math.min(...rows.map((row) => place(row, "place_worst")));
  const names = rows.filter((row) => place(row, "place_best") <= leaderWorst).map((row) => row.name);
  if (names.length === 0) return "No row shown is ranked";
  if (names.length === 1) return `Of the rows shown, ${names[0]} is fastest`;
  return `Of the rows shown, ${names.slice(0, -1).join(", ")} and ${names.at(-1)} lead; too close to call`;
}

/** Compares values for sorting; unknown ones come last in either order. */
function compareValues(a: Value, b: Value, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b));
}

/** The order that puts the best first: rates descending, all others ascending. */
export function defaultOrder(column: Column): "ascending" | "descending" {
  return column.unit === "1/s" ? "descending" : "ascending";
}
