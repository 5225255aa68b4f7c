import { defineProtocol, type JsonSchema, jsonSchemaOf, type Static, Type } from "../index";

const text = Type.Object({ type: Type.Literal("text"), text: Type.String() });
const media = { data: Type.String({ description: "Base64." }), mimeType: Type.String() };
const resource = Type.Object({
  uri: Type.String(),
  mimeType: Type.Optional(Type.String()),
  text: Type.Optional(Type.String()),
  blob: Type.Optional(Type.String({ description: "Base64." })),
});
const link = Type.Object({
  type: Type.Literal("resource_link"),
  uri: Type.String(),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  mimeType: Type.Optional(Type.String()),
});

/** One part of a content for models: a text, an image, a sound, a resource, or a link to one. */
export const ContentBlock = Type.Union([
  text,
  Type.Object({ type: Type.Literal("image"), ...media }),
  Type.Object({ type: Type.Literal("audio"), ...media }),
  Type.Object({ type: Type.Literal("resource"), resource }),
  link,
]);
export type ContentBlock = Static<typeof ContentBlock>;

/** The reply of an operation with more than data for a model. A tool with this reply schema passes the parts on as they are. */
export const Content = Type.Array(ContentBlock);
export type Content = Static<typeof Content>;

/** The reply of an operation whose prompt has several messages, or more than texts. */
export const PromptReply = Type.Object({
  description: Type.Optional(Type.String()),
  messages: Type.Array(
    Type.Object({ role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]), content: ContentBlock }),
  ),
});
export type PromptReply = Static<typeof PromptReply>;

const forms = jsonSchemaOf(defineProtocol("content", { content: { reply: Content }, prompt: { reply: PromptReply } }));
const textOf = ({ $schema: _, ...schema }: JsonSchema): string => JSON.stringify(schema);
const CONTENT = textOf(forms.content.output ?? {});
const PROMPT = textOf(forms.prompt.output ?? {});

/** True for the JSON Schema of `Content`. */
export const isContent = (schema: JsonSchema): boolean => textOf(schema) === CONTENT;

/** True for the JSON Schema of `PromptReply`. */
export const isPrompt = (schema: JsonSchema): boolean => textOf(schema) === PROMPT;
