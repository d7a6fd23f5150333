/** The run's plan and machine, how to read the page, and how to repeat the run. */
import type { Fact, Run } from "./data";

export function Method({ run }: { run: Run }) {
  return (
    <>
      <h2>Method</h2>
      <p class="muted">To repeat this run:</p>
      <code class="command">{run.command}</code>
      <Facts facts={run.origin} />
      {run.how_to_read.length > 0 && (
        <section class="how-to-read">
          <h3>How to read it</h3>
          <ul>{run.how_to_read.map((line) => <li key={line}>{line}</li>)}</ul>
        </section>
      )}
      {run.processes.length > 0 && <h3 class="servers">What was run</h3>}
      {run.processes.map(({ entry, state, facts }) => (
        <details key={entry} class="server">
          <summary>{entry}{state === "ready" ? "" : `, ${state}`}</summary>
          <Facts facts={facts} />
        </details>
      ))}
    </>
  );
}

function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}
