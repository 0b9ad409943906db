import type { Condition, Dimension, Operator, Segment } from '../../../src/domain/segment.ts';
import { byBytes } from './exact.ts';
import type { Lexicon } from './lexicon.ts';
import { type CountedEvent, type EventType, eventsOf, type Session } from './model.ts';

/** The sessions that match, of all sessions of an app. */
export function matching(
  all: readonly Session[],
  segment: Segment | null | undefined,
  lexicon: Lexicon,
): readonly Session[] {
  if (segment === null || segment === undefined) return all;
  return all.filter((session) =>
    segment.every((clause) => clause.some((condition) => holds(session, condition, all, lexicon))),
  );
}

function holds(session: Session, condition: Condition, all: readonly Session[], lexicon: Lexicon): boolean {
  const { dimension, operator, value } = condition;
  switch (dimension) {
    case 'page':
      return happened(session, 'pageview', ({ path }) => path, condition);
    case 'event':
      return happened(session, 'custom', ({ label }) => label, condition);
    case 'target':
      return happened(session, 'click', ({ label }) => label, condition);
    case 'error':
      return happened(session, 'error', ({ label }) => label, condition);
    default:
      return compares(dimensionOf(session, dimension, all, lexicon), operator, value);
  }
}

const OPPOSITES: Readonly<Partial<Record<Operator, Operator>>> = { '!=': '==', '!@': '=@' };

/** Events without a text, which are clicks without a target, are no events here. */
function happened(
  session: Session,
  type: EventType,
  text: (event: CountedEvent) => string,
  { operator, value }: Condition,
): boolean {
  const texts = eventsOf(session, type)
    .map(text)
    .filter((each) => each !== '');
  if (value === '') return operator === '==' ? texts.length === 0 : texts.length > 0;
  const positive = OPPOSITES[operator];
  if (positive !== undefined) return !texts.some((each) => compares(each, positive, value));
  return texts.some((each) => compares(each, operator, value));
}

/** Returns a text as the store keeps it: a lone surrogate is U+FFFD. */
export const stored = (text: string): string => Buffer.from(text).toString();

function compares(text: string, operator: Operator, value: string): boolean {
  const [a, b] = [stored(text), stored(value)];
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '=@':
      return a.includes(b);
    case '!@':
      return !a.includes(b);
    case '=^':
      return a.startsWith(b);
    case '=$':
      return a.endsWith(b);
  }
}

/** Returns a session's value of a dimension; '' is absent. */
export function dimensionOf(
  session: Session,
  dimension: Dimension,
  all: readonly Session[],
  lexicon: Lexicon,
): string {
  switch (dimension) {
    case 'browser':
      return lexicon.technology(session.userAgent).browser;
    case 'os':
      return lexicon.technology(session.userAgent).os;
    case 'device':
      return lexicon.technology(session.userAgent).device;
    case 'screen':
      return session.screen;
    case 'language':
      return session.language;
    case 'channel':
      return lexicon.channel(session);
    case 'referrer':
      return lexicon.referrerHost(session.referrer, session.appDomain);
    case 'country':
      return session.country;
    case 'region':
      return session.region;
    case 'city':
      return session.city;
    case 'entryPage':
      return pagesInOrder(session)[0] ?? '';
    case 'exitPage':
      return pagesInOrder(session).at(-1) ?? '';
    case 'visitorType':
      return all.some((other) => other.visitor === session.visitor && other.startedAt < session.startedAt)
        ? 'returning'
        : 'new';
    default:
      return session.utm[dimension];
  }
}

/** The paths of a session's pageviews by time; in the same ms by path. */
export const pagesInOrder = (session: Session): string[] =>
  eventsOf(session, 'pageview')
    .sort((a, b) => a.timestamp - b.timestamp || byBytes(a.path, b.path))
    .map(({ path }) => path);
