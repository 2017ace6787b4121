// Declarations as tsc writes them, and their parts.
import ts from 'typescript'

export type Named = ts.DeclarationStatement | ts.VariableDeclaration
export type Callable = ts.SignatureDeclaration
export type Members = ReadonlyMap<string, ts.Node>

/** The declarations of a file, by name. */
export class Door {
  readonly exported: ReadonlySet<string>
  readonly #declarations = new Map<string, Named>()
  readonly #modules = new Map<string, string>()

  constructor(text: string) {
    const source = ts.createSourceFile('door.d.ts', text, ts.ScriptTarget.Latest, true)
    const exported = new Set<string>()
    for (const statement of source.statements) {
      if (ts.isImportDeclaration(statement)) this.#addImport(statement)
      const names = namedIn(statement)
      const isExported = /^export /.test(statement.getText())
      for (const [name, declaration] of names) {
        this.#declarations.set(this.#freeName(name), declaration)
        if (isExported) exported.add(name)
      }
    }
    this.exported = exported
  }

  /** A declaration without an exported name: it is compared at its uses. */
  inner(node: ts.Node): Named | undefined {
    const name = nameOf(node)
    const isKnown = name !== '' && !this.exported.has(name) && !isTypeParameter(node, name)
    return isKnown ? this.#declarations.get(name) : undefined
  }

  declarations(name: string): readonly Named[] {
    const named = [...this.#declarations].filter(([key]) => key.split('#', 1)[0] === name)
    return named.map(([, declaration]) => declaration)
  }

  /** A name with its package, if it is imported. */
  spelled(node: ts.TypeReferenceNode): string {
    const name = node.typeName.getText()
    const [first = '', ...others] = name.split('.')
    return [this.#modules.get(first) ?? first, ...others].join('.')
  }

  #addImport(statement: ts.ImportDeclaration): void {
    const from = statement.moduleSpecifier.getText()
    const { name, namedBindings } = statement.importClause ?? {}
    if (name !== undefined) this.#modules.set(name.text, from)
    if (namedBindings === undefined) return
    if (ts.isNamespaceImport(namedBindings)) {
      this.#modules.set(namedBindings.name.text, from)
      return
    }
    for (const { name: local, propertyName } of namedBindings.elements)
      this.#modules.set(local.text, `${(propertyName ?? local).getText()} of ${from}`)
  }

  /** Overloads have a number behind the name. */
  #freeName(name: string): string {
    let key = name
    for (let count = 2; this.#declarations.has(key); count++) key = `${name}#${count}`
    return key
  }
}

/** The declarations of a statement, by name. */
function namedIn(statement: ts.Statement): [string, Named][] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map((node) => [node.name.getText(), node])
  const isNamed =
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isEnumDeclaration(statement)
  return isNamed ? [[statement.name?.text ?? 'default', statement]] : []
}

/** Whether a name stands for a type parameter here. */
function isTypeParameter(node: ts.Node, name: string): boolean {
  const scope = ts.findAncestor(node, (outer) => {
    if (ts.isMappedTypeNode(outer)) return outer.typeParameter.name.text === name
    if (ts.isConditionalTypeNode(outer))
      return new RegExp(`\\binfer ${name}\\b`).test(outer.extendsType.getText())
    return typeParametersOf(outer).some((parameter) => parameter.name.text === name)
  })
  return scope !== undefined
}

/** The name of the type in a reference, in `typeof` or behind `extends`; empty without one. */
export function nameOf(node: ts.Node): string {
  const name = referredBy(node)
  return name !== undefined && ts.isIdentifier(name) ? name.text : ''
}

function referredBy(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName
  if (ts.isTypeQueryNode(node)) return node.exprName
  return ts.isExpressionWithTypeArguments(node) ? node.expression : undefined
}

export function typeArgumentsOf(node: ts.Node): readonly ts.TypeNode[] {
  const isReference = ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)
  return isReference ? (node.typeArguments ?? []) : []
}

export function typeParametersOf(node: ts.Node): readonly ts.TypeParameterDeclaration[] {
  const hasParameters =
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isFunctionLike(node)
  return hasParameters ? (node.typeParameters?.filter(ts.isTypeParameterDeclaration) ?? []) : []
}

/** The properties of an interface, a class or a literal type. */
export function membersOf(node: ts.Node): Members | undefined {
  const isType = ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node)
  if (ts.isTypeAliasDeclaration(node) && ts.isTypeLiteralNode(node.type))
    return membersOf(node.type)
  if (!isType && !ts.isClassDeclaration(node)) return undefined
  const members = new Map<string, ts.Node>()
  for (const member of node.members) {
    const name =
      member.name?.getText().replace(/^'(.*)'$/, '$1') ?? `[${ts.SyntaxKind[member.kind]}]`
    let key = name
    for (let count = 2; members.has(key); count++) key = `${name}#${count}`
    members.set(key, member)
  }
  return members
}

export function heritageOf(node: ts.Node): readonly ts.ExpressionWithTypeArguments[] {
  const hasHeritage = ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node)
  return hasHeritage ? (node.heritageClauses ?? []).flatMap(({ types }) => [...types]) : []
}

/** A method, a constructor, a signature, or a property with a function. */
export function callableOf(node: ts.Node): Callable | undefined {
  if (ts.isFunctionLike(node) && !ts.isIndexSignatureDeclaration(node)) return node
  const type = typeOf(node)
  return type !== undefined && ts.isFunctionTypeNode(bare(type))
    ? (bare(type) as Callable)
    : undefined
}

/** The declared type. */
export function typeOf(node: ts.Node): ts.TypeNode | undefined {
  const isTyped =
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isIndexSignatureDeclaration(node)
  return isTyped ? node.type : undefined
}

/** A type without parentheses. */
export function bare(node: ts.Node): ts.Node {
  return ts.isParenthesizedTypeNode(node) ? bare(node.type) : node
}

export function alternativesOf(node: ts.Node): readonly ts.Node[] {
  return ts.isUnionTypeNode(node) ? node.types.map(bare) : [node]
}

export function childrenOf(node: ts.Node): readonly ts.Node[] {
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => {
    children.push(child)
  })
  return children
}

export function isOptional(node: ts.Node): boolean {
  if (ts.isParameter(node))
    return node.questionToken !== undefined || node.dotDotDotToken !== undefined
  const mayBeOptional =
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isMethodDeclaration(node)
  return mayBeOptional && node.questionToken !== undefined
}

export function isReadonly(node: ts.Node): boolean {
  const isProperty = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)
  return isProperty && (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Readonly) !== 0
}

/** A node in one line. */
export function textOf(node: ts.Node): string {
  return node.getText().replaceAll(/\s+/g, ' ')
}
