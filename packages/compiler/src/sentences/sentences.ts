// Makes the sentence of a finding from its code and its values: no other file of the compiler has words about a document.
import { OF_BODIES } from './of-bodies.ts'
import { OF_DOCUMENTS } from './of-documents.ts'
import { OF_OPERATIONS } from './of-operations.ts'
import { OF_SCHEMAS } from './of-schemas.ts'

/** All sentences, by code. A name in angle brackets stands for a value. */
export const SENTENCES = { ...OF_DOCUMENTS, ...OF_OPERATIONS, ...OF_BODIES, ...OF_SCHEMAS } as const

export type Code = keyof typeof SENTENCES

/** The names of the values in a sentence: `type` in `<type> is no response`. */
type NamesIn<Sentence extends string> = Sentence extends `${string}<${infer Name}>${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

/** A value of a sentence: a string of the document, a number, or a finding, whose sentence is a part of it. */
export type Value = string | number | Finding

/** What is wrong in a document: a code, and the values of its sentence. */
export type Finding = {
  readonly [Kind in Code]: { readonly code: Kind } & {
    readonly [Name in NamesIn<(typeof SENTENCES)[Kind]>]: Value
  }
}[Code]

/** A problem of the linter. */
export interface LinterProblem {
  /** The id of the rule. */
  readonly rule: string
  /** The sentence of the linter. */
  readonly message: string
  /** The name that was perhaps meant. */
  readonly meant: string | undefined
}

export type AnyFinding = Finding | LinterProblem

const PLACEHOLDER = /<(\w+)>/g

/** The sentence for people. */
export function sentenceOf(finding: AnyFinding): string {
  if ('code' in finding) return fillIn(finding)
  const { message, meant } = finding
  return meant === undefined ? message : fillIn({ code: 'misspelt', message, meant })
}

function fillIn(finding: Finding): string {
  return SENTENCES[finding.code].replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = valueOf(finding, name)
    return typeof value === 'object' ? fillIn(value) : String(value)
  })
}

function valueOf(finding: Finding, name: string): Value {
  const values: Readonly<Record<string, Value>> = finding
  return values[name] ?? ''
}

/** The values of a sentence, in their order. */
function valuesOf(finding: Finding): readonly Value[] {
  const names = SENTENCES[finding.code].matchAll(PLACEHOLDER).map(([, name = '']) => name)
  return [...names.map((name) => valueOf(finding, name))]
}

/** The code of a finding; for the linter, the id of its rule. */
export function codeOf(finding: AnyFinding): string {
  return 'code' in finding ? finding.code : finding.rule
}

/** Tells the kind of a finding by its code, and by the codes of the findings within. */
export function kindOf(finding: AnyFinding): string {
  if (!('code' in finding)) return finding.rule
  const inner = valuesOf(finding).filter((value) => typeof value === 'object')
  return [finding.code, ...inner.map(kindOf)].join(' ')
}

/** Identifies a finding by its code, and by the values of its sentence. */
export function identityOf(finding: AnyFinding): string {
  return JSON.stringify([kindOf(finding), ...stringsOf(finding)])
}

/** The values of a sentence as strings, with those of the findings within. */
function stringsOf(finding: AnyFinding): readonly string[] {
  if (!('code' in finding)) return [sentenceOf(finding)]
  return valuesOf(finding).flatMap((value) =>
    typeof value === 'object' ? stringsOf(value) : String(value),
  )
}

/** The values of a finding which another one of its kind does not have. */
export function differenceOf(finding: AnyFinding, from: AnyFinding): string {
  const others = new Set(stringsOf(finding)).difference(new Set(stringsOf(from)))
  return [...others].join(' ')
}
