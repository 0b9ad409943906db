import type { Answer } from '../api.ts';
import { useText } from '../i18n/use-text.ts';

export type Key = Answer<'GET /keys'>[number];

/** The name that a person gives the key. */
export function useNameOf(): (key: Pick<Key, 'name' | 'prefix'>) => string {
  const { keys } = useText();
  return ({ name, prefix }) => name ?? prefix ?? keys.unnamed;
}
