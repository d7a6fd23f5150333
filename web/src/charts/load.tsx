/** Response times over load, and where each server's knee is. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { numberOf, type Part, type Table } from "../data";
import { Figure, Select } from "../figure";
import { format } from "../format";
import { Drawing, hairline, seriesColor, seriesDash, ticks } from "../plot";
import { LineSample } from "../series";
import type { Change, View } from "../view";

interface Props {
  part: Part;
  view: View;
  change: (change: Change) => void;
}

const note = "Response times at each load, over all its windows, counted from when a call came due. Hollow points: the verdict is not ok. The dashed line marks the knee: the highest load that the server kept up with, if a higher one was tried.";

export function OverLoad({ part, view, change }: Props) {
  const table = part.over_load?.table ?? part.table;
  const timeColumns = table.columns.filter((column) => column.unit === "ns" && column.shown !== "row");
  const key = timeColumns.find((column) => column.key === view.get("over"))?.key ?? timeColumns.find((column) => column.key === "p99_ns")?.key ?? null;
  const x = part.over_load?.x ?? null;
  const draw = useCallback(() => lines(table, x, key), [table, x, key]);
  if (x === null || key === null || table.rows.length === 0) return null;
  const rows = points(table, x, key).map((p) => [p.entry, p.x, p.ns, p.verdict]);
  const controls = (
    <Select label="percentile" value={key} onChange={(over) => change({ over })}
      options={timeColumns.map((column) => [column.key, column.title])} />
  );
  return (
    <Figure title="Response times over load" note={note} controls={controls} header={["name", x, key, "verdict"]} rows={rows}>
      <Drawing label="Response times over load" draw={draw} />
      <LineKey names={entries(table)} />
    </Figure>
  );
}

function LineKey({ names }: { names: string[] }) {
  if (names.length < 2) return null;
  return (
    <p class="line-key">
      {names.map((name, i) => (
        <span key={name}>
          <LineSample color={seriesColor(i)} dash={seriesDash(i)} />
          {name}
        </span>
      ))}
    </p>
  );
}

function entries(table: Table): string[] {
  return [...new Set(table.rows.map((row) => row.entry))];
}

function points(table: Table, x: string, key: string) {
  return table.rows.flatMap((row) => {
    const [rate, ns] = [numberOf(table, row, x), numberOf(table, row, key)];
    const isOk = row.ranked || row.verdict === "ok";
    return rate === null || ns === null ? [] : [{ entry: row.entry, x: rate, ns: Math.max(ns, 1), verdict: row.verdict, isOk, knee: row.knee }];
  });
}

function lines(table: Table, x: string | null, key: string | null): Plot.PlotOptions {
  const all = points(table, x!, key!);
  const names = entries(table);
  const color = (point: { entry: string }) => seriesColor(names.indexOf(point.entry));
  return {
    height: 340,
    marginLeft: 56,
    marginRight: 16,
    x: { label: "offered calls/s", zero: true, ticks: 6, tickFormat: ticks("1/s") },
    y: { type: "log", label: null },
    marks: [
      Plot.gridY({ ...hairline, ticks: 6 }),
      Plot.axisY({ tickSize: 0, ticks: 6, tickFormat: ticks("ns") }),
      Plot.ruleX(all.filter((point) => point.knee), { x: "x", stroke: color, strokeDasharray: "2 3" }),
      ...names.map((name, i) =>
        Plot.line(all.filter((point) => point.entry === name), { x: "x", y: "ns", stroke: seriesColor(i), strokeWidth: 1.8, strokeDasharray: seriesDash(i) }),
      ),
      Plot.dot(all, { x: "x", y: "ns", r: 3.5, stroke: color, strokeWidth: 1.5, fill: (point) => (point.isOk ? color(point) : "var(--page)") }),
      Plot.tip(all, Plot.pointer({ x: "x", y: "ns", title: (p) =>
        `${p.entry}\n${format(p.x, "1/s")} calls/s: ${format(p.ns, "ns")}\n${p.verdict}${p.knee ? ", the knee" : ""}` })),
    ],
  };
}
