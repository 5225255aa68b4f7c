export * from "../../../../../src/http/client/index";
