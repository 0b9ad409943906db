import {
  type DataType,
  DateDay,
  Field,
  Float64,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import type { Column } from './columns.ts';
import { type Item, itemsOf, type WriteForm } from './rows.ts';

/**
 * Characters of JSON in a record batch of Arrow and in a row group of Parquet. Readers of Parquet prefer
 * fewer, larger groups.
 */
const BATCH = 512 * 1024;
const ROW_GROUP = 1024 ** 2;

type Type = Column['type'];

const ARROW_TYPES: Readonly<Record<Type, () => DataType>> = {
  String: () => new Utf8(),
  Int64: () => new Int64(),
  Float64: () => new Float64(),
  Date32: () => new DateDay(),
};

/** The end of an Arrow stream: a message of length 0. */
const END_BYTES = 8;

/** Writes Arrow's stream format: a schema, then record batches. */
export const writeArrow: WriteForm = async function* (columns, list) {
  const schema = new Schema(
    columns.map(({ name, type, nullable }) => new Field(name, ARROW_TYPES[type](), nullable)),
  );
  const head = arrowStream(schema);
  yield head.subarray(0, -END_BYTES);
  for await (const items of itemsOf(list, BATCH)) {
    const children = schema.fields.map(({ name, type }, i) => {
      const [data] = vectorFromArray(valuesOf(items, columns[i], name), type).data;
      if (data === undefined) throw new Error(`no data of ${name}`);
      return data;
    });
    const rows = makeData({ type: new Struct(schema.fields), length: items.length, nullCount: 0, children });
    const whole = arrowStream(schema, new RecordBatch(schema, rows));
    yield whole.subarray(head.length - END_BYTES, -END_BYTES);
  }
  yield head.subarray(-END_BYTES);
};

/** A complete stream with the schema and at most one batch. */
function arrowStream(schema: Schema, batch?: RecordBatch): Uint8Array {
  const writer = new RecordBatchStreamWriter();
  writer.reset(undefined, schema);
  if (batch !== undefined) writer.write(batch);
  writer.finish();
  return writer.toUint8Array(true);
}

const PARQUET_TYPES: Readonly<Record<Type, Omit<SchemaElement, 'name'>>> = {
  String: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  Int64: { type: 'INT64' },
  Float64: { type: 'DOUBLE' },
  Date32: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
};

export const writeParquet: WriteForm = async function* (columns, list) {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({
    writer: bytes,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(
        ({ name, type, nullable }): SchemaElement => ({
          name,
          repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED',
          ...PARQUET_TYPES[type],
        }),
      ),
    ],
  });
  /** Takes the bytes written since the last call. */
  const written = (): Uint8Array => {
    const piece = bytes.getBytes().slice();
    bytes.index = 0;
    return piece;
  };
  for await (const items of itemsOf(list, ROW_GROUP)) {
    const columnData = columns.map((column) => ({
      name: column.name,
      data: valuesOf(items, column, column.name),
    }));
    await file.write({ columnData, rowGroupSize: items.length });
    yield written();
  }
  await file.finish();
  yield written();
};

/** Returns a column's values in the types that both libraries take. */
function valuesOf(
  items: readonly Item[],
  column: Column | undefined,
  name: string,
): (string | number | bigint | Date | null)[] {
  return items.map((item) => {
    const value = item[name] ?? null;
    if (value === null) return null;
    if (column?.type === 'Int64') return BigInt(value);
    return column?.type === 'Date32' ? new Date(value) : value;
  });
}
