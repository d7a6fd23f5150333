/** Warm-up: from the first load until servers were steady. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { WarmUpCurve } from "../data";
import { Figure } from "../figure";
import { format } from "../format";
import { Drawing, faceted, hairline, panels, ticks } from "../plot";
import type { Series } from "../series";

const note = "A line per process, from its first load; the dot is where it became steady. Calls per second of server CPU time if known, otherwise calls per second.";

export function WarmUp({ shown }: { shown: Series[] }) {
  const draw = useCallback((width: number) => curves(shown, width), [shown]);
  if (shown.every(({ cell }) => cell.warm.length === 0)) return null;
  const rows = shown.flatMap(({ name, cell }) =>
    cell.warm.flatMap(({ process, points }) => points.map((p) => [name, process, p.at_ms, p.calls_per_s, p.calls_per_cpu_s, p.compiler_share])),
  );
  return (
    <Figure title="Warm-up" note={note} header={["name", "process", "at_ms", "calls_per_s", "calls_per_cpu_s", "compiler_share"]} rows={rows}>
      <Drawing label="Warm-up curves" draw={draw} />
    </Figure>
  );
}

function curves(shown: Series[], width: number): Plot.PlotOptions {
  const drawn = shown.filter(({ cell }) => cell.warm.length > 0);
  const layout = panels(drawn.map(({ name }) => name), width);
  const points = drawn.flatMap((series) => series.cell.warm.flatMap((curve) => markSteady(series, curve)));
  const facets = { fx: (p: { series: Series }) => layout.fx(p.series.name), fy: (p: { series: Series }) => layout.fy(p.series.name) };
  const lines = drawn.map((series) =>
    Plot.line(points.filter((point) => point.series === series), {
      ...facets, x: "at_ms", y: "value", z: "process", stroke: series.color, strokeWidth: 1.2, strokeOpacity: 0.7,
    }),
  );
  return {
    ...faceted,
    height: 34 + layout.rows * 150,
    marginLeft: 52,
    marginTop: 24,
    x: { label: null, zero: true },
    y: { label: null, zero: true, ticks: 4, tickFormat: ticks("1/s"), tickSize: 0 },
    marks: [
      Plot.gridY({ ...hairline, ticks: 4 }),
      Plot.axisX({ ticks: 3, tickFormat: ticks("ms") }),
      ...lines,
      Plot.dot(points.filter((point) => point.steady), { ...facets, x: "at_ms", y: "value", fill: (point) => point.series.color, r: 3.5 }),
      layout.titles,
      Plot.tip(points, Plot.pointer({ ...facets, x: "at_ms", y: "value", title: (p) =>
        `${p.series.name}, process ${p.process}\n${format(p.at_ms, "ms")}: ${format(p.value, "1/s")}${p.compiler}` })),
    ],
  };
}

/** The points of a process. `steady` marks the first one at or after its steady time. */
function markSteady(series: Series, { process, steady_after_ms, points }: WarmUpCurve) {
  const steady = points.findIndex((point) => steady_after_ms !== null && point.at_ms >= steady_after_ms);
  return points.map((point, i) => ({
    series, process, at_ms: point.at_ms, value: point.calls_per_cpu_s ?? point.calls_per_s, steady: i === steady,
    compiler: point.compiler_share ? `\ncompiler ${format(point.compiler_share, "share of 1")}` : "",
  }));
}
