/** Histograms of response times on a common time axis. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { bucketBounds } from "../data";
import { Figure } from "../figure";
import { format, powersOfTen } from "../format";
import { Drawing, hairline, ticks } from "../plot";
import type { Curve } from "./percentiles";

const note = "Share of calls by response time; each bar covers 9 % more time than the one before. Compare heights within a server.";

export function Histogram({ title, curves }: { title: string; curves: Curve[] }) {
  const draw = useCallback(() => ridges(curves), [curves]);
  if (curves.length === 0) return null;
  const rows = curves.flatMap(({ name, distribution }) =>
    distribution.buckets.map(([bucket, calls]) => [name, ...bucketBounds(bucket).map(Math.round), calls, calls / distribution.count]),
  );
  return (
    <Figure title={title} note={note} header={["name", "from_ns", "to_ns", "calls", "share"]} rows={rows}>
      <Drawing label={`Histograms of ${curves.map((curve) => curve.name).join(", ")}`} draw={draw} />
    </Figure>
  );
}

function ridges(curves: Curve[]): Plot.PlotOptions {
  const bars = curves.flatMap((curve) => {
    const maxCalls = Math.max(...curve.distribution.buckets.map(([, calls]) => calls));
    return curve.distribution.buckets.map(([bucket, calls]) => {
      const [from, to] = bucketBounds(bucket);
      return { name: curve.name, color: curve.color, from, to, height: calls / maxCalls, share: calls / curve.distribution.count };
    });
  });
  const tickValues = powersOfTen(Math.min(...bars.map((bar) => bar.from)), Math.max(...bars.map((bar) => bar.to)));
  return {
    height: 34 + curves.length * 62,
    marginLeft: 16,
    marginRight: 16,
    x: { type: "log", label: null },
    y: { axis: null, domain: [0, 1.25] },
    fy: { domain: curves.map((curve) => curve.name), axis: null, padding: 0.08 },
    marks: [
      Plot.gridX(tickValues, hairline),
      Plot.axisX(tickValues, { tickFormat: ticks("ns") }),
      Plot.rectY(bars, { x1: "from", x2: "to", y: "height", fy: "name", fill: (bar) => bar.color, fillOpacity: 0.75, inset: 0.3 }),
      Plot.ruleY(curves, { y: 0, fy: "name", stroke: "var(--hairline)" }),
      Plot.text(curves, { fy: "name", text: "name", frameAnchor: "top-left", dy: 2, fontWeight: 600, fill: "currentColor" }),
      Plot.tip(bars, Plot.pointerX({ x: (bar) => Math.sqrt(bar.from * bar.to), y: "height", fy: "name", title: (bar) =>
        `${bar.name}\n${format(bar.from, "ns")} to ${format(bar.to, "ns")}\n${format(bar.share, "share of 1")} of calls` })),
    ],
  };
}
