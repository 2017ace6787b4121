// Guesses the meaning of an error's property from its name, its format and its `enum`, as candidates for a template.
import { STATUS_CODES } from 'node:http'
import type { Template } from '@plant-store/engine/for-compiler'

/** The places for the message: 0, properties named like a message; 1, also like a title; 2, any string. */
export type Effort = 0 | 1 | 2

/** Patterns of names, with their candidates, the best one first. */
type Names = readonly (readonly [names: RegExp, ...candidates: Template[]])[]

// Names are matched in lower case, without punctuation: `request_id` is `requestid`.
const MESSAGE =
  /^$|(message|msg|text|detail|description|explanation|string|diagnostic|violation)s?$|^(error|problem|cause|issue|reason)s$/
const TITLE =
  /^(title|name|error(name|title)?|status(text|name|message)|reason(phrase)?|summary|label|cause|problem|issue|fault)$/
const CODE = /^(error|fault|status|reason|response|result|problem)?(code|type|key)$/
const STATUS = /^(http)?(status|statuscode)$/
const TIME =
  /^(error|request|response|server|event|log)?(time|timestamp|date|datetime)$|^(occurred|created|raised|generated)(at|on)$/
const REQUEST_ID =
  /^x?(request|trace|correlation|transaction|incident|error|event|log|debug|support|reference)?(id|uuid|guid|reference)$/
const PATH = /^(request)?(instance|path|url|uri)$|^(resource|endpoint|route)$/
const NUMBER_OF_STATUS = /^(http|error)?(status|statuscode|code|error|errno|number)$/

const STRINGS: Names = [
  [/^problemtype$/, 'about:blank'],
  [STATUS, '$statusString', '$code'],
  [CODE, '$code', '$statusString'],
  [/^operation(id|name)?$/, '$operationId'],
  [REQUEST_ID, '$id'],
  [PATH, '$path'],
  [TIME, '$time'],
]
const NUMBERS: Names = [
  [NUMBER_OF_STATUS, '$status'],
  [TIME, '$milliseconds', '$seconds'],
]
const BOOLEANS: Names = [
  [/^(is)?(success(ful)?|ok|valid|status)$/, false],
  [/^(is|has)?(error|failed|failure)$/, true],
]
const FORMATS: Names = [
  [/^date-time$/, '$time'],
  [/^date$/, '$day'],
  [/^uuid$/, '$id'],
]
/** Tried if a pattern refuses the candidates of the name. */
const WORDS: readonly Template[] = ['$code', '$reasonUpper', '$reasonLower', '$statusString', '$id']

/** Candidates for a string. @param name the property's name; for an item, the name of its list */
export function stringMeanings(
  name: string,
  { format = '', pattern }: { readonly format?: unknown; readonly pattern?: unknown },
  effort: Effort,
): Template[] {
  const words = wordsOf(name)
  const title = TITLE.test(words) ? ['$reason'] : []
  const message = MESSAGE.test(words) || (effort > 0 && TITLE.test(words)) ? ['$message'] : []
  return [
    ...candidatesFor(FORMATS, String(format)),
    ...message,
    ...title,
    ...candidatesFor(STRINGS, words),
    ...(pattern === undefined ? [] : WORDS),
    ...(effort > 1 ? ['$message'] : []),
  ]
}

export function numberMeanings(name: string): Template[] {
  return candidatesFor(NUMBERS, wordsOf(name))
}

export function booleanMeanings(name: string): Template[] {
  return candidatesFor(BOOLEANS, wordsOf(name))
}

const wordsOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z\d]/g, '')

function candidatesFor(table: Names, word: string): Template[] {
  return table.filter(([names]) => names.test(word)).flatMap(([, ...candidates]) => candidates)
}

/** Words in the codes of a status, other than its reason phrase. */
const STATUS_WORDS: Readonly<Record<number, RegExp>> = {
  400: /invalid|validation|malformed|bad|client/,
  401: /unauth|credential|token/,
  403: /forbidden|denied|permission|scope/,
  404: /missing|notfound|unknown/,
  408: /timeout|timedout|late/,
  413: /large|size|limit/,
  415: /mediatype|contenttype|unsupported/,
  431: /header|large/,
  500: /internal|server|unexpected/,
  501: /implemented/,
  503: /unavailable|busy|overload/,
}

/** The value of an `enum` for a status, or for its class; undefined if no value names either. */
export function valueForStatus(values: readonly unknown[], status: number): unknown {
  return valueNaming(values, status) ?? valueNaming(values, status < 500 ? 400 : 500)
}

function valueNaming(values: readonly unknown[], status: number): unknown {
  const reason = wordsOf(STATUS_CODES[status] ?? '')
  const inWords = values.map((value) => ({ value, words: wordsOf(String(value)) }))
  const named = inWords.find(({ words }) => words.includes(reason))
  const numbered = inWords.find(({ words }) => words.replace(/^\D+/, '').startsWith(String(status)))
  const meant = inWords.find(({ words }) => STATUS_WORDS[status]?.test(words))
  return (named ?? numbered ?? meant)?.value
}

/** A value of an `enum` named like an error, or the first one. */
export function valueForError(values: readonly unknown[]): unknown {
  return values.find((value) => /err|fail|fault/i.test(String(value))) ?? values[0]
}
