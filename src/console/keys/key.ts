import type { Answer } from '../api.ts';
import { useText } from '../i18n/use-text.ts';

export type Key = Answer<'GET /keys'>[number];

/** What a person calls the key. */
export function useNameOf(): (key: Pick<Key, 'name' | 'prefix'>) => string {
  const { keys } = useText();
  return ({ name, prefix }) => name ?? prefix ?? keys.unnamed;
}
