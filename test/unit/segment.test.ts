import { describe, expect, test } from 'vitest';
import {
  DIMENSIONS,
  HAPPENINGS,
  MOST_CHARACTERS,
  MOST_CONDITIONS,
  OPERATORS,
  parseSegment,
} from '../../src/domain/segment.ts';

const one = (dimension: string, operator: string, value: string) => [[{ dimension, operator, value }]];
const problemOf = (text: string): string => {
  const parsed = parseSegment(text);
  if (!('problem' in parsed)) throw new Error(`it is a segment: ${text}`);
  return parsed.problem;
};

describe('a segment', () => {
  test('has clauses, and conditions in them', () => {
    expect(parseSegment('country==IR,country==DE;device!=mobile')).toEqual([
      [
        { dimension: 'country', operator: '==', value: 'IR' },
        { dimension: 'country', operator: '==', value: 'DE' },
      ],
      [{ dimension: 'device', operator: '!=', value: 'mobile' }],
    ]);
  });

  test.each([...DIMENSIONS, ...HAPPENINGS])('knows %s with every operator', (name) => {
    for (const operator of OPERATORS) {
      expect(parseSegment(`${name}${operator}v`)).toEqual(one(name, operator, 'v'));
    }
  });

  test.each([
    ['campaign==a%3Bb%2Cc%25', 'a;b,c%'],
    ['campaign==%2B+', '++'],
    ['campaign== a ', ' a '],
    ['campaign====', '=='],
    ['campaign==!=@', '!=@'],
    ['campaign==%2525', '%25'],
    ['campaign==%F0%9F%8C%BC🌼', '🌼🌼'],
    ['campaign==%00\0', '\0\0'],
    [String.raw`campaign=='"\{x:String}\n`, String.raw`'"\{x:String}\n`],
    ['campaign==a\nb', 'a\nb'],
    ['campaign==(none)', '(none)'],
  ])('%j has the value %j', (text, value) => {
    expect(parseSegment(text)).toEqual(one('campaign', '==', value));
  });

  test('an empty value is possible where absence is meant', () => {
    expect(parseSegment('page==')).toEqual(one('page', '==', ''));
    expect(parseSegment('page!=')).toEqual(one('page', '!=', ''));
    for (const operator of ['=@', '!@', '=^', '=$']) {
      expect(problemOf(`page${operator}`)).toBe(
        `The condition at character 1, "page${operator}", has no value. Only == and != may have none: absent, and not absent.`,
      );
    }
  });
});

describe('what is wrong is said with its place', () => {
  test.each([
    ['', 'The clause at character 1 is empty.'],
    [';', 'The clause at character 1 is empty.'],
    ['os==a;', 'The clause at character 7 is empty.'],
    ['os==a;;os==b', 'The clause at character 7 is empty.'],
    ['os==🌼,', 'The condition at character 7 is empty.'],
    [',os==a', 'The condition at character 1 is empty.'],
    [
      'os==a;devise==x',
      'The condition at character 7, "devise==x", has an unknown dimension. Did you mean device? ',
    ],
    ['OS==a', 'The condition at character 1, "OS==a", has an unknown dimension. Did you mean os? '],
    [' os==a', 'The condition at character 1, " os==a", has an unknown dimension. Did you mean os? '],
    [
      'colour==red',
      'The condition at character 1, "colour==red", has an unknown dimension. Possible: browser, os, ',
    ],
    ['==a', 'The condition at character 1, "==a", has an unknown dimension. Possible: '],
    [
      'os',
      'The condition at character 1, "os", has no known operator after os. Possible: == != =@ !@ =^ =$.',
    ],
    ['os=', 'The condition at character 1, "os=", has no known operator after os. '],
    ['os=a', 'The condition at character 1, "os=a", has no known operator after os. '],
    ['os!^a', 'The condition at character 1, "os!^a", has no known operator after os. '],
    ['os=~a', 'The condition at character 1, "os=~a", has no known operator after os. '],
    [
      'os==100%',
      'The condition at character 1, "os==100%", has a broken percent-encoding in its value. % is ',
    ],
    ['os==%zz', 'The condition at character 1, "os==%zz", has a broken percent-encoding in its value. '],
    ['os==%ff', 'The condition at character 1, "os==%ff", has a broken percent-encoding in its value. '],
    [
      'os==%ED%A0%80',
      'The condition at character 1, "os==%ED%A0%80", has a broken percent-encoding in its value. ',
    ],
  ])('%j', (text, problem) => {
    expect(problemOf(text).slice(0, problem.length)).toBe(problem);
  });

  test('a long condition is named by its beginning', () => {
    expect(problemOf(`x${'🌼'.repeat(100)}`)).toContain(`"x${'🌼'.repeat(59)}…"`);
  });
});

test('characters are code points', () => {
  const most = `os==${'🌼'.repeat(MOST_CHARACTERS - 4)}`;
  expect(parseSegment(most)).toEqual(one('os', '==', most.slice(4)));
  expect(problemOf(`${most}🌼`)).toBe('It has 4097 characters; at most 4096 are possible.');
});

test('conditions are counted in all clauses', () => {
  const clause = 'os==a,os==b,os==c,os==d';
  const most = Array.from({ length: MOST_CONDITIONS / 4 }, () => clause).join(';');
  expect(parseSegment(most)).toHaveLength(5);
  const problem = 'is one too many: at most 20 conditions are possible.';
  expect(problemOf(`${most};os==e`)).toBe(`The condition at character ${most.length + 2} ${problem}`);
  expect(problemOf(`${most},os==e`)).toBe(`The condition at character ${most.length + 2} ${problem}`);
});
