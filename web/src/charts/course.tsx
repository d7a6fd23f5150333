/** Rates and times within windows, in steps of 100 ms or more. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Point } from "../data";
import { Figure } from "../figure";
import { format } from "../format";
import { Drawing, faceted, hairline, panels, ticks } from "../plot";
import type { Series } from "../series";

const lines: { title: string; unit: string; of: (point: Point) => number | null }[] = [
  { title: "ok calls/s", unit: "1/s", of: (point) => point.ok_per_s },
  { title: "failed calls/s", unit: "1/s", of: (point) => point.errors_per_s },
  { title: "mean response", unit: "ns", of: (point) => point.mean_ns },
  { title: "longest response", unit: "ns", of: (point) => point.max_ns },
  { title: "garbage collection", unit: "share of 1", of: (point) => point.paused_share },
];

const note = "By time of completion. Windows are joined; gaps are left out. Garbage collection: the share of time for which it stopped the program.";

export function Course({ shown }: { shown: Series[] }) {
  const draw = useCallback((width: number) => courses(shown, width), [shown]);
  if (shown.every(({ cell }) => cell.series.length < 2)) return null;
  const rows = shown.flatMap(({ name, cell }) => cell.series.map((p) => [name, p.at_s, p.ok_per_s, p.errors_per_s, p.mean_ns, p.max_ns, p.paused_share]));
  return (
    <Figure title="Over measured time" note={note} header={["name", "at_s", "ok_per_s", "errors_per_s", "mean_ns", "max_ns", "paused_share"]} rows={rows}>
      <Drawing label="Rate and response times over measured time" draw={draw} />
    </Figure>
  );
}

/** Failed calls and collections only if there are any. */
function known(shown: Series[]) {
  return lines.filter((line) => shown.some(({ cell }) => cell.series.some((point) => (line.of(point) ?? 0) > 0)));
}

function courses(shown: Series[], width: number): Plot.PlotOptions {
  const drawn = known(shown);
  const layout = panels(drawn.map((line) => line.title), width, 420);
  // Each panel has its own scale, from 0 to its largest value.
  const scales = new Map(drawn.map((line) => [line, Math.max(...shown.flatMap(({ cell }) => cell.series.map((p) => line.of(p) ?? 0)))]));
  const points = drawn.flatMap((line) =>
    shown.flatMap((series) =>
      series.cell.series.map((point) => ({ line, series, at_s: point.at_s, value: line.of(point), part: part(line.of(point), scales.get(line)!) })),
    ),
  );
  const facets = { fx: (p: { line: { title: string } }) => layout.fx(p.line.title), fy: (p: { line: { title: string } }) => layout.fy(p.line.title) };
  const tops = drawn.map((line) => ({ line, text: format(scales.get(line)!, line.unit) }));
  return {
    ...faceted,
    height: 34 + layout.rows * 150,
    marginLeft: 16,
    marginTop: 24,
    x: { label: null, ticks: 5, tickFormat: ticks("s") },
    y: { axis: null, domain: [0, 1] },
    marks: [
      Plot.ruleY(tops, { ...facets, y: 1, ...hairline }),
      Plot.ruleY(tops, { ...facets, y: 0, ...hairline }),
      Plot.text(tops, { ...facets, text: "text", frameAnchor: "top-right", dy: -14, fill: "var(--quiet)" }),
      layout.titles,
      ...shown.map((series) =>
        Plot.line(points.filter((point) => point.series === series), { ...facets, x: "at_s", y: "part", stroke: series.ink, strokeDasharray: series.dash, strokeWidth: 1.4 }),
      ),
      Plot.tip(points, Plot.pointer({ ...facets, x: "at_s", y: "part", title: (p) =>
        `${p.series.name}\n${format(p.at_s, "s")}\n${p.value === null ? "-" : format(p.value, p.line.unit)}` })),
    ],
  };
}

function part(value: number | null, most: number): number | null {
  return value === null || most === 0 ? null : value / most;
}
