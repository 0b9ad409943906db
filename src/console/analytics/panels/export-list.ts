import type { ListParams } from '../../../client/index.ts';
import { client } from '../../api.ts';
import { useAnalytics } from '../context.ts';
import { compared, type List, mostGiven, rowsOf } from '../lists.ts';
import { csvOfList } from './list-csv.ts';
import type { Csv } from './save.ts';

/** Asks for a whole list, and writes it; with the values of the period before, if there is one to compare with. */
export async function exportOf(list: List, params: ListParams, before: ListParams | null): Promise<Csv> {
  const ask = client[list.question] as (params: object) => Promise<{ readonly data: unknown }>;
  const asks = 'asks' in list ? list.asks : {};
  const rows = rowsOf(list, (await ask({ ...params, ...asks })).data);
  const most = mostGiven(list);
  const first = rows.length < most ? undefined : most;
  if (before === null) return { text: csvOfList(list, rows, false), first };
  const earlier = rowsOf(list, (await ask({ ...before, ...asks })).data);
  return { text: csvOfList(list, compared(rows, earlier, most), true), first };
}

export function useExport(list: List): () => Promise<Csv> {
  const { params, before } = useAnalytics();
  return () => exportOf(list, params, before?.params ?? null);
}
