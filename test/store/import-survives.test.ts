import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { filesOf } from '../../src/cli/import/files.ts';
import { type ImportOptions, type ImportSummary, importFiles } from '../../src/cli/import/import.ts';
import { StateFolder } from '../../src/cli/import/state.ts';
import { Unavailable } from '../../src/cli/management-client.ts';
import { sql } from '../../src/clickhouse/sql.ts';
import type { Ingestion } from '../../src/ingestion/ingestion.ts';
import type { SdkApp } from '../../src/metadata/types.ts';
import { removeFolder } from '../../src/remove-folder.ts';
import { writeAccessLog } from '../support/access-lines.ts';
import { type TestStore, testStore } from '../support/store.ts';
import { ingestionOn, NOW, newApp, session, stored, totalsOf } from './ingestion-support.ts';

const DAY = 86_400_000;
const CHUNK = { events: 2_500, characters: 256 * 1024 };
const BEGIN = Date.parse('2026-10-30T00:00:00Z');

let store: TestStore;
let ingestion: Ingestion;
let folder: string;
/** About 2,500 pageviews: four requests of this size. */
let log: string;
/** About 800 pageviews: one request. */
let short: string;
/** `log`, imported without any failure. */
let whole: Importer;
let expected: ImportSummary;

beforeAll(async () => {
  store = await testStore();
  ingestion = ingestionOn(store.db);
  folder = mkdtempSync(join(tmpdir(), 'analytics-import-survives-'));
  log = join(folder, 'access.log');
  await writeAccessLog(log, { begin: BEGIN, end: BEGIN + 4 * DAY, lines: 3_000, seed: 7 });
  short = join(folder, 'short.log');
  await writeAccessLog(short, { begin: BEGIN, end: BEGIN + DAY, lines: 1_000, seed: 3 });
  whole = new Importer();
  expected = await whole.run([log]);
});
afterAll(async () => {
  await store.close();
  removeFolder(folder);
});

const newFolder = (): string => mkdtempSync(join(folder, 'state-'));

/** An import that can be repeated: its state is kept. */
class Importer {
  readonly app: SdkApp;
  readonly state = newFolder();
  /** The sessions of each request. */
  readonly requests: number[] = [];
  said = '';

  constructor(app = newApp()) {
    this.app = app;
  }

  /** `fail` may throw in the place of a request, which has this number, or after it. */
  run(
    files: readonly string[],
    fail: (request: number, isStored: boolean) => void = () => undefined,
    options: Partial<ImportOptions> = {},
  ): Promise<ImportSummary> {
    return importFiles({
      files,
      app: this.app.id,
      format: null,
      now: NOW,
      stateRoot: this.state,
      send: async (body) => {
        const { sessions, visits } = JSON.parse(body) as { sessions: unknown[]; visits?: true };
        const request = this.requests.push(sessions.length) - 1;
        fail(request, false);
        const answer = await ingestion.importHistory(this.app, sessions, visits ? 'visits' : 'sessions');
        fail(request, true);
        return answer;
      },
      patienceMs: 60_000,
      chunk: CHUNK,
      screen: {
        isTerminal: false,
        write: (text) => {
          this.said += text;
        },
      },
      ...options,
    });
  }
}

const rawOf = async (app: SdkApp): Promise<number> => (await totalsOf(store.db, app.id)).raw;

/** The sessions and events of an app, as one figure. */
async function digestOf(app: SdkApp): Promise<unknown> {
  const statement = sql`
    SELECT count() AS events, uniqExact(session_id, started_at) AS sessions,
      toString(sum(cityHash64(toUnixTimestamp64Milli(started_at), toUnixTimestamp64Milli(timestamp), path, referrer))) AS digest
    FROM events WHERE app_id = {app:UUID}`;
  const row = z.object({ events: z.coerce.number(), sessions: z.coerce.number(), digest: z.string() });
  return store.db.queryOne({ name: 'digest', sql: statement, row }, { app: app.id });
}

const NEW_LINE = '192.0.2.1 - - [31/Oct/2026:00:00:00 +0000] "GET /new HTTP/1.1" 200 1 "-" "-"\n';

const later = (): never => {
  throw new Unavailable('Not now.', true, 0);
};

describe('an interrupted import', () => {
  test('goes on where it stopped, with the same sessions', async () => {
    const cut = new Importer();
    expect(whole.requests.length).toBeGreaterThan(3);
    expect(whole.requests[0]).toBe(0);

    let delivered = 0;
    const failing = cut.run([log], (request, isStored) => {
      if (isStored) delivered++;
      if (request >= 2) throw new Error('the import ends here');
    });
    await expect(failing).rejects.toThrow('the import ends here');
    expect(readdirSync(cut.state)).toHaveLength(1);
    const before = cut.requests.length;
    expect(await cut.run([log])).toEqual(expected);
    expect(cut.said).toContain('Goes on where it was interrupted');
    // The first request of a run only asks. Chunks that were acknowledged are not sent again.
    expect(cut.requests.slice(before + 1)).toEqual(whole.requests.slice(delivered));
    expect(await digestOf(cut.app)).toEqual(await digestOf(whole.app));
    expect(readdirSync(cut.state)).toEqual([]);
  });

  test('counts once what was stored without an acknowledgement', async () => {
    const cut = new Importer();
    const failing = cut.run([log], (request, isStored) => {
      if (request === 2 && isStored) throw new Error('cut');
    });
    await expect(failing).rejects.toThrow('cut');
    const { events, duplicates } = await cut.run([log]);
    expect(events + duplicates).toBe(expected.events);
    expect(duplicates).toBeGreaterThan(0);
    expect(await digestOf(cut.app)).toEqual(await digestOf(whole.app));
  });

  test.each([
    ['grew', (file: string) => appendFileSync(file, NEW_LINE)],
    ['was written again', (file: string) => utimesSync(file, 1, 1)],
    [
      'is another one of the same size',
      (file: string) => writeFileSync(file, `#${readFileSync(file, 'latin1').slice(1)}`),
    ],
  ])('begins again if the file %s', async (_, change) => {
    const importer = new Importer();
    const file = join(newFolder(), 'changing.log');
    await writeAccessLog(file, { begin: BEGIN, end: BEGIN + DAY, lines: 1_000, seed: 3 });
    await expect(importer.run([file], (request) => void (request > 0 && stop()))).rejects.toThrow('stop');
    change(file);
    await importer.run([file]);
    expect(importer.said).toContain(`${file} changed since the import was interrupted: it begins again.`);
    const fresh = new Importer();
    await fresh.run([file]);
    expect(await digestOf(importer.app)).toEqual(await digestOf(fresh.app));
  });

  test('begins again if its state is damaged', async () => {
    const importer = new Importer();
    const failing = importer.run([log], (request) => void (request > 1 && stop()));
    await expect(failing).rejects.toThrow('stop');
    const [name = ''] = readdirSync(importer.state);
    writeFileSync(join(importer.state, name, 'state.json'), '{"version":1');
    await importer.run([log]);
    expect(await rawOf(importer.app)).toBe(expected.events);
  });

  test('keeps others from importing the same', async () => {
    const importer = new Importer();
    let second: unknown;
    await importer.run([log], (request, isStored) => {
      if (request === 1 && !isStored) second = importer.run([log]).catch((error: unknown) => String(error));
    });
    expect(await second).toContain(`Process ${process.pid} imports the same now`);
  });

  test('can begin while another one of the same ends', async () => {
    const root = newFolder();
    for (let i = 0; i < 200; i++) {
      const first = await StateFolder.hold(root, 'same');
      const ending = first.remove();
      const second = await StateFolder.hold(root, 'same').catch((error: unknown) => String(error));
      await ending;
      if (typeof second === 'string') expect(second).toContain('imports the same now');
      else await second.remove();
    }
    expect(readdirSync(root)).toEqual([]);
  });

  test('is forgotten after a week, or at once if it has read only a part', async () => {
    const importer = new Importer();
    const [old, begun] = ['0123456789abcdef', 'fedcba9876543210'].map((name) => join(importer.state, name));
    for (const path of [old ?? '', begun ?? '']) mkdirSync(path);
    writeFileSync(join(old ?? '', 'state.json'), '{}');
    writeFileSync(join(begun ?? '', 'lock'), '999999999');
    const past = Date.now() / 1000 - 8 * 86_400;
    for (const path of [join(old ?? '', 'state.json'), begun ?? '']) utimesSync(path, past, past);
    await importer.run([short]);
    expect(readdirSync(importer.state)).toEqual([]);
  });
});

const stop = (): never => {
  throw new Error('stop');
};

describe('a service that is away', () => {
  test('is asked again until it answers', async () => {
    const shaken = new Importer();
    const seen = new Map<number, number>();
    const summary = await shaken.run([log], (request, isStored) => {
      seen.set(request, (seen.get(request) ?? 0) + 1);
      if (request % 2 === 1 && !isStored) later();
    });
    expect(summary).toEqual(expected);
    expect(shaken.said).toContain('Not now. Trying again for 1 min.');
    expect(shaken.said).toContain('The service answers again.');
    expect(await digestOf(shaken.app)).toEqual(await digestOf(whole.app));
  });

  test('ends the import after its patience, and the import can go on', async () => {
    const importer = new Importer();
    const impatient = importer.run([log], (request) => void (request > 1 && later()), { patienceMs: 0 });
    await expect(impatient).rejects.toThrow(
      'Not now. It took nothing for 0 s. Run the same command again to go on from here.',
    );
    const { events } = await importer.run([log]);
    expect(await rawOf(importer.app)).toBe(events);
  });

  test('is not asked twice if it never answered', async () => {
    const importer = new Importer();
    const failing = importer.run([log], () => {
      throw new Unavailable('Nobody is there.', false, null);
    });
    await expect(failing).rejects.toThrow('Nobody is there.');
    expect(importer.requests).toEqual([0]);
    expect(readdirSync(importer.state)).toEqual([]);
  });
});

describe('files', () => {
  test('of one command are one log, in any order', async () => {
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n').slice(0, 3_000);
    const parts = [0, 1, 2].map((part) => {
      const file = join(newFolder(), `part-${part}.log`);
      // Each holds every third line, backwards.
      writeFileSync(
        file,
        `${lines
          .filter((_, i) => i % 3 === part)
          .reverse()
          .join('\n')}\n`,
      );
      return file;
    });
    const all = join(newFolder(), 'all.log');
    writeFileSync(all, lines.join('\n'));
    const [one, three] = [new Importer(), new Importer()];
    const expected = await one.run([all]);
    expect(await three.run([...parts].reverse())).toEqual(expected);
    expect(await totalsOf(store.db, three.app.id)).toEqual(await totalsOf(store.db, one.app.id));
  });

  test.each(['gzip', 'zstd', 'bzip2'])('are unpacked by their content: %s', async (tool) => {
    const place = newFolder();
    const file = join(place, 'no-extension');
    // Two parts: compressed files may be joined.
    const text = readFileSync(log, 'utf8').split('\n').slice(0, 1_001).join('\n');
    const parts = [text.slice(0, 50_000), text.slice(50_000)];
    writeFileSync(file, Buffer.concat(parts.map((part) => execFileSync(tool, ['-c'], { input: part }))));
    const plain = join(place, 'plain');
    writeFileSync(plain, text);
    const [packed, unpacked] = [new Importer(), new Importer()];
    expect(await packed.run([file])).toEqual(await unpacked.run([plain]));
    const damaged = join(place, 'damaged');
    writeFileSync(damaged, readFileSync(file).subarray(0, 5_000));
    await expect(packed.run([damaged])).rejects.toThrow(
      `${damaged} is compressed with ${tool} and damaged (`,
    );
  });

  test.each(['zstd', 'bzip2'])('need the program %s', async (tool) => {
    const file = join(newFolder(), 'packed');
    writeFileSync(file, execFileSync(tool, ['-c'], { input: readFileSync(log).subarray(0, 10_000) }));
    const path = process.env['PATH'];
    process.env['PATH'] = folder;
    try {
      await expect(new Importer().run([file])).rejects.toThrow(
        `${file} is compressed with ${tool}, and there is no program ${tool} here to unpack it: install ${tool}.`,
      );
    } finally {
      process.env['PATH'] = path;
    }
  });

  test('may be patterns', async () => {
    const place = newFolder();
    for (const name of ['b.log', 'a.log', 'c.txt', '[x].log']) writeFileSync(join(place, name), '');
    const paths = (...names: string[]) => names.map((name) => join(place, name));
    expect(await filesOf([join(place, '{a,b}.log'), join(place, 'a.log')])).toEqual(paths('a.log', 'b.log'));
    expect(await filesOf(paths('[x].log'))).toEqual(paths('[x].log'));
    expect(await filesOf(['-'])).toBeNull();
    await expect(filesOf([join(place, '*.gz')])).rejects.toThrow('No file matches');
    await expect(filesOf(['-', 'a.log'])).rejects.toThrow('cannot be imported together');
  });

  test('of sessions and of requests are imported apart', async () => {
    const file = join(newFolder(), 'sessions.ndjson');
    writeFileSync(file, JSON.stringify(session('a')));
    await expect(new Importer().run([log, file])).rejects.toThrow(
      `${file} holds sessions, and the file before it requests: import them apart.`,
    );
  });
});

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0';
const caddy = (minute: number, extra: object = {}): string =>
  JSON.stringify({
    ts: (BEGIN + minute * 60_000) / 1000,
    request: { client_ip: '192.0.2.7', method: 'GET', uri: `/${minute}`, headers: { 'User-Agent': [AGENT] } },
    status: 200,
    ...extra,
  });
const CLOUDFRONT_HEAD =
  '#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent)';
const cloudFront = (minute: number): string => {
  const [date = '', time = ''] = new Date(BEGIN + minute * 60_000).toISOString().split(/[TZ.]/);
  return [date, time, '192.0.2.7', 'GET', `/${minute}`, '200', AGENT.replaceAll(' ', '%20')].join('\t');
};

describe('formats are recognised by content', () => {
  test.each([
    ['Caddy', [JSON.stringify({ level: 'info', msg: 'started' }), caddy(0), caddy(5), caddy(60)], 1],
    ['CloudFront', [CLOUDFRONT_HEAD, cloudFront(0), cloudFront(5), CLOUDFRONT_HEAD, cloudFront(60), 'x'], 1],
  ])('%s', async (_, lines, malformed) => {
    const importer = new Importer();
    const file = join(newFolder(), 'log');
    writeFileSync(file, lines.join('\n'));
    expect(await importer.run([file])).toEqual({
      lines: 4,
      sessions: 2,
      events: 3,
      skipped: { assets: 0, errors: 0, methods: 0, bots: 0, malformed },
      duplicates: 0,
    });
    expect(await totalsOf(store.db, importer.app.id)).toEqual(stored(2, 3));
  });

  test('and those of each file may differ', async () => {
    const [a, b] = [join(newFolder(), 'a'), join(newFolder(), 'b')];
    writeFileSync(a, caddy(0));
    writeFileSync(b, `${CLOUDFRONT_HEAD}\n${cloudFront(5)}`);
    // One visitor and one session.
    expect(await new Importer().run([a, b])).toMatchObject({ sessions: 1, events: 2 });
  });

  test('or given', async () => {
    const file = join(newFolder(), 'log');
    writeFileSync(file, caddy(0));
    const forced = new Importer().run([file], undefined, { format: 'combined' });
    await expect(forced).rejects.toThrow(
      `no line of ${file} can be read. Line 1: time: there is none in brackets`,
    );
  });
});

test('malformed and rejected lines are shown with their number', async () => {
  const file = join(newFolder(), 'wrong.ndjson');
  const late = {
    ...session('late', 1),
    events: [{ type: 'pageview', timestamp: '2031-01-01T00:00:00Z', path: '/' }],
  };
  const lines = [session('a'), '{broken', { id: 'no', startedAt: 7 }, late].map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one),
  );
  writeFileSync(file, lines.join('\n'));
  const importer = new Importer();
  expect(await importer.run([file])).toMatchObject({ lines: 4, events: 3, skipped: { malformed: 2 } });
  expect(importer.said).toContain(`malformed: ${file}, line 2: it is no JSON: {broken\n`);
  expect(importer.said).toContain(`rejected: ${file}, line 3: startedAt: must be`);
  expect(importer.said).toContain(`rejected: ${file}, line 4: event 1: timestamp:`);
});

test('a session of very many lines and one of very many characters are stored whole', async () => {
  const file = join(newFolder(), 'many.ndjson');
  const [event] = (session('x', 1) as { events: object[] }).events;
  const wide = { ...event, path: `/${'x'.repeat(1_000)}` };
  const lines = [
    ...Array.from({ length: 2_700 }, () => JSON.stringify({ ...session('many'), events: [event] })),
    JSON.stringify({ ...session('wide'), events: Array(300).fill(wide) }),
  ];
  writeFileSync(file, lines.join('\n'));
  const importer = new Importer();
  expect(await importer.run([file])).toMatchObject({ sessions: 2, events: 3_000, duplicates: 0 });
  expect(await importer.run([file])).toMatchObject({ sessions: 0, events: 0, duplicates: 3_000 });
  expect(await totalsOf(store.db, importer.app.id)).toEqual(stored(2, 3_000));
});
