// Named as a user imports it: TypeDoc names a module by its file.
export * from "../../../src/index";
