/** The mark by which spreadsheets know UTF-8. */
export const MARK = '\uFEFF';

/** Offers a text as a file. */
export const saveCsv = (name: string, text: string): void =>
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
