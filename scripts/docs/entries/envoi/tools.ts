export * from "../../../../src/tools/index";
