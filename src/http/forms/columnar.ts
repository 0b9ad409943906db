import { isUint8Array } from 'node:util/types';
import {
  Bool,
  type Data,
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
import { textsInSameMemory } from './utf8.ts';

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
  const writers = columns.map(arrowColumn);
  const head = arrowStream(schema);
  yield head.subarray(0, -END_BYTES);
  for await (const items of itemsOf(list, BATCH)) {
    const children = writers.map((write) => write(items));
    const rows = makeData({ type: new Struct(schema.fields), length: items.length, nullCount: 0, children });
    const whole = arrowStream(schema, new RecordBatch(schema, rows));
    yield whole.subarray(head.length - END_BYTES, -END_BYTES);
  }
  yield head.subarray(-END_BYTES);
};

/** Returns a function that writes a column of each batch. Texts are written over those of the batch before. */
function arrowColumn(column: Column): (items: readonly Item[]) => Data {
  const type = ARROW_TYPES[column.type]();
  if (column.type !== 'String') return (items) => dataOf(valuesOf(items, column), type);
  const write = textsInSameMemory();
  return (items) => {
    const texts = textsOf(items, column);
    const { nullCount, nullBitmap } = dataOf(
      texts.map((text) => (text === null ? null : true)),
      new Bool(),
    );
    const { bytes: data, offsets: valueOffsets } = write(texts);
    return makeData({ type: new Utf8(), length: texts.length, nullCount, nullBitmap, valueOffsets, data });
  };
}

function dataOf(values: readonly unknown[], type: DataType): Data {
  const [data] = vectorFromArray(values, type).data;
  if (data === undefined) throw new Error('no data of a column');
  return data;
}

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
  const writers = columns.map((column) => ({ name: column.name, write: parquetColumn(column) }));
  for await (const items of itemsOf(list, ROW_GROUP)) {
    const columnData = writers.map(({ name, write }) => ({ name, data: write(items) }));
    await file.write({ columnData, rowGroupSize: items.length });
    copyBounds(file);
    yield bytes.getBytes();
    bytes.index = 0;
  }
  await file.finish();
  yield bytes.getBytes();
};

/** Returns a function that takes a column of each row group. Texts are written over those of the group before. */
function parquetColumn(column: Column): (items: readonly Item[]) => unknown[] {
  if (column.type !== 'String') return (items) => valuesOf(items, column);
  const write = textsInSameMemory();
  return (items) => {
    const texts = textsOf(items, column);
    const { bytes, offsets } = write(texts);
    return texts.map((text, i) => (text === null ? null : bytes.subarray(offsets[i], offsets[i + 1])));
  };
}

/** The file's end holds the least and the greatest value of each column: copies, because texts are written over. */
function copyBounds({ row_groups }: ParquetWriter): void {
  for (const { meta_data } of row_groups.at(-1)?.columns ?? []) {
    const bounds = meta_data?.statistics;
    if (isUint8Array(bounds?.min_value)) bounds.min_value = Uint8Array.from(bounds.min_value);
    if (isUint8Array(bounds?.max_value)) bounds.max_value = Uint8Array.from(bounds.max_value);
  }
}

/** Returns a column's values in the types that both libraries take. */
const valuesOf = (
  items: readonly Item[],
  { name, type }: Column,
): (string | number | bigint | Date | null)[] =>
  items.map((item) => {
    const value = item[name] ?? null;
    if (value === null) return null;
    if (type === 'Int64') return BigInt(value);
    return type === 'Date32' ? new Date(value) : value;
  });

const textsOf = (items: readonly Item[], { name }: Column): (string | null)[] =>
  items.map((item) => {
    const value = item[name] ?? null;
    return value === null ? null : String(value);
  });
