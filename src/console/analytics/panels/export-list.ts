import type { ListParams } from '../../../client/index.ts';
import { client } from '../../api.ts';
import { useAnalytics } from '../context.ts';
import { compared, type List, mostRows, rowsOf } from '../lists.ts';
import { csvOfList } from './list-csv.ts';

/** Asks for a whole list, and writes it; with the values of the period before, if there is one to compare with. */
export async function exportOf(list: List, params: ListParams, before: ListParams | null): Promise<string> {
  const ask = client[list.question] as (params: object) => Promise<{ readonly data: unknown }>;
  const asks = 'asks' in list ? list.asks : {};
  const rows = rowsOf(list, (await ask({ ...params, ...asks })).data);
  if (before === null) return csvOfList(list, rows, false);
  const earlier = rowsOf(list, (await ask({ ...before, ...asks })).data);
  const most = mostRows(list, Number.POSITIVE_INFINITY);
  return csvOfList(list, compared(rows, earlier, most), true);
}

export function useExport(list: List): () => Promise<string> {
  const { params, before } = useAnalytics();
  return () => exportOf(list, params, before?.params ?? null);
}
