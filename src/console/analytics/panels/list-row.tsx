import type { ReactNode } from 'react';
import { changeOf } from '../changes.ts';
import type { List } from '../lists.ts';
import { useWords } from '../words.ts';
import { ChangeMark } from './change-mark.tsx';
import type { ListedRow } from './list-csv.ts';
import { Names } from './list-names.tsx';

/** Named, because browsers drop the roles of a table with another `display`, which wide lists have on a phone. */
export const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  column: { role: 'columnheader', scope: 'col' },
  name: { role: 'rowheader', scope: 'row' },
  cell: { role: 'cell' },
} as const;

/** A row of a list; behind its name a bar as long as `share`. */
export function ListRowCells({
  list,
  row: { names, values, before },
  share,
  isCompared,
  more,
}: {
  readonly list: List;
  readonly row: ListedRow;
  readonly share: number;
  readonly isCompared: boolean;
  /** A last cell. */
  readonly more?: ReactNode;
}) {
  const { text, figure } = useWords();
  const [first] = list.figures;
  const previous = before?.[0] ?? null;
  return (
    <tr {...ROLES.row}>
      <Names list={list} names={names} share={share} />
      {list.figures.map((name, i) => (
        <td {...ROLES.cell} key={name} className="number" data-label={text.labels[name]}>
          {figure(name, values[i] ?? 0)}
        </td>
      ))}
      {isCompared && first !== undefined && (
        <>
          <td {...ROLES.cell} className="number" data-label={text.columns.before}>
            {previous === null ? '–' : figure(first, previous)}
          </td>
          <td {...ROLES.cell} className="number" data-label={text.columns.change}>
            <ChangeMark figure={first} change={changeOf(values[0] ?? 0, previous)} />
          </td>
        </>
      )}
      {more !== undefined && (
        <td {...ROLES.cell} className="row-more">
          {more}
        </td>
      )}
    </tr>
  );
}
