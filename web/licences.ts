import license, { type Dependency } from "rollup-plugin-license";
import type { Plugin } from "vite";

/** Licences that allow redistribution with their notice. Any other fails the build. */
const ALLOWED = "(MIT OR ISC OR BSD-2-Clause OR BSD-3-Clause OR Apache-2.0)";

/** Packages under the same terms, each with its copyright lines. */
interface Group {
  terms: string;
  packages: string[];
}

/** The terms begin after the title and the copyright lines. */
const TERMS = /^(Permission|Redistribution|Licensed)/m;

function splitLicence(licence: string): { copyright: string[]; terms: string } {
  const text = licence.trim().replace(/\r\n/g, "\n");
  const start = text.search(TERMS);
  if (start < 0) return { copyright: [], terms: text };
  const copyright = text.slice(0, start).split("\n").filter((line) => /copyright/i.test(line));
  return { copyright, terms: text.slice(start) };
}

/** The notices of all packages, with the same terms printed once. */
function notices(dependencies: Dependency[]): string {
  const groups = new Map<string, Group>();
  for (const { name, version, license, licenseText } of dependencies) {
    if (!licenseText) throw new Error(`${name}: its package has no licence text`);
    const { copyright, terms } = splitLicence(licenseText);
    const key = terms.replace(/\s+/g, " ");
    const group = groups.get(key) ?? { terms, packages: [] };
    const lines = copyright.map((line) => `    ${line.trim()}`);
    group.packages.push([`${name} ${version} (${license})`, ...lines].join("\n"));
    groups.set(key, group);
  }
  const texts = [...groups.values()].map(({ terms, packages }) => `${packages.join("\n")}\n\n${terms}`);
  return texts.join(`\n\n${"-".repeat(78)}\n\n`);
}

const escapeHtml = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** Replaces `<!--licences-->` with the licences of all bundled packages. */
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
          file.source = String(file.source).replace("<!--licences-->", () => escapeHtml(text));
        }
      },
    },
  };
  return [collect as Plugin, embed];
}
