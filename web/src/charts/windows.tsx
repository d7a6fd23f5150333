/** A figure of every window over the run: shows spread, drift, and changes common to all servers. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { columnIndex, type Part } from "../data";
import { Figure, Select } from "../figure";
import { format } from "../format";
import { Drawing, hairline, ticks } from "../plot";
import type { Series } from "../series";
import type { Change, View } from "../view";

interface Props {
  part: Part;
  shown: Series[];
  view: View;
  change: (change: Change) => void;
}

export function Windows({ part, shown, view, change }: Props) {
  const selectable = part.window_columns.filter((_, i) =>
    shown.some(({ cell }) => cell.windows.some((window) => typeof window.values[i] === "number")),
  );
  const key = [view.get("figure"), part.ranked_by].find((key) => columnIndex(selectable, key ?? null) >= 0) ?? selectable[0]?.key ?? null;
  const draw = useCallback(() => dots(part, shown, key), [part, shown, key]);
  const column = part.window_columns[columnIndex(part.window_columns, key)];
  if (column === undefined || shown.every(({ cell }) => cell.windows.length < 2)) return null;
  const rows = points(part, shown, key).map((p) => [p.series.name, p.process, p.number, p.at_s, p.value]);
  const controls = (
    <Select label="figure" value={key!} onChange={(figure) => change({ figure })}
      options={selectable.map((column) => [column.key, column.title])} />
  );
  const note = `${column.meaning}: a dot for each window, at its time in the run; a line joins the windows of one process.`;
  return (
    <Figure title="Windows over the run" note={note} controls={controls} header={["name", "process", "window", "at_s", column.key]} rows={rows}>
      <Drawing label={`${column.title} of each window over the run`} draw={draw} />
    </Figure>
  );
}

function points(part: Part, shown: Series[], key: string | null) {
  const column = columnIndex(part.window_columns, key);
  return shown.flatMap((series) =>
    series.cell.windows.flatMap(({ process, number, at_s, values }) => {
      const value = values[column];
      return typeof value === "number" ? [{ series, process, number, at_s, value }] : [];
    }),
  );
}

function dots(part: Part, shown: Series[], key: string | null): Plot.PlotOptions {
  const unit = part.window_columns[columnIndex(part.window_columns, key)]!.unit;
  const all = points(part, shown, key);
  const times = all.map((point) => point.at_s);
  return {
    height: 320,
    marginLeft: 56,
    marginRight: 16,
    x: { label: null, domain: [Math.min(...times), Math.max(...times)], tickFormat: ticks("s") },
    y: { label: null, zero: true },
    marks: [
      Plot.gridY({ ...hairline, ticks: 6 }),
      Plot.axisY({ tickSize: 0, ticks: 6, tickFormat: ticks(unit) }),
      ...shown.map((series) =>
        Plot.line(all.filter((point) => point.series === series), { x: "at_s", y: "value", z: "process", stroke: series.color, strokeOpacity: 0.45, strokeDasharray: series.dash }),
      ),
      Plot.dot(all, { x: "at_s", y: "value", r: 2.2, fill: (point) => point.series.color }),
      Plot.tip(all, Plot.pointer({ x: "at_s", y: "value", title: (point) =>
        `${point.series.name}\nprocess ${point.process}, window ${point.number}\n${format(point.value, unit)}` })),
    ],
  };
}
