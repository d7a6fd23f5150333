/** One figure of every row: a bar from 0, its interval, and a dot for each window. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { columnIndex, type Column, interval, numberOf, type Part, type Row, subject } from "../data";
import { Figure } from "../figure";
import { roundTicks } from "../format";
import { Drawing, hairline, rowNames, ticks } from "../plot";
import { axisMax } from "../rows";

/** Maximum bars in one drawing. */
const maxBars = 40;

export function Bars({ part, rows, column }: { part: Part; rows: Row[]; column: Column }) {
  const known = rows.filter((row) => numberOf(part.table, row, column.key) !== null);
  const drawn = known.slice(0, maxBars);
  const draw = useCallback((width: number) => bars(part, drawn, column, width), [part, rows, column]);
  if (known.length === 0) return null;
  const shown = known.length > maxBars ? ` The first ${maxBars} of ${known.length} rows.` : "";
  const header = [subject(part.table), column.key, "low", "high"];
  const table = known.map((row) => [row.name, numberOf(part.table, row, column.key), ...(interval(column, row) ?? [null, null])]);
  return (
    <Figure title={column.title} note={`${column.meaning}.${shown}`} header={header} rows={table}>
      <Drawing label={`${column.title} of ${known.length} rows, as bars`} draw={draw} />
    </Figure>
  );
}

function bars(part: Part, rows: Row[], column: Column, width: number): Plot.PlotOptions {
  const values = rows.map((row) => ({
    name: row.name, row, value: numberOf(part.table, row, column.key)!, ends: interval(column, row),
    text: row.texts[columnIndex(part.table.columns, column.key)],
  }));
  const windowColumn = columnIndex(part.window_columns, column.key);
  const dots = rows.flatMap((row) =>
    (row.cell?.windows ?? []).map((window) => ({ name: row.name, ranked: row.ranked, value: window.values[windowColumn] })),
  );
  const names = rowNames(values.map((row) => row.name), width);
  const largest = Math.max(axisMax(part, rows, column), ...dots.filter((dot) => dot.ranked).map((dot) => Number(dot.value ?? 0)));
  const tickValues = roundTicks(largest, column.unit, Math.max(2, Math.floor(width / 110)));
  return {
    height: 34 + values.length * 24,
    marginLeft: names.margin,
    marginRight: 16,
    x: { label: null, domain: [0, largest], clamp: true },
    y: { domain: values.map((row) => row.name), label: null, padding: 0.28 },
    marks: [
      Plot.gridX(tickValues, hairline),
      Plot.axisX(tickValues, { tickFormat: ticks(column.unit) }),
      names.axis,
      Plot.barX(values, { x: "value", y: "name", fill: (row) => (row.row.ranked || part.kind !== "ranking" ? "var(--bar)" : "var(--bar-off)") }),
      Plot.dot(windowColumn < 0 ? [] : dots, { x: "value", y: "name", r: 1.4, fill: "var(--ink)", fillOpacity: 0.35 }),
      Plot.ruleY(values.filter((row) => row.ends), { x1: (row) => row.ends![0], x2: (row) => row.ends![1], y: "name", stroke: "var(--ink)", strokeWidth: 1.5 }),
      Plot.tip(values, Plot.pointerY({ x: "value", y: "name", title: (row) => `${row.name}\n${row.text ?? row.value}` })),
    ],
  };
}
