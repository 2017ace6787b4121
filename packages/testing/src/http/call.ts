// Sends a request over HTTP, and reads the answer.
import http from 'node:http'
import { buffer } from 'node:stream/consumers'
import { parse, stringify } from '../json/json.ts'
import { isJson } from './media-types.ts'
import type { RawResponse } from './responses.ts'

export interface Call {
  readonly method?: string
  readonly path: string
  readonly token?: string
  /** By name; or a list of name, value, name, value, where names may be repeated. */
  readonly headers?: http.OutgoingHttpHeaders | readonly string[]
  /** Strings and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown
  /** Whether the test expects an internal error. Otherwise the status 500 fails the test. */
  readonly failing?: boolean
  /** Reuses connections. Without it, each request opens one. */
  readonly agent?: http.Agent
}

export interface Answer extends Omit<RawResponse, 'length'> {
  /** The body, if it is JSON. */
  readonly json: unknown
}

/** Sends a request to a port, of any contract. */
export async function request(port: number, what: Call) {
  const { method = 'GET', path, body, agent = false } = what
  const isSentUnchanged = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
  const bytes = isSentUnchanged ? body : stringify(body)
  const headers = headersOf(port, what, bytes)
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      method,
      path,
      headers,
      agent,
    }
    http.request(options).on('response', resolve).on('error', reject).end(bytes)
  })
  return toAnswer(response.statusCode ?? 0, response.headers, await bodyOf(response))
}

/** The body as a string. A stream of events may have no end: it is not read. */
async function bodyOf(response: http.IncomingMessage): Promise<string> {
  if (response.headers['content-type'] !== 'text/event-stream')
    return (await buffer(response)).toString()
  response.destroy()
  return ''
}

/** The headers of a request, with the missing ones it needs, as a list. */
function headersOf(
  port: number,
  { method = 'GET', token, headers = {} }: Call,
  bytes: string | Buffer | undefined,
): string[] {
  const own: unknown[] = Array.isArray(headers) ? headers : Object.entries(headers).flat()
  const names = own.filter((_, index) => index % 2 === 0).map((name) => String(name).toLowerCase())
  const added: string[] = []
  const addMissing = (name: string, value: string) => {
    if (!names.includes(name.toLowerCase())) added.push(name, value)
  }
  if (token !== undefined) added.push('Authorization', `Bearer ${token}`)
  if (bytes !== undefined) {
    addMissing('Content-Type', 'application/json')
    addMissing('Content-Length', String(Buffer.byteLength(bytes)))
  }
  // Node would send an empty body in chunks.
  const isChunked = names.includes('transfer-encoding')
  if (bytes === undefined && /^P/.test(method) && !isChunked) addMissing('Content-Length', '0')
  addMissing('Host', `127.0.0.1:${port}`)
  return [...own, ...added].map(String)
}

/** The statuses of answers. */
export const statusesOf = (answers: readonly { readonly status: number }[]) =>
  answers.map(({ status }) => status)

export function toAnswer(status: number, headers: http.IncomingHttpHeaders, text: string): Answer {
  const json = isJson(headers['content-type'] ?? '') && text !== '' ? parse(text) : undefined
  return { status, headers, text, json }
}
