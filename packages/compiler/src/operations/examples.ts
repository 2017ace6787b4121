// Finds the examples of an operation for `npm run dev`: from the contract, or made from its schemas.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import { sample } from 'openapi-sampler'
import type { Example, OperationExamples } from '@plant-store/engine/for-compiler'
import { isObject } from '@plant-store/json-schema'
import { bodyKind } from './body-kinds.ts'
import type * as openapi from '../read/document.ts'
import type { NormalOperation } from './normal-form.ts'
import { keyCode, linesCode, stringCode, valueCode } from './printing.ts'
import { usableEntries } from '../read/references.ts'

/** Lists the examples of an operation, successes first, and writes a method with the first one. */
export function examplesOf(root: Oas3_1Definition, normal: NormalOperation): OperationExamples {
  const statuses = Object.entries(normal.responses).map(([key, response]) => {
    const status = Number(key.replace('XX', '00'))
    return { status, response }
  })
  const numbered = statuses.filter(({ status }) => !Number.isNaN(status))
  const isSuccess = (status: number) => status < 400
  const sorted = numbered.toSorted(
    (left, right) => Number(isSuccess(right.status)) - Number(isSuccess(left.status)),
  )
  const answers = sorted.flatMap(({ status, response }) => examplesIn(root, status, response))
  return { answers, method: writeMethod(normal, answers[0]) }
}

/** The examples of a response's first media type. A response without a body is itself an example. */
function examplesIn(
  root: Oas3_1Definition,
  status: number,
  response: openapi.Response,
): readonly Example[] {
  const [first] = Object.entries(response.content ?? {})
  if (first === undefined) return [{ status }]
  const [type, media] = first
  const values = valuesOf(root, type, media)
  const isEvent = bodyKind(type) === 'events'
  return values.map((example) => ({ status, ...example, ...(isEvent && { isEvent }) }))
}

type Value = Pick<Example, 'name' | 'body'>

function valuesOf(
  root: Oas3_1Definition,
  type: string,
  media: openapi.MediaType,
): readonly Value[] {
  const named = usableEntries(media.examples).flatMap(([name, example]): Value[] =>
    isObject(example) && 'value' in example ? [{ name, body: example['value'] }] : [],
  )
  if (named.length > 0) return named
  if (media.example !== undefined) return [{ body: media.example }]
  const kind = bodyKind(type)
  const isMade = (kind === 'json' || kind === 'events') && media.schema !== undefined
  const sampled = isMade ? makeExample(root, media.schema) : undefined
  return sampled === undefined ? [] : [{ body: sampled }]
}

/** Makes a value from a schema; undefined if this fails. */
function makeExample(root: Oas3_1Definition, schema: unknown): unknown {
  if (!isObject(schema)) return undefined
  try {
    return sample(schema, { skipWriteOnly: true, quiet: true }, root)
  } catch {
    return undefined
  }
}

/** Writes a method with an example as its answer, ready to paste into a class. */
function writeMethod(normal: NormalOperation, example: Example | undefined): string {
  const { id } = normal
  const parts = partsOf(normal)
  const name = stringCode(id)
  const parameter = parts.length === 0 ? '' : `{ ${parts.join(', ')} }: Request<${name}>`
  return [
    `  async ${keyCode(id)}(${parameter}): Promise<Result<${name}>> {`,
    `    return ${codeOf(example)}`,
    '  }',
  ].join('\n')
}

function codeOf({ status, body, isEvent }: Example = { status: 501 }): string {
  if (body === undefined) return valueCode({ status })
  if (!isEvent) return linesCode({ status, body }, '    ')
  const event = valueCode({ data: body })
  return `{ status: ${status}, body: (async function* () { yield ${event} })() }`
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
    ...(requestBody === undefined ? [] : ['body']),
  ]
}

const VARIABLE = /^[a-z_$][\w$]*$/i
/** Words reserved in a class (ECMAScript, section 12.7.2), and the other parts of the request. */
const TAKEN =
  /^(arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield|body|caller|header|query)$/

function areVariables(names: readonly string[]): boolean {
  return names.every((name) => VARIABLE.test(name) && !TAKEN.test(name))
}
