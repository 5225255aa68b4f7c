// A page with one chat by the AI SDK's React hook. Its query says where the operation is, and which one of a session it is.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createElement as h, useEffect } from "react";
import { createRoot } from "react-dom/client";

const query = new URLSearchParams(location.search);
const operation = query.get("operation");

const transport = new DefaultChatTransport({
  api: query.get("api"),
  // The body of a message to a session; an operation that is exposed takes the body of the hook as it is.
  ...(operation !== null && {
    prepareSendMessagesRequest: ({ id, messages }) => ({ body: { operation, payload: { id, messages } } }),
  }),
});

/** What the user said, which a real page would get from its server. */
const said = JSON.parse(sessionStorage.getItem("said") ?? "[]");

function Chat() {
  const chat = useChat({ id: "page", messages: said, resume: true, transport });
  const { messages, status, error, sendMessage } = chat;
  useEffect(() => {
    sessionStorage.setItem("said", JSON.stringify(messages.filter(({ role }) => role === "user")));
  }, [messages]);
  const textOf = ({ parts }) => parts.map(({ text = "" }) => text).join("");
  return h(
    "main",
    { id: "chat", "data-status": status, "data-error": error?.message ?? "" },
    ...messages.map((message) => h("p", { key: message.id, className: message.role }, textOf(message))),
    h("button", { type: "button", onClick: () => void sendMessage({ text: "Tell a story" }) }, "Send"),
  );
}

createRoot(document.getElementById("root")).render(h(Chat));
