// Finds the changes of a door that break the code of a product.
import ts from 'typescript'
import {
  alternativesOf,
  bare,
  type Callable,
  callableOf,
  childrenOf,
  Door,
  heritageOf,
  isOptional,
  isReadonly,
  type Members,
  membersOf,
  type Named,
  nameOf,
  textOf,
  typeArgumentsOf,
  typeOf,
  typeParametersOf,
} from './declarations.ts'

/**
 * Where a value goes. A product writes what is input, such as an argument: it may have no new duty. It reads what is
 * output, such as a request: it may get more, but no less. A type that it can name may be both.
 */
type Side = 'input' | 'output' | 'both'
const FLIPPED = { input: 'output', output: 'input', both: 'both' } as const
/**
 * The exported types that are output only: values of the engine, of `defineProduct`, of a generated file. A new member in
 * them breaks nobody.
 */
const OUTPUT: readonly string[] = [
  'Answer',
  'Collection',
  'CompiledContract',
  'Config',
  'Mark',
  'OpenContext',
  'Page',
  'Product',
  'RequestOf',
  'StartedProduct',
]

/** Describes each breaking change of a door. */
export function breaksIn(before: string, after: string): string[] {
  return new Comparison(new Door(before), new Door(after)).breaks()
}

class Comparison {
  readonly #before: Door
  readonly #after: Door
  readonly #breaks = new Set<string>()
  /** The compared pairs of inner types, unfinished ones included: types may be recursive. */
  readonly #seen = new Set<string>()

  constructor(before: Door, after: Door) {
    this.#before = before
    this.#after = after
  }

  breaks(): string[] {
    for (const name of this.#before.exported) this.#compareExport(name)
    return [...this.#breaks]
  }

  #compareExport(name: string): void {
    if (!this.#after.exported.has(name)) {
      this.#add(name, 'is no longer exported')
      return
    }
    const [before, after] = [this.#before.declarations(name), this.#after.declarations(name)]
    if (after.length < before.length) {
      this.#add(name, 'has fewer overloads')
      return
    }
    for (const [index, declaration] of before.entries()) {
      const next = after[index]
      if (next !== undefined) this.#declaration(declaration, next, sideOf(name, declaration), name)
    }
  }

  #add(place: string, words: string): void {
    this.#breaks.add(`${place}: ${words}`)
  }

  #declaration(before: Named, after: Named, side: Side, place: string): void {
    if (!ts.isFunctionDeclaration(before)) this.#typeParameters(before, after, place)
    const [old, next] = [membersOf(before), membersOf(after)]
    if (old !== undefined && next !== undefined) {
      this.#heritage(before, after, side, place)
      this.#members(old, next, side, place)
      return
    }
    const [call, nextCall] = [callableOf(before), callableOf(after)]
    if (call !== undefined && nextCall !== undefined) {
      this.#callable(call, nextCall, side, place)
      return
    }
    if (before.kind !== after.kind) {
      this.#add(place, 'is another kind of thing')
      return
    }
    const [type, nextType] = [typeOf(before), typeOf(after)]
    if (type !== undefined && nextType !== undefined) this.#type(type, nextType, side, place)
    else this.#same(before, after, place)
  }

  /** Explicit type arguments must fit. */
  #typeParameters(before: ts.Node, after: ts.Node, place: string): void {
    const [old, next] = [typeParametersOf(before), typeParametersOf(after)]
    for (const [index, parameter] of old.entries()) {
      const counterpart = next[index]
      if (counterpart === undefined) this.#add(place, `has no type parameter ${textOf(parameter)}`)
      else this.#same(parameter, counterpart, `${place}, type parameter ${index + 1}`)
    }
    for (const added of next.slice(old.length).filter(({ default: value }) => value === undefined))
      this.#add(place, `has a new required type parameter ${textOf(added)}`)
  }

  #heritage(before: Named, after: Named, side: Side, place: string): void {
    const [old, next] = [heritageOf(before), heritageOf(after)]
    for (const [index, base] of old.entries()) {
      const counterpart = next[index]
      if (counterpart === undefined) this.#add(place, `no longer extends ${textOf(base)}`)
      else this.#type(base, counterpart, side, `${place}, extends`)
    }
    for (const added of next.slice(old.length))
      if (side !== 'output') this.#add(place, `extends ${textOf(added)} now`)
  }

  #members(before: Members, after: Members, side: Side, place: string): void {
    for (const [name, member] of before) {
      const counterpart = after.get(name)
      const path = `${place}.${name}`
      if (counterpart === undefined) this.#add(path, 'was removed')
      else this.#member(member, counterpart, side, path)
    }
    if (side === 'output') return
    for (const [name, member] of after)
      if (!before.has(name) && !isOptional(member))
        this.#add(`${place}.${name}`, 'is a new required member')
  }

  #member(before: ts.Node, after: ts.Node, side: Side, place: string): void {
    this.#presence(before, after, side, place)
    const [old, next] = [callableOf(before), callableOf(after)]
    if (old !== undefined && next !== undefined) {
      this.#callable(old, next, side, place)
      return
    }
    const [type, nextType] = [typeOf(before), typeOf(after)]
    if (type !== undefined && nextType !== undefined) this.#type(type, nextType, side, place)
    else this.#same(before, after, place)
  }

  #presence(before: ts.Node, after: ts.Node, side: Side, place: string): void {
    if (side !== 'output' && isOptional(before) && !isOptional(after))
      this.#add(place, 'is required now')
    if (side === 'input') return
    if (!isOptional(before) && isOptional(after)) this.#add(place, 'may be missing now')
    if (!isReadonly(before) && isReadonly(after)) this.#add(place, 'is read-only now')
  }

  #callable(before: Callable, after: Callable, side: Side, place: string): void {
    this.#typeParameters(before, after, place)
    const isNew = ts.isConstructorTypeNode(before) || ts.isConstructorDeclaration(before)
    const result = isNew ? 'output' : side
    this.#parameters(before.parameters, after.parameters, FLIPPED[result], place)
    if (before.type !== undefined && after.type !== undefined)
      this.#type(before.type, after.type, result, `${place}, result`)
    else if (before.type !== after.type) this.#add(place, 'has another result')
  }

  /** @param side of the arguments */
  #parameters(
    before: readonly ts.ParameterDeclaration[],
    after: readonly ts.ParameterDeclaration[],
    side: Side,
    place: string,
  ): void {
    for (const [index, parameter] of before.entries()) {
      const counterpart = after[index]
      const path = `${place}, parameter ${index + 1}`
      if (counterpart === undefined) this.#add(path, 'was removed')
      else this.#member(parameter, counterpart, side, path)
    }
    if (side === 'output') return // a function of the product's may leave it out
    for (const added of after.slice(before.length).filter((parameter) => !isOptional(parameter)))
      this.#add(place, `has a new required parameter ${textOf(added)}`)
  }

  #type(before: ts.Node, after: ts.Node, side: Side, place: string): void {
    const [old, next] = [bare(before), bare(after)]
    if (this.#compareInner(old, next, side, place)) return
    const [oldMembers, nextMembers] = [
      membersOf(this.#shape(old, this.#before)),
      membersOf(this.#shape(next, this.#after)),
    ]
    if (oldMembers !== undefined && nextMembers !== undefined) {
      this.#members(oldMembers, nextMembers, side, place)
      return
    }
    if (ts.isFunctionTypeNode(old) && ts.isFunctionTypeNode(next)) {
      this.#callable(old, next, side, place)
      return
    }
    if (ts.isUnionTypeNode(old) || ts.isUnionTypeNode(next)) {
      this.#union(alternativesOf(old), alternativesOf(next), side, place)
      return
    }
    if (ts.isTypeReferenceNode(old) && ts.isTypeReferenceNode(next)) {
      this.#reference(old, next, side, place)
      return
    }
    this.#children(old, next, side, place)
  }

  /** Compares two inner types by their declarations, whatever their names are. @returns whether they are inner types */
  #compareInner(before: ts.Node, after: ts.Node, side: Side, place: string): boolean {
    const [old, next] = [this.#before.inner(before), this.#after.inner(after)]
    if (old === undefined || next === undefined) return false
    const key = `${nameOf(before)} ${nameOf(after)} ${side}`
    if (!this.#seen.has(key)) {
      this.#seen.add(key)
      this.#declaration(old, next, side, `${place} (${nameOf(before)})`)
    }
    this.#list(typeArgumentsOf(before), typeArgumentsOf(after), side, place)
    return true
  }

  /** An inner type that is written out elsewhere is no change. */
  #shape(node: ts.Node, door: Door): ts.Node {
    const inner = typeArgumentsOf(node).length === 0 ? door.inner(node) : undefined
    return inner === undefined || typeParametersOf(inner).length > 0 ? node : inner
  }

  #reference(
    before: ts.TypeReferenceNode,
    after: ts.TypeReferenceNode,
    side: Side,
    place: string,
  ): void {
    const [old, next] = [this.#before.spelled(before), this.#after.spelled(after)]
    if (old !== next) {
      this.#add(place, `is ${next} instead of ${old}`)
      return
    }
    this.#list(typeArgumentsOf(before), typeArgumentsOf(after), side, place)
  }

  /** A product may give fewer alternatives than it may, and takes no more than it knows. */
  #union(before: readonly ts.Node[], after: readonly ts.Node[], side: Side, place: string): void {
    const matches = (list: readonly ts.Node[], node: ts.Node) =>
      list.find((alternative) => textOf(alternative) === textOf(node))
    const gone = before.filter((node) => matches(after, node) === undefined)
    const added = after.filter((node) => matches(before, node) === undefined)
    for (const node of before) {
      const same = matches(after, node)
      if (same !== undefined) this.#type(node, same, side, place)
    }
    const pairs = gone.length === added.length && gone.some((node) => !ts.isLiteralTypeNode(node))
    if (pairs) {
      this.#list(gone, added, side, place)
      return
    }
    if (side !== 'output') for (const node of gone) this.#add(place, `is no longer ${textOf(node)}`)
    if (side !== 'input') for (const node of added) this.#add(place, `may be ${textOf(node)} now`)
  }

  #list(before: readonly ts.Node[], after: readonly ts.Node[], side: Side, place: string): void {
    if (before.length !== after.length) {
      this.#add(place, 'is another type')
      return
    }
    for (const [index, node] of before.entries()) {
      const counterpart = after[index]
      if (counterpart !== undefined) this.#type(node, counterpart, side, place)
    }
  }

  /** Other types, such as lists, conditions and mappings: by their parts. */
  #children(before: ts.Node, after: ts.Node, side: Side, place: string): void {
    if (before.kind !== after.kind) {
      this.#same(before, after, place)
      return
    }
    const [old, next] = [childrenOf(before), childrenOf(after)]
    if (old.length === 0 || old.length !== next.length) {
      this.#same(before, after, place)
      return
    }
    this.#list(old, next, side, place)
  }

  #same(before: ts.Node, after: ts.Node, place: string): void {
    if (textOf(before) !== textOf(after))
      this.#add(place, `is ${textOf(after)} instead of ${textOf(before)}`)
  }
}

/** Where the value of an export goes. Functions and classes are output, and their parameters are input. */
function sideOf(name: string, declaration: Named): Side {
  const isType = ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration)
  return !isType || OUTPUT.includes(name) ? 'output' : 'both'
}
