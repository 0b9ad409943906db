/** A column of a result that is written in a format of the engine. `Date32` takes `YYYY-MM-DD`. */
export interface ExportColumn {
  readonly name: string;
  readonly type: 'String' | 'Int64' | 'Float64' | 'Date32';
  readonly nullable: boolean;
}

export type ExportFormat = 'CSVWithNames' | 'JSONEachRow' | 'Parquet' | 'ArrowStream';

const NAME = /^[A-Za-z][A-Za-z0-9]*$/;
/** Characters in one parameter: a server takes no form field above 128 KiB. */
const PIECE = /.{1,20000}/gsu;

/** What readers of the formats expect; none of it changes a value. */
const SETTINGS = {
  // The order of the rows is the answer's.
  max_threads: 1,
  max_execution_time: 30,
  // RFC 4180; an absent value is an empty field, an empty text a quoted one.
  output_format_csv_crlf_end_of_line: 1,
  format_csv_null_representation: "''",
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  output_format_arrow_string_as_string: 1,
  // Not every Arrow reader has LZ4; the answer as a whole is compressed on its way.
  output_format_arrow_compression_method: "'none'",
  output_format_parquet_string_as_string: 1,
  output_format_parquet_compression_method: "'snappy'",
} as const;

/**
 * The statement that writes a JSON array of objects in `format`, bound like any other value. The objects' keys are the
 * columns' names; integers are safe ones.
 */
export function exportStatement(
  columns: readonly ExportColumn[],
  json: string,
  format: ExportFormat,
): { readonly sql: string; readonly params: Readonly<Record<string, string | number>> } {
  const empty = json === '[]';
  // The engine takes no empty document: one empty row, and none of it.
  const pieces = (empty ? '[{}]' : json).match(PIECE) ?? [];
  const places = pieces.map((_, i) => `{p${i}:String}`).join(', ');
  const settings = Object.entries(SETTINGS).map(([name, value]) => `${name} = ${value}`);
  return {
    sql: `SELECT * FROM format(JSONEachRow, '${columns.map(declared).join(', ')}', concat('', ${places}))
WHERE {any:Int64} = 1 SETTINGS ${settings.join(', ')} FORMAT ${format}`,
    params: { any: empty ? 0 : 1, ...Object.fromEntries(pieces.map((piece, i) => [`p${i}`, piece])) },
  };
}

function declared({ name, type, nullable }: ExportColumn): string {
  if (!NAME.test(name)) throw new Error(`not a column: ${name}`);
  return `${name} ${nullable ? `Nullable(${type})` : type}`;
}
