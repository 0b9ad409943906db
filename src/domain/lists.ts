/** `rows` through `map`: at once where they are an array, else one by one when they are gone through. */
export function mapped<From, To>(rows: Iterable<From>, map: (row: From) => To): Iterable<To> {
  if (Array.isArray(rows)) return (rows as readonly From[]).map(map);
  return {
    *[Symbol.iterator]() {
      for (const row of rows) yield map(row);
    },
  };
}
