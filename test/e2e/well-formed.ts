/** An element of an XML document. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** What is written in it and in its elements. */
  text: string;
}

const NAME = "[A-Za-z_][\\w.:-]*";
const MARKUP = new RegExp(`<(/?)(${NAME})((?:\\s+${NAME}="[^"<]*")*)\\s*(/?)>`, "y");

/** The elements of an XML document, in their order; throws where it is not well-formed. Written for tests: no DTDs, comments or CDATA. */
export function elementsOf(xml: string): Element[] {
  const found: Element[] = [];
  const open: Element[] = [];
  for (let at = 0; at < xml.length; ) {
    if (xml[at] !== "<") {
      const end = xml.indexOf("<", at);
      const text = decoded(xml.slice(at, end < 0 ? xml.length : end));
      if (open.length === 0 && text.trim() !== "") throw new Error(`Text outside of the root: ${text}`);
      for (const element of open) element.text += text;
      at = end < 0 ? xml.length : end;
      continue;
    }
    MARKUP.lastIndex = at;
    const match = MARKUP.exec(xml);
    if (match === null) throw new Error(`No markup: ${xml.slice(at, at + 60)}`);
    at = MARKUP.lastIndex;
    const [, isEnd, name = "", written = "", isEmpty] = match;
    if (isEnd !== "") {
      if (open.pop()?.name !== name) throw new Error(`</${name}> ends another element.`);
      continue;
    }
    if (open.length === 0 && found.length > 0) throw new Error("There is more than one root.");
    const pairs = [...written.matchAll(new RegExp(`(${NAME})="([^"]*)"`, "g"))];
    const attributes = Object.fromEntries(pairs.map(([, key = "", value = ""]) => [key, decoded(value)]));
    if (Object.keys(attributes).length < pairs.length) throw new Error(`<${name}> has an attribute twice.`);
    const element = { name, attributes, text: "" };
    found.push(element);
    if (isEmpty === "") open.push(element);
  }
  if (open.length > 0 || found.length === 0) throw new Error("The root is not closed.");
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no XML document can have.
  if (/[\u0000-\u0008\u000B\u000C\u000E-\u001F]/.test(text) || !text.isWellFormed())
    throw new Error("No XML character.");
  return text.replace(/&([^;]*);?/g, (whole, name: string) => {
    const letter = whole.endsWith(";") ? ENTITIES[name] : undefined;
    if (letter === undefined) throw new Error(`No entity: ${whole}`);
    return letter;
  });
}
