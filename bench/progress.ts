let open = false;

/** Prints a line on standard error, which the next one overwrites on a terminal. Null ends the line. */
export function progress(line: string | null): void {
  const terminal = process.stderr.isTTY;
  if (line === null) {
    if (terminal && open) process.stderr.write('\n');
    open = false;
    return;
  }
  process.stderr.write(terminal ? `\r\x1b[K${line}` : `${line}\n`);
  open = true;
}
