/** Response times over load, and where each server's knee is. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { number, type Part, type Table } from "../data";
import { Choice, Figure } from "../figure";
import { format } from "../format";
import { dash, Drawing, hairline, ink, ticks } from "../plot";
import type { Change, View } from "../view";

interface Props {
  part: Part;
  view: View;
  change: (change: Change) => void;
}

const note = "Response times at each load, over all its windows, counted from when a call came due. Hollow: the verdict is not ok. The line marks the knee: the highest load that the server kept up with, if a higher one was tried.";

export function OverLoad({ part, view, change }: Props) {
  const table = part.over_load?.table ?? part.table;
  const offered = table.columns.filter((column) => column.unit === "ns" && column.shown !== "row");
  const key = offered.find((column) => column.key === view.get("over"))?.key ?? offered.find((column) => column.key === "p99_ns")?.key ?? null;
  const x = part.over_load?.x ?? null;
  const draw = useCallback(() => lines(table, x, key), [table, x, key]);
  if (x === null || key === null || table.rows.length === 0) return null;
  const rows = points(table, x, key).map((p) => [p.entry, p.x, p.ns, p.verdict]);
  const tools = (
    <Choice label="percentile" value={key} onChange={(over) => change({ over })}
      options={offered.map((column) => [column.key, column.title])} />
  );
  return (
    <Figure title="Response times over load" note={note} tools={tools} header={["name", x, key, "verdict"]} rows={rows}>
      <Drawing label="Response times over load" draw={draw} />
      <Names names={entries(table)} />
    </Figure>
  );
}

function Names({ names }: { names: string[] }) {
  if (names.length < 2) return null;
  return (
    <p class="names">
      {names.map((name, at) => (
        <span key={name}>
          <svg aria-hidden="true"><line x1="0" x2="18" y1="4" y2="4" stroke={ink(at)} stroke-width="2.5" stroke-dasharray={dash(at)} /></svg>
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
    const [at, ns] = [number(table, row, x), number(table, row, key)];
    const kept = row.ranked || row.verdict === "ok";
    return at === null || ns === null ? [] : [{ entry: row.entry, x: at, ns: Math.max(ns, 1), verdict: row.verdict, kept, knee: row.knee }];
  });
}

function lines(table: Table, x: string | null, key: string | null): Plot.PlotOptions {
  const all = points(table, x!, key!);
  const names = entries(table);
  const color = (point: { entry: string }) => ink(names.indexOf(point.entry));
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
      ...names.map((name, at) =>
        Plot.line(all.filter((point) => point.entry === name), { x: "x", y: "ns", stroke: ink(at), strokeWidth: 1.8, strokeDasharray: dash(at) }),
      ),
      Plot.dot(all, { x: "x", y: "ns", r: 3.5, stroke: color, strokeWidth: 1.5, fill: (point) => (point.kept ? color(point) : "var(--page)") }),
      Plot.tip(all, Plot.pointer({ x: "x", y: "ns", title: (p) =>
        `${p.entry}\n${format(p.x, "1/s")} calls/s: ${format(p.ns, "ns")}\n${p.verdict}${p.knee ? ", the knee" : ""}` })),
    ],
  };
}
