/** The page: headline, ranking, charts and method of one part at a time. */
import { useEffect, useState } from "preact/hooks";
import { ChangesView } from "./changes";
import { Charts } from "./charts";
import type { Block, Page, Part, Run, TextTable } from "./data";
import { Method } from "./method";
import { Ranking } from "./ranking";
import { filteredHeadline, isFiltered, visibleRows } from "./rows";
import { type Change, useView, type View } from "./view";

export function App({ page }: { page: Page }) {
  const [view, change] = useView();
  const parts = page.runs.flatMap((run, i) => run.parts.map((part, j) => ({ run, part, id: `${i + 1}.${j + 1}` })));
  const current = parts.find(({ id }) => id === view.get("part")) ?? parts[0];
  const run = current?.run ?? page.runs[0];
  if (run === undefined) return <p>This report has no run.</p>;
  return (
    <>
      <Masthead run={run} view={view} change={change} />
      {parts.length > 1 && (
        <nav class="parts" aria-label="Parts">
          {parts.map(({ run, part, id }) => (
            <a key={id} href={`#part=${id}`} aria-current={id === current!.id ? "page" : undefined}>
              {page.runs.length > 1 && run.name !== part.name ? `${run.name}: ${part.name}` : part.name}
            </a>
          ))}
        </nav>
      )}
      <main>
        <Lead run={run} part={current?.part} view={view} />
        {current && <Body run={current.run} part={current.part} view={view} change={change} />}
        <Method run={run} />
      </main>
    </>
  );
}

function Masthead({ run, view, change }: { run: Run; view: View; change: (change: Change) => void }) {
  const [theme, toggle] = useTheme(view, change);
  return (
    <header class="masthead">
      <span><b>rpcbench</b> {run.name}, {run.started}</span>
      <button type="button" onClick={toggle}>{theme === "dark" ? "light" : "dark"}</button>
    </header>
  );
}

/** The chosen theme, or the system's. */
function useTheme(view: View, change: (change: Change) => void): [string, () => void] {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const [dark, set] = useState(system.matches);
  const theme = view.get("theme") ?? (dark ? "dark" : "light");
  useEffect(() => {
    const changed = () => set(system.matches);
    system.addEventListener("change", changed);
    return () => system.removeEventListener("change", changed);
  }, []);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, () => change({ theme: theme === "dark" ? "light" : "dark" })];
}

/** The headline, the workload and warnings. */
function Lead({ run, part, view }: { run: Run; part: Part | undefined; view: View }) {
  const [answer, ...more] = part === undefined ? [] : headline(part, view);
  const [title, ...details] = (answer ?? part?.setting[0] ?? "Nothing was measured").split("; ");
  return (
    <section class="lead">
      <h1 class={answer === undefined ? "plain" : ""}>{title}</h1>
      {[details.join("; "), ...more].filter(Boolean).map((line) => <p key={line} class="subhead">{line}</p>)}
      {(part?.setting ?? []).slice(answer === undefined ? 1 : 0).map((line) => <p key={line} class="setting">{line}</p>)}
      {run.warnings.length > 0 && (
        <div class="callout warning">
          <ul>{run.warnings.map((warning) => <li key={warning}>{warning}</li>)}</ul>
        </div>
      )}
    </section>
  );
}

/** The headline for the visible rows. */
function headline(part: Part, view: View): string[] {
  if (part.kind === "ranking" && part.headline.length > 0 && isFiltered(part, view)) return [filteredHeadline(part, view)];
  return part.headline;
}

/** Returns a predicate that is true for sentences which name a server hidden by filters. */
function namesHiddenServer(part: Part, view: View): (text: string) => boolean {
  const visible = new Set(visibleRows(part, view).map((row) => row.entry));
  const hidden = part.table.rows.map((row) => row.entry).filter((entry) => !visible.has(entry));
  return (text) => {
    const words = new Set(text.split(/[\s,;:()]+/));
    return hidden.some((entry) => words.has(entry));
  };
}

function Body({ run, part, view, change }: { run: Run; part: Part; view: View; change: (change: Change) => void }) {
  const namesHidden = namesHiddenServer(part, view);
  const untitled = part.blocks.filter((block) => block.title === null);
  const remarks = untitled.flatMap(prose).filter((line) => !namesHidden(line));
  return (
    <>
      {part.changes && <ChangesView changes={part.changes} />}
      {part.table.columns.length > 0 && <Ranking part={part} view={view} change={change} />}
      {remarks.length > 0 && <div class="callout">{remarks.map((line) => <p key={line}>{line}</p>)}</div>}
      <SmallTables part={part} namesHidden={namesHidden} />
      <Lists part={part} namesHidden={namesHidden} />
      <Charts key={part.name} calls={run.calls} part={part} view={view} change={change} />
    </>
  );
}

/** The sentences of a block. */
function prose(block: Block): string[] {
  return block.content.flatMap((content) => content.prose ?? []);
}

function Lists({ part, namesHidden }: { part: Part; namesHidden: (text: string) => boolean }) {
  const lists = part.blocks
    .map(({ title, content }) => ({ title, items: content.flatMap(({ list }) => list ?? []).filter((item) => !namesHidden(item.text)) }))
    .filter(({ items }) => items.length > 0);
  return (
    <div class="lists">
      {lists.map(({ title, items }) => (
        <section key={title}>
          <h2 class="small">{title}</h2>
          <ul>
            {items.map(({ text, evidence }) => (
              <li key={text}>{text}{evidence.length > 0 && <pre class="evidence">{evidence.join("\n")}</pre>}</li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function SmallTables({ part, namesHidden }: { part: Part; namesHidden: (text: string) => boolean }) {
  const tables = part.blocks.flatMap((block) => block.content.flatMap(({ table }) => (table?.columns[0]?.cells.length ? [{ title: block.title, table, note: prose(block).join("; ") }] : [])));
  if (tables.length === 0) return null;
  return (
    <div class="small-tables">
      {tables.map(({ title, table, note }) => (
        <section key={title}>
          <h2 class="small">{title}</h2>
          <SmallTable table={table} namesHidden={namesHidden} />
          {note && <p class="muted">{note}</p>}
        </section>
      ))}
    </div>
  );
}

function SmallTable({ table: { columns }, namesHidden }: { table: TextTable; namesHidden: (text: string) => boolean }) {
  const header = columns.map(({ title }) => title);
  const rows = (columns[0]?.cells ?? []).map((_, i) => columns.map(({ cells }) => cells[i]!));
  return (
    <table>
      {header.some(Boolean) && <thead><tr>{header.map((name, i) => <th key={name} scope="col" class={i > 0 ? "number" : ""}>{name || <span class="visually-hidden">figure</span>}</th>)}</tr></thead>}
      <tbody>
        {rows.filter((row) => !namesHidden(row.join(" "))).map((row) => <tr key={row[0]}>{row.map((cell, i) => (i === 0 ? <th key={i} scope="row">{cell}</th> : <td key={i}>{cell}</td>))}</tr>)}
      </tbody>
    </table>
  );
}
