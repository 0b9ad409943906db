import { buffer } from 'node:stream/consumers';
import { collectYoungGarbage } from '../domain/garbage.ts';
import { isNoRoom } from '../domain/no-room.ts';
import { codeOf, isOfSystem } from '../domain/thrown.ts';
import { AnswerFile, type AnswerText, inMemory } from './answer-file.ts';
import type { Client } from './connect.ts';
import { engineCode } from './errors.ts';
import type { Sending } from './runner.ts';
import type { Settings } from './settings.ts';
import { quoted, type Sql, sql } from './sql.ts';

const MIB = 1024 ** 2;

/** The memory of the first try. It is fast, and enough for almost all answers. */
const FAST_BYTES = 32 * MIB;
/**
 * Settings of the second try: groups and sorts in files. Blocks have few rows, because a row may take kilobytes. With
 * two threads it would be no faster, and need half as much again.
 */
const FRUGAL = {
  // As long as there is a ratio, the engine does not look at the bytes.
  max_bytes_ratio_before_external_group_by: 0,
  max_bytes_ratio_before_external_sort: 0,
  max_bytes_before_external_group_by: 8 * MIB,
  // Groups are written only while the whole statement takes more than this. If it takes more without its groups, they
  // are written after each block, and a statement with several GROUP BY takes ten times as long.
  group_by_two_level_threshold_bytes: 32 * MIB,
  // Less makes more files, and each takes memory when they are merged.
  max_bytes_before_external_sort: 12 * MIB,
  min_external_sort_block_bytes: MIB / 4,
  prefer_external_sort_block_bytes: MIB / 4,
  max_block_size: 1_024,
  max_threads: 1,
};
const MEMORY_LIMIT_EXCEEDED = 241;

/** Bytes. Freed memory is given back when the process has grown by this much. */
const GROWTH = 2 * MIB;
const LOOK_MS = 5;

/**
 * Runs statements of the embedded engine whose answers may be large. It computes them in this process, and would hold
 * the whole text of an answer more than once. So it writes the text into a file. Memory that it has freed, which it
 * would keep for seconds, is given back while and after it works on a large one.
 */
export class AnswerFiles {
  readonly #purge: () => Promise<unknown>;
  #purging: Promise<unknown> | null = null;

  /** `purge` gives back all memory that the engine has freed. */
  constructor(purge: () => Promise<unknown>) {
    this.#purge = purge;
  }

  /**
   * Runs a SELECT, and returns its answer. `select` returns its text with more settings. Both tries together take
   * `seconds` at most. `bytes`: the memory of the first try. If there is no room for a file, small answers are read without one.
   */
  async text(
    client: Client,
    select: (more: Settings) => Sql,
    { seconds, bytes = FAST_BYTES }: { readonly seconds: number; readonly bytes?: number | undefined },
    sending: Sending,
  ): Promise<AnswerText> {
    const fast = { max_memory_usage: bytes };
    try {
      return await this.#file(client, select, { seconds, fast }, sending);
    } catch (error) {
      if (!hasNoFile(error)) throw error;
      const query = sql`${select(fast)}\nFORMAT JSONCompact`;
      const { stream } = await client.exec({ ...sending, query });
      return inMemory(await buffer(stream));
    }
  }

  async #file(
    client: Client,
    select: (more: Settings) => Sql,
    { seconds, fast }: { readonly seconds: number; readonly fast: Settings },
    sending: Sending,
  ): Promise<AnswerFile> {
    const end = performance.now() + 1_000 * seconds;
    const file = new AnswerFile();
    const run = (more: Settings): Promise<unknown> => {
      const query = sql`${select(more)}\nINTO OUTFILE ${quoted(file.path)} APPEND FORMAT JSONCompact`;
      return client.command({ ...sending, query });
    };
    try {
      await run(fast).catch(async (error: unknown) => {
        if (engineCode(error) !== MEMORY_LIMIT_EXCEEDED) throw error;
        file.empty();
        collectYoungGarbage();
        await this.#giveBack();
        const left = { max_execution_time: Math.max(1, end - performance.now()) / 1_000 };
        await this.#givingBack(() => run({ ...FRUGAL, ...left }));
        await this.#giveBack();
      });
      if (!file.hasEnd) throw Object.assign(new Error('no room for the whole answer'), { code: 'ENOSPC' });
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  async #givingBack(work: () => Promise<unknown>): Promise<void> {
    let base = process.memoryUsage.rss();
    const look = setInterval(() => {
      const now = process.memoryUsage.rss();
      base = Math.min(base, now);
      if (now < base + GROWTH) return;
      void this.#giveBack().then(() => {
        base = process.memoryUsage.rss();
      });
    }, LOOK_MS);
    try {
      await work();
    } finally {
      clearInterval(look);
    }
  }

  /** Resolves when memory has been given back. If that fails, it is given back later, by the engine itself. */
  #giveBack(): Promise<unknown> {
    this.#purging ??= this.#purge()
      .catch(() => undefined)
      .finally(() => {
        this.#purging = null;
      });
    return this.#purging;
  }

  async close(): Promise<void> {
    await this.#purging;
  }
}

/** Codes of the engine: a file cannot be written or opened, or there is not enough space. */
const NO_FILE = new Set<unknown>(['75', '76', '243']);
const hasNoFile = (error: unknown): boolean =>
  isNoRoom(error) || isOfSystem(error) || NO_FILE.has(codeOf(error));
