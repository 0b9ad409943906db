import { beforeAll, expect, test } from 'vitest';
import { ConsoleAnswers } from '../../../src/http/console/schemas.ts';
import { openStream } from '../../support/event-stream.ts';
import type { Answer } from '../../support/http.ts';
import { withService } from '../operations.ts';
import { expectInvalid, type Tenant } from '../support.ts';
import {
  BEHIND_PROXY,
  cookieOf,
  expectProblem,
  type Person,
  personWith,
  redeem,
  signIn,
  viewer,
} from './support.ts';

const DAY_MS = 86_400_000;
const service = withService({ now: '2026-11-20T12:00:00Z', env: BEHIND_PROXY });
let mine: Tenant;
let owner: Person;
let looker: Person;
const ADA = 'ada@example.com';
beforeAll(async () => {
  mine = await service().newTenant();
  await service().metadata.setMember(mine.account, ADA, 'owner');
  owner = await signIn(service(), mine.account, ADA);
  looker = await viewer(service(), mine.account);
});

const invite = (email: string, role: string, person = owner): Promise<Answer> =>
  person.ask('/members', { method: 'POST', body: { email, role } });
const invited = async (email: string, role = 'viewer', person = owner) =>
  ConsoleAnswers['POST /members'].parse((await invite(email, role, person)).json);
const members = async (person = owner) =>
  ConsoleAnswers['GET /members'].parse((await person.ask('/members')).json);
const setRole = (email: string, role: string, person = owner): Promise<Answer> =>
  person.ask(`/members/${encodeURIComponent(email)}`, { method: 'PUT', body: { role } });
const remove = (email: string, person = owner): Promise<Answer> =>
  person.ask(`/members/${encodeURIComponent(email)}`, { method: 'DELETE' });

async function opened(token: string): Promise<Person> {
  const answer = await redeem(service(), token);
  expect(answer.status, answer.text).toBe(200);
  return personWith(service(), cookieOf(answer));
}

test('an owner invites by a link that works once, for 7 days; a newer one takes its place', async () => {
  const first = await invited('Bob@Example.com');
  expect(first).toMatchObject({ email: 'bob@example.com', role: 'viewer' });
  const now = service().clock.now().getTime();
  expect(Date.parse(first.expiresAt) - now).toBe(7 * DAY_MS);
  expect(await members()).toContainEqual({
    email: 'bob@example.com',
    role: 'viewer',
    linkUntil: first.expiresAt,
  });
  const second = await invited('bob@example.com');
  expectProblem(await redeem(service(), first.token), 'unauthorized');
  const bob = await opened(second.token);
  expectProblem(await redeem(service(), second.token), 'unauthorized');
  expect((await bob.ask('/session')).json).toMatchObject({ email: 'bob@example.com', role: 'viewer' });
  expect((await members()).find(({ email }) => email === 'bob@example.com')?.linkUntil).toBeNull();
});

test('an invitation that is too old, or withdrawn with the membership, opens nothing', async () => {
  const late = await invited('late@example.com');
  const gone = await invited('gone@example.com');
  expect((await remove('gone@example.com')).json).toEqual({ email: 'gone@example.com', removed: true });
  expectProblem(await redeem(service(), gone.token), 'unauthorized');
  const tenant = await service().newTenant();
  const person = await signIn(service(), tenant.account);
  const other = await invited('x@example.com', 'owner', person);
  service().clock.advance(7 * DAY_MS);
  for (const { token } of [late, other]) expectProblem(await redeem(service(), token), 'unauthorized');
  // The sessions have ended meanwhile.
  owner = await signIn(service(), mine.account, ADA);
  looker = await signIn(service(), mine.account, 'viewer@example.com');
});

test('an invitation proves no e-mail address: its session sees and reaches no other account of the person', async () => {
  const victim = 'victim@example.com';
  const home = await service().newTenant();
  await service().metadata.setMember(home.account, victim, 'owner');
  service().clock.advance(1);
  const { token } = await invited(victim, 'owner');
  const thief = await opened(token);
  const { accounts } = ConsoleAnswers['GET /session'].parse((await thief.ask('/session')).json);
  expect(accounts.map(({ accountId }) => accountId)).toEqual([mine.account]);
  const choose = { method: 'PUT', body: { accountId: home.account } };
  expectProblem(await thief.ask('/session/account', choose), 'not_found');
  // Nor by going round in a circle.
  const again = { method: 'PUT', body: { accountId: mine.account } };
  expectProblem(await thief.ask('/session/account', again), 'not_found');
  // Nor does it lead the person's own sign-in elsewhere: the oldest membership is the first, also after a change.
  await service().metadata.setMember(home.account, victim, 'viewer');
  await service().metadata.setMember(home.account, victim, 'owner');
  const [first] = await service().metadata.accountsOfPerson(victim);
  expect(first?.accountId).toBe(home.account);
  // The person's own sign-in reaches both.
  const own = await signIn(service(), home.account, victim);
  const session = ConsoleAnswers['GET /session'].parse((await own.ask('/session')).json);
  expect(session.accounts).toHaveLength(2);
  await remove(victim);
});

test('a removed member is out at once, also with an open stream', async () => {
  const { token } = await invited('eve@example.com', 'owner');
  const eve = await opened(token);
  const path = `/dashboard/api/v1/sessions/pageviews?appId=${mine.app}`;
  const stream = await openStream(service().url, path, { headers: { Cookie: eve.cookie } });
  await stream.next();
  expect((await remove('eve@example.com')).status).toBe(200);
  expectProblem(await eve.ask('/session'), 'unauthorized');
  expectProblem(await invite('friend@example.com', 'owner', eve), 'unauthorized');
  const last = await stream.next();
  expect([last?.event, JSON.parse(last?.data ?? '').code]).toEqual(['end', 'unauthorized']);
  stream.close();
  expectProblem(await remove('eve@example.com'), 'not_found');
});

test('an invitation never changes the role of a member: another role is refused, and the same one gives another link', async () => {
  for (const [role, another] of [
    ['viewer', 'owner'],
    ['owner', 'viewer'],
  ] as const) {
    const email = `${role}@members.example`;
    const { token } = await invited(email, role);
    expect(expectInvalid(await invite(email.toUpperCase(), another))).toEqual([
      { field: 'role', message: 'The person is a member with another role: change the role first.' },
    ]);
    // The refused one made no link, and left the one that is there.
    const person = await opened(token);
    expect((await person.ask('/session')).json).toMatchObject({ email, role });
    expect(await invited(email, role)).toMatchObject({ email, role });
    expect((await person.ask('/session')).status).toBe(200);
    expect((await setRole(email, another)).json).toEqual({ email, role: another });
    expect(await invited(email, another)).toMatchObject({ email, role: another });
    await remove(email);
    // Somebody who was a member once is none.
    expect(await invited(email, role)).toMatchObject({ email, role });
    await remove(email);
  }
});

test('a role changes at once, and the last owner stays one', async () => {
  const { token } = await invited('carl@example.com', 'viewer');
  const carl = await opened(token);
  expectProblem(await invite('x@example.com', 'viewer', carl), 'forbidden');
  expect((await setRole('carl@example.com', 'owner')).json).toEqual({
    email: 'carl@example.com',
    role: 'owner',
  });
  expect((await setRole(ADA, 'viewer', carl)).status).toBe(200);
  expectProblem(await setRole('carl@example.com', 'viewer'), 'forbidden');
  // Carl is the only owner now.
  for (const refused of [
    await setRole('carl@example.com', 'viewer', carl),
    await remove('carl@example.com', carl),
  ]) {
    expectProblem(refused, 'forbidden');
  }
  await setRole(ADA, 'owner', carl);
  // Of two owners who remove each other, one stays.
  const answers = await Promise.all([remove(ADA, carl), remove('carl@example.com', owner)]);
  expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  expect(
    (await service().metadata.listMembers(mine.account)).filter(({ role }) => role === 'owner'),
  ).toHaveLength(1);
  await service().metadata.setMember(mine.account, ADA, 'owner');
  owner = await signIn(service(), mine.account, ADA);
});

test('a viewer and other accounts change nothing; wrong input is named', async () => {
  const stranger = await signIn(service(), (await service().newAccount()).account);
  for (const ask of [
    invite('y@example.com', 'viewer', looker),
    setRole(ADA, 'viewer', looker),
    remove(ADA, looker),
  ])
    expectProblem(await ask, 'forbidden');
  for (const ask of [setRole(ADA, 'viewer', stranger), remove(ADA, stranger)])
    expectProblem(await ask, 'not_found');
  expect(await members(stranger)).toEqual([]);
  expect((await members(looker)).map(({ email }) => email)).toContain(ADA);
  const fields = (answer: Answer) => expectInvalid(answer).map(({ field }) => field);
  expect(fields(await invite('nobody', 'viewer'))).toEqual(['email']);
  expect(fields(await invite('\u212aate@example.com', 'viewer'))).toEqual(['email']);
  expect(fields(await invite('z@example.com', 'admin'))).toEqual(['role']);
  const headers = { Origin: 'https://evil.example' };
  const body = { email: 'z@example.com', role: 'owner' };
  expectProblem(await owner.ask('/members', { method: 'POST', body, headers }), 'forbidden');
});

test('the audit says who invited and removed whom', async () => {
  await invited('audited@example.com');
  await remove('audited@example.com');
  const entries = ConsoleAnswers['GET /audit'].parse((await owner.ask('/audit')).json);
  const said = entries
    .filter(({ subject }) => subject === 'audited@example.com')
    .map(({ actor, action, outcome }) => `${actor} ${action} ${outcome}`);
  expect(said.sort()).toEqual(
    [`${ADA} member.set done`, `${ADA} link.create done`, `${ADA} member.remove done`].sort(),
  );
});
