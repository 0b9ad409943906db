import { resolve } from 'node:path';
import type { EpochMs } from '../../domain/time.ts';
import { CliError } from '../cli-error.ts';
import { Delivery } from './delivery.ts';
import type { Format } from './formats.ts';
import { Moved } from './input.ts';
import { CHUNK, type ChunkSize, LogItems, SentItems } from './items.ts';
import { patientSend, type Send } from './patience.ts';
import { Progress, type Screen } from './progress.ts';
import { readSources } from './read.ts';
import { Samples } from './samples.ts';
import { mergeRuns } from './spool.ts';
import { NOTHING_SENT, type ReadPart, type SentPart, type Source, StateFolder, sourceOf } from './state.ts';

/**
 * The result of an import. For access logs without blank lines and comments, `lines` = `events` + skipped +
 * `duplicates`.
 */
export interface ImportSummary {
  readonly lines: number;
  /** Sessions and events that this import stored. */
  readonly sessions: number;
  readonly events: number;
  readonly skipped: Readonly<Record<'assets' | 'errors' | 'methods' | 'bots' | 'malformed', number>>;
  /** Events that were skipped because they are stored already. */
  readonly duplicates: number;
}

export interface ImportOptions {
  /** Paths; null is standard input, which stands alone. */
  readonly files: readonly string[] | null;
  readonly app: string;
  /** Null: by the content of each file. */
  readonly format: Format | null;
  readonly now: EpochMs;
  /** Folders of imports that can be continued are below this one. */
  readonly stateRoot: string;
  /** Sends sessions to the service, as the JSON text of an import's body. Resolves to the parsed answer. */
  readonly send: Send;
  /** For how long a service that does not answer is asked again. */
  readonly patienceMs: number;
  /** The most that a request holds; by default the size that the service stores best. */
  readonly chunk?: ChunkSize;
  readonly screen: Screen;
}

/**
 * Imports files in three steps: they are read and their records sorted on disk; the sorted records become
 * sessions, in chunks; the chunks are sent. Memory is bounded in each step. The state folder says how many
 * chunks were acknowledged. An interrupted import makes the same chunks again from the sorted records, and
 * goes on after those. Rejects with CliError.
 */
export async function importFiles(options: ImportOptions): Promise<ImportSummary> {
  const { files, app, format, stateRoot, screen } = options;
  const progress = new Progress(screen);
  const say = (text: string): void => progress.say(text);
  const send = patientSend(options.send, options.patienceMs, say);
  // Finds a wrong address or app before anything is read.
  await send('{"sessions":[]}');
  const identity = files === null ? `stdin ${process.pid}` : files.map((file) => resolve(file)).join('\n');
  const folder = await StateFolder.hold(stateRoot, `${app} ${format ?? ''}\n${identity}`);
  let isOver = files === null;
  const stopListening = onStop((code) => {
    folder.leave(!isOver);
    say(isOver ? 'Interrupted.' : 'Interrupted. Run the same command again to go on from here.');
    process.exit(code);
  });
  try {
    const { sources, read, sent } = await begin({ ...options, folder, progress });
    const { sums, repeated } = await deliver({ ...options, send, folder, sources, progress }, read, sent);
    isOver = true;
    return summaryOf(read, { ...sums, duplicates: sums.duplicates + repeated }, say);
  } finally {
    stopListening();
    // Nothing is kept of standard input, which cannot be read from its middle, nor of files that were not read to the end.
    await (isOver || folder.read() === null ? folder.remove() : folder.release());
  }
}

/** Calls `stop` with the exit code when somebody ends the process. Returns how to call it off. */
function onStop(stop: (code: number) => void): () => void {
  const [interrupt, terminate] = [() => stop(130), () => stop(143)];
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', terminate);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', terminate);
  };
}

interface Run extends ImportOptions {
  readonly folder: StateFolder;
  readonly progress: Progress;
}

interface Begun {
  readonly sources: readonly Source[];
  readonly read: ReadPart;
  readonly sent: SentPart;
}

/** How often files are read that are rotated meanwhile. */
const MOST_READS = 3;

/** Finds the records that an earlier run has left, or reads the files. */
async function begin(run: Run): Promise<Begun> {
  for (let reads = 1; ; reads++) {
    const sources = await Promise.all((run.files ?? []).map(sourceOf));
    try {
      return { sources, ...(await recordsOf(run, sources)) };
    } catch (error) {
      if (!(error instanceof Moved) || reads === MOST_READS) throw error;
    }
  }
}

async function recordsOf(run: Run, sources: readonly Source[]): Promise<Omit<Begun, 'sources'>> {
  const { folder, progress, files } = run;
  const known = folder.read();
  if (known !== null && JSON.stringify(known.sources) === JSON.stringify(sources)) {
    const { read, sent } = known;
    progress.say(`Goes on where it was interrupted: ${sent.events + sent.duplicates} events are delivered.`);
    return { read, sent };
  }
  if (known !== null) {
    const changed = sources.filter(
      (source, i) => JSON.stringify(source) !== JSON.stringify(known.sources[i]),
    );
    progress.say(
      `${changed.map(({ path }) => path).join(', ')} changed since the import was interrupted: it begins again. ` +
        'Events that are stored already are skipped.',
    );
  }
  await folder.empty();
  const read = await readSources({ ...run, sources });
  if (files !== null) folder.write({ sources, read, sent: NOTHING_SENT });
  return { read, sent: NOTHING_SENT };
}

async function deliver(
  run: Run & Pick<Begun, 'sources'>,
  read: ReadPart,
  sent: SentPart,
): Promise<{ sums: SentPart; repeated: number }> {
  const { folder, sources, files, progress } = run;
  const { chunk = CHUNK } = run;
  const samples = new Samples('rejected', files ?? ['standard input'], (text) => progress.say(text));
  let records = 0;
  const delivery = new Delivery({
    kind: read.kind,
    chunk,
    send: run.send,
    sent,
    acknowledged: (sums) => {
      if (files !== null) folder.write({ sources, read, sent: sums });
      progress.show(() => ({
        done: sums.records,
        all: read.records,
        lines: sums.records,
        events: sums.events + sums.duplicates,
      }));
    },
    rejected: ({ item, event, message }) =>
      samples.add(item.input, item.line, event === null ? message : `event ${event + 1}: ${message}`),
  });
  const items = read.kind === 'sessions' ? new SentItems(run.now, chunk) : new LogItems(read.spans);
  progress.begin('Storing');
  for await (const batch of mergeRuns(folder.path, read.runs)) {
    for (const record of batch) {
      for (const item of items.add(record)) await delivery.add(item, records);
      records++;
    }
  }
  if (records !== read.records) {
    throw new CliError(`${folder.path} is damaged: delete it and run the import again.`);
  }
  for (const item of items.end()) await delivery.add(item, records);
  await delivery.end(records);
  samples.end();
  return { sums: delivery.sums, repeated: items.repeated };
}

function summaryOf(read: ReadPart, sums: SentPart, say: (text: string) => void): ImportSummary {
  const { sessions, events, duplicates, rejected } = sums;
  say(`${read.lines} lines read, ${events} events stored, ${duplicates} were stored already.`);
  if (rejected > 0) say(`${rejected} events were rejected.`);
  const skipped = {
    ...read.skipped,
    bots: read.skipped.bots + sums.bots,
    malformed: read.skipped.malformed + sums.malformed,
  };
  return { lines: read.lines, sessions, events, skipped, duplicates };
}
