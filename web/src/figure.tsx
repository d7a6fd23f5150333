/** A chart with its title, its data as a table, and its downloads. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { heading } from "./format";
import { type Cells, csv, png, save, svgText } from "./download";

interface Props {
  title: string;
  /** How to read the chart. */
  note?: string;
  controls?: ComponentChildren;
  header: string[];
  rows: Cells;
  children: ComponentChildren;
}

/** Maximum rows of the table; the CSV has all of them. */
const maxRows = 200;

export function Figure({ title, note, controls, header, rows, children }: Props) {
  const body = useRef<HTMLDivElement>(null);
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const drawing = () => body.current!.querySelector("svg")!;
  const svg = () => save(`${name}.svg`, new Blob([svgText(drawing())], { type: "image/svg+xml" }));
  return (
    <figure class="chart" id={name}>
      <figcaption>
        <h3>{title}</h3>
        {note && <p>{note}</p>}
      </figcaption>
      {controls && <div class="controls">{controls}</div>}
      <div ref={body}>{children}</div>
      <div class="chart-footer">
        <details>
          <summary>Table</summary>
          <DataTable title={title} header={header} rows={rows} />
        </details>
        <span class="downloads">
          <button type="button" aria-label={`${title} as PNG`} onClick={async () => save(`${name}.png`, await png(drawing()))}>PNG</button>
          <button type="button" aria-label={`${title} as SVG`} onClick={svg}>SVG</button>
          <button type="button" aria-label={`${title} as CSV`} onClick={() => save(`${name}.csv`, csv(header, rows))}>CSV</button>
        </span>
      </div>
    </figure>
  );
}

function DataTable({ title, header, rows }: Pick<Props, "title" | "header" | "rows">) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
      <table>
        <thead>
          <tr>{header.map((name) => <th key={name} scope="col">{heading(name)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.slice(0, maxRows).map((row, i) => (
            <tr key={i}>{row.map((cell, i) => <td key={i} class={typeof cell === "number" ? "number" : ""}>{cell ?? "-"}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {rows.length > maxRows && <p class="muted">{rows.length - maxRows} more rows are in the CSV.</p>}
    </div>
  );
}

/** A labelled drop-down list. */
export function Select({ label, value, options, onChange }: {
  label: string;
  value: string;
  options: [value: string, text: string][];
  onChange: (value: string) => void;
}) {
  return (
    <label class="control">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </label>
  );
}
