/** Response times by percentile, on HdrHistogram's axis, which stretches the tail. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Distribution } from "../data";
import { Figure, Select } from "../figure";
import { percentile } from "../format";
import { Drawing, hairline, ticks } from "../plot";
import type { Change, View } from "../view";

export interface Curve {
  name: string;
  distribution: Distribution;
  color: string;
  dash: string | undefined;
}

interface Props {
  title: string;
  note: string;
  curves: Curve[];
  view: View;
  change: (change: Change) => void;
}

export function Percentiles({ title, note, curves, view, change }: Props) {
  const linear = view.get("times") === "linear";
  const draw = useCallback(() => lines(curves, linear), [curves, linear]);
  const drawn = curves.filter((curve) => curve.distribution.curve.length > 1);
  if (drawn.length === 0) return null;
  const rows = drawn.flatMap((curve) =>
    curve.distribution.curve.map(([quantile, ns]) => [curve.name, quantile, ns, curve.distribution.count]),
  );
  const controls = (
    <Select label="times" value={linear ? "linear" : "log"} onChange={(value) => change({ times: value === "log" ? null : value })}
      options={[["log", "logarithmic"], ["linear", "linear, from 0"]]} />
  );
  return (
    <Figure title={title} note={note} controls={controls} header={["name", "quantile", "ns", "calls"]} rows={rows}>
      <Drawing label={`${title} of ${drawn.map((curve) => curve.name).join(", ")}`} draw={draw} />
    </Figure>
  );
}

/** The position of a quantile on the axis: its number of nines. */
function nines(quantile: number): number {
  return -Math.log10(1 - quantile);
}

function lines(curves: Curve[], linear: boolean): Plot.PlotOptions {
  // The fastest call is left of the axis and would stretch the other one.
  const points = curves.flatMap((curve) =>
    curve.distribution.curve.slice(1).map(([quantile, ns]) => ({ curve, quantile, x: nines(quantile), ns: Math.max(ns, 1) })),
  );
  const maxX = Math.max(...points.map((point) => point.x));
  const tickQuantiles = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999].filter((quantile) => nines(quantile) <= maxX + 1e-6);
  return {
    height: 340,
    marginLeft: 56,
    marginRight: 16,
    x: { label: null, domain: [nines(0.2), maxX] },
    y: { label: null, type: linear ? "linear" : "log", zero: linear, tickFormat: ticks("ns") },
    marks: [
      Plot.gridX(tickQuantiles.map(nines), hairline),
      Plot.axisX(tickQuantiles.map(nines), { tickFormat: (x: number) => percentile(1 - 10 ** -x) }),
      Plot.axisY({ tickSize: 0, ticks: 6, tickFormat: ticks("ns") }),
      Plot.gridY({ ...hairline, ticks: 6 }),
      ...curves.map((curve) =>
        Plot.line(points.filter((point) => point.curve === curve), { x: "x", y: "ns", stroke: curve.color, strokeWidth: 2, strokeDasharray: curve.dash }),
      ),
      // Up to three lines are labelled at their ends; more need the legend.
      Plot.text(curves.length > 3 ? [] : points, Plot.selectLast({ x: "x", y: "ns", z: (point) => point.curve.name, text: (point) => point.curve.name, textAnchor: "end", dy: -8, fontWeight: 600 })),
      Plot.crosshairX(points, { x: "x", y: "ns", textFill: "none", textStroke: "none", color: "var(--muted)" }),
      Plot.tip(points, Plot.pointer({ x: "x", y: "ns", title: (point) => `${point.curve.name}\n${percentile(point.quantile)}  ${ticks("ns")(point.ns)}` })),
    ],
  };
}
