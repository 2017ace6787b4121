// Prints each package's door as TypeScript declarations: the exported names, and all types reachable from them.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format } from 'prettier'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOOR = 'src/index.ts'
/** The declaration of a function, a class, a type or a constant. */
type Declaration = ts.DeclarationStatement | ts.VariableDeclaration

/** The declarations of each door, by the folder of its package: sorted, and without comments. */
export async function declaredDoors(): Promise<Map<string, string>> {
  const names = globSync('packages/*/package.json', { cwd: ROOT }).map(
    (file) => dirname(file).split('/').at(-1) ?? '',
  )
  const program = programOf(names, emittedDeclarations(names))
  const checker = program.getTypeChecker()
  const exported = new Map(names.map((name) => [name, exportsOf(program, name)]))
  const doors = new Map<string, string>()
  for (const name of names.sort()) {
    const code = new Door(checker, name, exported).print()
    doors.set(name, await format(code, { ...manifestOf('.').prettier, parser: 'typescript' }))
  }
  return doors
}

/** Declarations from `tsc` for all files imported by the doors, by path. */
function emittedDeclarations(names: readonly string[]): Map<string, string> {
  const readFile = (file: string) => ts.sys.readFile(file)
  const settings = ts.readConfigFile(join(ROOT, 'tsconfig.json'), readFile)
  const { options } = ts.parseJsonConfigFileContent(settings.config, ts.sys, ROOT)
  const emitting = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noCheck: true, // `npm run check` does
    rootDir: ROOT,
    outDir: ROOT,
  }
  const program = ts.createProgram(names.map(doorOf), { ...options, ...emitting })
  const declarations = new Map<string, string>()
  program.emit(undefined, (file, text) => declarations.set(resolve(file), text))
  return declarations
}

/** A TypeScript program of these declarations only, without other packages than ours. */
function programOf(
  names: readonly string[],
  declarations: ReadonlyMap<string, string>,
): ts.Program {
  const options: ts.CompilerOptions = { noLib: true, types: [], allowImportingTsExtensions: true }
  const named = pathsByName(names)
  const resolveName = (name: string, from: string) => {
    const file = name.startsWith('.') ? resolve(dirname(from), name) : named.get(name)
    const declared = file === undefined ? '' : declarationOf(file)
    if (!declarations.has(declared)) return { resolvedModule: undefined }
    return { resolvedModule: { resolvedFileName: declared, extension: ts.Extension.Dts } }
  }
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(options),
    fileExists: (file) => declarations.has(file),
    readFile: (file) => declarations.get(file),
    getSourceFile: (file, version) => {
      const text = declarations.get(file)
      return text === undefined ? undefined : ts.createSourceFile(file, text, version, true)
    },
    resolveModuleNameLiterals: (literals, from) =>
      literals.map(({ text }) => resolveName(text, from)),
  }
  const roots = names.map((name) => declarationOf(doorOf(name)))
  return ts.createProgram(roots, options, host)
}

/** The entry files of packages, by import specifier. */
function pathsByName(names: readonly string[]): Map<string, string> {
  const entries = names.flatMap((name) => {
    const folder = join('packages', name)
    const { exports } = manifestOf(folder)
    return Object.entries(exports).map(([path, file]): [string, string] => [
      join('@plant-store', name, path),
      join(ROOT, folder, file),
    ])
  })
  return new Map(entries)
}

interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, string>>
  readonly prettier?: object
}

export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest
}

function doorOf(name: string): string {
  return join(ROOT, 'packages', name, DOOR)
}

function declarationOf(file: string): string {
  return file.replace(/\.ts$/, '.d.ts')
}

/** The exported symbols of a door, with their names. */
function exportsOf(program: ts.Program, name: string): Map<ts.Symbol, string> {
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(declarationOf(doorOf(name)))
  const door = source && checker.getSymbolAtLocation(source)
  const exported = door === undefined ? [] : checker.getExportsOfModule(door)
  return new Map(exported.map((symbol) => [unaliased(checker, symbol), symbol.name]))
}

function unaliased(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/** Collects and prints the declarations reachable from one door. */
class Door {
  readonly #checker: ts.TypeChecker
  readonly #exported: ReadonlyMap<ts.Symbol, string>
  /** Symbols exported by other doors, with their imports. */
  readonly #named: ReadonlyMap<ts.Symbol, readonly [name: string, from: string]>
  readonly #reached = new Set<ts.Symbol>()
  readonly #imports = new Set<string>()
  #names: ReadonlyMap<ts.Symbol, string> = new Map()

  constructor(
    checker: ts.TypeChecker,
    folder: string,
    doors: ReadonlyMap<string, Map<ts.Symbol, string>>,
  ) {
    this.#checker = checker
    this.#exported = doors.get(folder) ?? new Map()
    const others = [...doors].filter(([name]) => name !== folder)
    const named = others.flatMap(([from, exported]) =>
      [...exported].map(([symbol, name]) => [symbol, [name, `@plant-store/${from}`]] as const),
    )
    this.#named = new Map(named)
  }

  print(): string {
    for (const symbol of this.#exported.keys()) this.#reach(symbol)
    this.#names = this.#uniqueNames()
    const sorted = [...this.#reached].sort((a, b) => compare(this.#nameOf(a), this.#nameOf(b)))
    const statements = sorted.flatMap((symbol) =>
      declarationsOf(symbol).map((declaration) => this.#printOne(symbol, declaration)),
    )
    return [...[...this.#imports].sort(), ...statements, 'export {}'].join('\n')
  }

  #reach(symbol: ts.Symbol): void {
    if (this.#reached.has(symbol)) return
    const declarations = declarationsOf(symbol)
    if (declarations.length === 0) return
    this.#reached.add(symbol)
    const visit = (node: ts.Node): void => {
      if (isHidden(node)) return
      const target = this.#targetOf(node)
      if (target !== undefined) this.#reach(target)
      ts.forEachChild(node, visit)
    }
    for (const declaration of declarations) visit(declaration)
  }

  /** The symbol of a name, if this door must declare it. A name of another package becomes an import. */
  #targetOf(node: ts.Node): ts.Symbol | undefined {
    const name = ts.isImportTypeNode(node) ? node.qualifier : node
    if (name === undefined || !ts.isIdentifier(name)) return undefined
    const symbol = this.#checker.getSymbolAtLocation(name)
    if (symbol === undefined) return undefined
    const target = unaliased(this.#checker, symbol)
    const named = this.#named.get(target)
    if (named !== undefined) this.#imports.add(importLine(named[0], named[0], named[1]))
    else if (target.declarations === undefined) this.#importForeign(symbol)
    return named === undefined ? target : undefined
  }

  #importForeign(symbol: ts.Symbol): void {
    const [declaration] = symbol.declarations ?? []
    if (declaration === undefined) return
    const statement = ts.findAncestor(declaration, ts.isImportDeclaration)
    if (statement === undefined || !ts.isStringLiteral(statement.moduleSpecifier)) return
    const from = statement.moduleSpecifier.text
    if (ts.isImportSpecifier(declaration)) {
      const imported = (declaration.propertyName ?? declaration.name).text
      this.#imports.add(importLine(imported, symbol.name, from))
      return
    }
    const name = ts.isNamespaceImport(declaration) ? `* as ${symbol.name}` : symbol.name
    this.#imports.add(`import type ${name} from '${from}'`)
  }

  /** Inner types of the same name get a number behind it: `Body_2`. */
  #uniqueNames(): Map<ts.Symbol, string> {
    const names = new Map(this.#exported)
    const taken = new Set(names.values())
    const inner = [...this.#reached].filter((symbol) => !names.has(symbol))
    for (const symbol of inner.sort((a, b) => compare(fileOf(a), fileOf(b)))) {
      let name = symbol.name
      for (let count = 2; taken.has(name); count++) name = `${symbol.name}_${count}`
      taken.add(name)
      names.set(symbol, name)
    }
    return names
  }

  #nameOf(symbol: ts.Symbol): string {
    return this.#names.get(symbol) ?? symbol.name
  }

  #printOne(symbol: ts.Symbol, declaration: Declaration): string {
    const printer = ts.createPrinter({ removeComments: true })
    const rename = this.#renamed.bind(this)
    const { transformed } = ts.transform<ts.Node>(declaration, [rename])
    const [node = declaration] = transformed
    const text = printer.printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile())
    const bare = text.replace(/^(?:export |declare |default )*/, '')
    const word = ts.isVariableDeclaration(declaration) ? 'const ' : ''
    const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
    const isExported = this.#exported.has(symbol)
    return `${isExported ? 'export ' : ''}${isType ? '' : 'declare '}${word}${bare}`
  }

  #renamed(context: ts.TransformationContext): ts.Transformer<ts.Node> {
    const visit = (node: ts.Node): ts.Node | undefined => {
      if (isHidden(node)) return undefined
      const target = this.#targetOf(node)
      const name = target && this.#names.get(target)
      if (ts.isImportTypeNode(node) && ts.isIdentifier(node.qualifier ?? node)) {
        const imported = this.#importedName(node, name)
        const words = node.typeArguments?.map((word) => ts.visitNode(word, visit) as ts.TypeNode)
        if (imported !== undefined) return ts.factory.createTypeReferenceNode(imported, words)
      }
      if (ts.isIdentifier(node) && name !== undefined) return ts.factory.createIdentifier(name)
      return ts.visitEachChild(node, visit, context)
    }
    return (root) => ts.visitNode(root, visit) ?? root
  }

  /** The printed name of `import('…').Name` from one of our packages. */
  #importedName({ qualifier }: ts.ImportTypeNode, name: string | undefined): string | undefined {
    const symbol = qualifier && this.#checker.getSymbolAtLocation(qualifier)
    return name ?? (symbol && this.#named.get(unaliased(this.#checker, symbol))?.[0])
  }
}

/** The top-level declarations of a symbol: no properties, no type parameters. */
function declarationsOf(symbol: ts.Symbol): Declaration[] {
  const { declarations = [] } = symbol
  return declarations.filter((node): node is Declaration =>
    ts.isVariableDeclaration(node)
      ? ts.isVariableStatement(node.parent.parent)
      : ts.isSourceFile(node.parent) && !ts.isSourceFile(node),
  )
}

/** Whether a class element is private. */
function isHidden(node: ts.Node): boolean {
  if (!ts.isClassElement(node)) return false
  const isPrivate = ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Private
  return isPrivate !== 0 || (node.name !== undefined && ts.isPrivateIdentifier(node.name))
}

function importLine(name: string, as: string, from: string): string {
  return `import type { ${name === as ? name : `${name} as ${as}`} } from '${from}'`
}

function fileOf(symbol: ts.Symbol): string {
  return symbol.declarations?.[0]?.getSourceFile().fileName ?? ''
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
