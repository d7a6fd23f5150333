/** The charts of a section, each only if the record has its data. */
import { useMemo } from "preact/hooks";
import { at, type Calls, type Distribution, type Part } from "../data";
import { Choice } from "../figure";
import { ink } from "../plot";
import { chosen } from "../rows";
import { Legend, type Series, useSeries } from "../series";
import type { Change, View } from "../view";
import { Bars } from "./bars";
import { SingleCalls } from "./calls";
import { Course } from "./course";
import { Heat } from "./heat";
import { Histogram } from "./histogram";
import { OverLoad } from "./load";
import { Multiples } from "./multiples";
import { type Curve, Percentiles } from "./percentiles";
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
  const rows = useMemo(() => chosen(part, view), [part, choice]);
  const { all, shown } = useMemo(() => useSeries(part, view), [part, choice]);
  const curves = useMemo(() => curvesOf(part, shown), [part, shown]);
  const connects = useMemo(() => shown.flatMap((series) => curve(series, series.cell.connect)), [shown]);
  const logged = calls.filter((one) => one.counts.length > 0 && (part.kind === "load" || one.workload === part.name));
  if (all.length === 0) return null;
  const overTime = shown.some(({ cell }) => cell.windows.length > 0);
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
      {overTime && <><h2>Over time</h2>
      <div class="charts">
        <Wide><Windows {...{ part, shown, view, change }} /></Wide>
        <Wide><Course shown={shown} /></Wide>
        <Wide><WarmUp shown={shown} /></Wide>
      </div></>}
    </>
  );
}

const percentilesNote = "Response time by percentile, correct answers of all windows. A curve ends where ten calls are left.";
const connectNote = "Connect time by percentile, over all windows. A curve ends where ten connections are left.";

function Wide({ children }: { children: preact.ComponentChildren }) {
  return <div class="chart wide">{children}</div>;
}

/** Figures compared by default, next to the ranking figure; others can be chosen. */
const first = ["calls_per_s", "memory_peak_bytes", "p99_ns"];

function Figures({ part, rows, view, change }: Omit<Props, "calls"> & { rows: Part["table"]["rows"] }) {
  const { columns } = part.table;
  const drawable = columns.filter((column) => column.number && column.shown !== "row");
  const any = columns.filter((column) => column.number && !/_(low|high)$/.test(column.key) && !column.key.startsWith("place"));
  const keys = [part.ranked_by, ...first].filter((key, at, all) => all.indexOf(key) === at);
  const fixed = keys.map((key) => columns[at(columns, key)]).filter((column) => column !== undefined);
  const extra = any[at(any, view.get("bars"))] ?? drawable.find((column) => column.key === "server_cpu_share");
  return (
    <>
      <h2>Figures</h2>
      <div class="charts">
        {fixed.map((column) => <Bars key={column.key} {...{ part, rows, column }} />)}
        <div>
          <div class="tools">
            <Choice label="another figure" value={extra?.key ?? ""} onChange={(bars) => change({ bars })}
              options={any.map((column) => [column.key, column.title])} />
          </div>
          {extra && <Bars {...{ part, rows, column: extra }} />}
        </div>
        <Multiples part={part} />
      </div>
    </>
  );
}

/** Distributions: of a load by kind of time, otherwise by server. */
function curvesOf(part: Part, shown: Series[]): Curve[] {
  if (part.distributions.length > 0)
    return part.distributions.map(({ name, distribution }, at) => ({ name, distribution, ink: ink(at), dash: undefined }));
  return shown.flatMap((series) => curve(series, series.cell.response));
}

function curve({ name, ink, dash }: Series, distribution: Distribution | null): Curve[] {
  return distribution ? [{ name, distribution, ink, dash }] : [];
}
