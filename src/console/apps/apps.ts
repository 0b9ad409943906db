import { useMemo } from 'react';
import type { Data } from '../../client/index.ts';
import { type Loaded, useLoaded } from '../answers.ts';
import { type Answer, client } from '../api.ts';
import { type Link, useLink } from '../link/context.ts';

export type App = Data<'listApps'>[number];
/** A link to an app, for people without an account. */
export type AppLink = Answer<'GET /apps/:appId/links'>[number];

/** The apps that the account owns or sees. A link shows one. */
export function useApps(): Loaded<readonly App[]> {
  const link = useLink();
  const loaded = useLoaded(link === null ? 'listApps' : null, async (signal) => {
    const { data } = await client.listApps({}, { signal });
    return data;
  });
  const shown = useMemo(() => link && [appOf(link)], [link]);
  return shown === null ? loaded : { ...loaded, data: shown, isLoading: false };
}

const appOf = ({ appId, appName }: Link): App => ({
  id: appId,
  name: appName,
  domain: '',
  access: 'shared',
  createdAt: '',
});

export const analyticsOf = ({ id }: Pick<App, 'id'>): string => `/dashboard/apps/${id}`;
export const settingsOf = ({ id }: Pick<App, 'id'>): string => `/dashboard/apps/${id}/settings`;

/** The secrets that were made since the page was loaded. The service shows each of them once. */
const secrets = new Map<string, string>();
export const keepSecret = (appId: string, secret: string): void => void secrets.set(appId, secret);
export const keptSecret = (appId: string): string | null => secrets.get(appId) ?? null;
