import license, { type Dependency } from "rollup-plugin-license";
import type { Plugin } from "vite";

/** Licences that allow passing the page on with their notice. Anything else fails the build. */
const ALLOWED = "(MIT OR ISC OR BSD-2-Clause OR BSD-3-Clause OR Apache-2.0)";

/** Packages under the same terms, each with its copyright lines. */
interface Group {
  terms: string;
  packages: string[];
}

/** Where the terms begin, behind the title and the copyright lines. */
const TERMS = /^(Permission|Redistribution|Licensed)/m;

function split(licence: string): { copyright: string[]; terms: string } {
  const text = licence.trim().replace(/\r\n/g, "\n");
  const begin = text.search(TERMS);
  if (begin < 0) return { copyright: [], terms: text };
  const copyright = text.slice(0, begin).split("\n").filter((line) => /copyright/i.test(line));
  return { copyright, terms: text.slice(begin) };
}

/** One notice for all packages with the same terms. */
function notices(dependencies: Dependency[]): string {
  const groups = new Map<string, Group>();
  for (const { name, version, license, licenseText } of dependencies) {
    if (!licenseText) throw new Error(`${name}: its package has no licence text`);
    const { copyright, terms } = split(licenseText);
    const key = terms.replace(/\s+/g, " ");
    const group = groups.get(key) ?? { terms, packages: [] };
    const lines = copyright.map((line) => `    ${line.trim()}`);
    group.packages.push([`${name} ${version} (${license})`, ...lines].join("\n"));
    groups.set(key, group);
  }
  const texts = [...groups.values()].map(({ terms, packages }) => `${packages.join("\n")}\n\n${terms}`);
  return texts.join(`\n\n${"-".repeat(78)}\n\n`);
}

const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** Puts the licences of all bundled packages in place of `<!--licences-->`. */
export function licences(): Plugin[] {
  let text = "";
  const collect = license({
    thirdParty: {
      allow: { test: ALLOWED, failOnUnlicensed: true, failOnViolation: true },
      output: (dependencies) => {
        text = notices(dependencies);
      },
    },
  });
  const embed: Plugin = {
    name: "embed-licences",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        if (!text) throw new Error("no licences were collected");
        for (const file of Object.values(bundle)) {
          if (file.type !== "asset" || !file.fileName.endsWith(".html")) continue;
          file.source = String(file.source).replace("<!--licences-->", () => escaped(text));
        }
      },
    },
  };
  return [collect as Plugin, embed];
}
