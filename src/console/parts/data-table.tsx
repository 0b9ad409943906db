import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** The first column names its row. */
  readonly isNumber?: boolean;
}

export interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

/**
 * A table; on a phone each row is a card whose lines have the labels of the columns. The roles are named, because
 * browsers drop them with another `display`.
 */
export function DataTable<Row>({ caption, columns, rows, keyOf }: DataTableProps<Row>) {
  return (
    <Table className="data-table" role="table" verticalSpacing="sm" highlightOnHover aria-label={caption}>
      <Table.Thead role="rowgroup">
        <Table.Tr role="row">
          {columns.map(({ label, isNumber = false }) => (
            <Table.Th key={label} scope="col" role="columnheader" data-number={isNumber}>
              {label}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody role="rowgroup">
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)} role="row">
            {columns.map(({ label, cell, isNumber = false }, i) =>
              i === 0 ? (
                <Table.Th key={label} scope="row" role="rowheader">
                  {cell(row)}
                </Table.Th>
              ) : (
                <Table.Td key={label} role="cell" data-label={label} data-number={isNumber}>
                  {cell(row)}
                </Table.Td>
              ),
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
