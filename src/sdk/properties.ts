/** The properties of a custom event by their keys. Other values than these are left out. */
export type Properties = Readonly<Record<string, string | number | boolean | null | undefined>>;

const MOST = 20;
/** The service cuts texts at 256 characters, of one or two units each. */
const UNITS = 512;
/** At most 64 characters, with a letter or digit. */
const KEY = /^(?=.*[\p{L}\p{N}]).{1,64}$/su;

/** Returns the properties that the service takes, at most 20. It would reject the event for any other. */
export function cleanProperties(sent: Properties | undefined): Properties | undefined {
  const properties: Record<string, Properties[string]> = {};
  let count = 0;
  for (const sentKey in sent) {
    const key = sentKey.trim();
    const value = sent[sentKey];
    const isText = typeof value === 'string';
    if (KEY.test(key) && (isText || value === !!value || Number.isFinite(value)) && count++ < MOST)
      properties[key] = isText ? value.slice(0, UNITS) : value;
  }
  return count ? properties : undefined;
}
