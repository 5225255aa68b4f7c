import { AbstractChat, type ChatState, type ChatStatus, type ChatTransport, type UIMessage } from "ai";

/** What the AI SDK's hooks of each framework stand on, with plain fields in place of the framework's state. */
export class Chat extends AbstractChat<UIMessage> {
  constructor(id: string, messages: UIMessage[], transport: ChatTransport<UIMessage>) {
    const state: ChatState<UIMessage> = {
      status: "ready" as ChatStatus,
      error: undefined,
      messages,
      pushMessage: (message) => {
        state.messages = state.messages.concat(message);
      },
      popMessage: () => {
        state.messages = state.messages.slice(0, -1);
      },
      replaceMessage: (index, message) => {
        state.messages = state.messages.with(index, message);
      },
      snapshot: (thing) => structuredClone(thing),
    };
    super({ id, state, transport });
  }

  /** The texts of the last message, and the types of its other parts. */
  get parts(): unknown[] {
    return (this.lastMessage?.parts ?? []).map((part) => ("text" in part ? part.text : part.type));
  }

  /** Waits until the last message begins with a text. */
  async shows(text: string): Promise<void> {
    while (this.parts[0] !== text) await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
