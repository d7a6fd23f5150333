/** Response times of single calls by the time they came due: a density map, with the slowest calls as marks. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { bucketBounds, type Calls } from "../data";
import { Figure, Select } from "../figure";
import { format } from "../format";
import { Drawing, ticks } from "../plot";
import type { Change, View } from "../view";

interface Props {
  /** One per cell with logged calls. */
  logged: Calls[];
  view: View;
  change: (change: Change) => void;
}

const note = "Response times of calls by when they came due. Darker = more calls. Marks are the thousand slowest calls, crosses those of them that failed. The sliders zoom in.";

export function SingleCalls({ logged, view, change }: Props) {
  const calls = logged.find(({ entry }) => entry === view.get("calls")) ?? logged[0]!;
  const last = Math.max(...calls.counts.map(([column]) => column)) + 1;
  const from = Math.min(Number(view.get("from") ?? 0), last - 1);
  const to = Math.max(Number(view.get("to") ?? last), from + 1);
  const draw = useCallback((width: number) => scatter(calls, from, to, width), [calls, from, to]);
  const rows = calls.counts.map(([column, bucket, ok, failed]) => [column * calls.column_ns, ...bucketBounds(bucket).map(Math.round), ok, failed]);
  const seconds = (column: number) => format(column * calls.column_ns, "ns", 4);
  const controls = (
    <>
      {logged.length > 1 && <Select label="entry" value={calls.entry} onChange={(entry) => change({ calls: entry, from: null, to: null })}
        options={logged.map(({ entry }) => [entry, entry])} />}
      <Slider label="from" text={seconds(from)} value={from} max={last - 1} onChange={(value) => change({ from: String(value), to: String(Math.max(to, value + 1)) })} />
      <Slider label="to" text={seconds(to)} value={to} min={1} max={last} onChange={(value) => change({ to: String(value), from: String(Math.min(from, value - 1)) })} />
      <button type="button" class="link" onClick={() => change({ from: null, to: null })}>whole window</button>
    </>
  );
  return (
    <Figure title="Single calls" note={calls.number > 1 ? `Calls of trial ${calls.number}, the last. ${note}` : note} controls={controls} header={["due_ns", "from_ns", "to_ns", "ok", "failed"]} rows={rows}>
      <Drawing label="Single calls over the window" draw={draw} />
    </Figure>
  );
}

function Slider({ label, text, value, min = 0, max, onChange }: {
  label: string;
  text: string;
  value: number;
  min?: number;
  max: number;
  onChange: (value: number) => void;
}) {
  return (
    <label class="control">
      <span>{label}</span>
      <input type="range" min={min} max={max} value={value} aria-valuetext={text} onInput={(event) => onChange(Number(event.currentTarget.value))} />
      <output>{text}</output>
    </label>
  );
}

/** Maximum columns drawn; more are merged, since no screen resolves them. */
const maxColumns = 160;

function scatter(calls: Calls, from: number, to: number, width: number): Plot.PlotOptions {
  const spots = density(calls, from, to);
  const [begin, end] = [from * calls.column_ns, to * calls.column_ns];
  const slowest = calls.slowest.filter(([, due]) => due >= begin && due < end).map(([ns, due, ok]) => ({ ns, due, ok }));
  return {
    height: 380,
    marginLeft: 56,
    marginRight: 16,
    x: { label: null, domain: [begin, end], ticks: Math.max(3, Math.floor(width / 120)), tickFormat: ticks("ns") },
    y: { type: "log", label: null, ticks: 5, tickFormat: ticks("ns") },
    opacity: { type: "sqrt", range: [0.06, 1], domain: [0, Math.max(...spots.map((spot) => spot.calls))] },
    marks: [
      Plot.rect(spots, { x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: "var(--heat)", fillOpacity: "calls", shapeRendering: "crispEdges" }),
      Plot.dot(slowest.filter((call) => call.ok), { x: "due", y: "ns", r: 1.8, fill: "var(--series-1)" }),
      Plot.dot(slowest.filter((call) => !call.ok), { x: "due", y: "ns", r: 3, symbol: "times", stroke: "var(--series-1)" }),
      Plot.tip(slowest, Plot.pointer({ x: "due", y: "ns", maxRadius: 20, title: (call) =>
        `${format(call.ns, "ns", 4)}\ndue at ${format(call.due, "ns", 5)}${call.ok ? "" : "\nfailed"}` })),
    ],
  };
}

/** Rectangles with the number of calls in each, for a range of columns. */
function density(calls: Calls, from: number, to: number) {
  const merged = Math.max(1, Math.ceil((to - from) / maxColumns));
  const sums = new Map<string, { column: number; bucket: number; calls: number }>();
  for (const [column, bucket, ok, failed] of calls.counts) {
    if (column < from || column >= to) continue;
    const first = from + Math.floor((column - from) / merged) * merged;
    const key = `${first} ${bucket}`;
    const sum = sums.get(key) ?? { column: first, bucket, calls: 0 };
    sum.calls += ok + failed;
    sums.set(key, sum);
  }
  return [...sums.values()].map(({ column, bucket, calls: sum }) => {
    const [y1, y2] = bucketBounds(bucket);
    const x2 = Math.min(column + merged, to) * calls.column_ns;
    return { x1: column * calls.column_ns, x2, y1, y2, calls: sum };
  });
}
