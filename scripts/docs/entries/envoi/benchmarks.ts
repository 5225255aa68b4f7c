export * from "../../../../benchmarks/index";
