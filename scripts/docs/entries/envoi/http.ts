export * from "../../../../src/http/index";
