import { PLANS } from '../metadata/plans.ts';
import { assertList, assertMembers, assertObject, assertOneOf, assertText } from './strict.ts';

const EVENT_TYPES = ['pageview', 'click', 'error', 'engagement', 'custom'];
const EVENT = ['type', 'path', 'timestamp', 'target', 'message', 'durationMs', 'name', 'properties'];
const CONTEXT = ['referrer', 'utm', 'language', 'screen', 'userAgent', 'location'];

/** Throws an Error that names the first part of a seed that has another form. Nothing of it is planted then. */
export function assertSeed(seed: unknown): void {
  assertMembers('a seed', seed, ['accounts']);
  each('accounts', (seed as Members)['accounts'], (what, account) => {
    assertMembers(what, account, ['name', 'plan', 'keys', 'apps']);
    if (account['plan'] !== undefined) assertOneOf(`${what}: plan`, account['plan'], Object.keys(PLANS));
    optional(`${what}: keys`, account['keys'], assertKey);
    optional(`${what}: apps`, account['apps'], assertApp);
  });
}

/** Throws an Error that names the first session of another form. */
export function assertSessions(what: string, sessions: unknown): void {
  each(what, sessions, (at, session) => {
    assertMembers(at, session, ['startedAt', 'events', 'id', 'visitorId', 'context']);
    assertContext(`${at}: context`, session['context']);
    each(`${at}: events`, session['events'], (which, event) => {
      assertMembers(which, event, EVENT);
      assertOneOf(`${which}: type`, event['type'], EVENT_TYPES);
    });
  });
}

/** Throws an Error unless this is an app as the service's answer to its creation has it. */
export function assertCreatedApp(app: unknown): void {
  assertObject('the app', app);
  for (const name of ['id', 'name', 'domain', 'secretKey'])
    assertText(`the app: ${name}`, (app as Members)[name]);
}

type Members = Readonly<Record<string, unknown>>;
type Check = (what: string, item: Members) => void;

const assertKey: Check = (what, key) => {
  assertMembers(what, key, ['name', 'expiresAt', 'revoked']);
  if (key['revoked'] !== undefined) assertOneOf(`${what}: revoked`, key['revoked'], [true, false]);
};

const assertApp: Check = (what, app) => {
  assertMembers(what, app, ['name', 'domain', 'sharedWith', 'sessions']);
  if (app['sharedWith'] !== undefined) assertList(`${what}: sharedWith`, app['sharedWith']);
  if (app['sessions'] !== undefined) assertSessions(`${what}: sessions`, app['sessions']);
};

function assertContext(what: string, context: unknown): void {
  if (context === undefined) return;
  assertMembers(what, context, CONTEXT);
  const { utm, location } = context as Members;
  if (utm !== undefined)
    assertMembers(`${what}: utm`, utm, ['source', 'medium', 'campaign', 'term', 'content']);
  const places = ['country', 'region', 'city', 'latitude', 'longitude'];
  if (location !== undefined) assertMembers(`${what}: location`, location, places);
}

function optional(what: string, items: unknown, check: Check): void {
  if (items !== undefined) each(what, items, check);
}

function each(what: string, items: unknown, check: Check): void {
  assertList(what, items);
  for (const [index, item] of (items as readonly Members[]).entries()) check(`${what}[${index}]`, item);
}
