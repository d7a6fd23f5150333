/** The charts of a part, each only if the record has its data. */
import { useMemo } from "preact/hooks";
import { columnIndex, type Calls, type Distribution, type Part } from "../data";
import { Select } from "../figure";
import { seriesColor } from "../plot";
import { visibleRows } from "../rows";
import { Legend, type Series, seriesOf } from "../series";
import type { Change, View } from "../view";
import { Bars } from "./bars";
import { SingleCalls } from "./calls";
import { Heat } from "./heat";
import { Histogram } from "./histogram";
import { OverLoad } from "./load";
import { Multiples } from "./multiples";
import { type Curve, Percentiles } from "./percentiles";
import { TimeSeries } from "./time-series";
import { WarmUp } from "./warm";
import { Windows } from "./windows";

interface Props {
  calls: Calls[];
  part: Part;
  view: View;
  change: (change: Change) => void;
}

export function Charts({ calls, part, view, change }: Props) {
  const choice = ["q", "language", "protocol", "verdict", "sort", "order", "show"].map((key) => view.get(key) ?? "").join("\n");
  const rows = useMemo(() => visibleRows(part, view), [part, choice]);
  const { all, shown } = useMemo(() => seriesOf(part, view), [part, choice]);
  const curves = useMemo(() => responseCurves(part, shown), [part, shown]);
  const connects = useMemo(() => shown.flatMap((series) => toCurves(series, series.cell.connect)), [shown]);
  const logged = calls.filter(({ counts, workload }) => counts.length > 0 && (part.kind === "load" || workload === part.name));
  if (all.length === 0) return null;
  const hasWindows = shown.some(({ cell }) => cell.windows.length > 0);
  return (
    <>
      {part.over_load && <><h2>Over load</h2><div class="charts"><Wide><OverLoad {...{ part, view, change }} /></Wide></div></>}
      {part.kind === "ranking" && <Figures {...{ part, rows, view, change }} />}
      <h2>Response times</h2>
      <Legend {...{ all, shown, change }} />
      <div class="charts">
        <Percentiles title="Percentiles" note={percentilesNote} {...{ curves, view, change }} />
        <Histogram title="Histogram" curves={curves} />
        <Percentiles title="Connect times" note={connectNote} curves={connects} {...{ view, change }} />
        {logged.length > 0 && <Wide><SingleCalls {...{ logged, view, change }} /></Wide>}
        <Wide><Heat shown={shown} /></Wide>
      </div>
      {hasWindows && <><h2>Over time</h2>
      <div class="charts">
        <Wide><Windows {...{ part, shown, view, change }} /></Wide>
        <Wide><TimeSeries shown={shown} /></Wide>
        <Wide><WarmUp shown={shown} /></Wide>
      </div></>}
    </>
  );
}

const percentilesNote = "Response time by percentile: correct answers of all windows. A curve ends where only ten calls are slower.";
const connectNote = "Connect time by percentile, over all windows. A curve ends where only ten connections took longer.";

function Wide({ children }: { children: preact.ComponentChildren }) {
  return <div class="chart wide">{children}</div>;
}

/** Figures that always have a chart, after the ranking figure. */
const defaultFigures = ["calls_per_s", "memory_peak_bytes", "p99_ns"];

function Figures({ part, rows, view, change }: Omit<Props, "calls"> & { rows: Part["table"]["rows"] }) {
  const { columns } = part.table;
  const selectable = columns.filter((column) => column.number && !/_(low|high)$/.test(column.key) && !column.key.startsWith("place"));
  const keys = [...new Set([part.ranked_by, ...defaultFigures])];
  const fixed = keys.map((key) => columns[columnIndex(columns, key)]).filter((column) => column !== undefined);
  const extra = selectable[columnIndex(selectable, view.get("bars"))] ?? columns.find(({ key, shown }) => key === "server_cpu_share" && shown !== "row");
  return (
    <>
      <h2>Figures</h2>
      <div class="charts">
        {fixed.map((column) => <Bars key={column.key} {...{ part, rows, column }} />)}
        <div>
          <div class="controls">
            <Select label="another figure" value={extra?.key ?? ""} onChange={(bars) => change({ bars })}
              options={selectable.map((column) => [column.key, column.title])} />
          </div>
          {extra && <Bars {...{ part, rows, column: extra }} />}
        </div>
        <Multiples part={part} />
      </div>
    </>
  );
}

/** Response times: of a load by kind of time, otherwise by server. */
function responseCurves(part: Part, shown: Series[]): Curve[] {
  if (part.distributions.length > 0)
    return part.distributions.map(({ name, distribution }, i) => ({ name, distribution, color: seriesColor(i), dash: undefined }));
  return shown.flatMap((series) => toCurves(series, series.cell.response));
}

/** One curve, or none without a distribution. */
function toCurves({ name, color, dash }: Series, distribution: Distribution | null): Curve[] {
  return distribution ? [{ name, distribution, color, dash }] : [];
}
