export * from "../../../../src/mcp/index";
