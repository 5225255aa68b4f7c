export * from "../../../../src/record/index";
