export * from "../../../../src/rpc/index";
