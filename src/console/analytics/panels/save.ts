/** The mark by which spreadsheets know UTF-8. */
const MARK = '\uFEFF';

/** Offers a text as a file. */
export function saveCsv(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([MARK, text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name}.csv`;
  link.click();
  // The browser takes the address when the click is handled.
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
