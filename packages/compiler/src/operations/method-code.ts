// Writes a method that answers an example, for a person to begin with.
import type { Example } from '@plant-store/engine/for-compiler'
import type { NormalOperation } from './normal-form.ts'
import { keyCode, linesCode, stringCode, valueCode } from './printing.ts'

/** A longer result is written in several lines. */
const LINE_LENGTH = 88
const INDENT = '      '

/** Writes a method, ready to paste into a class. @param example with a body as the types take it; undefined if there is none */
export function writeMethod(normal: NormalOperation, example: Example | undefined): string {
  const { id } = normal
  const parts = partsOf(normal)
  const name = stringCode(id)
  const parameter = parts.length === 0 ? '' : `{ ${parts.join(', ')} }: Request<${name}>`
  const result = example === undefined ? 'notWritten()' : resultCode(example)
  return [
    `  async ${keyCode(id)}(${parameter}): Promise<Result<${name}>> {`,
    `    return ${result}`,
    '  }',
  ].join('\n')
}

function resultCode({ status, type, headers, ...example }: Example): string {
  const fields = [
    `status: ${status}`,
    ...(type === undefined ? [] : [`type: ${stringCode(type)}`]),
    ...(headers === undefined ? [] : [`headers: ${valueCode(headers)}`]),
    ...(example.body === undefined ? [] : [`body: ${bodyCode(example)}`]),
  ]
  const line = `{ ${fields.join(', ')} }`
  const isShort = line.length <= LINE_LENGTH && !line.includes('\n')
  if (isShort) return line
  return `{\n${fields.map((field) => `${INDENT}${field},\n`).join('')}    }`
}

function bodyCode({ body, isEvent }: Pick<Example, 'body' | 'isEvent'>): string {
  if (body instanceof Uint8Array) return `Buffer.from(${stringCode(Buffer.from(body).toString())})`
  if (isEvent === undefined) return linesCode(body, INDENT)
  return `(async function* () { yield ${valueCode({ data: body })} })()`
}

function partsOf({ security, parameters, requestBody }: NormalOperation): readonly string[] {
  const inPath = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => name)
  const path = areVariables(inPath) ? `path: { ${inPath.join(', ')} }` : 'path'
  const has = (place: string) => parameters.some((parameter) => parameter.in === place)
  return [
    ...(security.length > 0 ? ['caller'] : []),
    ...(inPath.length > 0 ? [path] : []),
    ...(has('query') ? ['query'] : []),
    ...(has('header') ? ['header'] : []),
    ...(has('cookie') ? ['cookie'] : []),
    ...(requestBody === undefined ? [] : ['body']),
  ]
}

const VARIABLE = /^[a-z_$][\w$]*$/i
/** Words reserved in a class (ECMAScript, section 12.7.2), and the other parts of the request. */
const TAKEN =
  /^(arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield|body|caller|cookie|header|query|notWritten|Buffer)$/

function areVariables(names: readonly string[]): boolean {
  return names.every((name) => VARIABLE.test(name) && !TAKEN.test(name))
}
