/** Heat maps of response times: the distribution of each window. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { bucketBounds } from "../data";
import { Figure } from "../figure";
import { format } from "../format";
import { Drawing, faceted, panels, ticks } from "../plot";
import type { Series } from "../series";

const note = "Each column is one window or several consecutive ones. Darker = more calls.";

export function Heat({ shown }: { shown: Series[] }) {
  const draw = useCallback((width: number) => maps(shown, width), [shown]);
  const drawn = shown.filter(({ cell }) => cell.heat.length > 1);
  if (drawn.length === 0) return null;
  const rows = drawn.flatMap(({ name, cell }) =>
    cell.heat.flatMap(({ windows, buckets }) => buckets.map(([bucket, calls]) => [name, ...windows, ...bucketBounds(bucket).map(Math.round), calls])),
  );
  return (
    <Figure title="Response times over the windows" note={note} header={["name", "first_window", "last_window", "from_ns", "to_ns", "calls"]} rows={rows}>
      <Drawing label={`Heat maps of ${drawn.map(({ name }) => name).join(", ")}`} draw={draw} />
    </Figure>
  );
}

function maps(shown: Series[], width: number): Plot.PlotOptions {
  const drawn = shown.filter(({ cell }) => cell.heat.length > 1);
  const layout = panels(drawn.map(({ name }) => name), width, 260);
  const spots = drawn.flatMap(spotsOf);
  const facets = { fx: (spot: { name: string }) => layout.fx(spot.name), fy: (spot: { name: string }) => layout.fy(spot.name) };
  return {
    ...faceted,
    height: 34 + layout.rows * 190,
    marginLeft: 52,
    marginTop: 24,
    x: { label: null, interval: 1, ticks: 4 },
    y: { type: "log", label: null, tickFormat: ticks("ns"), ticks: 4 },
    opacity: { type: "sqrt", range: [0.03, 1], domain: [0, 1] },
    marks: [
      Plot.rect(spots, { ...facets, x1: "x1", x2: "x2", y1: "from", y2: "to", fill: "var(--heat)", fillOpacity: "depth", shapeRendering: "crispEdges" }),
      layout.titles,
      Plot.tip(spots, Plot.pointer({ ...facets, x: (spot) => (spot.x1 + spot.x2) / 2, y: (spot) => Math.sqrt(spot.from * spot.to), title: (spot) =>
        `${spot.name}\n${format(spot.from, "ns")} to ${format(spot.to, "ns")}\n${format(spot.share, "share of 1")} of calls` })),
    ],
  };
}

/** A rectangle per bucket and column. The one with the largest share of its column's calls is darkest. */
function spotsOf({ name, cell }: Series) {
  const spots = cell.heat.flatMap(({ windows: [first, last], buckets }) => {
    const total = buckets.reduce((sum, [, calls]) => sum + calls, 0);
    return buckets.map(([bucket, calls]) => {
      const [from, to] = bucketBounds(bucket);
      return { name, x1: first - 0.5, x2: last + 0.5, from, to, share: calls / total };
    });
  });
  const maxShare = Math.max(...spots.map((spot) => spot.share));
  return spots.map((spot) => ({ ...spot, depth: spot.share / maxShare }));
}
