/** Rates and response times within windows, in steps of 100 ms or more. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Point } from "../data";
import { Figure } from "../figure";
import { format } from "../format";
import { Drawing, faceted, hairline, panels, ticks } from "../plot";
import type { Series } from "../series";

const figures: { title: string; unit: string; value: (point: Point) => number | null }[] = [
  { title: "ok calls/s", unit: "1/s", value: (point) => point.ok_per_s },
  { title: "failed calls/s", unit: "1/s", value: (point) => point.errors_per_s },
  { title: "mean response", unit: "ns", value: (point) => point.mean_ns },
  { title: "longest response", unit: "ns", value: (point) => point.max_ns },
  { title: "garbage collection", unit: "share of 1", value: (point) => point.paused_share },
];

const note = "By time of completion. Windows are joined; gaps are left out. Garbage collection: the share of time for which it stopped the program.";

export function TimeSeries({ shown }: { shown: Series[] }) {
  const draw = useCallback((width: number) => plots(shown, width), [shown]);
  if (shown.every(({ cell }) => cell.series.length < 2)) return null;
  const rows = shown.flatMap(({ name, cell }) => cell.series.map((p) => [name, p.at_s, p.ok_per_s, p.errors_per_s, p.mean_ns, p.max_ns, p.paused_share]));
  return (
    <Figure title="Over measured time" note={note} header={["name", "at_s", "ok_per_s", "errors_per_s", "mean_ns", "max_ns", "paused_share"]} rows={rows}>
      <Drawing label="Rate and response times over measured time" draw={draw} />
    </Figure>
  );
}

/** The figures that are not 0 or unknown everywhere, as failed calls and garbage collections often are. */
function nonZero(shown: Series[]) {
  return figures.filter((figure) => shown.some(({ cell }) => cell.series.some((point) => (figure.value(point) ?? 0) > 0)));
}

function plots(shown: Series[], width: number): Plot.PlotOptions {
  const drawn = nonZero(shown);
  const layout = panels(drawn.map((figure) => figure.title), width, 420);
  // Each panel has its own scale, from 0 to its largest value.
  const maxima = new Map(drawn.map((figure) => [figure, Math.max(...shown.flatMap(({ cell }) => cell.series.map((p) => figure.value(p) ?? 0)))]));
  const points = drawn.flatMap((figure) =>
    shown.flatMap((series) =>
      series.cell.series.map((point) => ({ figure, series, at_s: point.at_s, value: figure.value(point), height: fraction(figure.value(point), maxima.get(figure)!) })),
    ),
  );
  const facets = { fx: (p: { figure: { title: string } }) => layout.fx(p.figure.title), fy: (p: { figure: { title: string } }) => layout.fy(p.figure.title) };
  const tops = drawn.map((figure) => ({ figure, text: format(maxima.get(figure)!, figure.unit) }));
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
      Plot.text(tops, { ...facets, text: "text", frameAnchor: "top-right", dy: -14, fill: "var(--muted)" }),
      layout.titles,
      ...shown.map((series) =>
        Plot.line(points.filter((point) => point.series === series), { ...facets, x: "at_s", y: "height", stroke: series.color, strokeDasharray: series.dash, strokeWidth: 1.4 }),
      ),
      Plot.tip(points, Plot.pointer({ ...facets, x: "at_s", y: "height", title: (p) =>
        `${p.series.name}\n${format(p.at_s, "s")}\n${p.value === null ? "-" : format(p.value, p.figure.unit)}` })),
    ],
  };
}

function fraction(value: number | null, max: number): number | null {
  return value === null || max === 0 ? null : value / max;
}
