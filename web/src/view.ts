/** The reader's choices, kept in the URL fragment so that a link shows the same view. */
import { useCallback, useEffect, useState } from "preact/hooks";

export type View = URLSearchParams;
export type Change = Record<string, string | null>;

function read(): View {
  return new URLSearchParams(location.hash.slice(1));
}

/** The view and its setter; null or an empty value resets a choice. */
export function useView(): [View, (change: Change) => void] {
  const [view, set] = useState(read);
  useEffect(() => {
    const changed = () => set(read());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  const change = useCallback((change: Change) => {
    const next = read();
    for (const [key, value] of Object.entries(change)) {
      if (value === null || value === "") next.delete(key);
      else next.set(key, value);
    }
    history.replaceState(null, "", `#${next}`);
    set(next);
  }, []);
  return [view, change];
}

/** The values of a multiple choice, or null if none was made. */
export function parseList(view: View, key: string): string[] | null {
  const value = view.get(key);
  return value === null ? null : value.split(",").map(decodeURIComponent).filter(Boolean);
}

/** A multiple choice as one value, which `parseList` reads. */
export function formatList(values: string[]): string {
  return values.map(encodeURIComponent).join(",");
}
