export * from "../../../../src/nats/index";
