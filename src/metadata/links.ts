import { randomUUID } from 'node:crypto';
import { batched, byKey } from '../domain/batched.ts';
import { AppError } from '../domain/errors.ts';
import { type AppId, keyId, type LinkId, linkId } from '../domain/ids.ts';
import type { EpochMs } from '../domain/time.ts';
import type { Accounts } from './accounts.ts';
import { type Apps, appLock } from './apps.ts';
import { hashCredential, linkOfToken, newLinkToken, sameHash } from './credentials.ts';
import { FreshCache } from './fresh-cache.ts';
import {
  type AppLink,
  isValid,
  LINKS_BY_ID,
  LINKS_OF_APP,
  type LinkRow,
  linkColumns,
  linkOf,
  segmentOf,
} from './link-rows.ts';
import { PLANS } from './plans.ts';
import { CACHED, hasExpired, LOOK_UP, type MetadataParts } from './rows.ts';
import type { Principal, Shown } from './types.ts';

/** A new link: the only answer that shows its token. */
export interface CreatedLink extends AppLink {
  readonly token: string;
}

/** What an owner says of a new link. Validated already. */
export interface NewLink {
  readonly name: string;
  /** Empty: all sessions. */
  readonly segment: string;
  readonly origins: readonly string[];
  readonly expiresAt: EpochMs | null;
}

/** Somebody who opened a link. */
export interface LinkCaller extends Principal {
  readonly only: Shown;
}

/** Of an app at once. Each has a rate window of its own. */
const MOST_VALID_LINKS = 100;

export type Links = ReturnType<typeof linksIn>;

/** Links to the analytics of one app, for people without an account. */
export function linksIn(
  { db, changes, clock, locks, nextVersion }: MetadataParts,
  accounts: Accounts,
  apps: Apps,
) {
  const cache = new FreshCache<LinkRow>({
    kind: 'link',
    changes,
    max: CACHED,
    load: batched(async (links) => byKey(await db.query(LINKS_BY_ID, { links }, LOOK_UP), ({ id }) => id)),
  });

  const write = async (row: LinkRow): Promise<void> => {
    try {
      await db.insert('app_links', [linkColumns(row)]);
    } finally {
      cache.invalidate(row.id);
    }
  };

  /** Changes a link of an app, in turn with other changes of the app. Throws `not_found`. */
  const change = (app: AppId, link: LinkId, changed: (row: LinkRow) => LinkRow): Promise<AppLink> =>
    locks.withLock(appLock(app), async (assertHeld) => {
      await apps.get(app);
      const [row] = await db.query(LINKS_BY_ID, { links: [link] });
      if (row === undefined || row.app !== app) throw noLink(link);
      const next = changed(row);
      if (next !== row) {
        await assertHeld();
        await write({ ...next, version: nextVersion(row.version) });
      }
      return linkOf(next, clock());
    });

  /** Returns the row of a link that is valid now, with the owner of its app. The state is at most 4.5 s old. */
  const valid = async (link: LinkId) => {
    const row = await cache.get(link);
    if (row === null || !isValid(row, clock())) return null;
    const app = await apps.cached(row.app);
    const account = app && (await accounts.cached(app.account));
    return account === null ? null : { row, account };
  };

  return {
    /** Resolves to null alike for a token that is malformed, unknown, expired or revoked, and for one of a deleted app. */
    async authenticate(token: string): Promise<LinkCaller | null> {
      const id = linkOfToken(token);
      const found = id && (await valid(id));
      if (found === null || !sameHash(found.row.hash, hashCredential(token))) return null;
      const { row, account } = found;
      const segment = segmentOf(row);
      if (segment === undefined) return null;
      return {
        accountId: account.id,
        keyId: keyId(row.id),
        plan: PLANS[account.plan],
        actor: `link ${row.id}`,
        only: { app: row.app, segment },
      };
    },

    /** Returns a link that is valid now, by its id alone; null if there is none. */
    async find(link: LinkId): Promise<AppLink | null> {
      const found = await valid(link);
      return found && linkOf(found.row, clock());
    },

    /** The newest first. Throws `not_found` for an unknown app. */
    async list(app: AppId): Promise<AppLink[]> {
      await apps.get(app);
      return (await db.query(LINKS_OF_APP, { app })).map((row) => linkOf(row, clock()));
    },

    /** Throws `validation_failed` for an expiry that is not in the future, and `plan_blocked` if there are too many. */
    create(app: AppId, { name, segment, origins, expiresAt }: NewLink): Promise<CreatedLink> {
      return locks.withLock(appLock(app), async (assertHeld) => {
        await apps.get(app);
        const now = clock();
        if (hasExpired(expiresAt, now)) throw expiryIsPast();
        const rows = await db.query(LINKS_OF_APP, { app });
        if (rows.filter((row) => isValid(row, now)).length >= MOST_VALID_LINKS) throw tooManyLinks();
        const id = linkId(randomUUID());
        const token = newLinkToken(id);
        const row: LinkRow = {
          id,
          app,
          hash: hashCredential(token),
          name,
          segment,
          origins,
          createdAt: now,
          expiresAt,
          revokedAt: null,
          version: nextVersion(),
        };
        await assertHeld();
        await write(row);
        return { ...linkOf(row, now), token };
      });
    },

    /** Ends a link. A repetition succeeds, and leaves the first time of revocation. */
    revoke: (app: AppId, link: LinkId): Promise<AppLink> =>
      change(app, link, (row) => (row.revokedAt === null ? { ...row, revokedAt: clock() } : row)),

    /** Sets which sites may show a link in a frame. `origins` are validated already. */
    setOrigins: (app: AppId, link: LinkId, origins: readonly string[]): Promise<AppLink> =>
      change(app, link, (row) => ({ ...row, origins })),
  };
}

const noLink = (link: LinkId): AppError => new AppError('not_found', `The app has no link ${link}.`);

const expiryIsPast = (): AppError =>
  new AppError('validation_failed', 'One or more fields are invalid.', {
    errors: [{ field: 'expiresAt', message: 'Must be in the future.' }],
  });

const tooManyLinks = (): AppError =>
  new AppError(
    'plan_blocked',
    `An app may have ${MOST_VALID_LINKS} valid links at once: revoke one that is no longer used.`,
  );
