import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ImportSummary, importFiles } from '../../src/cli/import/import.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { logTime } from '../support/access-lines.ts';
import { forAll } from '../support/random.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, newApp } from './ingestion-support.ts';

const MIDNIGHT = Date.parse('2026-11-10T00:00:00Z');
const MINUTE = 60_000;
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const RUNS = Number(process.env['ROTATIONS'] ?? 12);

let store: TestStore;
let ingestion: Ingestion;
let folder: string;

beforeAll(async () => {
  store = await testStore();
  ingestion = ingestionOn(store.db);
  folder = mkdtempSync(join(tmpdir(), 'analytics-import-rotated-'));
});
afterAll(async () => {
  await store.close();
  removeFolder(folder);
});

const newFolder = (): string => mkdtempSync(join(folder, 'logs-'));

/** Small chunks, so that visits are sent in several requests. */
const run = (
  app: SdkApp,
  files: readonly string[],
  lose: (request: number) => boolean = () => false,
): Promise<ImportSummary> => {
  let requests = 0;
  return importFiles({
    files,
    app: app.id,
    format: null,
    now: NOW,
    stateRoot: newFolder(),
    send: async (body) => {
      const { sessions, visits } = JSON.parse(body);
      const answer = await ingestion.importHistory(app, sessions, visits === true ? 'visits' : 'sessions');
      if (lose(requests++)) throw new Error('lost');
      return answer;
    },
    patienceMs: 0,
    chunk: { events: 20, characters: 100_000 },
    screen: { isTerminal: false, write: () => undefined },
  });
};

const line = (at: number, path: string, client = 1): string =>
  `198.51.100.${client} - - [${logTime(at)}] "GET ${path} HTTP/1.1" 200 5 "https://r${client}.example${path}" "${AGENT}"\n`;

const ROW = z.object({
  start: z.number(),
  visitors: z.array(z.string()),
  referrers: z.array(z.string()),
  events: z.array(z.string()),
});

/** The sessions of an app with their events, in an order that does not depend on ids. */
async function sessionsOf(app: SdkApp): Promise<unknown[]> {
  const statement = sql`
    SELECT toUnixTimestamp64Milli(started_at) AS start,
      arraySort(groupUniqArrayIf(visitor_id, has_context = 1)) AS visitors,
      groupUniqArrayIf(referrer, has_context = 1 AND timestamp = started_at) AS referrers,
      arraySort(groupArray(concat(toString(timestamp), ' ', path))) AS events
    FROM events WHERE app_id = {app:UUID} GROUP BY session_id, started_at`;
  const rows = await store.db.query({ name: 'sessions', sql: statement, row: ROW }, { app: app.id });
  const sessions = rows.map(({ visitors, ...row }) => {
    expect(visitors).toHaveLength(1);
    return JSON.stringify(row);
  });
  return sessions.sort();
}

const eventsIn = (sessions: readonly unknown[]): string[] =>
  sessions.flatMap((session) => ROW.pick({ events: true }).parse(JSON.parse(String(session))).events).sort();

async function expectAsWhole(app: SdkApp, text: string): Promise<void> {
  const whole = newApp();
  const file = join(newFolder(), 'whole.log');
  writeFileSync(file, text);
  await run(whole, [file]);
  expect(await sessionsOf(app)).toEqual(await sessionsOf(whole));
}

describe('a visit across midnight', () => {
  const yesterday = line(MIDNIGHT - 5 * MINUTE, '/a') + line(MIDNIGHT - 9 * MINUTE, '/x', 2);
  const today = line(MIDNIGHT + 5 * MINUTE, '/b');

  test('is one session, also after its first file is gone', async () => {
    const app = newApp();
    const place = newFolder();
    const [log, old] = [join(place, 'access.log'), join(place, 'access.log.1')];
    writeFileSync(old, yesterday);
    writeFileSync(log, today);
    expect(await run(app, [log, old])).toMatchObject({ sessions: 2, events: 3, duplicates: 0 });
    rmSync(old);
    renameSync(log, old);
    expect(await run(app, [old])).toMatchObject({ sessions: 0, events: 0, duplicates: 1 });
    writeFileSync(log, line(MIDNIGHT + 20 * MINUTE, '/c'));
    expect(await run(app, [log])).toMatchObject({ sessions: 1, events: 1, duplicates: 0 });
    await expectAsWhole(app, yesterday + today + readFileSync(log, 'utf8'));
    expect(await sessionsOf(app)).toHaveLength(2);
  });

  test('goes on in the file of the next day, however it is packed', async () => {
    const app = newApp();
    const place = newFolder();
    writeFileSync(join(place, 'a'), yesterday);
    writeFileSync(join(place, 'b.gz'), gzipSync(today));
    await run(app, [join(place, 'a')]);
    await run(app, [join(place, 'b.gz')]);
    await run(app, [join(place, 'b.gz'), join(place, 'a')]);
    await expectAsWhole(app, yesterday + today);
  });

  test('that lasts for more than 24 hours is cut where one import would cut it', async () => {
    const app = newApp();
    const place = newFolder();
    const lines = Array.from({ length: 120 }, (_, i) => line(MIDNIGHT + i * 20 * MINUTE, `/${i}`));
    for (const [i, from] of [0, 17, 50, 71, 72, 73, 100].entries()) {
      const file = join(place, String(i));
      writeFileSync(file, lines.slice(from, from + 50).join(''));
      await run(app, [file]);
    }
    await expectAsWhole(app, lines.join(''));
  });

  test('whose later part came first keeps that session, and no request counts twice', async () => {
    const app = newApp();
    const place = newFolder();
    writeFileSync(join(place, 'a'), yesterday);
    writeFileSync(join(place, 'b'), today);
    await run(app, [join(place, 'b')]);
    expect(await run(app, [join(place, 'a')])).toMatchObject({ sessions: 2, events: 2 });
    expect(await run(app, [join(place, 'a'), join(place, 'b')])).toMatchObject({ events: 0, duplicates: 3 });
    writeFileSync(join(place, 'c'), line(MIDNIGHT + 6 * MINUTE, '/c'));
    await run(app, [join(place, 'c')]);
    const sessions = await sessionsOf(app);
    expect(sessions).toHaveLength(3);
    expect(eventsIn(sessions)).toHaveLength(4);
  });

  test('of two imports at once is counted once', async () => {
    const app = newApp();
    const place = newFolder();
    const [a, b] = [join(place, 'a'), join(place, 'b')];
    const many = Array.from({ length: 200 }, (_, i) => line(MIDNIGHT + i * MINUTE, `/${i}`, i % 7));
    writeFileSync(a, yesterday + many.slice(0, 120).join(''));
    writeFileSync(b, many.slice(60).join(''));
    await Promise.all([run(app, [a]), run(app, [b, a]), run(app, [b])]);
    expect(eventsIn(await sessionsOf(app))).toHaveLength(202);
  });
});

describe('equal lines', () => {
  const twice = line(MIDNIGHT, '/a') + line(MIDNIGHT, '/a');
  const before = line(MIDNIGHT - 60_000, '/0');
  const after = line(MIDNIGHT + 60_000, '/1');
  const importOf = async (...texts: string[]): Promise<{ app: SdkApp; summary: ImportSummary }> => {
    const [app, place] = [newApp(), newFolder()];
    const files = texts.map((text, i) => {
      const file = join(place, String(i));
      writeFileSync(file, text);
      return file;
    });
    return { app, summary: await run(app, files) };
  };

  test('of one file are different requests', async () => {
    expect((await importOf(before + twice + after)).summary).toMatchObject({ events: 4, duplicates: 0 });
  });

  test.each([
    ['a copy', [before + twice + after, before + twice + after]],
    ['an earlier copy', [before + twice, before + twice + after]],
    ['a later part', [twice + after, before + twice + after]],
    ['overlapping parts', [before + twice + after, twice + after + line(MIDNIGHT + 120_000, '/2')]],
  ])('of several files are the same requests: %s', async (_, [one = '', other = '']) => {
    const { app, summary } = await importOf(one, other);
    // The set holds the equal lines once, and the empty text.
    const all = new Set([...one.split('\n'), ...other.split('\n')]).size;
    expect(summary).toMatchObject({ events: all, lines: summary.events + summary.duplicates });
    expect((await importOf(other, one)).summary).toEqual(summary);
    expect(eventsIn(await sessionsOf(app))).toHaveLength(all);
  });

  test('at the end of a log and the begin of the next one are different requests', async () => {
    const half = line(MIDNIGHT, '/a');
    expect((await importOf(half + after, before + half)).summary).toMatchObject({ events: 4, duplicates: 0 });
    const copies = [before + half, half + after, before + half, half + after];
    expect((await importOf(...copies)).summary).toMatchObject({ events: 4, duplicates: 4 });
  });
});

describe('a log that is being written', () => {
  test.each([0, 1, 10, 60, 80, 95, 110, 130])('may end within a line, after %i characters', async (cut) => {
    const [app, place] = [newApp(), newFolder()];
    const file = join(place, 'access.log');
    const [first, second] = [line(MIDNIGHT, '/a'), line(MIDNIGHT + MINUTE, '/b')];
    writeFileSync(file, first + second.slice(0, cut));
    await run(app, [file]);
    writeFileSync(file, first + second);
    await run(app, [file]);
    await expectAsWhole(app, first + second);
  });

  test('may have begun with its first line alone', async () => {
    const [app, place] = [newApp(), newFolder()];
    const [log, old] = [join(place, 'access.log'), join(place, 'access.log.1')];
    writeFileSync(old, line(MIDNIGHT, '/a'));
    writeFileSync(log, line(MIDNIGHT + MINUTE, '/b').slice(0, 30));
    expect(await run(app, [log, old])).toMatchObject({ events: 1, skipped: { malformed: 1 } });
    await expect(run(app, [log])).rejects.toThrow(/no line of .* can be read\. Line 1: /);
  });

  test('may be rotated while it is read', async () => {
    const [app, place] = [newApp(), newFolder()];
    const [log, old] = [join(place, 'access.log'), join(place, 'access.log.1')];
    const many = Array.from({ length: 20_000 }, (_, i) => line(MIDNIGHT + i * 1_000, `/${i % 9}`, i % 200));
    writeFileSync(log, many.join(''));
    writeFileSync(old, line(MIDNIGHT - MINUTE, '/old'));
    let isRotated = false;
    const rotate = (): void => {
      renameSync(old, join(place, 'access.log.2'));
      renameSync(log, old);
      writeFileSync(log, line(MIDNIGHT + 30_000_000, '/new'));
    };
    const summary = importFiles({
      files: [log, old],
      app: app.id,
      format: null,
      now: NOW,
      stateRoot: newFolder(),
      send: async (body) => {
        const { sessions, visits } = JSON.parse(body);
        if (!isRotated) setTimeout(rotate, 5);
        isRotated = true;
        return ingestion.importHistory(app, sessions, visits === true ? 'visits' : 'sessions');
      },
      patienceMs: 0,
      screen: { isTerminal: false, write: () => undefined },
    });
    await summary;
    await run(app, [log, old, join(place, 'access.log.2')]);
    expect(eventsIn(await sessionsOf(app))).toHaveLength(20_002);
  });
});

/** What happens to a log. The numbers are random; each step takes from them what it needs. */
interface Step {
  readonly kind: 'write' | 'rename' | 'copytruncate' | 'gzip' | 'remove' | 'import';
  readonly numbers: readonly number[];
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(
      'write',
      'write',
      'write',
      'rename',
      'copytruncate',
      'gzip',
      'remove',
      'import',
      'import',
    ),
    numbers: fc.array(fc.nat(10_000), { minLength: 12, maxLength: 12 }),
  }),
  { minLength: 8, maxLength: 30 },
);

/** A server's log in a folder, as logrotate treats it. */
class Rotated {
  readonly place = newFolder();
  readonly log = join(this.place, 'access.log');
  at = MIDNIGHT - 90 * MINUTE;
  /** All lines that were ever imported, in their order, and those that were not yet. */
  imported = '';
  waiting = '';
  #isCut = false;
  #number = 0;
  #rotatedAt = 0;
  /** The files with lines that were not imported. */
  readonly fresh = new Set<string>([this.log]);

  write(numbers: readonly number[]): void {
    let text = '';
    for (const n of numbers) {
      // Equal lines of a second, visits that go on, and visits that end.
      this.at += ([0, 0, 1_000, 10_000, 5 * MINUTE, 29 * MINUTE, 30 * MINUTE, 31 * MINUTE][n % 8] ??
        0) as number;
      text += line(this.at, `/p${n % 3}`, n % 4);
    }
    this.waiting += text;
    this.#append(text);
    this.fresh.add(this.log);
  }

  #append(text: string): void {
    writeFileSync(this.log, text, { flag: 'a' });
  }

  rotate(isCopied: boolean): void {
    if (!existsSync(this.log) || this.#rotatedAt === this.at) return;
    this.#rotatedAt = this.at;
    const old = join(this.place, `access.log-${String(++this.#number).padStart(3, '0')}`);
    if (isCopied) {
      copyFileSync(this.log, old);
      writeFileSync(this.log, '');
    } else renameSync(this.log, old);
    if (this.fresh.delete(this.log)) this.fresh.add(old);
  }

  /** Sometimes the unpacked file stays. */
  gzip([n = 0, stays = 0]: readonly number[]): void {
    const name = this.#pick(n, (file) => !file.endsWith('.gz') && file !== this.log);
    if (name === undefined) return;
    writeFileSync(`${name}.gz`, gzipSync(readFileSync(name)));
    if (stays % 3 === 0) return;
    rmSync(name);
    if (this.fresh.delete(name)) this.fresh.add(`${name}.gz`);
  }

  /** Only lines that were imported go away. */
  remove([n = 0]: readonly number[]): void {
    const name = this.#pick(n, (file) => !this.fresh.has(file) && file !== this.log);
    if (name !== undefined) rmSync(name);
  }

  /** Returns all files with new lines and some others, in any order. The last line may be cut. */
  files([n = 0, ...numbers]: readonly number[]): string[] {
    const all = this.#all();
    const order = new Map(all.map((file, i) => [file, numbers[i % numbers.length] ?? 0]));
    const some = all.filter((file) => this.fresh.has(file) || (order.get(file) ?? 0) % 2 === 0);
    if (n % 2 === 0 && existsSync(this.log) && readFileSync(this.log, 'utf8') !== '') {
      this.#append(line(this.at + 1_000, '/cut', 5).slice(0, 1 + (n % 125)));
      this.#isCut = true;
    }
    return some.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  }

  /** The time goes on after an import. */
  done(): void {
    if (this.#isCut) {
      const text = readFileSync(this.log, 'utf8');
      writeFileSync(this.log, text.slice(0, text.lastIndexOf('\n') + 1));
    }
    this.#isCut = false;
    this.imported += this.waiting;
    this.waiting = '';
    this.fresh.clear();
    this.at += 1_000;
  }

  #all(): string[] {
    return readdirSync(this.place).map((name) => join(this.place, name));
  }

  #pick(n: number, fits: (file: string) => boolean): string | undefined {
    const files = this.#all().filter(fits);
    return files[n % files.length];
  }
}

test('a log that is rotated and imported at random gives the sessions of one import', {
  timeout: 600_000,
}, async () => {
  await forAll(
    steps,
    async (cases) => {
      const app = newApp();
      const log = new Rotated();
      const finish: Step = { kind: 'import', numbers: [1, 2, 2, 2] };
      for (const { kind, numbers } of [...cases, finish]) {
        if (kind === 'write') log.write(numbers);
        else if (kind === 'gzip') log.gzip(numbers);
        else if (kind === 'remove') log.remove(numbers);
        else if (kind === 'import') {
          const files = log.files(numbers);
          const [n = 0] = numbers;
          // Some imports are interrupted, and begun again.
          if (n % 5 === 0) await run(app, files, (request) => request === 1 + (n % 3)).catch(() => undefined);
          if (files.length > 0) await run(app, files);
          log.done();
        } else log.rotate(kind === 'copytruncate');
      }
      await expectAsWhole(app, log.imported);
    },
    { runs: RUNS, shrinks: false },
  );
});

test('files of any part of a log, in any order, count each request once', { timeout: 600_000 }, async () => {
  const parts = fc.array(
    // No two parts meet in one line: they would be taken for two logs, one after the other.
    fc.array(fc.tuple(fc.nat(15), fc.nat(6)), { minLength: 1, maxLength: 3 }),
    { minLength: 1, maxLength: 6 },
  );
  await forAll(
    fc.tuple(parts, fc.array(fc.nat(10_000), { minLength: 160, maxLength: 160 })),
    async ([imports, numbers]) => {
      const app = newApp();
      let at = MIDNIGHT - 90 * MINUTE;
      const lines = numbers.map((n) => {
        at += [1_000, 7_000, 5 * MINUTE, 29 * MINUTE, 40 * MINUTE][n % 5] ?? 0;
        return line(at, `/p${n % 3}`, n % 4);
      });
      const seen = new Set<number>();
      for (const files of imports) {
        const place = newFolder();
        const names = files.map(([begin, length], i) => {
          const [from, to] = [10 * begin, 10 * (begin + length) + 5];
          for (let n = from; n <= Math.min(to, lines.length - 1); n++) seen.add(n);
          writeFileSync(join(place, String(i)), lines.slice(from, to + 1).join(''));
          return join(place, String(i));
        });
        await run(app, names);
      }
      const union = [...seen].sort((a, b) => a - b).map((n) => lines[n]);
      const whole = newApp();
      const file = join(newFolder(), 'union.log');
      writeFileSync(file, union.join(''));
      await run(whole, [file]);
      expect(eventsIn(await sessionsOf(app))).toEqual(eventsIn(await sessionsOf(whole)));
    },
    { runs: RUNS, shrinks: false },
  );
});
