/** A chart with its title, the table behind it, and its downloads. */
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { heading } from "./format";
import { type Cells, csv, png, save, svgText } from "./download";

interface Props {
  title: string;
  /** How to read it. */
  note?: string;
  /** Controls. */
  tools?: ComponentChildren;
  header: string[];
  rows: Cells;
  children: ComponentChildren;
}

/** Maximum rows shown of a chart's table; its CSV has all of them. */
const most = 200;

export function Figure({ title, note, tools, header, rows, children }: Props) {
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
      {tools && <div class="tools">{tools}</div>}
      <div ref={body}>{children}</div>
      <div class="twin">
        <details>
          <summary>Table</summary>
          <Twin title={title} header={header} rows={rows} />
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

function Twin({ title, header, rows }: Pick<Props, "title" | "header" | "rows">) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`${title}, as a table`}>
      <table>
        <thead>
          <tr>{header.map((name) => <th key={name} scope="col">{heading(name)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, at) => (
            <tr key={at}>{row.map((cell, at) => <td key={at} class={typeof cell === "number" ? "number" : ""}>{cell ?? "-"}</td>)}</tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && <p class="quiet">{rows.length - most} more rows are in the CSV.</p>}
    </div>
  );
}

/** A single choice. */
export function Choice({ label, value, options, onChange }: {
  label: string;
  value: string;
  options: [value: string, text: string][];
  onChange: (value: string) => void;
}) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([value, text]) => <option key={value} value={value}>{text}</option>)}
      </select>
    </label>
  );
}
