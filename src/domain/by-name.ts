/** Makes an object with a value for each name. `make` gets the name and its number. */
export function byName<Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name, number: number) => Value,
): Record<Name, Value> {
  const made: Partial<Record<Name, Value>> = {};
  for (let i = 0; i < names.length; i++) made[names[i] as Name] = make(names[i] as Name, i);
  return made as Record<Name, Value>;
}
