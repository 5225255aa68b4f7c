import { byId, setText } from "./dom";

const KEY = "envoi-inspector";

/** Asks for credentials, and keeps them for this tab. */
export class Credentials {
  readonly #form = byId("sign-in", HTMLFormElement);
  readonly #input = byId("credential", HTMLInputElement);
  readonly #header = byId("header", HTMLSelectElement);
  /** The headers that the gateway reads. */
  readonly #names: readonly string[];

  constructor(onGiven: () => void) {
    const named = document.querySelector('meta[name="credentials"]')?.getAttribute("content") ?? "";
    this.#names = named.split(" ").filter((name) => name !== "");
    for (const name of this.#names) this.#header.append(new Option(name, name));
    byId("header-field", HTMLLabelElement).hidden = this.#names.length < 2;
    this.#header.addEventListener("change", () => this.#nameInput());
    this.#nameInput();
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = this.#input.value.trim();
      if (value === "") return;
      sessionStorage.setItem(KEY, JSON.stringify([this.#chosen, value]));
      this.#input.value = "";
      this.#form.hidden = true;
      onGiven();
    });
  }

  /** The headers of a request. Empty where none were given: a cookie or a proxy may say who it is. */
  get headers(): Record<string, string> {
    const [name, value] = this.#kept();
    if (name === undefined || value === undefined) return {};
    return { [name]: name === "authorization" && !value.includes(" ") ? `Bearer ${value}` : value };
  }

  /** Asks for others, and says why. */
  ask(why: string): void {
    setText(byId("refusal", HTMLElement), why);
    if (!this.#form.hidden) return;
    this.#form.hidden = false;
    this.#input.focus();
  }

  get #chosen(): string {
    return this.#header.value || "authorization";
  }

  #nameInput(): void {
    const name = this.#chosen;
    setText(byId("credential-name", HTMLElement), name === "authorization" ? "Token" : `Key (${name})`);
  }

  /** The header and its value; nothing where the tab has none. */
  #kept(): readonly string[] {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
      return Array.isArray(kept) && kept.every((each) => typeof each === "string") ? kept : [];
    } catch {
      return [];
    }
  }
}
