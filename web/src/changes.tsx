/** Changes between two runs or builds, as a table and as a chart. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import type { Changes } from "./data";
import { Figure } from "./figure";
import { format } from "./format";
import { Drawing, hairline, rowNames } from "./plot";

/** Maximum rows in one drawing. */
const maxRows = 60;

const note = "The new value relative to the old one, with its 95 % range. Changes within the band count as equal.";

export function ChangesView({ changes }: { changes: Changes }) {
  const drawn = changes.rows.slice(0, maxRows);
  const draw = useCallback((width: number) => ranges(changes, drawn, width), [changes]);
  if (changes.rows.length === 0) return null;
  const shown = changes.rows.length > maxRows ? ` The first ${maxRows} of ${changes.rows.length} rows.` : "";
  const header = ["name", "change_share", "low", "high", "finding"];
  const rows = changes.rows.map((row) => [row.name, row.change_share, ...(row.range ?? [null, null]), row.texts.at(-1)!]);
  return (
    <>
      <Findings changes={changes} />
      <h2>Changes</h2>
      <div class="charts">
        <div class="chart wide">
          <Figure title="Changes" note={note + shown} header={header} rows={rows}>
            <Drawing label={`Changes of ${changes.rows.length} figures, with their ranges`} draw={draw} />
          </Figure>
        </div>
      </div>
    </>
  );
}

function Findings({ changes: { columns, rows } }: { changes: Changes }) {
  const columnClass = (i: number) => `${columns[i]![1] ? "number" : ""} ${["old", "new"].includes(columns[i]![0]) ? "desktop-only" : ""}`.trim();
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Findings">
      <table class="findings">
        <thead>
          <tr>{columns.map(([title], i) => <th key={title} scope="col" class={columnClass(i)}>{title}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map(({ name, texts, worth }) => (
            <tr key={name} class={worth}>{texts.map((text, i) => <td key={i} class={columnClass(i)}>{text.replaceAll(" %", "\u00a0%")}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const worthColors = { good: "var(--good)", bad: "var(--bad)", neither: "var(--ink)" };

function ranges({ precision_share: precision }: Changes, rows: Changes["rows"], width: number): Plot.PlotOptions {
  const limit = Math.max(precision * 1.5, ...rows.flatMap((row) => [row.change_share, ...(row.range ?? [])].map(Math.abs)));
  const names = rowNames(rows.map((row) => row.name), width);
  const signed = (share: number) => `${share > 0 ? "+" : ""}${format(share, "share of 1")}`;
  const count = Math.max(3, Math.floor(width / 130));
  return {
    height: 34 + rows.length * 24,
    marginLeft: names.margin,
    marginRight: 24,
    x: { label: null, domain: [-limit, limit] },
    y: { domain: rows.map((row) => row.name), label: null, padding: 0.28 },
    marks: [
      Plot.rectX([precision], { x1: -precision, x2: precision, fill: "var(--raised)" }),
      Plot.gridX({ ...hairline, ticks: count }),
      Plot.ruleX([0], { stroke: "var(--muted)" }),
      Plot.axisX({ ticks: count, tickFormat: signed }),
      names.axis,
      Plot.ruleY(rows.filter((row) => row.range), { x1: (row) => row.range![0], x2: (row) => row.range![1], y: "name", stroke: (row) => worthColors[row.worth as keyof typeof worthColors], strokeWidth: 1.5 }),
      Plot.dot(rows, { x: "change_share", y: "name", r: 3.5, fill: (row) => worthColors[row.worth as keyof typeof worthColors] }),
      Plot.tip(rows, Plot.pointerY({ x: "change_share", y: "name", title: (row) => `${row.name}\n${row.texts.slice(-3).join("\n")}` })),
    ],
  };
}
