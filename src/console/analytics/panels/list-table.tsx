import { useState } from 'react';
import { useAnalytics } from '../context.ts';
import { keyOf, type List } from '../lists.ts';
import { useWords } from '../words.ts';
import type { ListedRow } from './list-csv.ts';
import { ListRowCells, ROLES } from './list-row.tsx';
import { MoreRows } from './more-rows.tsx';
import { Scroll } from './scroll.tsx';

const FIRST_ROWS = 10;
const MORE_ROWS = 50;
export interface ListTableProps {
  readonly list: List;
  readonly rows: readonly ListedRow[];
  readonly isCompared: boolean;
  readonly isFiltered: boolean;
  readonly label: string;
  /** How many rows are shown first. */
  readonly first?: number;
}

/** A list as a table; behind each name a bar as long as its first value. */
export function ListTable({ list, rows, isCompared, isFiltered, label, first = FIRST_ROWS }: ListTableProps) {
  const { text } = useWords();
  const { view } = useAnalytics();
  const [shown, setShown] = useState(first);
  const names = list.kind === 'place' ? ['place'] : list.parts;
  if (rows.length === 0) {
    return <p className="nothing">{isFiltered ? text.nothingFound(view.find) : text.nothing}</p>;
  }
  const most = Math.max(1, ...rows.map(({ values }) => values[0] ?? 0));
  const left = rows.length - shown;
  return (
    <>
      <Scroll label={label}>
        <table {...ROLES.table} className={names.length > 1 ? 'list list-wide list-cards' : 'list'}>
          <thead {...ROLES.group}>
            <tr {...ROLES.row}>
              {names.map((part) => (
                <th {...ROLES.column} key={part}>
                  {text.columns[part as keyof typeof text.columns]}
                </th>
              ))}
              {list.figures.map((name) => (
                <th {...ROLES.column} key={name} className="number">
                  {text.labels[name]}
                </th>
              ))}
              {isCompared && (
                <>
                  <th {...ROLES.column} className="number">
                    {text.columns.before}
                  </th>
                  <th {...ROLES.column} className="number">
                    {text.columns.change}
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody {...ROLES.group}>
            {rows.slice(0, shown).map((row) => (
              <ListRowCells
                key={keyOf(row)}
                list={list}
                row={row}
                share={(row.values[0] ?? 0) / most}
                isCompared={isCompared}
              />
            ))}
          </tbody>
        </table>
      </Scroll>
      <MoreRows left={left} step={MORE_ROWS} onMore={() => setShown(shown + MORE_ROWS)} />
    </>
  );
}
