import { escaped } from '../../src/http/docs/markup.ts';

/** A section with plots or tables, and sentences that say how to read it. Empty if there is nothing to show. */
export const section = (title: string, says: string, ...parts: readonly string[]): string =>
  parts.every((part) => part === '')
    ? ''
    : `<section><h2>${escaped(title)}</h2><p>${escaped(says)}</p>${parts.join('\n')}</section>`;

/** A table; all columns but the first `left` ones are numbers. */
export function htmlTable(header: readonly string[], rows: readonly (readonly string[])[], left = 1): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells.map((cell, i) => `<${tag}${i < left ? '' : ' class="n"'}>${escaped(cell)}</${tag}>`).join('')}</tr>`;
  const body = rows.map((row) => line(row, 'td')).join('\n');
  return `<div class="wide"><table><thead>${line(header, 'th')}</thead><tbody>${body}</tbody></table></div>`;
}

export const STYLE = `
:root { color-scheme: light; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; color: var(--ink); background: #fff;
  max-width: 1000px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; }
h2 { font-size: 19px; margin: 44px 0 4px; }
p { margin: 0 0 12px; color: var(--soft); max-width: 80ch; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(215px, 1fr)); gap: 12px; margin: 20px 0; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; }
.card b { display: block; font-size: 22px; line-height: 1.25; }
.card span { color: var(--soft); font-size: 13px; }
.bad { border-color: #b42318; background: #fef3f2; }
.note { border-left: 4px solid #d55e00; padding: 4px 12px; margin: 8px 0; color: var(--ink); }
svg { width: 100%; height: auto; margin: 6px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; margin: 8px 0; width: 100%; }
th, td { padding: 4px 8px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; color: var(--soft); }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media print { section { break-inside: avoid; } }`;
