// Finds the annotations of schemas, and applies those of int64.
import {
  type Annotation,
  AnnotationGroup,
  type Annotations,
  type AnnotationContent,
  type Default,
} from './core/evaluation.ts'
import { decodeInt64, isInt64 } from './core/numbers.ts'
import type { Keywords } from './core/schema.ts'
import type { Flatten, Mark } from './schema-compiler.ts'

/** The annotations to collect. */
export interface AnnotationOptions {
  readonly marks: readonly Mark[]
  readonly int64: boolean
  readonly defaults: boolean
}

/** The annotations of a schema. @returns undefined if it has none to collect */
export function contentOf(
  schema: Keywords,
  options: AnnotationOptions,
  flatten: Flatten,
): AnnotationContent | undefined {
  const content: AnnotationContent = {
    isDecided: false,
    isInt64: options.int64 && isInt64(schema),
    isMarked: options.marks.some((mark) => schema[mark] === true),
    defaults: options.defaults ? defaultsOf(schema, flatten) : [],
  }
  const isEmpty = !content.isInt64 && !content.isMarked && content.defaults.length === 0
  return isEmpty ? undefined : content
}

/** The defaults of an object's properties. A `readOnly` one is not filled in: nobody may send it. */
function defaultsOf({ properties = {} }: Keywords, flatten: Flatten): Default[] {
  const defaults: Default[] = []
  for (const [name, schema] of Object.entries(properties)) {
    const parts = flatten(schema)
    const withDefault = parts.find((part) => part.default !== undefined)
    const isReadOnly = parts.some(({ readOnly }) => readOnly === true)
    if (withDefault !== undefined && !isReadOnly)
      defaults.push({ name, value: withDefault.default, schema })
  }
  return defaults
}

/** Lists annotations in order. A group added twice is listed once. */
export function listAnnotations(annotations: Annotations): Annotation[] {
  if (annotations.every(isAnnotation)) return annotations
  const list: Annotation[] = []
  addAll(annotations, list)
  return list
}

function isAnnotation(annotation: Annotation | AnnotationGroup): annotation is Annotation {
  return !(annotation instanceof AnnotationGroup)
}

function addAll(annotations: Annotations, list: Annotation[]): void {
  for (const annotation of annotations) {
    if (isAnnotation(annotation)) {
      list.push(annotation)
      continue
    }
    if (annotation.isListed) continue
    annotation.isListed = true
    addAll(annotation.annotations, list)
  }
}

/** Makes a `bigint` of each int64. */
export function decodeInt64s(annotations: readonly Annotation[]): void {
  for (const { content, value, container, key } of annotations) {
    const decoded = content.isInt64 ? decodeInt64(value) : undefined
    if (decoded !== undefined) Reflect.set(container, key, decoded)
  }
}
