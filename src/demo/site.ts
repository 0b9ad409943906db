/** The demo's world: a web shop with a blog, mostly read in Iran. Weights are relative. */
export interface Weighted {
  readonly weight: number;
}

export const DEMO_DOMAIN = 'https://shop.example';

export interface Page extends Weighted {
  readonly path: string;
  /** Mean visible time, in seconds. */
  readonly seconds: number;
  readonly targets: readonly string[];
}

const page = (path: string, weight: number, seconds: number, ...targets: string[]): Page => ({
  path,
  weight,
  seconds,
  targets,
});

/** Weights that fall with the rank: few pages are read by many. */
const ranked = (count: number, total: number, make: (rank: number, weight: number) => Page): Page[] =>
  Array.from({ length: count }, (_, i) => make(i + 1, total / (i + 1) ** 1.1));

export const PAGES: readonly Page[] = [
  page('/', 40, 25, '#hero', '#search', 'nav a'),
  page('/pricing', 14, 45, '#buy', '#compare'),
  page('/features', 9, 50, '#try'),
  page('/about', 3, 30),
  page('/contact', 3, 40, '#send'),
  page('/cart', 7, 35, '#checkout', '.remove'),
  page('/checkout', 4, 80, '#pay'),
  page('/login', 5, 20, '#login'),
  page('/signup', 4, 55, '#signup'),
  page('/blog', 8, 20, 'article a'),
  page('/fa/راهنما', 4, 60, '.next'),
  ...ranked(40, 14, (n, weight) => page(`/blog/post-${n}`, weight, 95, '.share', '#newsletter')),
  ...ranked(120, 20, (n, weight) => page(`/products/${n}`, weight, 40, '#add-to-cart', '.gallery')),
  ...ranked(25, 6, (n, weight) => page(`/docs/chapter-${n}`, weight, 120, '.copy')),
];

/** Custom events on a page, besides clicks. */
export interface Action {
  readonly name: string;
  readonly chance: number;
  /** Its custom event has one of these. */
  readonly properties?: readonly Properties[];
}

export type Properties = Readonly<Record<string, string | number | boolean>>;

const PLANS: readonly Properties[] = [
  { plan: 'free' },
  { plan: 'free' },
  { plan: 'pro' },
  { plan: 'pro', invited: true },
  { plan: 'team', invited: true },
];
const PURCHASES: readonly Properties[] = [
  { plan: 'pro', seats: 1, coupon: 'نوروز' },
  { plan: 'pro', seats: 1 },
  { plan: 'pro', seats: 3 },
  { plan: 'team', seats: 10 },
  { plan: 'team', seats: 25, coupon: 'LAUNCH' },
];

export const ACTIONS: Readonly<Record<string, Action>> = {
  '/signup': { name: 'signup', chance: 0.3, properties: PLANS },
  '/checkout': { name: 'purchase', chance: 0.35, properties: PURCHASES },
  '/contact': { name: 'message_sent', chance: 0.2 },
  '/pricing': { name: 'plan_compared', chance: 0.15 },
};

export const ERRORS: readonly (Weighted & { readonly message: string })[] = [
  { weight: 5, message: "TypeError: Cannot read properties of undefined (reading 'price')" },
  { weight: 3, message: 'Error: Request failed with status 502' },
  { weight: 2, message: 'ResizeObserver loop completed with undelivered notifications.' },
  { weight: 1, message: 'ReferenceError: gtag is not defined' },
  { weight: 1, message: 'QuotaExceededError: The quota has been exceeded.' },
];

export interface Place extends Weighted {
  readonly country: string;
  readonly region: string;
  readonly city: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly languages: readonly string[];
}

const place = (
  weight: number,
  country: string,
  region: string,
  city: string,
  latitude: number,
  longitude: number,
  ...languages: string[]
): Place => ({ weight, country, region, city, latitude, longitude, languages });

const iran = (weight: number, region: string, city: string, latitude: number, longitude: number): Place =>
  place(weight, 'IR', region, city, latitude, longitude, 'fa-IR', 'fa-IR', 'fa', 'en-US');

export const PLACES: readonly Place[] = [
  iran(34, 'Tehran', 'Tehran', 35.6892, 51.389),
  iran(9, 'Razavi Khorasan', 'Mashhad', 36.2605, 59.6168),
  iran(7, 'Isfahan', 'Isfahan', 32.6546, 51.668),
  iran(6, 'Alborz', 'Karaj', 35.84, 50.9391),
  iran(6, 'Fars', 'Shiraz', 29.5918, 52.5837),
  iran(5, 'East Azerbaijan', 'Tabriz', 38.0962, 46.2738),
  iran(3, 'Qom', 'Qom', 34.6416, 50.8746),
  iran(3, 'Khuzestan', 'Ahvaz', 31.3183, 48.6706),
  iran(3, 'Gilan', 'Rasht', 37.2808, 49.5832),
  iran(2, 'Yazd', 'Yazd', 31.8974, 54.3569),
  iran(2, 'Kerman', 'Kerman', 30.2839, 57.0834),
  iran(1, 'Hormozgan', 'Bandar Abbas', 27.1832, 56.2666),
  place(3, 'TR', 'Istanbul', 'Istanbul', 41.0082, 28.9784, 'tr-TR', 'fa-IR'),
  place(3, 'AE', 'Dubai', 'Dubai', 25.2048, 55.2708, 'en-US', 'fa-IR', 'ar-AE'),
  place(3, 'DE', 'Berlin', 'Berlin', 52.52, 13.405, 'de-DE', 'en-GB'),
  place(2, 'GB', 'England', 'London', 51.5074, -0.1278, 'en-GB'),
  place(2, 'CA', 'Ontario', 'Toronto', 43.6532, -79.3832, 'en-CA', 'fa-IR'),
  place(2, 'US', 'California', 'Los Angeles', 34.0522, -118.2437, 'en-US', 'fa-IR'),
  place(2, 'AF', 'Kabul', 'Kabul', 34.5553, 69.2075, 'fa-AF'),
  place(1, 'IQ', 'Erbil', 'Erbil', 36.1911, 44.0092, 'ar-IQ', 'ckb-IQ'),
  place(1, 'NL', 'North Holland', 'Amsterdam', 52.3676, 4.9041, 'nl-NL', 'en-GB'),
];

export interface Browser extends Weighted {
  readonly userAgent: string;
  readonly screens: readonly string[];
}

const PHONES = ['360x800', '393x873', '412x915', '360x640'];
const DESKTOPS = ['1920x1080', '1366x768', '1536x864', '2560x1440'];
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

export const BROWSERS: readonly Browser[] = [
  {
    weight: 38,
    userAgent: `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/141.0.0.0 Mobile Safari/537.36`,
    screens: PHONES,
  },
  {
    weight: 24,
    userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`,
    screens: DESKTOPS,
  },
  {
    weight: 13,
    userAgent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
    screens: ['390x844', '393x852', '430x932'],
  },
  {
    weight: 7,
    userAgent: `Mozilla/5.0 (Linux; Android 13; SM-A536E) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    screens: PHONES,
  },
  {
    weight: 6,
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0',
    screens: DESKTOPS,
  },
  {
    weight: 4,
    userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
    screens: DESKTOPS,
  },
  {
    weight: 4,
    userAgent:
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
    screens: ['1440x900', '1512x982', '2560x1440'],
  },
  {
    weight: 2,
    userAgent:
      'Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1',
    screens: ['820x1180', '1024x1366'],
  },
  {
    weight: 2,
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
    screens: DESKTOPS,
  },
];

export interface Utm {
  readonly source: string;
  readonly medium?: string;
  readonly campaign?: string;
  readonly term?: string;
  readonly content?: string;
}

/** The origin of visits. `days`: only in these days before the end, [from, to). */
export interface Source extends Weighted {
  readonly referrer?: string;
  readonly utm?: Utm;
  readonly days?: readonly [number, number];
}

export const SOURCES: readonly Source[] = [
  { weight: 34 },
  { weight: 27, referrer: 'https://www.google.com/' },
  { weight: 3, referrer: 'https://www.bing.com/' },
  { weight: 2, referrer: 'https://duckduckgo.com/' },
  { weight: 8, referrer: 'https://l.instagram.com/' },
  { weight: 5, referrer: 'https://t.me/' },
  { weight: 2, referrer: 'https://www.linkedin.com/' },
  { weight: 4, referrer: 'https://virgool.io/' },
  { weight: 2, referrer: 'https://news.ycombinator.com/' },
  {
    weight: 7,
    referrer: 'https://www.google.com/',
    utm: { source: 'google', medium: 'cpc', campaign: 'brand', term: 'shop', content: 'text-a' },
  },
  {
    weight: 4,
    referrer: 'https://www.google.com/',
    utm: { source: 'google', medium: 'cpc', campaign: 'brand', term: 'online shop', content: 'text-b' },
  },
  {
    weight: 12,
    utm: { source: 'newsletter', medium: 'email', campaign: 'autumn-sale', content: 'header' },
    days: [20, 45],
  },
  {
    weight: 6,
    utm: { source: 'newsletter', medium: 'email', campaign: 'autumn-sale', content: 'footer' },
    days: [20, 45],
  },
  {
    weight: 9,
    referrer: 'https://l.instagram.com/',
    utm: { source: 'instagram', medium: 'social', campaign: 'yalda', content: 'story' },
    days: [0, 15],
  },
  { weight: 5, utm: { source: 'telegram', medium: 'social', campaign: 'yalda' }, days: [0, 15] },
  { weight: 3, utm: { source: 'partner-blog', medium: 'affiliate' } },
  { weight: 1, utm: { source: 'poster' }, days: [50, 90] },
];
