import { Text } from '@mantine/core';
import { useFormat, useText } from '../i18n/use-text.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { When } from '../parts/when.tsx';
import { type KeyTotals, type KeyUsage, totalsOf } from './hours.ts';

const MINUTES = 60;

interface Row extends KeyTotals {
  readonly key: KeyUsage;
}

/** Each key's requests, and how near its busiest hour came to the limit. */
export function UsageTable({
  keys,
  nameOf,
  requestsPerMinute,
}: {
  readonly keys: readonly KeyUsage[];
  readonly nameOf: (key: KeyUsage) => string;
  readonly requestsPerMinute: number;
}) {
  const { usage: text } = useText();
  const format = useFormat();
  const columns: Column<Row>[] = [
    { label: text.key, cell: ({ key }) => <bdi>{nameOf(key)}</bdi> },
    { label: text.requests, isNumber: true, cell: ({ requests }) => format.number(requests) },
    { label: text.limited, isNumber: true, cell: ({ limited }) => format.number(limited) },
    { label: text.busiest, cell: ({ busiest }) => (busiest === null ? '–' : <When at={busiest.hour} />) },
    {
      label: text.share,
      isNumber: true,
      cell: ({ busiest }) =>
        format.percent(Math.min(1, (busiest?.requests ?? 0) / (requestsPerMinute * MINUTES))),
    },
  ];
  const rows = keys.map((key) => ({ key, ...totalsOf(key.hours) })).sort((a, b) => b.requests - a.requests);
  return (
    <div>
      <DataTable caption={text.title} columns={columns} rows={rows} keyOf={({ key }) => key.keyId} />
      <Text size="sm" c="dimmed">
        {text.share}: {text.shareText}
      </Text>
    </div>
  );
}
