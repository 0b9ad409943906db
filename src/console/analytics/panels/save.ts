/** The mark by which spreadsheets know UTF-8. */
export const MARK = '\uFEFF';

/** The text of an export. */
export interface Csv {
  readonly text: string;
  /** How many rows it has, if the service gives no more. */
  readonly first?: number | undefined;
}

/** An export without a limit of the service is its text alone. */
export const asCsv = (made: string | Csv): Csv => (typeof made === 'string' ? { text: made } : made);

/** The name of an export, which says so if there may be more rows. */
export const nameOfCsv = (name: string, { first }: Csv): string =>
  first === undefined ? name : `${name}-first-${first}`;

/** Offers a text as a file. */
export const saveCsv = (name: string, { text }: Csv): void =>
  saveFile(`${name}.csv`, new Blob([MARK, text], { type: 'text/csv;charset=utf-8' }));

export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser takes the address when the click is handled.
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
