/** Maps `rows`: an array at once, any other iterable lazily, each time that it is iterated. */
export function mapped<From, To>(rows: Iterable<From>, map: (row: From) => To): Iterable<To> {
  if (Array.isArray(rows)) return (rows as readonly From[]).map(map);
  return {
    *[Symbol.iterator]() {
      for (const row of rows) yield map(row);
    },
  };
}
