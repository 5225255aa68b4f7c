export * from "../../../../src/acp/index";
