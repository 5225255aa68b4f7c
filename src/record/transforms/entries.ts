// The entries of a list that stand for the members of an object: `{ name: "Cookie", value: "a=b" }`, and their relatives.

/** Keys whose value names the entry. */
const NAMES = [
  ...["name", "Name", "key", "Key", "header", "field", "id", "k", "variable", "option", "parameter"],
  ...["property", "label", "type"],
];
const NAMED: ReadonlySet<string> = new Set(NAMES.map((name) => name.toLowerCase()));
/** The end of the key of a name, behind what it has in common with that of the value: `ParameterKey` and `ParameterValue`. */
const ENDS = ["", "name", "key", "id", "field"];
const VALUE = /^(.+?)(?:values?|val)$/;

/** True for a key whose value may have its name beside it: `value`, `val`, `ParameterValue`, `header_value`. */
export const isOfEntry = (key: string): boolean => key === "v" || /(?:values?|val)$/i.test(key);

/** The first own member of an entry that names it and says something of its value, which is at `key`. */
export function findName<Found>(entry: object, key: string, judge: (name: string) => Found | null): Found | null {
  const prefix = VALUE.exec(key.toLowerCase())?.[1];
  for (const each of Object.keys(entry)) {
    if (each === key || !isName(each, prefix)) continue;
    const name: unknown = Reflect.get(entry, each);
    const found = typeof name === "string" ? judge(name) : null;
    if (found !== null) return found;
  }
  return null;
}

/** The same for an object of a class, whose name may be a getter that stands in no list of its keys. */
export function findNameOfClass<Found>(entry: object, judge: (name: string) => Found | null): Found | null {
  for (const each of NAMES) {
    const name: unknown = Reflect.get(entry, each);
    const found = typeof name === "string" ? judge(name) : null;
    if (found !== null) return found;
  }
  return null;
}

function isName(key: string, prefix: string | undefined): boolean {
  const lower = key.toLowerCase();
  return NAMED.has(lower) || (prefix !== undefined && ENDS.some((end) => lower === prefix + end));
}

/** The role of a key before a separator in the text of an entry: it names the entry, has its value, or does neither. */
export function roleOf(name: string): "name" | "value" | null {
  const found = ROLE.exec(name);
  if (found === null) return null;
  return found[1] === undefined ? "name" : "value";
}
const ROLE =
  /(values?|val)$|(?:^|[a-z_-])(?:Name|Key)$|^(?:name|key|header|field|variable|option|parameter|property|label)$/i;
