export * from "../../../../src/workers/index";
