import { type FileHandle, open, stat } from 'node:fs/promises';
import { CliError } from './cli-error.ts';

export interface Line {
  /** The line without its end. */
  readonly text: string;
  /** Its position in the file, in bytes. */
  readonly offset: number;
}

const CHUNK_BYTES = 1024 ** 2;
const LINE_FEED = 10;

/** Reads a text file line by line, in UTF-8. Earlier lines can be read again. */
export class LineFile {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Rejects with CliError if there is no such file. */
  static async open(path: string): Promise<LineFile> {
    const info = await stat(path).catch(() => null);
    if (info === null || !info.isFile()) throw new CliError(`There is no file ${path}.`);
    return new LineFile(await open(path));
  }

  /** Yields the lines from `offset` on. */
  async *lines(offset = 0): AsyncGenerator<Line> {
    let rest = Buffer.alloc(0);
    let begin = offset;
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await this.#file.read(chunk, 0, CHUNK_BYTES, begin + rest.length);
      const data =
        rest.length === 0
          ? chunk.subarray(0, bytesRead)
          : Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let from = 0;
      // The rest of the previous chunk holds no line end.
      for (let end = data.indexOf(LINE_FEED, rest.length); end >= 0; end = data.indexOf(LINE_FEED, from)) {
        yield { text: textOf(data.subarray(from, end)), offset: begin + from };
        from = end + 1;
      }
      begin += from;
      rest = Buffer.from(data.subarray(from));
      if (bytesRead === 0) break;
    }
    if (rest.length > 0) yield { text: textOf(rest), offset: begin };
  }

  async lineAt(offset: number): Promise<string> {
    for await (const { text } of this.lines(offset)) return text;
    throw new CliError('The file was cut short while it was read.');
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

const textOf = (bytes: Buffer): string => bytes.toString('utf8').replace(/\r$/, '');
