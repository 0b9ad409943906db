import { type NearName, nearestName } from './nearest-name.ts';

/** What a session is. Each has one value for a session; the empty one is absent. */
export const DIMENSIONS = [
  'browser',
  'os',
  'device',
  'screen',
  'language',
  'channel',
  'referrer',
  'country',
  'region',
  'city',
  'source',
  'medium',
  'campaign',
  'term',
  'content',
  'entryPage',
  'exitPage',
  'visitorType',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** What happened in a session: the path of a pageview, the name of a custom event, a click's target, an error's message. */
export const HAPPENINGS = ['page', 'event', 'target', 'error'] as const;
export type Happening = (typeof HAPPENINGS)[number];

/** Is, is not, contains, does not contain, begins with, ends with. */
export const OPERATORS = ['==', '!=', '=@', '!@', '=^', '=$'] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  readonly dimension: Dimension | Happening;
  readonly operator: Operator;
  /** Empty only with `==` and `!=`: absent. */
  readonly value: string;
}

/** Every clause must hold: one of its conditions. */
export type Segment = readonly (readonly Condition[])[];

export const MOST_CHARACTERS = 4_096;
export const MOST_CONDITIONS = 20;

const NAMES: readonly (Dimension | Happening)[] = [...DIMENSIONS, ...HAPPENINGS];
const FORM = /^([^=!]*)(.?.?)(.*)$/su;
const MOST_ECHO = 60;

/** Reads a segment as it was decoded from the query, or says in `problem` where it is wrong and what is possible. */
export function parseSegment(text: string): Segment | { readonly problem: string } {
  const characters = [...text].length;
  if (characters > MOST_CHARACTERS)
    return { problem: `It has ${characters} characters; at most ${MOST_CHARACTERS} are possible.` };
  const clauses: Condition[][] = [];
  let [at, count] = [1, 0];
  for (const clause of text.split(';')) {
    const conditions: Condition[] = [];
    for (const part of clause.split(',')) {
      const place = `${clause === '' ? 'clause' : 'condition'} at character ${at}`;
      const condition = parseCondition(part);
      if ('problem' in condition)
        return { problem: `The ${place}${part === '' ? '' : `, ${echo(part)},`} ${condition.problem}` };
      count += 1;
      if (count > MOST_CONDITIONS)
        return {
          problem: `The ${place} is one too many: at most ${MOST_CONDITIONS} conditions are possible.`,
        };
      conditions.push(condition);
      at += [...part].length + 1;
    }
    clauses.push(conditions);
  }
  return clauses;
}

function parseCondition(part: string): Condition | { readonly problem: string } {
  if (part === '') return { problem: `is empty. ${EXAMPLE}` };
  const [, name = '', operator = '', encoded = ''] = FORM.exec(part) ?? [];
  const dimension = NAMES.find((known) => known === name);
  if (dimension === undefined) return { problem: `has an unknown dimension. ${suggestion(name)}` };
  if (!isOperator(operator)) return { problem: `has no known operator after ${name}. Possible: ${LISTED}.` };
  const value = decoded(encoded);
  if (value === null)
    return {
      problem:
        'has a broken percent-encoding in its value. % is written as %25, which is %2525 in the address of a request.',
    };
  if (value === '' && operator !== '==' && operator !== '!=')
    return { problem: `has no value. Only == and != may have none: absent, and not absent.` };
  return { dimension, operator, value };
}

const EXAMPLE = 'A condition is for example country==IR; a comma stands for "or", a semicolon for "and".';
const LISTED = OPERATORS.join(' ');

const isOperator = (text: string): text is Operator => OPERATORS.some((known) => known === text);

function suggestion(name: string): string {
  const nearest = name === '' ? undefined : nearestName(name.slice(0, MOST_ECHO), NAMES);
  const meant = nearest !== undefined && isNear(nearest) ? `Did you mean ${nearest.name}? ` : '';
  return `${meant}Possible: ${NAMES.join(', ')}.`;
}

/** At most two letters are wrong, and fewer than half of the name's. */
const isNear = ({ name, wrong }: NearName): boolean => wrong <= 2 && 2 * wrong < name.length;

const echo = (part: string): string => {
  const letters = [...part];
  return JSON.stringify(letters.length > MOST_ECHO ? `${letters.slice(0, MOST_ECHO).join('')}…` : part);
};

/** Only percent-encoding: `+` stays. Null if it is broken. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
