import { PATHS } from '../../client/client.ts';
import type { LiveQuestion, Params } from '../../client/index.ts';

/** The call of the Public API that gives the figures of a panel. The reader's key is in `$KEY`. */
export function curlOf<Q extends LiveQuestion>(origin: string, question: Q, params: Params<Q>): string {
  const search = new URLSearchParams(
    Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const address = `${origin}${PATHS[question]}?${search.toString().replaceAll('%3A', ':')}`;
  return `curl -s -H "Authorization: Bearer $KEY" '${address}'`;
}
