// Prints strings of a document into TypeScript and Markdown: one function for each place. A stranger has written the document: no
// string of it may end the quotes, the comment or the line that it stands in. engine/src/ops/shell.ts prints words of a shell, and
// bundle.ts YAML.
import { visible } from '@plant-store/engine/for-compiler'
import { isContainer } from '@plant-store/json-schema'

/** The name of a property that needs no quotes. */
const NAME = /^[a-z_$][\w$]*$/i
/** The ends of a line (ECMAScript, section 12.3). */
const LINE_END = /\r\n|[\n\r\u2028\u2029]/
/** The longest line of a value that is written in several lines where it is longer. */
const LINE_LENGTH = 100
const INDENT = '  '

/** A string in quotes. Invisible characters become escapes: some of them end a line, others show a text in another order. */
export function stringCode(text: string): string {
  const quoted = visible(JSON.stringify(text))
  if (text.includes("'") && !text.includes('"')) return quoted
  const content = quoted.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${content}'`
}

/** The name of a property, in an object, a class or a type. */
export function keyCode(name: string): string {
  if (name === '__proto__') return "['__proto__']" // without brackets, an object gets another prototype
  return NAME.test(name) ? name : stringCode(name)
}

/** A value of a document, whole and in one line. */
export function valueCode(value: unknown): string {
  return writeValue(value, Infinity, '')
}

/** A value of a document, whole. @param indent before its lines, but for the first */
export function linesCode(value: unknown, indent: string): string {
  return writeValue(value, LINE_LENGTH, indent)
}

function writeValue(value: unknown, lineLength: number, indent: string): string {
  const inner = indent + INDENT
  if (!isContainer(value)) {
    const isLong = typeof value === 'string' && value.length > lineLength
    return isLong ? writeLines(value, inner) : writeScalar(value)
  }
  const members = Array.isArray(value)
    ? value.map((item) => writeValue(item, lineLength, inner))
    : Object.entries(value).map(
        ([name, member]) => `${keyCode(name)}: ${writeValue(member, lineLength, inner)}`,
      )
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (members.length === 0) return open + close
  const line = members.join(', ')
  const isShort = indent.length + line.length <= lineLength && !line.includes('\n')
  if (isShort) return Array.isArray(value) ? `[${line}]` : `{ ${line} }`
  const lines = members.map((member) => `${inner}${member},\n`)
  return `${open}\n${lines.join('')}${indent}${close}`
}

/** A long string, in a string for each of its lines. */
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

/** Code that these functions have printed, without its strings and comments: what is left was not written by a stranger. */
export function withoutStrings(code: string): string {
  return code.replaceAll(STRINGS_AND_COMMENTS, '')
}

/** Comments to the end of the line, one for each line of a text. */
export function lineComments(text: string): string[] {
  return text.split(LINE_END).map((line) => `// ${line}`)
}

/** A comment that an editor shows. A line that begins with `@ts-` would tell the compiler of TypeScript what to do. */
export function docComment(text: string): string {
  const words = visible(text.replaceAll(/\s+/g, ' ').trim())
  return `/** ${words.replaceAll('*/', '* /').replaceAll('@ts-', '@ ts-')} */`
}

/** The characters that Markdown gives a meaning within a line, and those that make an address a link. */
const MARKUP = /[\\`*_~[\]<>()&#|!$@{}]|:(?=\/\/)|(?<=www)\./gi

/** A text within a line of Markdown. */
export function markdown(text: string): string {
  return visible(text).replaceAll(MARKUP, String.raw`\$&`)
}
