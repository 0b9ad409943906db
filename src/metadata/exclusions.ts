import type { AppId } from '../domain/ids.ts';
import { type Apps, appLock } from './apps.ts';
import { EXCLUSIONS } from './exclusion-rows.ts';
import type { MetadataParts } from './rows.ts';

/** The addresses whose events an app leaves out. */
export interface Exclusions {
  readonly appId: AppId;
  /** Ranges: `192.0.2.0/24`, `2001:db8::/32`. */
  readonly addresses: readonly string[];
}

export type ExclusionsOfApps = ReturnType<typeof exclusionsIn>;

export function exclusionsIn({ db, locks, nextVersion }: MetadataParts, apps: Apps) {
  return {
    /** Throws `not_found`. */
    async get(app: AppId): Promise<Exclusions> {
      await apps.get(app);
      const [row] = await db.query(EXCLUSIONS, { apps: [app] });
      return { appId: app, addresses: row?.addresses ?? [] };
    },

    /** Replaces the list. `addresses` are validated already. Throws `not_found`. */
    set(app: AppId, addresses: readonly string[]): Promise<Exclusions> {
      return locks.withLock(appLock(app), async (assertHeld) => {
        await apps.get(app);
        const [before] = await db.query(EXCLUSIONS, { apps: [app] });
        await assertHeld();
        try {
          await db.insert('app_exclusions', [
            { app_id: app, addresses, version: nextVersion(before?.version) },
          ]);
        } finally {
          apps.invalidate(app);
        }
        return { appId: app, addresses };
      });
    },
  };
}
