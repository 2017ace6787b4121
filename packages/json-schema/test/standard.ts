// Evaluates schemas as JSON Schema 2020-12 writes them, with references by JSON pointers.
import { type AnnotationContent, Evaluation } from '../src/core/evaluation.ts'
import { listAnnotations } from '../src/annotations.ts'
import { keysOf } from '../src/core/validation-error.ts'
import { isContainer, type Keywords, type Schema, Validator } from '@plant-store/json-schema'
import { SchemaCompiler } from '../src/schema-compiler.ts'

/** Makes the check of a schema. @throws {Error} for a reference other than a JSON pointer into the schema */
export function standardCheck(schema: unknown): (value: unknown) => boolean {
  const root = schema as Schema
  const validator = new Validator(targetsIn(root), 'outgoing')
  const check = validator.compile('value', root)
  return (value) => check(value).error === undefined
}

/** A schema of a value, or of a part of it. */
interface Applied {
  /** The place of the part in the value: a JSON pointer. */
  readonly location: string
  readonly schema: Keywords
}

/** Makes a function which lists the schemas of a value: their keywords are its annotations. */
export function standardAnnotations(schema: unknown): (value: unknown) => Applied[] {
  const root = schema as Schema
  const schemas = new Map<AnnotationContent, Keywords>()
  const annotate = (node: Keywords): AnnotationContent => {
    const content = { isDecided: false, isInt64: false, isMarked: true, defaults: [] }
    schemas.set(content, node)
    return content
  }
  const compiler = new SchemaCompiler(targetsIn(root), {
    formats: {},
    types: undefined,
    marks: [],
    annotate,
  })
  const evaluate = compiler.compileSchema(root)
  return (value) => {
    const evaluation = new Evaluation({ '': value }, '')
    if (!evaluate(value, evaluation)) return []
    return listAnnotations(evaluation.annotations).map(({ path, content }) => ({
      location: keysOf(path).join('/'),
      schema: schemas.get(content) ?? {},
    }))
  }
}

/** The references in a schema, also look-alikes in values of `enum`. */
export function referencesIn(node: unknown): string[] {
  if (!isContainer(node)) return []
  const reference: unknown = Reflect.get(node, '$ref')
  const inside = Object.values(node).flatMap(referencesIn)
  return typeof reference === 'string' ? [reference, ...inside] : inside
}

/** By reference: its target. */
function targetsIn(root: Schema): Record<string, Schema> {
  const targets: Record<string, Schema> = {}
  for (const reference of referencesIn(root)) targets[reference] = targetOf(root, reference)
  return targets
}

/** RFC 6901, section 6. */
function targetOf(root: Schema, reference: string): Schema {
  if (!/^#(\/|$)/.test(reference)) throw new Error(`${reference} is no JSON pointer`)
  let node: unknown = root
  for (const token of decodeURIComponent(reference).split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    node = isContainer(node) ? Reflect.get(node, name) : undefined
  }
  if (node === undefined) throw new Error(`${reference} leads nowhere`)
  return node as Schema
}
