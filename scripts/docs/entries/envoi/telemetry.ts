export * from "../../../../src/telemetry/index";
