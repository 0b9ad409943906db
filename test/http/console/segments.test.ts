import { beforeAll, expect, test } from 'vitest';
import type { AccountId } from '../../../src/domain/ids.ts';
import { ConsoleAnswers } from '../../../src/http/console/schemas.ts';
import type { Answer } from '../../support/http.ts';
import { withService } from '../operations.ts';
import { BEHIND_PROXY, expectProblem, type Person, signIn, viewer } from './support.ts';

const service = withService({ env: BEHIND_PROXY });
let account: AccountId;
let owner: Person;
let looker: Person;
let stranger: Person;
beforeAll(async () => {
  ({ account } = await service().newAccount());
  owner = await signIn(service(), account);
  looker = await viewer(service(), account);
  stranger = await signIn(service(), (await service().newAccount()).account);
});

function valid<R extends keyof ConsoleAnswers>(route: R, answer: Answer): ConsoleAnswers[R] {
  expect(answer.status, answer.text).toBeLessThan(300);
  return ConsoleAnswers[route].parse(answer.json) as ConsoleAnswers[R];
}

const MINE = { name: 'Phones in Iran', segment: 'country==IR;device==mobile' };
const save = (person: Person, body: unknown) =>
  person.ask('/segments', { method: 'POST', body: body as object });
const listed = async (person: Person) => valid('GET /segments', await person.ask('/segments'));

test('an owner saves, renames and deletes; a viewer of the account sees them, another account does not', async () => {
  const saved = valid('POST /segments', await save(owner, MINE));
  expect(saved).toEqual({ segmentId: saved.segmentId, ...MINE });
  expect(await listed(looker)).toEqual([saved]);
  expect(await listed(stranger)).toEqual([]);
  const at = `/segments/${saved.segmentId}`;
  const changed = { name: ' Phones ', segment: 'device==mobile' };
  const put = { method: 'PUT', body: changed };
  expectProblem(await looker.ask(at, put), 'forbidden');
  expectProblem(await looker.ask(at, { method: 'DELETE' }), 'forbidden');
  expectProblem(await save(looker, MINE), 'forbidden');
  expectProblem(await stranger.ask(at, put), 'not_found');
  expectProblem(await stranger.ask(at, { method: 'DELETE' }), 'not_found');
  const after = valid('PUT /segments/:segmentId', await owner.ask(at, put));
  expect(after).toEqual({ segmentId: saved.segmentId, name: 'Phones', segment: 'device==mobile' });
  expect(await listed(looker)).toEqual([after]);
  valid('DELETE /segments/:segmentId', await owner.ask(at, { method: 'DELETE' }));
  expect(await listed(owner)).toEqual([]);
  expectProblem(await owner.ask(at, { method: 'DELETE' }), 'not_found');
  const deeds = valid('GET /audit', await owner.ask('/audit'))
    .filter(({ action }) => action.startsWith('segment.'))
    .map(({ action, subject, details, outcome }) => [action, subject, details['name'], outcome]);
  // A refused request that names no segment of the account is no deed of it.
  expect(deeds.toReversed()).toEqual([
    ['segment.create', saved.segmentId, 'Phones in Iran', 'done'],
    ['segment.change', saved.segmentId, 'Phones', 'done'],
    ['segment.delete', saved.segmentId, 'Phones', 'done'],
  ]);
});

test('a name is there once, whatever its case, and can be used again after a deletion', async () => {
  const { segmentId } = valid('POST /segments', await save(owner, { ...MINE, name: 'Café' }));
  for (const name of ['CAFÉ', 'Cafe\u0301']) {
    expectProblem(await save(owner, { ...MINE, name }), 'validation_failed');
  }
  const other = valid('POST /segments', await save(owner, { ...MINE, name: 'Other' }));
  const rename = (name: string) =>
    owner.ask(`/segments/${other.segmentId}`, { method: 'PUT', body: { ...MINE, name } });
  expectProblem(await rename('café'), 'validation_failed');
  valid('PUT /segments/:segmentId', await rename('OTHER'));
  expect((await listed(owner)).map(({ name }) => name)).toEqual(['Café', 'OTHER']);
  valid('DELETE /segments/:segmentId', await owner.ask(`/segments/${segmentId}`, { method: 'DELETE' }));
  valid('POST /segments', await save(owner, { ...MINE, name: 'café' }));
});

test.each([
  ['no name', { ...MINE, name: ' ' }],
  ['a long name', { ...MINE, name: 'n'.repeat(101) }],
  ['no segment', { name: 'Empty', segment: '' }],
  ['what the Public API refuses', { name: 'Wrong', segment: 'planet==Mars' }],
  ['an unknown field', { ...MINE, name: 'More', more: 1 }],
])('refuses %s', async (_, body) => {
  expectProblem(await save(owner, body), 'validation_failed');
});

test('the longest segment that is possible is saved', async () => {
  const segment = `page==${'😀'.repeat(4_090)}`;
  const saved = valid('POST /segments', await save(owner, { name: 'Long', segment }));
  expect(saved.segment).toBe(segment);
});

test('an account has at most 100, and two at once do not pass the limit', async () => {
  const own = (await service().newAccount()).account;
  const person = await signIn(service(), own);
  const answers = await Promise.all(
    Array.from({ length: 102 }, (_, i) => save(person, { ...MINE, name: `Segment ${i}` })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(100);
  for (const refused of answers.filter(({ status }) => status !== 201)) {
    expect(expectProblem(refused, 'validation_failed').errors?.[0]?.message).toContain('100 saved segments');
  }
  await service().metadata.deleteAccount(own);
  await service().metadata.resumeDeletions();
});
