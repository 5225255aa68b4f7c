export * from "../../../../src/testing/index";
