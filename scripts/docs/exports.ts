/** Reads what the package exports, with the doc comments, for `llms-full.txt` and for the test that each export is documented. */
import { join, relative } from "node:path";
import ts from "typescript-5.9"; // The last one that is written in JavaScript, and so can be asked.

/** The entry points by what a user imports. */
export const ENTRIES: Readonly<Record<string, string>> = {
  envoi: "src/index.ts",
  "envoi/testing": "src/testing/index.ts",
  "envoi/tools": "src/tools/index.ts",
  "envoi/http": "src/http/index.ts",
  "envoi/http/client": "src/http/client/index.ts",
  "envoi/rpc": "src/rpc/index.ts",
  "envoi/acp": "src/acp/index.ts",
  "envoi/mcp": "src/mcp/index.ts",
  "envoi/nats": "src/nats/index.ts",
  "envoi/record": "src/record/index.ts",
  "envoi/telemetry": "src/telemetry/index.ts",
  "envoi/workers": "src/workers/index.ts",
  "envoi/benchmarks": "benchmarks/index.ts",
};

/** A property of an exported interface whose name ends in Options. */
export interface Option {
  readonly name: string;
  readonly isOptional: boolean;
  readonly comment: string;
}

export interface Exported {
  /** What a user imports it from. */
  readonly entry: string;
  readonly name: string;
  readonly kind: "class" | "function" | "type" | "value";
  /** The file that declares it, from the root of the repository. */
  readonly file: string;
  /** Its doc comment without tags. */
  readonly comment: string;
  /** Its tags, such as `throws`, with their texts. */
  readonly tags: readonly { readonly name: string; readonly text: string }[];
  /** The declarations, without bodies: a signature for each overload. */
  readonly signatures: readonly string[];
  /** True when its own code throws, or calls a check that does. */
  readonly throws: boolean;
  readonly options: readonly Option[];
}

const THROWS = /\bthrow\b|\b(?:check|require|refuse)[A-Z]\w*\(|limitsOf\(/;

/** All exports of the entry points, in the order in which they are written there. */
export function readExports(root: string): Exported[] {
  const files = Object.values(ENTRIES).map((path) => join(root, path));
  const program = ts.createProgram(files, optionsIn(root));
  const checker = program.getTypeChecker();
  return Object.entries(ENTRIES).flatMap(([entry, path]) => {
    const source = program.getSourceFile(join(root, path));
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${path} exports nothing.`);
    return checker.getExportsOfModule(module).map((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      return describe(root, entry, exported.name, isAlias ? checker.getAliasedSymbol(exported) : exported, checker);
    });
  });
}

function optionsIn(root: string): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
  return ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, root).options;
}

function describe(root: string, entry: string, name: string, symbol: ts.Symbol, checker: ts.TypeChecker): Exported {
  const declarations = symbol.declarations ?? [];
  const [first] = declarations;
  if (first === undefined || first.getSourceFile().isDeclarationFile) {
    // Of a package beside ours, such as neverthrow: documented there.
    return { entry, name, kind: "value", file: "", comment: "", tags: [], signatures: [], throws: false, options: [] };
  }
  const functions = declarations.filter(isCallable);
  return {
    entry,
    name,
    kind: kindOf(symbol),
    file: relative(root, first.getSourceFile().fileName),
    comment: plain(symbol.getDocumentationComment(checker)),
    tags: symbol.getJsDocTags(checker).map((tag) => ({ name: tag.name, text: plain(tag.text ?? []) })),
    signatures: declarations.filter((each) => !isImplementation(each, declarations)).map(signatureOf),
    throws: functions.some((each) => THROWS.test(each.getText())),
    options: /Options$/.test(name) ? optionsOf(first, checker) : [],
  };
}

const plain = (parts: ts.SymbolDisplayPart[]): string => ts.displayPartsToString(parts).trim();

function kindOf({ flags }: ts.Symbol): Exported["kind"] {
  if (flags & ts.SymbolFlags.Function) return "function";
  if (flags & ts.SymbolFlags.Class) return "class";
  return flags & ts.SymbolFlags.Variable ? "value" : "type";
}

const isArrow = (node: ts.Node | undefined): boolean => node !== undefined && ts.isArrowFunction(node);
const isCallable = (node: ts.Declaration): boolean =>
  ts.isFunctionDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  (ts.isVariableDeclaration(node) && isArrow(node.initializer));

/** Of a function with overloads, the declaration with the body is nobody's to call. */
const isImplementation = (node: ts.Declaration, all: readonly ts.Declaration[]): boolean =>
  ts.isFunctionDeclaration(node) &&
  node.body !== undefined &&
  all.some((each) => each !== node && ts.isFunctionDeclaration(each));

/** The text of a declaration, up to its body. */
function signatureOf(node: ts.Declaration): string {
  const text = node.getText();
  const end = ts.isFunctionDeclaration(node) && node.body ? node.body.getStart() - node.getStart() : text.length;
  return text
    .slice(0, end)
    .trim()
    .replace(/^export /, "");
}

function optionsOf(node: ts.Declaration, checker: ts.TypeChecker): Option[] {
  const own = ts.isInterfaceDeclaration(node) ? node.members.filter(ts.isPropertySignature) : [];
  return own.map((member) => {
    const symbol = checker.getSymbolAtLocation(member.name);
    return {
      name: member.name.getText(),
      isOptional: member.questionToken !== undefined,
      comment: symbol === undefined ? "" : plain(symbol.getDocumentationComment(checker)),
    };
  });
}
