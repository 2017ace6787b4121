// How a body is written, by its media type.
import type { Operation } from './contract.ts'
import { stringify } from './json.ts'
import { fields } from './schemas.ts'

type Body = NonNullable<Operation['body']>

const BOUNDARY = 'the-end-of-a-part'

export const isJson = (type: string) => /^(application|text)\/json$|\+json$/i.test(type)
export const isBytes = (type: string) =>
  !isJson(type) && !/^(text|multipart)\/|urlencoded$/i.test(type)
/** Whether the service takes bodies of a media type. */
export const isServed = (type: string) =>
  !/;|[/+]xml$|yaml$|^multipart\/(?!form-data$)|^text\/event-stream$/i.test(type)

/** The `Content-Type` of a body: a type of its own where the contract has a range. */
export function contentTypeOf({ type }: Pick<Body, 'type'>): string {
  if (/^multipart\//i.test(type)) return `${type}; boundary=${BOUNDARY}`
  return type.replace('*/*', 'application/octet-stream').replace('/*', '/x-any')
}

/** Writes a value of a body: an object of a form as its fields, and what is no JSON as the text that it is. */
export function written({ type, schema }: Pick<Body, 'type' | 'schema'>, value: unknown): string {
  if (isJson(type)) return stringify(value)
  const toText = (each: unknown) => (typeof each === 'string' ? each : stringify(each))
  const sent = Object.entries(fields(value)).flatMap(([name, each]) =>
    [each].flat().map((item) => [name, toText(item)] as const),
  )
  if (/^application\/x-www-form-urlencoded$/i.test(type))
    return new URLSearchParams(sent.map(([...pair]) => pair)).toString()
  if (!/^multipart\//i.test(type)) return toText(value)
  const isFile = (name: string) => {
    const field = fields(fields(schema['properties'])[name])
    return [field, fields(field['items'])].some(
      (each) => each['format'] === 'binary' || 'contentMediaType' in each,
    )
  }
  const parts = sent.map(([name, text]) => {
    const file = isFile(name) ? '; filename="file"' : ''
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  return `${parts.join('')}--${BOUNDARY}--\r\n`
}
