// Guesses the meaning of an error's property from its name, its format and its `enum`, as candidates for a template.
import { STATUS_CODES } from 'node:http'
import type { Template } from '@plant-store/engine/for-compiler'

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

/**
 * Candidates for a string.
 * @param name the property's name; for an item, the name of its list
 * @param isForced whether a title, and then any string, may be the message
 */
export function stringMeanings(
  name: string,
  { format = '', pattern }: { readonly format?: unknown; readonly pattern?: unknown },
  isForced: boolean,
): Template[] {
  const words = wordsOf(name)
  const isTitle = TITLE.test(words)
  return [
    ...candidatesFor(FORMATS, String(format)),
    ...(MESSAGE.test(words) || (isForced && isTitle) ? ['$message'] : []),
    ...(isTitle ? ['$reason'] : []),
    ...candidatesFor(STRINGS, words),
    ...(pattern === undefined ? [] : WORDS),
    ...(isForced ? ['$message'] : []),
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

/** The value of an `enum` for a status, for its class, or for any error; undefined if no value names one. */
export function valueForStatus(values: readonly unknown[], status: number): unknown {
  const words = values.map((value) => wordsOf(String(value)))
  const classOf = status < 500 ? 400 : 500
  const rules = [...rulesFor(status), ...rulesFor(classOf), /err|fail|fault/]
  const indexes = rules.map((rule) => words.findIndex((word) => rule.test(word)))
  return values[indexes.find((index) => index >= 0) ?? -1]
}

/** Patterns of a status in a code: its reason phrase, its number, or a common word. */
function rulesFor(status: number): RegExp[] {
  const reason = wordsOf(STATUS_CODES[status] ?? '')
  return [
    new RegExp(reason),
    new RegExp(`^\\D*${status}`),
    STATUS_WORDS[status] ?? new RegExp(reason),
  ]
}
