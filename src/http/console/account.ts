import { AppError } from '../../domain/errors.ts';
import type { AccountId, AppId, KeyId } from '../../domain/ids.ts';
import { type EpochMs, epochMs, floorTo, HOUR_MS, toIso } from '../../domain/time.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { isBound, type Session } from '../../metadata/sessions.ts';
import type { ConsoleAnswers } from './schemas.ts';

const HOURS = 24;

/** A session with the accounts that its person may choose. */
export async function sessionAnswer(
  metadata: Metadata,
  session: Session,
): Promise<ConsoleAnswers['GET /session']> {
  const { account, email, role, expiresAt } = session;
  const found = await metadata.findAccount(account);
  if (found === null) throw new AppError('not_found', 'The account does not exist any more.');
  const memberships = isBound(session)
    ? [{ accountId: account, role }]
    : await metadata.accountsOfPerson(email);
  const accounts = await Promise.all(
    memberships.map(async ({ accountId, role }) => {
      const name = (await metadata.findAccount(accountId))?.name ?? '';
      return { accountId, name, role };
    }),
  );
  return { account: found, email: email || null, role, expiresAt: toIso(expiresAt), accounts };
}

/** Throws `not_found` for a key of another account, as for one that does not exist. */
export async function assertOwnKey(metadata: Metadata, account: AccountId, key: KeyId): Promise<void> {
  const keys = await metadata.listKeys(account);
  if (!keys.some(({ keyId }) => keyId === key)) {
    throw new AppError('not_found', `There is no API key ${key}.`);
  }
}

/** Throws `not_found` for an app that the account does not own. */
export async function ownApp(metadata: Metadata, account: AccountId, app: AppId) {
  const found = (await metadata.listApps(account)).find(({ id, access }) => id === app && access === 'owner');
  if (found === undefined) throw new AppError('not_found', `The account owns no app ${app}.`);
  return found;
}

/** The requests of each key in each of the last 24 UTC hours. */
export async function usageAnswer(
  metadata: Metadata,
  account: AccountId,
  { now, requestsPerMinute }: { readonly now: EpochMs; readonly requestsPerMinute: number },
): Promise<ConsoleAnswers['GET /usage']> {
  const [keys, counts] = await Promise.all([metadata.listKeys(account), metadata.requestsOfKeys(account)]);
  const first = floorTo(now, HOUR_MS) - (HOURS - 1) * HOUR_MS;
  const hours = Array.from({ length: HOURS }, (_, i) => toIso(epochMs(first + i * HOUR_MS)));
  const counted = new Map(counts.map((each) => [`${each.keyId} ${each.hour}`, each]));
  return {
    requestsPerMinute,
    keys: keys.map(({ keyId, name }) => ({
      keyId,
      name,
      hours: hours.map((hour) => {
        const { requests = 0, limited = 0 } = counted.get(`${keyId} ${hour}`) ?? {};
        return { hour, requests, limited };
      }),
    })),
  };
}
