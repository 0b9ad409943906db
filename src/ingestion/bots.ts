import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';

const REMEMBERED = 5_000;
const bots = new LRUCache<string, boolean>({ max: REMEMBERED });

/** Returns whether a crawler, monitor or headless browser sends this user agent. An empty one is no bot's. */
export function isBot(userAgent: string): boolean {
  const known = bots.get(userAgent);
  if (known !== undefined) return known;
  const found = isbot(userAgent) && isbot(withoutPersonalParts(userAgent));
  bots.set(userAgent, found);
  return found;
}

/**
 * User agents that claim to be a browser's, or that name a bot. With an address at GitHub they name an HTTP library,
 * and with `com.google` an app.
 */
const CLAIMS =
  /^Mozilla\/|bot|crawl|spider|slurp|scrap|archive|fetcher|external|validator|preview|monitor|uptime|^facebook|^whatsapp|(?<!com\.)\bgoogle|-ai\b|\+https?:(?!\/\/github\.com)/i;

/**
 * Returns whether the user agent of a sent session is a bot's. `isbot` also calls every HTTP library and app a bot.
 * But a native app, or a server that sends its visitors' sessions, is none: the user agent also has to claim to be a
 * browser's, or to name a bot.
 */
export const isBotSession = (userAgent: string): boolean => CLAIMS.test(userAgent) && isBot(userAgent);

/** Words by which bots name themselves, in places where people's browsers have other text. */
const BOT_NAME =
  /bots?\b|crawl|spider|slurp|scan|check|monitor|survey|insight|catchpoint|transcoder|validator|bingpreview|agent|\+http/i;

/** A phone with keys. Its user agent is like no other browser's. */
const KEY_PHONE = /\b(?:MIDP|CLDC|MAUI|WAP Browser)\b/i;

/** The user agent of Internet Explorer up to the system, and the additions that follow. */
const INTERNET_EXPLORER = /^(Mozilla\/[\d.]+ \(compatible; MSIE [^;)]*; *Windows[^;)]*)([^)]*)/i;

/** Parts that name a device or an app of a person. */
const NAMES_OF_PEOPLE: readonly RegExp[] = [
  // The model of an Android device, such as "M BOT 551". Google's bots add their names to it.
  /(?<=\bAndroid[ \d.]*; )(?![^)]*(?:-Google|Catchpoint))[^)]*/i,
  // Pages that Google translates for a person.
  /,gzip\(gfe\)|\(via translate\.google\.com\)/gi,
  // Google and Sogou make browsers and apps, too.
  /\b(?:com\.google\.|google[ .]?)(?:google)?(?:earth|tv|plus|maps|toolbar)\w*/gi,
  /\bsogou(?:mse|mobilebrowser|search\b)/gi,
  // Facebook's app.
  /\[FB[^\]]*\]?/g,
  // Television sets, and phones that write "/1.0;".
  /\bHbbTV\/[^)]*\)|\bOMI\/\S+|\b(?:CE-HTML|bada|REX|webOS)\/1\.0|\bSAMSUNG-[\w-]+\/[\w.]+/gi,
];

/**
 * Leaves out the parts that tell about a person's device or browser. `isbot` looks for words in the whole user agent,
 * so it takes the browsers of some people for bots: with Chrome Frame, with a toolbar, or on a phone named "Discovery".
 */
function withoutPersonalParts(userAgent: string): string {
  if (KEY_PHONE.test(userAgent) && !BOT_NAME.test(userAgent)) return '';
  // Programs and makers of computers add words of their own: toolbars, plug-ins, brands, addresses.
  const plain = userAgent.replace(INTERNET_EXPLORER, (_, browser: string, additions: string) =>
    [browser, ...additions.split(';').filter((addition) => BOT_NAME.test(addition))].join(';'),
  );
  return NAMES_OF_PEOPLE.reduce((text, name) => text.replace(name, ''), plain);
}
