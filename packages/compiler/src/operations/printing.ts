// Prints strings of a document into TypeScript and Markdown, one function for each place. The author of the document may be
// malicious: no string may end its quotes, its comment or its line. engine/src/ops/shell.ts does so for shells, bundle.ts for YAML.
import { visible } from '@plant-store/engine/for-compiler'
import { isContainer } from '@plant-store/json-schema'

/** A property name without need of quotes. */
const NAME = /^[a-z_$][\w$]*$/i
/** Line ends (ECMAScript, section 12.3). */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/
/** A longer value is written in several lines. */
const LINE_LENGTH = 100
const INDENT = '  '

/** A string in quotes. Invisible characters are escaped: some end a line, others reverse the direction of writing. */
export function stringCode(text: string): string {
  const quoted = visible(JSON.stringify(text))
  if (text.includes("'") && !text.includes('"')) return quoted
  const content = quoted.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${content}'`
}

export function keyCode(name: string): string {
  if (name === '__proto__') return "['__proto__']" // without brackets, it sets the prototype
  return NAME.test(name) ? name : stringCode(name)
}

export function valueCode(value: unknown): string {
  return writeValue(value, Infinity, '')
}

/** A value in lines of `LINE_LENGTH`. @param indent begins each line but the first */
export function linesCode(value: unknown, indent: string): string {
  return writeValue(value, LINE_LENGTH, indent)
}

function writeValue(value: unknown, lineLength: number, indent: string): string {
  const inner = indent + INDENT
  if (!isContainer(value)) {
    const isLong = typeof value === 'string' && value.length > lineLength
    return isLong ? writeLines(value, inner) : writeScalar(value)
  }
  const entries = Array.isArray(value)
    ? value.map((item) => writeValue(item, lineLength, inner))
    : Object.entries(value).map(
        ([name, property]) => `${keyCode(name)}: ${writeValue(property, lineLength, inner)}`,
      )
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) return open + close
  const line = entries.join(', ')
  const isShort = indent.length + line.length <= lineLength && !line.includes('\n')
  if (isShort) return Array.isArray(value) ? `[${line}]` : `{ ${line} }`
  const lines = entries.map((entry) => `${inner}${entry},\n`)
  return `${open}\n${lines.join('')}${indent}${close}`
}

/** A long string as a sum of its lines. */
function writeLines(text: string, indent: string): string {
  return text
    .split(/(?<=\n)/)
    .map(stringCode)
    .join(` +\n${indent}`)
}

function writeScalar(value: unknown): string {
  if (typeof value === 'string') return stringCode(value)
  if (typeof value === 'bigint') return `${value}n`
  return Object.is(value, -0) ? '-0' : String(value)
}

const STRINGS_AND_COMMENTS = /\/\*\*.*?\*\/|'(\\.|[^'\\])*'|"(\\.|[^"\\])*"/gs

/** Removes strings and comments from printed code: the rest is not by the author of the document. */
export function withoutStrings(code: string): string {
  return code.replaceAll(STRINGS_AND_COMMENTS, '')
}

/** Line comments, one for each line of a text. */
export function lineComments(text: string): string[] {
  return text.split(LINE_END).map((line) => `// ${line}`)
}

/** A doc comment. `@ts-` is broken up, because it would instruct the TypeScript compiler. */
export function docComment(text: string): string {
  const words = visible(text.replaceAll(/\s+/g, ' ').trim())
  return `/** ${words.replaceAll('*/', '* /').replaceAll('@ts-', '@ ts-')} */`
}

/** Characters with a meaning in a line of Markdown, and the characters that turn an address into a link. */
const MARKUP = /[\\`*_~[\]<>()&#|!$@{}]|:(?=\/\/)|(?<=www)\./gi

export function markdown(text: string): string {
  return visible(text).replaceAll(MARKUP, String.raw`\$&`)
}
