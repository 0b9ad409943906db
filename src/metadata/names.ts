import { z } from 'zod';
import { trimBlanks } from '../domain/blank.ts';
import { isHostname, parseUrl } from '../domain/host.ts';

const MAX_NAME = 100;
const ORIGIN = /^https?:\/\/(?:\[[0-9a-f:.]+\]|[^\s\p{Cc}/?#@\\%:[\]]+)(?::\d{1,5})?\/?$/iu;
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** An app's or account's display name: 1 to 100 code points after trimming, no control characters. */
export const AppName = z
  .string()
  .overwrite(trimBlanks)
  .refine((name) => name !== '', 'must not be empty')
  .refine((name) => [...name].length <= MAX_NAME, `must have at most ${MAX_NAME} characters`)
  .refine((name) => !/\p{Cc}/u.test(name), 'must not contain control characters')
  .refine((name) => !/\p{Cs}/u.test(name), 'must be well-formed Unicode')
  .meta({ description: 'Display name: 1 to 100 characters after trimming, no control characters.' });

/**
 * An http or https origin, normalised: lower case, IDN as punycode, without the scheme's default port and
 * without a trailing slash.
 */
export const AppDomain = z
  .string()
  .transform((text, ctx) => {
    const origin = parseOrigin(text);
    if (origin !== null) return origin;
    ctx.addIssue({
      code: 'custom',
      message:
        'must be an http or https origin: scheme, host and optional port, such as https://example.com, ' +
        'without path, query, fragment, user info or white space',
    });
    return z.NEVER;
  })
  .meta({
    description: 'An http or https origin: scheme, host and optional port.',
    example: 'https://example.com',
  });

/** Host and port of a normalised domain, which an account can use once. The scheme is not compared. */
export const hostOf = (domain: string): string => new URL(domain).host;

function parseOrigin(text: string): string | null {
  // The URL parser repairs tabs, backslashes and missing slashes. Hence the form is checked first.
  const url = ORIGIN.test(text) ? parseUrl(text) : null;
  if (url === null) return null;
  // The parser also writes short addresses in full: http://1 would become http://0.0.0.1.
  const isShort = IPV4.test(url.hostname) && !text.includes(url.hostname);
  return isHost(url.hostname) && !isShort && url.port !== '0' ? url.origin : null;
}

const isHost = (hostname: string): boolean =>
  hostname.startsWith('[') ||
  (isHostname(hostname) && hostname.split('.').every((label) => LABEL.test(label)));
