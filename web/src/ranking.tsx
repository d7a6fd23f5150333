/** The ranking: a table with a bar in each row. */
import { Fragment } from "preact";
import { columnIndex, type Column, interval, numberOf, type Part, type Row, subject } from "./data";
import { Select } from "./figure";
import { axisMax, defaultOrder, label, labels, labelValues, visibleRows } from "./rows";
import type { Change, View } from "./view";

interface Props {
  part: Part;
  view: View;
  change: (change: Change) => void;
}

export function Ranking({ part, view, change }: Props) {
  const rows = visibleRows(part, view);
  const wide = view.has("wide");
  const columns = part.table.columns.filter((column) => column.shown === "usually" || (wide && column.shown === "wide"));
  const scale = axisMax(part, part.table.rows, part.table.columns[columnIndex(part.table.columns, part.ranked_by)]);
  if (part.table.rows.length === 0) return <p class="muted empty">Nothing was measured.</p>;
  return (
    <>
      <Filters part={part} view={view} change={change} count={rows.length} />
      <div class="scroll" tabIndex={0} role="region" aria-label="Results">
        <table class={columns.length > 10 ? "ranking dense" : "ranking"}>
          <thead>
            <tr>
              {columns.map((column) => <Heading key={column.key} {...{ part, column, view, change }} />)}
            </tr>
          </thead>
          <tbody>
            {groupRows(part, rows, view).map(([group, rows]) => (
              <Fragment key={group}>
                {group && <tr class="group"><th colSpan={columns.length + 1} scope="rowgroup">{group}</th></tr>}
                {rows.map((row) => <RankingRow key={row.name} {...{ part, row, columns, scale, view, change }} />)}
              </Fragment>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p class="muted">No row matches the filters.</p>}
      </div>
    </>
  );
}

function Filters({ part, view, change, count }: Props & { count: number }) {
  const { table } = part;
  if (new Set(table.rows.map((row) => row.entry)).size < 2) return null;
  const groups = labels.filter((name) => labelValues(table, name).length > 0);
  const narrowed = count < table.rows.length;
  const find = `Find a ${subject(table)}`;
  return (
    <div class="filters">
      <input type="search" placeholder={find} aria-label={find} value={view.get("q") ?? ""}
        onInput={(event) => change({ q: event.currentTarget.value })} />
      {groups.map((name) => (
        <Select key={name} label={name} value={view.get(name) ?? ""} onChange={(value) => change({ [name]: value })}
          options={[["", "all"], ...labelValues(table, name).map((value): [string, string] => [value, value])]} />
      ))}
      {groups.length > 0 && (
        <Select label="group by" value={view.get("group") ?? ""} onChange={(value) => change({ group: value })}
          options={[["", "nothing"], ...groups.map((name): [string, string] => [name, name])]} />
      )}
      {table.columns.some((column) => column.shown === "wide") && <label class="control">
        <input type="checkbox" checked={view.has("wide")} onChange={(event) => change({ wide: event.currentTarget.checked ? "1" : null })} />
        every column
      </label>}
      {narrowed && <span class="muted" role="status">{count} of {table.rows.length} rows</span>}
    </div>
  );
}

/** Rows by the chosen label; one unnamed group without a choice. */
function groupRows(part: Part, rows: Row[], view: View): [string, Row[]][] {
  const by = labels.find((name) => name === view.get("group"));
  if (by === undefined) return [["", rows]];
  return [...Map.groupBy(rows, (row) => label(part.table, row, by) || "-")];
}

function Heading({ part, column, view, change }: Props & { column: Column }) {
  const order = view.get("sort") === column.key ? (view.get("order") as "ascending" | "descending") : undefined;
  const next = order === undefined ? defaultOrder(column) : order === defaultOrder(column) ? reverse(order) : null;
  const sort = () => change({ sort: next && column.key, order: next });
  const heading = (
    <th scope="col" class={columnClass(column)} aria-sort={order ?? "none"} title={column.meaning}>
      <button type="button" onClick={sort}>{column.title}</button>
    </th>
  );
  return column.key === part.ranked_by ? <><td class="bar" aria-hidden="true" />{heading}</> : heading;
}

function reverse(order: "ascending" | "descending") {
  return order === "ascending" ? "descending" : "ascending";
}

/** Columns that a phone shows too, besides those of rates. */
const phoneColumns = ["place_best", "entry", "p99_ns", "memory_peak_bytes"];

function columnClass(column: Column): string {
  const kind = { place_best: "place", entry: "name", verdict: "verdict" }[column.key] ?? "";
  const visibility = phoneColumns.includes(column.key) || column.title.includes("/") ? "" : "desktop-only";
  return [column.number && column.key !== "place_best" ? "number" : "", kind, visibility].join(" ").trim();
}

function RankingRow({ part, row, columns, scale, view, change }: Props & { row: Row; columns: Column[]; scale: number }) {
  const isOpen = view.get("open") === row.name;
  const bar = part.ranked_by === null ? null : <Bar {...{ part, row, scale }} />;
  const cells = columns.map((column) => {
    const text = row.texts[columnIndex(part.table.columns, column.key)] ?? "-";
    if (column.key === "entry")
      return (
        <td key={column.key} class="name">
          <button type="button" aria-expanded={isOpen} onClick={() => change({ open: isOpen ? null : row.name })}>{text}</button>
          {!row.ranked && row.reason && <small class="phone-verdict">{row.verdict}</small>}
          {bar}
        </td>
      );
    const cell = <td key={column.key} class={columnClass(column)}><FigureText text={text} /></td>;
    return column.key === part.ranked_by ? <Fragment key={column.key}><td class="bar">{bar}</td>{cell}</Fragment> : cell;
  });
  return (
    <>
      <tr class={row.ranked || part.kind !== "ranking" ? "" : "unranked"}>{cells}</tr>
      {isOpen && <tr class="details"><td colSpan={columns.length + 1}><Details part={part} row={row} /></td></tr>}
    </>
  );
}

/** A figure and its error, which a phone shows on two lines. */
function FigureText({ text }: { text: string }) {
  const [figure, error] = text.split(" ± ");
  return error === undefined ? <>{text}</> : <>{figure} <span class="error">± {error}</span></>;
}

/** The ranking figure as a bar from 0, with its interval. */
function Bar({ part, row, scale }: { part: Part; row: Row; scale: number }) {
  const column = part.table.columns[columnIndex(part.table.columns, part.ranked_by)];
  const value = numberOf(part.table, row, part.ranked_by);
  if (value === null || scale === 0) return null;
  const x = (value: number) => `${(Math.min(value / scale, 1) * 100).toFixed(2)}%`;
  const ends = interval(column, row);
  return (
    <svg aria-hidden="true">
      <rect x="0" y="22%" height="56%" width={x(value)} fill={row.ranked ? "var(--bar)" : "var(--bar-off)"} />
      {ends && <line x1={x(ends[0])} x2={x(ends[1])} y1="50%" y2="50%" stroke="var(--ink)" stroke-width="1.5" />}
      {ends?.filter((end) => end <= scale).map((end) => <line key={end} x1={x(end)} x2={x(end)} y1="30%" y2="70%" stroke="var(--ink)" stroke-width="1.5" />)}
    </svg>
  );
}

/** All figures of a row, and the reason for its verdict. */
function Details({ part, row }: { part: Part; row: Row }) {
  const facts = part.table.columns
    .map((column, i) => ({ column, text: row.texts[i] }))
    .filter(({ text }) => text !== null && text !== "");
  return (
    <>
      {row.reason && <p><b>{row.verdict}</b>: {row.reason}</p>}
      {row.notes.map((note) => <p key={note}>{note}</p>)}
      {row.evidence.length > 0 && <pre class="evidence">{row.evidence.join("\n")}</pre>}
      <dl class="facts">
        {facts.map(({ column, text }) => (
          <div key={column.key} title={column.meaning}><dt>{column.title}</dt><dd>{text}</dd></div>
        ))}
      </dl>
    </>
  );
}
