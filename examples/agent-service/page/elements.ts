type Child = Node | string;

/** Makes an element. Texts are texts: nothing of them is read as HTML. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}

/** An element of the document. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`The page has no ${kind.name} "${id}".`);
}

/** A button that does something. */
export function button(label: string, attributes: Readonly<Record<string, string>>, onClick: () => void) {
  const made = make("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", onClick);
  return made;
}
