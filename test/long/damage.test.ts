import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Outcome,
  outcomeOf,
  type PartFile,
  partFiles,
  type Sound,
  soundStore,
  WAYS,
} from '../support/damage.ts';

/*
 * Damages files of the parts of every table, one at a time. The answers are right, refused or computed again, and never
 * wrong. DAMAGES says how many of the kinds are tried, drawn by chance; `all` is each table's each file in each way.
 */

const { DAMAGES = '12' } = process.env;
/** For a machine that does much else. 0: as long as it takes. */
const LONGEST_MS = DAMAGES === 'all' ? 0 : Number(DAMAGES) * 100_000;

let sound: Sound;

beforeAll(async () => {
  sound = await soundStore();
});
afterAll(() => sound.remove());

interface Try {
  readonly file: PartFile;
  readonly way: string;
}

/** One file of each name in each table, in each way. */
function tries(): Try[] {
  const files = new Map(partFiles(sound.dataDir).map((file) => [`${file.table}/${file.name}`, file]));
  return [...files.values()].flatMap((file) => Object.keys(WAYS).map((way) => ({ file, way })));
}

const drawn = <T>(all: readonly T[], count: number): T[] =>
  all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, count)
    .map(({ one }) => one);

test(
  'a damaged file of any table: right, refused or computed again, and never wrong',
  async () => {
    const all = tries();
    const wrong: string[] = [];
    const counts: Record<Outcome['kind'], number> = { right: 0, refused: 0, rebuilt: 0, wrong: 0 };
    for (const { file, way } of DAMAGES === 'all' ? all : drawn(all, Number(DAMAGES))) {
      const { kind, what } = await outcomeOf(sound, file, way);
      counts[kind]++;
      if (kind === 'wrong') wrong.push(`${file.table} ${file.name} ${way}: ${what}`);
    }
    expect({ wrong, counts }).toEqual({ wrong: [], counts: { ...counts, wrong: 0 } });
  },
  LONGEST_MS,
);
