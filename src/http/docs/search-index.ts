import { type Guide, passagesOf } from './guides.ts';
import { operationsOf } from './reference/documentation.ts';
import { rowsOf } from './reference/fields.ts';
import type { Chapter } from './reference/page.ts';

/** Something that a search can find. The page's script reads these. */
export interface Findable {
  readonly title: string;
  readonly href: string;
  /** Its kind: "Operation", or the title of a guide. */
  readonly kind: string;
  readonly text: string;
}

/** The operations of a page of the reference, each with the names of its parameters and fields. */
export const findOperations = (path: string, chapters: readonly Chapter[]): Findable[] =>
  chapters.flatMap(({ document }) =>
    operationsOf(document).map(({ method, path: target, operation }) => {
      const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
      const [response] = Object.values(responses);
      const schemas = [requestBody?.content, response?.content].flatMap((content) => {
        const schema = content?.['application/json']?.schema;
        return schema === undefined ? [] : [schema];
      });
      const fields = schemas.flatMap((schema) => rowsOf(document.components, schema, ''));
      return {
        title: `${method} ${target}`,
        href: `${path}#${operationId}`,
        kind: 'Operation',
        text: [
          operationId,
          summary,
          description,
          ...parameters.map(({ name, description: meaning = '' }) => `${name} ${meaning}`),
          ...fields.map(({ name, description: meaning }) => `${name} ${meaning}`),
        ].join(' '),
      };
    }),
  );

/** The passages of a guide. */
export const findPassages = ({ name, title, text }: Guide): Findable[] =>
  passagesOf(text()).map((passage, i) => ({
    title: passage.title,
    href: i === 0 ? `/docs/${name}` : `/docs/${name}#${passage.id}`,
    kind: title,
    text: passage.text,
  }));
