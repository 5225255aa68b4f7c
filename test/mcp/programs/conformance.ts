/** The server that the official conformance suite asks for, so far as it is served. It prints its URL. */
import { Volume } from "memfs";
import { createSystem, defineProtocol, Type } from "../../../src/index";
import { Content, PromptReply, serveMcp } from "../../../src/mcp/index";
import { outcomeSchema, spawnFileSystem } from "../../../src/tools/index";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const sound = { type: "audio" as const, data: WAV, mimeType: "audio/wav" };
const several = { type: "text" as const, text: "Multiple content types test:" };
const embedded = (uri: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType: "text/plain", text: "This is an embedded resource content." },
});
const user = "user" as const;
const says = (text: string) => ({ role: user, content: { type: "text" as const, text } });

const Tests = defineProtocol("tests", {
  text: { description: "A text.", reply: Type.String() },
  image: { description: "An image.", reply: Content },
  audio: { description: "A sound.", reply: Content },
  resource: { description: "A resource.", reply: Content },
  mixed: { description: "Several parts.", reply: Content },
  error: { description: "An error.", reply: outcomeSchema(Type.String(), Type.String()) },
  progress: { description: "Tells how far it is.", reply: Type.String() },
  schema: {
    description: "Has a rich schema.",
    payload: Type.Unknown(),
    reply: Type.String(),
    schema: { payload: SCHEMA },
  },
  simple: { description: "A simple prompt.", reply: Type.String() },
  args: {
    description: "With arguments.",
    payload: Type.Object({ arg1: Type.String(), arg2: Type.String() }),
    reply: Type.String(),
  },
  embed: { description: "With a resource.", payload: Type.Object({ resourceUri: Type.String() }), reply: PromptReply },
  picture: { description: "With an image.", reply: PromptReply },
});

const system = createSystem();
const ref = system.spawn("tests", Tests, (ctx) => ({
  text: () => "This is a simple text response for testing.",
  image: () => [image],
  audio: () => [sound],
  resource: () => [embedded("test://embedded-resource")],
  mixed: () => [several, image, embedded("test://mixed-content-resource")],
  error: () => ({ ok: false as const, error: "This tool intentionally returns an error for testing" }),
  async progress() {
    for (const done of [0, 50, 100]) {
      ctx.progress(done, 100);
      await Bun.sleep(50);
    }
    return "done";
  },
  schema: () => "ok",
  simple: () => "This is a simple prompt for testing.",
  args: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  embed: ({ resourceUri }) => ({
    messages: [{ role: user, content: embedded(resourceUri) }, says("Please process the embedded resource above.")],
  }),
  picture: () => ({ messages: [{ role: user, content: image }, says("Please analyze the image above.")] }),
}));
const volume = Volume.fromJSON({
  "/static-text": "This is the content of the static text resource.",
  "/template/123/data": '{"id":"123","templateTest":true,"data":"Data for ID: 123"}',
});
volume.writeFileSync("/static-binary", Buffer.from(PNG, "base64"));
const files = spawnFileSystem(system, { root: "/", volume });
const mcp = await serveMcp(system, {
  name: "conformance",
  version: "1.0.0",
  expose: {
    tests: {
      ref,
      operations: {
        text: { name: "test_simple_text" },
        image: { name: "test_image_content" },
        audio: { name: "test_audio_content" },
        resource: { name: "test_embedded_resource" },
        mixed: { name: "test_multiple_content_types" },
        error: { name: "test_error_handling" },
        progress: { name: "test_tool_with_progress" },
        schema: { name: "json_schema_2020_12_tool" },
      },
    },
  },
  files: { test: { ref: files, uri: "test://" } },
  prompts: {
    test_simple_prompt: { ref, operation: "simple" },
    test_prompt_with_arguments: { ref, operation: "args" },
    test_prompt_with_embedded_resource: { ref, operation: "embed" },
    test_prompt_with_image: { ref, operation: "picture" },
  },
});
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", routes: { "/mcp": mcp.fetch } });
console.log(new URL("/mcp", server.url).href);
